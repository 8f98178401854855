//! What statistics keep of a row: a few numbers, because a run may have more questions than
//! memory has space for rows.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::dataset::{Outcome, RecordKind};

use super::card::Rule;
use super::diagnostic::Diagnostic;
use super::equivalence::FeReason;
use super::row::{Effort, Row};
use super::rules::numeric_value;
use super::suspects::suspect;

/// A row as statistics see it.
#[derive(Debug)]
pub(crate) struct RowMarks {
    /// The names of page, record and question, by which marks are grouped, as hashes.
    pub(super) page: u64,
    pub(super) record: u64,
    pub(super) question: u64,
    pub(super) epoch: u32,
    pub(super) turn: Option<usize>,
    /// Turns of its conversation.
    pub(super) turns: Option<usize>,
    pub(super) kind: Option<RecordKind>,
    pub(super) effort: Option<Effort>,
    pub(super) outcome: Outcome,
    pub(super) has_program: bool,
    pub(super) is_suspect: bool,
    marks: [Option<bool>; Rule::ALL.len()],
    pub(super) reason: Option<FeReason>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) latency: Option<f64>,
    /// What NM reads of the gold.
    pub(super) gold: Option<f64>,
}

impl RowMarks {
    pub(crate) fn of(row: &Row) -> Self {
        let verdict = row.scores.financial_equivalence.as_ref();
        let (page, question) = row.group();
        Self {
            page,
            record: name_hash(&row.key.id),
            question,
            epoch: row.epoch,
            turn: row.turn(),
            turns: row.turns,
            kind: row.kind,
            effort: Effort::of(&row.gold),
            outcome: row.outcome(),
            has_program: row.program().is_some(),
            is_suspect: suspect(&row.key).is_some(),
            marks: Rule::ALL.map(|rule| rule.mark(row)),
            reason: verdict.and_then(|verdict| verdict.reason),
            diagnostics: verdict.map_or_else(Vec::new, |verdict| verdict.diagnostics.clone()),
            latency: row.latency,
            gold: row.ground_truth().map(|gold| numeric_value(&gold)),
        }
    }

    /// What the rule says of the row; `None` where its gold is missing.
    pub(super) fn mark(&self, rule: Rule) -> Option<bool> {
        self.marks.get(rule as usize).copied().flatten()
    }

    /// What a rate by the rule is made of.
    pub(super) fn grouped(&self, rule: Rule) -> Option<(u64, u64, bool)> {
        Some((self.page, self.question, self.mark(rule)?))
    }
}

impl Row {
    /// Its page, the cluster for statistics, and its question, as hashes of their names.
    pub(crate) fn group(&self) -> (u64, u64) {
        (name_hash(&self.filename), name_hash(&self.key))
    }
}

/// Two names of a run with the same hash are less likely than a disk error.
pub(crate) fn name_hash(name: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}
