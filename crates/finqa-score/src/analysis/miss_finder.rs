//! Finds the causes of misses in a stream of rows, with one row in memory at a time.

use crate::dataset::{Dataset, Gold};
use crate::score::{Row, Rule};

use super::answers::RecordsById;
use super::misses::{Miss, MissExplainer};

/// Finds the cause of each miss, as `analyze` does, but without holding all rows.
pub struct MissFinder<'d> {
    records: Option<RecordsById<'d>>,
    search: MissExplainer,
    is_in_order: bool,
    /// True once the dataset lacked a question. It is then not the dataset of the run, so the
    /// search for causes stops.
    has_failed: bool,
}

impl<'d> MissFinder<'d> {
    /// `is_in_order` says that the rows of a record follow each other, so that the answers about
    /// earlier records can be forgotten. It is false for episodes, which come in the order of the
    /// server's questions.
    pub fn new(is_in_order: bool, dataset: Option<&'d Dataset>) -> Self {
        Self {
            records: dataset.map(RecordsById::of),
            search: MissExplainer::default(),
            is_in_order,
            has_failed: false,
        }
    }

    /// Adds a row, and explains it if it is wrong by financial equivalence. `None` for any other
    /// row, and for all rows once the dataset has lacked a question.
    pub fn find(&mut self, row: &mut Row) -> Option<Miss> {
        // Don't copy rounds and calls: they are most of a row and explain nothing.
        let rounds = std::mem::take(&mut row.solution.rounds);
        let calls = std::mem::take(&mut row.solution.calls);
        let mut light = row.clone();
        (row.solution.rounds, row.solution.calls) = (rounds, calls);
        let record = match &self.records {
            Some(records) => {
                let found = records.attach(&mut light);
                self.has_failed |= found.is_none();
                found.map(|(record, _)| record)
            }
            None => None,
        };
        if self.has_failed {
            return None;
        }
        if self.is_in_order {
            self.search.forget_others(&light);
        }
        self.search.add(&light);
        if Rule::FinancialEquivalence.mark(&light) != Some(false) {
            return None;
        }
        // Without a dataset there is no record, and the golds of other turns are unknown.
        let turns = record.map_or(&[][..], |record| &record.turns);
        let golds: Vec<Gold> = turns.iter().map(|case| case.gold.clone()).collect();
        Some(self.search.explain(&light, &golds))
    }
}
