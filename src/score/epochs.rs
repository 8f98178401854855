//! Several passes over the same questions: how often each is right at all, and
//! how often every time.

use std::collections::HashMap;

use serde::Serialize;

use super::floor::{LabelFloor, floor_of};
use super::rule::Rule;
use super::tally::QuestionTally;
use finqa_core::stats::Rate;

/// Passes compared, by one rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EpochCard {
    pub rule: &'static str,
    /// Passes over every question.
    pub k: usize,
    /// Questions that were asked in every pass and have gold.
    pub n: usize,
    /// The rate over all passes of these questions.
    pub mean: Rate,
    /// pass@k: right in at least one pass.
    pub pass_at_k: Rate,
    /// pass^k: right in every pass.
    pub pass_hat_k: Rate,
    /// The best constant answer to these questions, by numeric match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<LabelFloor>,
}

impl EpochCard {
    /// The card by a rule; `None` unless some question was asked more than once.
    pub(super) fn of(rule: Rule, questions: &HashMap<u64, QuestionTally>) -> Option<Self> {
        let asked = questions.values();
        let asked = asked.map(|question| (question, question.all.of(rule)));
        let k = asked.clone().map(|(_, (_, n))| n).max()?;
        (k > 1).then_some(())?;
        // An interrupted run has asked some questions less often.
        let whole = asked.filter(|(_, (_, n))| *n == k);
        let rate = |right: fn(usize, usize) -> bool| {
            let marks = whole.clone();
            let marks = marks.map(|(question, (hits, k))| (question.page, right(hits, k)));
            Rate::of_questions(marks.map(|(page, right)| (page, usize::from(right), 1)))
        };
        let all = whole.clone();
        let all = all.map(|(question, (hits, n))| (question.page, hits, n));
        let golds = whole.clone().filter_map(|(question, _)| question.gold);
        Some(Self {
            rule: rule.name(),
            k,
            n: whole.clone().count(),
            mean: Rate::of_questions(all)?,
            pass_at_k: rate(|hits, _| hits > 0)?,
            pass_hat_k: rate(|hits, k| hits == k)?,
            floor: floor_of(golds.map(|gold| (gold, 1))).filter(|_| rule == Rule::NumericalMatch),
        })
    }
}
