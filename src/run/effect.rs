//! What the critic did: answers fixed, broken and left as they were, by
//! comparing each question's first draft with its answer. The first drafts
//! also give the critic-off score of the same run, for free.

use serde::Serialize;

use crate::agents::Answer;
use crate::score::Scores;

use super::row::Row;

/// Counts over the questions that have gold, by financial equivalence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CriticEffect {
    /// Questions sent back at least once.
    pub sent_back: usize,
    /// Wrong at first, right in the end.
    pub fixed: usize,
    /// Right at first, wrong in the end.
    pub broken: usize,
    /// Sent back, and right or wrong as before.
    pub unchanged: usize,
    /// Never sent back.
    pub unneeded: usize,
    /// First drafts that are right: what the run scores without a critic.
    pub first_draft_hits: usize,
    /// Questions with gold and a first draft.
    pub first_draft_n: usize,
}

impl CriticEffect {
    /// Counts a row.
    pub fn add(&mut self, row: &Row) {
        let Some(first) = row.settled.rounds.first() else {
            return;
        };
        let revised = row.settled.rounds.len() > 1;
        self.sent_back += usize::from(revised);
        let (Some(before), Some(after)) = (row.right_with(&first.answer), right(&row.scores))
        else {
            return;
        };
        self.first_draft_n += 1;
        self.first_draft_hits += usize::from(before);
        match (revised, before, after) {
            (false, _, _) => self.unneeded += 1,
            (true, false, true) => self.fixed += 1,
            (true, true, false) => self.broken += 1,
            (true, _, _) => self.unchanged += 1,
        }
    }
}

fn right(scores: &Scores) -> Option<bool> {
    scores
        .financial_equivalence
        .as_ref()
        .map(|verdict| verdict.accepted)
}

impl Row {
    /// Whether another answer would have been right, by financial equivalence;
    /// `None` without gold.
    #[must_use]
    pub fn right_with(&self, answer: &Answer) -> Option<bool> {
        let mut other = self.clone();
        other.settled.answer = Some(answer.clone());
        other.settled.outcome = crate::dataset::Outcome::Answered;
        right(&crate::score::score(&other.as_scored().item))
    }
}
