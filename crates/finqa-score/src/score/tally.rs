//! Counts a run's rows one by one for the scorecards. It keeps only counts for each question and
//! each unfinished conversation, because a run may have more rows than fit into memory.

use std::collections::HashMap;

use strum::VariantArray;

use crate::dataset::Outcome;

use super::conversation::ConversationTally;
use super::diagnostic::Diagnostic;
use super::matching::FeReason;
use super::printed::contradicts_itself;
use super::row::Row;
use super::rule::Rule;
use super::rules::numeric_value;
use super::suspects::suspect;

/// The counts of a run's rows.
#[derive(Debug)]
pub struct ScoreTally {
    pub(super) questions: HashMap<u64, QuestionTally>,
    pub(super) rows: usize,
    /// For each rule, the number of rows without the gold that it needs.
    pub(super) unscored: [usize; Rule::VARIANTS.len()],
    pub(super) outcomes: [usize; Outcome::VARIANTS.len()],
    pub(super) reasons: [usize; FeReason::VARIANTS.len()],
    pub(super) diagnostics: [usize; Diagnostic::VARIANTS.len()],
    pub(super) conversations: [ConversationTally; 2],
    /// The latency of every row, because exact percentiles need all of them. No other figure is
    /// kept for each row.
    pub(super) latencies: Vec<f64>,
}

/// The counts of a question's rows, one row for each epoch.
#[derive(Debug)]
pub(super) struct QuestionTally {
    pub(super) page: u64,
    pub(super) is_suspect: bool,
    /// The number that numeric match reads from the gold.
    pub(super) gold: Option<f64>,
    pub(super) all: AnswerCounts,
    /// A hash of the first answer.
    answer: u64,
    /// True if a later epoch gave a different answer.
    pub(super) varies: bool,
    /// The counts of only those rows that have an answer.
    pub(super) answered: AnswerCounts,
}

/// Counts over some rows of a question.
#[derive(Debug, Default)]
pub(super) struct AnswerCounts {
    pub(super) rows: u32,
    pub(super) with_gold: u32,
    pub(super) has_program: bool,
    /// The number of rows that the rule accepts, and of rows that it can judge, for each rule.
    by_rule: [(u32, u32); Rule::VARIANTS.len()],
}

impl AnswerCounts {
    /// The number of rows that the rule accepts, and of rows that it can judge.
    pub(super) fn of(&self, rule: Rule) -> (usize, usize) {
        let (hits, n) = self.by_rule.get(rule as usize).copied().unwrap_or_default();
        (hits as usize, n as usize)
    }

    fn add(&mut self, row: &Row, has_gold: bool) {
        self.rows += 1;
        self.with_gold += u32::from(has_gold);
        self.has_program |= row.program().is_some();
        for (rule, (hits, n)) in Rule::VARIANTS.iter().zip(&mut self.by_rule) {
            if let Some(right) = rule.mark(row) {
                *hits += u32::from(right);
                *n += 1;
            }
        }
    }
}

impl Default for ScoreTally {
    fn default() -> Self {
        Self {
            questions: HashMap::new(),
            rows: 0,
            unscored: Default::default(),
            outcomes: Default::default(),
            reasons: Default::default(),
            diagnostics: Default::default(),
            conversations: [Rule::FinancialEquivalence, Rule::ExecutionAccuracy]
                .map(ConversationTally::new),
            latencies: Vec::new(),
        }
    }
}

impl ScoreTally {
    pub fn add(&mut self, row: &Row) {
        let (page, question) = row.group();
        let gold = row.ground_truth().map(|gold| numeric_value(&gold));
        let tally = self.questions.entry(question);
        let tally = tally.or_insert_with(|| QuestionTally {
            page,
            is_suspect: suspect(&row.key).is_some()
                || contradicts_itself(&row.gold, &row.question, row.table()),
            gold: None,
            all: AnswerCounts::default(),
            answer: row.answer_hash(),
            varies: false,
            answered: AnswerCounts::default(),
        });
        tally.gold = tally.gold.or(gold);
        tally.varies |= tally.answer != row.answer_hash();
        tally.all.add(row, gold.is_some());
        if row.outcome() == Outcome::Answered {
            tally.answered.add(row, gold.is_some());
        }
        self.rows += 1;
        count(Rule::VARIANTS, &mut self.unscored, |rule| {
            rule.lacks_gold(row)
        });
        count(Outcome::VARIANTS, &mut self.outcomes, |it| {
            *it == row.outcome()
        });
        if let Some(verdict) = &row.scores.financial_equivalence {
            let found = &verdict.diagnostics;
            count(FeReason::VARIANTS, &mut self.reasons, |reason| {
                verdict.reason == Some(*reason)
            });
            count(Diagnostic::VARIANTS, &mut self.diagnostics, |it| {
                found.contains(it)
            });
        }
        self.latencies.extend(row.latency);
        for conversations in &mut self.conversations {
            conversations.add(row);
        }
    }
}

fn count<T>(all: &[T], counts: &mut [usize], is: impl Fn(&T) -> bool) {
    for (item, count) in all.iter().zip(counts) {
        *count += usize::from(is(item));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::files::{read_predictions, rescore};

    #[test]
    fn a_question_that_is_asked_again_adds_nothing_but_its_latency() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let lines = [
            r#"{"id": "a", "part": "0", "gold": "1", "prediction": "1", "latency": 0.5}"#,
            r#"{"id": "a", "part": "1", "gold": "1", "prediction": "7", "latency": 0.5}"#,
        ];
        std::fs::write(file.path(), lines.join("\n")).unwrap();
        let rows = rescore(read_predictions(file.path()).unwrap(), None).unwrap();
        let mut tally = ScoreTally::default();
        for epoch in 0..50 {
            for row in &rows {
                tally.add(&Row {
                    epoch,
                    turns: Some(2),
                    cells: None,
                    ..row.clone()
                });
            }
        }
        assert_eq!((tally.questions.len(), tally.latencies.len()), (2, 100));
        assert_eq!(
            tally.conversations.each_ref().map(ConversationTally::open),
            [0, 0]
        );
        let (card, _) = tally.finish();
        let [conversations, _] = &card.conversations[..] else {
            panic!("{card}");
        };
        assert_eq!((card.questions, conversations.conversations), (100, 50));
        let counts = |rate: Option<finqa_core::stats::Rate>| rate.map(|it| (it.hits, it.n));
        assert_eq!(counts(conversations.whole), Some((0, 50)));
        assert_eq!(counts(conversations.right_after_right), Some((0, 50)));
        assert_eq!(conversations.errors_after_an_error, 0);
    }
}
