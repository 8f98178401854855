//! The gain from each critic: how many answers it changed for better or worse, and the difference
//! in accuracy.

use std::collections::HashSet;

use serde::Serialize;

use finqa_core::stats::{Interval, PairedDifference};
use finqa_score::analysis::ENOUGH_PAGES;

/// The changes that one critic caused. Answers are right or wrong by financial equivalence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CriticWorth {
    pub critic: CriticKind,
    /// Answers that this critic sent back in any round, or replaced. If two critics send back
    /// answers of one question, in the same round or one after the other, the whole change from the
    /// first draft to the end of the last round counts for both, because only the answers before
    /// and after are known, not which objection changed them.
    pub changed: usize,
    /// `changed` answers that were wrong before and are right now.
    pub fixed: usize,
    /// `changed` answers that were right before and are wrong now.
    pub broken: usize,
    /// `changed` answers that are right or wrong as before.
    pub left: usize,
    /// Questions with gold and an answer to review.
    pub n: usize,
    /// (`fixed` − `broken`) / `n`, which is the gain in accuracy, from −1 to 1.
    pub gain: f64,
    /// 95 % interval of the gain, by a bootstrap over pages; absent where it would be much too
    /// narrow: below [`ENOUGH_PAGES`] pages, or if no answer was fixed or broken.
    pub interval: Option<Interval>,
}

/// A reviewer whose worth is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum CriticKind {
    /// The deterministic checks.
    Checks,
    /// The model that plays the critic.
    Model,
    /// The embedded analyst, whose answer replaces the model's (`--second-opinion arbitrate`).
    Opinion,
}

impl CriticKind {
    /// The name in files and in text for people.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One critic's effect on one question.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reviewed {
    page: u64,
    changed: bool,
    before: bool,
    after: bool,
}

/// Counts the effect of one critic question by question.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WorthTally(Vec<Reviewed>);

impl WorthTally {
    /// Counts a question. `changed` is true if this critic sent an answer back or replaced it.
    pub(super) fn add(&mut self, page: u64, changed: bool, before: bool, after: bool) {
        self.0.push(Reviewed {
            page,
            changed,
            before,
            after,
        });
    }

    /// The critic's gain; `None` without questions, or if it changed nothing, unless `is_paid`: the
    /// gain of a critic that costs money is of interest even then.
    pub(super) fn finish(&self, critic: CriticKind, is_paid: bool) -> Option<CriticWorth> {
        let changed = self.0.iter().filter(|it| it.changed);
        let count = |before, after| {
            let matching = changed
                .clone()
                .filter(|it| (it.before, it.after) == (before, after));
            matching.count()
        };
        let (fixed, broken) = (count(false, true), count(true, false));
        let changed = changed.clone().count();
        let pages: HashSet<u64> = self.0.iter().map(|it| it.page).collect();
        let names: Vec<String> = self.0.iter().map(|it| it.page.to_string()).collect();
        // A change that only other critics caused is not part of this critic's gain.
        let pairs = names.iter().zip(&self.0);
        let pairs = pairs.map(|(page, it)| {
            let after = if it.changed { it.after } else { it.before };
            (page.as_str(), it.before, after)
        });
        let difference = PairedDifference::of(pairs).filter(|_| changed > 0 || is_paid)?;
        let has_interval = pages.len() >= ENOUGH_PAGES && fixed + broken > 0;
        Some(CriticWorth {
            critic,
            changed,
            fixed,
            broken,
            left: changed - fixed - broken,
            n: self.0.len(),
            gain: difference.difference,
            interval: has_interval.then(|| difference.interval()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_critic_is_worth_what_it_fixes_less_what_it_breaks() {
        let mut tally = WorthTally::default();
        for page in 0..20 {
            // Two answers fixed, one broken, one left. The answer that another critic changed does
            // not count.
            let (changed, before, after) = match page {
                0 | 1 => (true, false, true),
                2 => (true, true, false),
                3 => (true, false, false),
                4 => (false, false, true),
                _ => (false, true, true),
            };
            tally.add(page, changed, before, after);
        }
        let worth = tally.finish(CriticKind::Checks, false).unwrap();
        let counts = (
            worth.changed, worth.fixed, worth.broken, worth.left, worth.n,
        );
        assert_eq!(counts, (4, 2, 1, 1, 20));
        assert!((worth.gain - 0.05).abs() < 1e-12);
        let interval = worth.interval.unwrap();
        assert!(interval.low < 0.0 && interval.high > 0.05);
        assert_eq!(WorthTally::default().finish(CriticKind::Model, true), None);
    }

    /// It had no worth, or one with the interval from 0 to 0.
    #[test]
    fn a_paid_critic_that_flips_nothing_is_worth_0_without_an_interval() {
        for changed in [false, true] {
            let mut tally = WorthTally::default();
            for page in 0..20 {
                tally.add(page, changed, page > 3, page > 3);
            }
            let worth = tally.finish(CriticKind::Model, true).unwrap();
            assert_eq!((worth.changed > 0, worth.n), (changed, 20));
            assert!(worth.gain.abs() < 1e-12 && worth.interval.is_none());
            let unpaid = tally.finish(CriticKind::Checks, false);
            assert_eq!(unpaid.is_some(), changed);
        }
    }
}
