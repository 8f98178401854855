//! Splits the pages into three parts, so that prompts are proposed, tested and measured on
//! different pages.

use serde::Serialize;

use crate::dataset::Dataset;

/// The ids of the records of each part. All records of a page are in the same part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PageSplit {
    /// A quarter of the pages: the proposer is shown misses on them.
    pub propose: Vec<String>,
    /// Half of the pages: each candidate is tested on them once.
    pub gate: Vec<String>,
    /// A quarter of the pages: the chosen candidate is measured on them.
    pub sealed: Vec<String>,
}

impl PageSplit {
    /// Splits the records' pages by a hash of their names, so that a page stays in its part if the
    /// user selects other records.
    pub fn of(dataset: &Dataset) -> Self {
        let mut split = Self::default();
        for record in &dataset.records {
            let hash = blake3::hash(record.document.filename.as_bytes());
            let part = match hash.as_bytes().first().map_or(0, |byte| byte % 4) {
                0 => &mut split.propose,
                1 | 2 => &mut split.gate,
                _ => &mut split.sealed,
            };
            part.push(record.id().to_owned());
        }
        split
    }
}
