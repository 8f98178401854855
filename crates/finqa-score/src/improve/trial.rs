//! Decides which candidates pass on the gate pages, and when the search ends.

use serde::Serialize;

use finqa_core::stats::{Interval, PairedDifference, clustered_mcnemar};

/// Maximum number of candidates. It is fixed before the first test, because each candidate is
/// tested at the level `LEVEL / CANDIDATES`. Set by hand: more candidates need more questions.
pub const CANDIDATES: usize = 3;
/// The probability that a candidate without effect is promoted, for all candidates together.
pub const LEVEL: f64 = 0.05;
/// The search ends after this many rejections in a row, which saves calls. Set by hand; ending early
/// can only lower the probability of a false promotion.
const PATIENCE: usize = 2;

/// The effect of a candidate: its answers compared with the answers of the unchanged prompts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// The number of pairs of answers.
    pub n: usize,
    /// The number of questions that were wrong with the unchanged prompts and are right with the
    /// candidate.
    pub gained: usize,
    /// The number of questions that were right with the unchanged prompts and are wrong with the
    /// candidate.
    pub lost: usize,
    /// The share of right answers, minus that of the unchanged prompts: from −1 to 1.
    pub difference: f64,
    /// 95 % interval, by a bootstrap over pages.
    pub interval: Interval,
    /// One-sided p of McNemar's test, clustered by page.
    pub p: f64,
}

impl Effect {
    /// The effect in these pairs of (page, right before, right now); `None` if there are no pairs.
    pub fn of(pairs: &[(&str, bool, bool)]) -> Option<Self> {
        let difference = PairedDifference::of(pairs.iter().copied())?;
        let count = |found| pairs.iter().filter(|(_, a, b)| (*a, *b) == found).count();
        Some(Self {
            n: pairs.len(),
            gained: count((false, true)),
            lost: count((true, false)),
            difference: difference.difference,
            interval: difference.interval(),
            p: Self::p_of(pairs),
        })
    }

    /// The one-sided p that the candidate is better, without the other figures of the effect.
    pub fn p_of(pairs: &[(&str, bool, bool)]) -> f64 {
        clustered_mcnemar(pairs.iter().copied()).p_better
    }
}

/// The candidates tested so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trial {
    tested: usize,
    rejected_in_a_row: usize,
    /// Number and p of the candidate with the smallest p among those that passed.
    best: Option<(usize, f64)>,
}

impl Trial {
    /// The number of the next candidate, from 1; `None` once the search is over.
    pub fn next(&self) -> Option<usize> {
        let is_over = self.tested == CANDIDATES || self.rejected_in_a_row == PATIENCE;
        (!is_over).then_some(self.tested + 1)
    }

    /// Records the p of the next candidate on the gate pages, and returns whether the candidate
    /// passes. For a candidate that was not run, `p` is 1.
    pub fn note(&mut self, p: f64) -> bool {
        self.tested += 1;
        let passes = p <= LEVEL / CANDIDATES as f64;
        self.rejected_in_a_row = if passes {
            0
        } else {
            self.rejected_in_a_row + 1
        };
        if passes && self.best.is_none_or(|(_, least)| p < least) {
            self.best = Some((self.tested, p));
        }
        passes
    }

    /// The number of the candidate with the smallest p of those that passed.
    pub fn promoted(&self) -> Option<usize> {
        self.best.map(|(number, _)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_ends_after_all_candidates_or_two_rejections_in_a_row() {
        for (given, tested, promoted) in [
            (&[0.3, 0.02, 0.001][..], 2, None),
            (&[0.3, 0.01, 0.9], 3, Some(2)),
            (&[0.016, 0.9, 0.001], 3, Some(3)),
            (&[0.001, 0.9, 0.002], 3, Some(1)),
            (&[0.016, 0.017, 1.0], 3, Some(1)),
        ] {
            let mut trial = Trial::default();
            while let Some(number) = trial.next() {
                trial.note(given[number - 1]);
            }
            assert_eq!(
                (trial.tested, trial.promoted()),
                (tested, promoted),
                "{given:?}"
            );
        }
    }
}
