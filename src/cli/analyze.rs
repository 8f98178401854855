//! `convfinqa analyze`: every miss with its cause, offline.

use crate::dataset::{self, Dataset, Source};
use crate::score::Rule;

/// A rule by its short name.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
pub enum RuleName {
    /// Financial equivalence
    Fe,
    /// Numeric match, the reference's ±0.5
    Nm,
    /// Exact match
    Em,
    /// Official execution accuracy
    Ex,
}

impl From<RuleName> for Rule {
    fn from(name: RuleName) -> Self {
        match name {
            RuleName::Fe => Self::FinancialEquivalence,
            RuleName::Nm => Self::NumericalMatch,
            RuleName::Em => Self::ExactMatch,
            RuleName::Ex => Self::ExecutionAccuracy,
        }
    }
}

/// The records at `path`, or the built-in sample by its name.
///
/// # Errors
/// Records that cannot be read.
pub fn records(path: Option<&str>) -> Result<Option<Dataset>, dataset::DatasetError> {
    path.map(|path| match path {
        "sample" => dataset::sample(),
        path => dataset::load(&Source::Path(path.into())),
    })
    .transpose()
}
