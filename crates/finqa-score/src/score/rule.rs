//! Names the scoring rules, and reads their verdicts on a row.

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::dataset::RecordKind;

use super::row::Row;

/// A scoring rule. The rules are printed in this order.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, IntoStaticStr, Serialize, VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Rule {
    /// Exact match (EM): the same text.
    ExactMatch,
    /// Numeric match (NM): within 0.5, as the LangGraph baseline compares.
    NumericalMatch,
    /// Official execution accuracy of the answers.
    ExecutionAccuracy,
    /// Official execution accuracy of the predicted programs.
    ProgramExecution,
    /// Official program accuracy: the predicted program is equal to the gold program
    /// ([`finqa_core::program::equal`]).
    ProgramAccuracy,
    /// Financial equivalence (FE), the rule of the headline score.
    #[default]
    FinancialEquivalence,
}

impl Rule {
    /// The name in files.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The name on the command line.
    pub fn short(self) -> &'static str {
        match self {
            Self::ExactMatch => "em",
            Self::NumericalMatch => "nm",
            Self::ExecutionAccuracy => "ex",
            Self::ProgramExecution => "pe",
            Self::ProgramAccuracy => "pa",
            Self::FinancialEquivalence => "fe",
        }
    }

    /// The name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::ExactMatch => "exact match",
            Self::NumericalMatch => "numeric match (NM)",
            Self::ExecutionAccuracy => "execution accuracy",
            Self::ProgramExecution => "program execution",
            Self::ProgramAccuracy => "program accuracy",
            Self::FinancialEquivalence => "financial equiv. (FE)",
        }
    }

    /// The rule's verdict on a row; `None` if it cannot judge the row.
    pub fn mark(self, row: &Row) -> Option<bool> {
        let scores = &row.scores;
        match self {
            Self::ExactMatch => scores.exact_match,
            Self::NumericalMatch => scores.numerical_match,
            Self::ExecutionAccuracy => scores.execution_accuracy,
            Self::ProgramExecution => scores.program_execution,
            Self::ProgramAccuracy => scores.program_accuracy,
            Self::FinancialEquivalence => row.accepted(),
        }
    }

    /// True if the rule should be able to judge the row but cannot, because the row lacks its gold
    /// or the page that its program reads. The stand-alone questions of a Double record have no
    /// program in the dataset, so this is false for them under the execution and program rules.
    pub(crate) fn lacks_gold(self, row: &Row) -> bool {
        let without_program = row.kind == Some(RecordKind::Double) && row.turn().is_none();
        let skips = without_program
            && matches!(
                self,
                Self::ExecutionAccuracy | Self::ProgramExecution | Self::ProgramAccuracy
            );
        !skips && self.mark(row).is_none()
    }

    /// True if the rule judges programs. It has no rate for a run without any program.
    pub(crate) fn judges_programs(self) -> bool {
        matches!(self, Self::ProgramExecution | Self::ProgramAccuracy)
    }
}
