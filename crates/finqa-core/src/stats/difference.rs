//! Estimates the difference between two rates over the same questions, and the number of questions
//! needed to show it.

use std::collections::BTreeMap;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::{Interval, percentile};

/// The number of bootstrap draws, set by hand. More draws take longer, with less random error.
const DRAWS: usize = 10_000;
/// The seed is fixed, so that the same two runs always have the same interval.
const SEED: u64 = 0x00C0_4F14;
/// The power of a test with the stated number of questions: the probability that it shows the
/// difference. Set by hand.
const POWER: f64 = 0.8;

/// B's rate minus A's rate over the same questions, with a cluster bootstrap that draws whole
/// clusters with replacement, 10,000 times.
#[derive(Clone, Debug)]
pub struct PairedDifference {
    /// B's rate minus A's rate, from −1 to 1.
    pub difference: f64,
    /// The share of pairs in which only one of the two is right.
    pub discordance: f64,
    /// The difference in each draw, in ascending order.
    draws: Vec<f64>,
    clusters: usize,
    n: f64,
    /// The variance of the difference, estimated from the clusters.
    variance: f64,
}

impl PairedDifference {
    /// Computes the difference from items of (cluster, right in A, right in B). `None` if there are
    /// no items.
    pub fn of<'c>(pairs: impl IntoIterator<Item = (&'c str, bool, bool)>) -> Option<Self> {
        // A sorted map, so that the draws do not depend on the order of the rows.
        let mut clusters: BTreeMap<&str, (i32, u32)> = BTreeMap::new();
        let mut flips = 0_u32;
        for (cluster, a, b) in pairs {
            let entry = clusters.entry(cluster).or_default();
            entry.0 += i32::from(b) - i32::from(a);
            entry.1 += 1;
            flips += u32::from(a != b);
        }
        let clusters: Vec<(f64, f64)> = clusters
            .into_values()
            .map(|(net, size)| (f64::from(net), f64::from(size)))
            .collect();
        if clusters.is_empty() {
            return None;
        }
        let n: f64 = clusters.iter().map(|(_, size)| size).sum();
        let difference = clusters.iter().map(|(net, _)| net).sum::<f64>() / n;
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let mut draws: Vec<f64> = (0..DRAWS)
            .map(|_| {
                let (mut gain, mut n) = (0.0, 0.0);
                for _ in 0..clusters.len() {
                    let cluster = clusters.get(random.random_range(0..clusters.len()));
                    let (net, size) = cluster.copied().unwrap_or_default();
                    gain += net;
                    n += size;
                }
                gain / n
            })
            .collect();
        draws.sort_by(f64::total_cmp);
        let squares = clusters
            .iter()
            .map(|(net, size)| (net - difference * size).powi(2));
        // A single cluster is divided by 1 instead of 0.
        let groups = clusters.len() as f64;
        Some(Self {
            difference,
            discordance: f64::from(flips) / n,
            draws,
            clusters: clusters.len(),
            n,
            variance: groups / (groups - 1.0).max(1.0) * squares.sum::<f64>() / (n * n),
        })
    }

    /// The 95 % interval.
    pub fn interval(&self) -> Interval {
        Interval {
            low: percentile(&self.draws, 0.025),
            high: percentile(&self.draws, 0.975),
        }
    }

    /// The one-sided bounds at `level`, such as 0.05 for 95 % confidence in each bound. A bootstrap
    /// draws only clusters that it has seen, so if no answer differs, its bounds would both be 0.
    /// If a kind of cluster makes up more than 1 − level^(1/clusters) of all clusters, at least one
    /// would have been seen with a probability above 1 − `level`. So each bound is at least this
    /// share away from the difference.
    pub fn bounds(&self, level: f64) -> Interval {
        let unseen = 1.0 - level.powf(1.0 / self.clusters as f64);
        let [low, high] = [level, 1.0 - level].map(|at| percentile(&self.draws, at));
        Interval {
            low: low.min(self.difference - unseen).max(-1.0),
            high: high.max(self.difference + unseen).min(1.0),
        }
    }

    /// The number of pairs that carry as much information as one pair that is alone in its cluster;
    /// at least 1.
    pub fn design_effect(&self) -> f64 {
        let alone = self.discordance - self.difference * self.difference;
        if alone > 0.0 {
            (self.variance * self.n / alone).max(1.0)
        } else {
            1.0
        }
    }

    /// The factor by which the number of questions must grow so that a one-sided bound at `level`
    /// is within `gap` of the difference, with 80 % power.
    pub fn times_needed(&self, gap: f64, level: f64) -> f64 {
        let unseen = level.ln() / (1.0 - gap.min(1.0)).ln() / self.clusters as f64;
        needed(self.variance, gap, level).max(unseen)
    }
}

/// The number of independent questions with which a one-sided test at `level` shows a difference of
/// `gap` (0 to 1) with 80 % power. `discordance` is the share of questions that only one of the two
/// answers correctly. If pages have several questions, multiply the result by the design effect.
pub fn questions_to_detect(gap: f64, discordance: f64, level: f64) -> f64 {
    needed((discordance - gap * gap).max(0.0), gap, level)
}

/// `variance` (of one unit) divided by the largest variance for which a test shows `gap`.
fn needed(variance: f64, gap: f64, level: f64) -> f64 {
    let errors = normal_quantile(1.0 - level) + normal_quantile(POWER);
    variance * (errors / gap).powi(2)
}

/// The `p` quantile (0 < p < 1) of the normal distribution, to 0.0005: Abramowitz and Stegun,
/// Handbook of Mathematical Functions, 26.2.23.
fn normal_quantile(p: f64) -> f64 {
    let t = (-2.0 * p.min(1.0 - p).ln()).sqrt();
    let over = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let under = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    (t - over / under).copysign(p - 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `n` questions, each on its own page. The first `up` questions are right only in B, the next
    /// `down` only in A.
    fn difference(n: usize, up: usize, down: usize) -> PairedDifference {
        let names: Vec<String> = (0..n).map(|at| at.to_string()).collect();
        let pairs = names.iter().enumerate().map(|(at, name)| {
            let gained = at < up;
            (name.as_str(), !gained, gained || at >= up + down)
        });
        PairedDifference::of(pairs).unwrap()
    }

    #[test]
    fn the_bootstrap_is_reproducible_and_brackets_the_difference() {
        let names: Vec<String> = (0..40).map(|i| i.to_string()).collect();
        let of = || {
            let pairs = (0..200).map(|i| (names[i % 40].as_str(), i % 3 == 0, i % 2 == 0));
            PairedDifference::of(pairs).unwrap()
        };
        let interval = of().interval();
        assert_eq!(interval, of().interval());
        let difference = 100.0 / 200.0 - 67.0 / 200.0;
        assert!((of().difference - difference).abs() < 1e-12);
        assert!(interval.low < difference && difference < interval.high);
        assert!(PairedDifference::of([]).is_none());
        let same = [("a", true, true), ("b", false, false)];
        let same = PairedDifference::of(same).unwrap().interval();
        assert_eq!((same.low, same.high), (0.0, 0.0));
    }

    #[test]
    fn one_sided_bounds_are_those_of_the_normal_distribution_for_many_pages() {
        // Of 1,000 questions, 10 % go up and 5 % down: the standard error is 1.2145 points.
        let bounds = difference(1_000, 100, 50).bounds(0.05);
        assert!(
            (bounds.low - (0.05 - 1.645 * 0.012_145)).abs() < 1e-3,
            "{bounds:?}"
        );
        assert!(
            (bounds.high - (0.05 + 1.645 * 0.012_145)).abs() < 1e-3,
            "{bounds:?}"
        );
    }

    #[test]
    fn pairs_of_one_page_that_flip_together_count_once() {
        let apart = difference(1_000, 100, 50);
        assert!((apart.discordance - 0.15).abs() < 1e-12);
        assert!((apart.design_effect() - 1.0).abs() < 2e-3);
        let names: Vec<String> = (0..500).map(|at| at.to_string()).collect();
        let flips = |at: usize| (at % 20 == 1, at % 20 < 2 && at % 20 != 1);
        let together = (0..1_000).map(|at| {
            let (a, b) = flips(at / 2);
            (names[at / 2].as_str(), a, b)
        });
        let together = PairedDifference::of(together).unwrap();
        assert!((together.discordance - 0.1).abs() < 1e-12);
        assert!((together.design_effect() - 2.0).abs() < 1e-2);
    }

    /// If no answer differs, every draw of the bootstrap is 0, even with few pages.
    #[test]
    fn few_pages_without_a_flip_bound_nothing() {
        for (n, low) in [(3, -0.6316), (60, -0.0487), (1_000, -0.003)] {
            let found = difference(n, 0, 0).bounds(0.05);
            assert!((found.low - low).abs() < 1e-4, "{n}: {found:?}");
            assert_eq!(found.high, -found.low);
        }
        assert!(difference(5, 5, 0).bounds(0.05).low < 0.6);
        assert!((60.0 * difference(60, 0, 0).times_needed(0.01, 0.05) - 298.1).abs() < 0.1);
    }

    #[test]
    fn needed_questions_are_those_of_the_textbook() {
        // (1.645 + 0.8416)² × discordance / gap².
        assert!((questions_to_detect(0.01, 0.1, 0.05) - 6_176.0).abs() < 15.0);
        assert!((questions_to_detect(0.05, 0.15, 0.05 / 3.0) - 520.3).abs() < 1.5);
        let found = difference(1_000, 100, 50);
        assert!((1_000.0 * found.times_needed(0.05, 0.05) - 365.0).abs() < 2.0);
    }
}
