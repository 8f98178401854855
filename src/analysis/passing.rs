//! The causes of a run's misses while its rows pass in their order, one in memory at a time.

use crate::dataset::{Dataset, Gold};
use crate::run::RunKind;
use crate::score::{Row, Rule};

use super::answers::RecordsById;
use super::misses::{Miss, Searcher};

/// Finds the cause of each miss, as `analyze` does with all rows in memory.
pub struct PassingRows<'d> {
    records: Option<RecordsById<'d>>,
    search: Searcher,
    /// Whether the rows about a record follow each other: episodes are in the order in which
    /// they were dealt.
    is_in_order: bool,
    /// Whether the dataset lacks a question, so that it is not that of the run.
    has_failed: bool,
}

impl<'d> PassingRows<'d> {
    pub fn new(kind: RunKind, dataset: Option<&'d Dataset>) -> Self {
        Self {
            records: dataset.map(RecordsById::of),
            search: Searcher::default(),
            is_in_order: kind == RunKind::Questions,
            has_failed: false,
        }
    }

    /// Takes note of a row, and says why it is wrong by financial equivalence, if it is.
    pub fn miss(&mut self, row: &mut Row) -> Option<Miss> {
        // Rounds and calls explain nothing, and are most of a row.
        let rounds = std::mem::take(&mut row.solution.rounds);
        let calls = std::mem::take(&mut row.solution.calls);
        let mut light = row.clone();
        (row.solution.rounds, row.solution.calls) = (rounds, calls);
        let record = match &self.records {
            Some(records) => {
                let record = records.score(&mut light);
                self.has_failed |= record.is_none();
                record
            }
            None => None,
        };
        if self.has_failed {
            return None;
        }
        if self.is_in_order {
            self.search.forget_others(&light);
        }
        self.search.note(&light);
        if Rule::FinancialEquivalence.mark(&light) != Some(false) {
            return None;
        }
        let turns = record.map_or(&[][..], |record| &record.turns);
        let golds: Vec<Gold> = turns.iter().map(|case| case.gold.clone()).collect();
        Some(self.search.miss(&light, &golds))
    }
}
