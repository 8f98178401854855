//! Compares several passes (epochs) over the same questions: how many are right in at least one
//! pass, how many are right in every pass, and how many get the same answer in each pass.

use std::collections::HashMap;

use serde::Serialize;

use super::floor::{LabelFloor, floor_of};
use super::row::Row;
use super::rule::Rule;
use super::tally::{QuestionTally, ScoreTally};
use finqa_core::stats::{MeanShare, Rate};

/// pass@k and pass^k are reported for every k up to this one, and for the number of passes. Set by
/// hand: with more passes, the lists would be long.
const EVERY_K: usize = 8;

/// The comparison of several passes by one rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EpochCard {
    pub rule: &'static str,
    /// The number of passes.
    pub k: usize,
    /// The number of questions that were asked in every pass and have gold.
    pub n: usize,
    /// The rate over all passes of these questions.
    pub mean: Rate,
    /// pass@k: the rate of questions that are right in at least one pass.
    pub pass_at_k: Rate,
    /// pass^k: the rate of questions that are right in every pass.
    pub pass_hat_k: Rate,
    /// pass@k and pass^k for other numbers of passes, estimated from all passes.
    pub by_k: Vec<PassRates>,
    /// The number of questions whose answer differs between passes, right or wrong.
    pub varying: usize,
    /// The number of questions that are wrong in every pass.
    pub systematic: usize,
    /// The number of questions that are wrong in some passes and right in others.
    pub flaky: usize,
    /// The best constant answer to these questions; only for numeric match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<LabelFloor>,
}

/// The expected result of `k` passes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PassRates {
    pub k: usize,
    /// The probability that at least one of `k` passes is right.
    pub pass_at_k: MeanShare,
    /// The probability that all of `k` passes are right.
    pub pass_hat_k: MeanShare,
}

impl EpochCard {
    /// Compares the passes over the questions of these rows, once by numeric match and once by
    /// financial equivalence. Empty if no question was asked more than once.
    pub(crate) fn of_rows<'r>(rows: impl Iterator<Item = &'r Row>) -> Vec<Self> {
        let mut tally = ScoreTally::default();
        rows.for_each(|row| tally.add(row));
        tally.finish().1
    }

    /// The comparison by a rule; `None` if no question was asked more than once.
    pub(super) fn of(rule: Rule, questions: &HashMap<u64, QuestionTally>) -> Option<Self> {
        let asked = questions.values();
        let asked = asked.map(|question| (question, question.all.of(rule)));
        let k = asked.clone().map(|(_, (_, n))| n).max()?;
        (k > 1).then_some(())?;
        // Leave out questions that an interrupted run asked in fewer passes.
        let whole = asked.filter(|(_, (_, n))| *n == k);
        let rate = |right: fn(usize, usize) -> bool| {
            let marks = whole.clone();
            let marks = marks.map(|(question, (hits, k))| (question.page, right(hits, k)));
            Rate::of_questions(marks.map(|(page, right)| (page, usize::from(right), 1)))
        };
        let count = |is: &dyn Fn(&QuestionTally, usize) -> bool| {
            let found = whole.clone();
            let found = found.filter(|(question, (hits, _))| is(question, *hits));
            found.count()
        };
        let mean = |share: &dyn Fn(usize) -> f64| {
            let shares = whole.clone();
            MeanShare::of(shares.map(|(question, (hits, _))| (question.page, share(hits))))
        };
        let ks = (1..=k.min(EVERY_K)).chain((k > EVERY_K).then_some(k));
        let by_k = ks.filter_map(|drawn| {
            Some(PassRates {
                k: drawn,
                pass_at_k: mean(&|hits| 1.0 - all_of(k - hits, k, drawn))?,
                pass_hat_k: mean(&|hits| all_of(hits, k, drawn))?,
            })
        });
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
            by_k: by_k.collect(),
            varying: count(&|question, _| question.varies),
            systematic: count(&|_, hits| hits == 0),
            flaky: count(&|_, hits| 0 < hits && hits < k),
            floor: floor_of(golds.map(|gold| (gold, 1))).filter(|_| rule == Rule::NumericalMatch),
        })
    }
}

/// The probability that `drawn` passes, drawn from `k` passes with `hits` right ones, are all
/// right: C(hits, drawn) / C(k, drawn). This makes the estimates of pass@k and pass^k unbiased
/// (Chen et al., arXiv 2107.03374; Yao et al., arXiv 2406.12045).
fn all_of(hits: usize, k: usize, drawn: usize) -> f64 {
    let left = |of: usize, taken: usize| of.saturating_sub(taken) as f64;
    (0..drawn)
        .map(|taken| left(hits, taken) / left(k, taken))
        .product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_draws_is_that_of_all_subsets() {
        for (hits, k, drawn, expected) in [
            (3, 5, 1, 0.6),
            (3, 5, 2, 0.3),
            (3, 5, 3, 0.1),
            (3, 5, 4, 0.0),
            (5, 5, 5, 1.0),
            (0, 5, 1, 0.0),
            (500, 1_000, 2, 0.249_749_75),
        ] {
            let found = all_of(hits, k, drawn);
            assert!(
                (found - expected).abs() < 1e-8,
                "{hits} {k} {drawn}: {found}"
            );
        }
    }
}
