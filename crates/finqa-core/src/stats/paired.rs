//! Two runs over the same questions.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Draws of the bootstrap.
const DRAWS: usize = 10_000;
/// Fixed, so that the same two runs always give the same interval.
const SEED: u64 = 0x00C0_4F14;

/// A 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The 2.5 % quantile.
    pub low: f64,
    /// The 97.5 % quantile.
    pub high: f64,
}

/// The interval of the difference of two rates over the same questions, B
/// minus A, by a cluster bootstrap: clusters are drawn with replacement, 10,000
/// times, from a fixed seed. Each item is (cluster, right in A, right in B).
/// `None` without questions.
#[must_use]
pub fn bootstrap_difference<'c>(
    pairs: impl IntoIterator<Item = (&'c str, bool, bool)>,
) -> Option<Interval> {
    // In the order of names, so that the order of the rows does not matter.
    let mut clusters: BTreeMap<&str, (i32, u32)> = BTreeMap::new();
    for (cluster, a, b) in pairs {
        let entry = clusters.entry(cluster).or_default();
        entry.0 += i32::from(b) - i32::from(a);
        entry.1 += 1;
    }
    let clusters: Vec<(i32, u32)> = clusters.into_values().collect();
    if clusters.is_empty() {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut differences: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let (mut gain, mut n) = (0.0, 0.0);
            for _ in 0..clusters.len() {
                let drawn = clusters.get(random.random_range(0..clusters.len()));
                let (difference, size) = drawn.copied().unwrap_or_default();
                gain += f64::from(difference);
                n += f64::from(size);
            }
            gain / n
        })
        .collect();
    differences.sort_by(f64::total_cmp);
    Some(Interval {
        low: super::percentile(&differences, 0.025),
        high: super::percentile(&differences, 0.975),
    })
}

/// McNemar's exact two-sided p for `only_a` questions that only A gets right
/// and `only_b` that only B does: under no difference each flip is a fair coin.
#[must_use]
pub fn mcnemar(only_a: u64, only_b: u64) -> f64 {
    let n = only_a + only_b;
    // Terms C(n, k) / 2^n in logarithms: 2^n overflows from 1,024 flips.
    #[allow(clippy::cast_precision_loss, reason = "counts of questions")]
    let real = |k: u64| k as f64;
    let mut log_term = -real(n) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    for k in 0..=only_a.min(only_b) {
        tail += log_term.exp();
        log_term += (real(n - k) / real(k + 1)).ln();
    }
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{Binomial, DiscreteCDF};

    #[test]
    fn mcnemar_agrees_with_the_binomial_distribution() {
        for (a, b) in [(0, 5), (3, 9), (10, 10), (1, 40), (400, 460), (900, 1100)] {
            let binomial = Binomial::new(0.5, a + b).unwrap();
            let expected = (2.0 * binomial.cdf(a.min(b))).min(1.0);
            assert!((mcnemar(a, b) - expected).abs() < 1e-9, "{a} {b}");
        }
        assert_eq!(mcnemar(0, 0), 1.0);
    }

    #[test]
    fn the_bootstrap_is_reproducible_and_brackets_the_difference() {
        let names: Vec<String> = (0..40).map(|i| i.to_string()).collect();
        let pairs = || {
            (0..200).map(|i| {
                let cluster = names[i % 40].as_str();
                (cluster, i % 3 == 0, i % 2 == 0)
            })
        };
        let interval = bootstrap_difference(pairs()).unwrap();
        assert_eq!(interval, bootstrap_difference(pairs()).unwrap());
        let difference = 100.0 / 200.0 - 67.0 / 200.0;
        assert!(interval.low < difference && difference < interval.high);
        assert!(bootstrap_difference([]).is_none());
        let same = bootstrap_difference([("a", true, true), ("b", false, false)]).unwrap();
        assert_eq!((same.low, same.high), (0.0, 0.0));
    }
}
