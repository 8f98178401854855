//! The verdict of a comparison: whether one run is better, and how many questions would show it.

use serde::Serialize;

use crate::score::Rule;
use finqa_core::stats::{Interval, PairedDifference};

use super::by_rule::RuleComparison;

/// Significance level of a verdict, two-sided. Set by hand: a smaller one shows fewer differences.
const LEVEL: f64 = 0.05;

/// Minimum number of pairs that only one side answers right, for saying how many questions would
/// show a difference. With fewer, that number is chance: one pair of 15 gives 130 questions, where
/// 124 questions of the same two models give 1,100. Set by hand.
const ENOUGH_FLIPS: usize = 5;

/// The result of a comparison by one rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    pub rule: Rule,
    pub shown: Shown,
    /// B − A, from −1 to 1.
    pub difference: f64,
    /// 95 % interval of the difference; absent if there are too few pages for one.
    pub interval: Option<Interval>,
    /// The two-sided p of McNemar's test, clustered by page.
    pub p: f64,
    /// The number of pairs that the rule can judge.
    pub n: usize,
    /// The number of pairs that only one side answers right.
    pub flips: usize,
    /// The largest difference, from 0 to 1, that pairs without a flip leave possible with 95 %
    /// confidence; absent if there is a flip.
    pub possible: Option<f64>,
    /// The number of questions, those of the pairs included, that would show a difference of this
    /// size with 80 % power. Absent if the difference is already shown or is 0, or if there are
    /// fewer than five flips.
    pub questions_needed: Option<usize>,
}

/// Whether one of two runs is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// B is better than A.
    Better,
    /// B is worse than A.
    Worse,
    /// The difference may be chance.
    Nothing,
}

impl Verdict {
    /// A difference is shown if p is below 0.05 and the interval excludes 0. With too few pages for
    /// an interval, p alone decides.
    pub(super) fn of(line: &RuleComparison, difference: &PairedDifference) -> Self {
        let interval = line.interval_is_reliable.then_some(line.interval);
        let excludes_zero = interval.is_none_or(|it| it.low > 0.0 || it.high < 0.0);
        let is_shown = line.p < LEVEL && excludes_zero;
        let shown = if !is_shown {
            Shown::Nothing
        } else if line.difference > 0.0 {
            Shown::Better
        } else {
            Shown::Worse
        };
        let gap = line.difference.abs();
        let flips = line.only_a + line.only_b;
        // The rule of three: of `n` independent cases, none is met with a probability of 5 % if its
        // rate is 3 / n. Answers on one page are not independent, so pages are counted.
        let possible = (flips == 0).then(|| (3.0 / line.pages as f64).min(1.0));
        let is_estimated = shown == Shown::Nothing && gap > 0.0 && flips >= ENOUGH_FLIPS;
        let needed = || {
            // `times_needed` takes a one-sided level.
            let times = difference.times_needed(gap, LEVEL / 2.0);
            // A number that is not above the current one would contradict the verdict that nothing
            // is shown.
            two_digits((times * line.questions as f64).max(line.questions as f64 + 1.0))
        };
        Self {
            rule: line.rule,
            shown,
            difference: line.difference,
            interval,
            p: line.p,
            n: line.n,
            flips,
            possible,
            questions_needed: is_estimated.then(needed),
        }
    }
}

/// Rounds an estimated count up to two significant digits, because more would make it look exact.
pub fn two_digits(count: f64) -> usize {
    // At least 1, because a count has no decimals.
    let unit = 10_f64.powf(count.max(10.0).log10().floor() - 1.0);
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of questions; a float that is too large saturates"
    )]
    let rounded = ((count / unit).ceil() * unit) as usize;
    rounded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_rounded_up_to_two_digits() {
        for (count, rounded) in [(7.2, 8), (99.0, 99), (124.1, 130), (1_913.0, 2_000)] {
            assert_eq!(two_digits(count), rounded, "{count}");
        }
    }
}
