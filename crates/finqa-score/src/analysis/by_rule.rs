//! Compares two runs by one rule: their rates, the difference and its significance.

use std::collections::HashSet;

use serde::Serialize;

use crate::dataset::QuestionKey;
use crate::score::{LabelFloor, Row, Rule, floor};
use finqa_core::stats::{Interval, PairedDifference, PairedTest, Rate, clustered_mcnemar};

/// Minimum number of pages for an interval of the difference. A bootstrap over fewer pages gives an
/// interval that is much too narrow: for three pages with the same difference it excludes 0,
/// although p is 0.25. Ten is set by hand.
pub const ENOUGH_PAGES: usize = 10;

/// Two runs compared by one rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RuleComparison {
    pub rule: Rule,
    /// The number of pairs that the rule can judge: one for each question and epoch.
    pub n: usize,
    pub both: usize,
    pub only_a: usize,
    pub only_b: usize,
    pub neither: usize,
    /// The number of questions that the pairs are about.
    pub questions: usize,
    /// The number of report pages that these questions are on.
    pub pages: usize,
    /// True if there are at least [`ENOUGH_PAGES`].
    pub interval_is_reliable: bool,
    /// A's rate, from 0 to 1.
    pub rate_a: f64,
    /// 95 % interval, clustered by page.
    pub interval_a: Interval,
    /// B's rate, from 0 to 1.
    pub rate_b: f64,
    /// 95 % interval, clustered by page.
    pub interval_b: Interval,
    /// The best constant answer to the same questions. For numeric match only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<LabelFloor>,
    pub difference: f64,
    /// 95 % interval of the difference, by a bootstrap over pages.
    pub interval: Interval,
    /// Two-sided p of McNemar's exact test, clustered by page: the test exchanges all answers of a
    /// page together.
    pub p: f64,
    /// One-sided p: the probability of a lead of B at least as large by chance alone.
    pub p_better: f64,
    /// One-sided p: the probability of a lead of A at least as large by chance alone.
    pub p_worse: f64,
}

/// A pair that a rule can judge.
struct ScoredPair<'p> {
    page: &'p str,
    key: &'p QuestionKey,
    a: bool,
    b: bool,
}

impl RuleComparison {
    /// Compares A's and B's answers to each question; `None` if the rule can judge no pair.
    pub(super) fn of(rule: Rule, pairs: &[[&Row; 2]]) -> Option<Self> {
        // A run without any program does not answer with programs. Counting each missing program as
        // a failure would compare something that the run did not attempt.
        let has_programs = pairs.iter().any(|[a, _]| a.program().is_some())
            && pairs.iter().any(|[_, b]| b.program().is_some());
        if rule.judges_programs() && !has_programs {
            return None;
        }
        let marks: Vec<ScoredPair<'_>> = pairs
            .iter()
            .filter_map(|[a, b]| {
                Some(ScoredPair {
                    page: &a.filename,
                    key: &a.key,
                    a: rule.mark(a)?,
                    b: rule.mark(b)?,
                })
            })
            .collect();
        let difference = PairedDifference::of(marks.iter().map(|m| (m.page, m.a, m.b)))?;
        let rate_a = Rate::of(marks.iter().map(|m| (m.page, m.key, m.a)))?;
        let rate_b = Rate::of(marks.iter().map(|m| (m.page, m.key, m.b)))?;
        let count = |a, b| marks.iter().filter(|m| (m.a, m.b) == (a, b)).count();
        let questions: HashSet<&QuestionKey> = marks.iter().map(|mark| mark.key).collect();
        let pages: HashSet<&str> = marks.iter().map(|mark| mark.page).collect();
        let PairedTest { p, p_better } =
            clustered_mcnemar(marks.iter().map(|m| (m.page, m.a, m.b)));
        // `p_better` is one-sided, so exchange the runs for the other side.
        let exchanged = clustered_mcnemar(marks.iter().map(|m| (m.page, m.b, m.a)));
        let golds = pairs.iter().filter_map(|[a, _]| a.ground_truth());
        Some(Self {
            rule,
            n: marks.len(),
            both: count(true, true),
            only_a: count(true, false),
            only_b: count(false, true),
            neither: count(false, false),
            questions: questions.len(),
            pages: pages.len(),
            interval_is_reliable: pages.len() >= ENOUGH_PAGES,
            rate_a: rate_a.rate,
            interval_a: rate_a.interval(),
            rate_b: rate_b.rate,
            interval_b: rate_b.interval(),
            floor: (rule == Rule::NumericalMatch)
                .then(|| floor(golds))
                .flatten(),
            difference: rate_b.rate - rate_a.rate,
            interval: difference.interval(),
            p,
            p_better,
            p_worse: exchanged.p_better,
        })
    }
}
