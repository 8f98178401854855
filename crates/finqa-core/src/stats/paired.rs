//! Tests whether two runs over the same questions differ.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An interval, with 95 % confidence unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// The p values of the difference between two runs: the probabilities of a difference at least as
/// large by chance alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedTest {
    /// Two-sided: the probability of a difference at least as large in either direction.
    pub p: f64,
    /// One-sided: the probability that B leads by at least as much.
    pub p_better: f64,
}

/// McNemar's exact test, corrected for clusters. If A and B do not differ, they could be exchanged
/// in any cluster as a whole, so the sign of each cluster's net flips is a fair coin. Fisher's
/// randomisation test (The Design of Experiments, 1935, section 21) on these net flips computes p
/// exactly. With one flip in each cluster, it is McNemar's exact test. For many clusters, it
/// approaches the statistic of Obuchowski (Statistics in Medicine 17, 1998, 1495) as simplified by
/// Yang, Sun and Hardin (Biometrical Journal 52, 2010, 638): the square of the sum of the net
/// flips, divided by the sum of their squares, is chi-squared.
///
/// Each item is (cluster, right in A, right in B).
pub fn clustered_mcnemar<'c>(pairs: impl IntoIterator<Item = (&'c str, bool, bool)>) -> PairedTest {
    let mut clusters: BTreeMap<&str, i64> = BTreeMap::new();
    for (cluster, a, b) in pairs {
        *clusters.entry(cluster).or_default() += i64::from(b) - i64::from(a);
    }
    let lead: i64 = clusters.values().sum();
    // Clusters without a net flip are left out, because they do not change the odds.
    let sizes = || {
        let sizes = clusters.values().map(|net| net.unsigned_abs());
        sizes.filter_map(|size| usize::try_from(size).ok().filter(|size| *size > 0))
    };
    // The probability of each number of net flips in the clusters where B leads.
    let mut odds = vec![1.0];
    for size in sizes() {
        let mut next = vec![0.0; odds.len() + size];
        for (at, odd) in odds.iter().enumerate() {
            for to in [at, at + size] {
                if let Some(sum) = next.get_mut(to) {
                    *sum += odd / 2.0;
                }
            }
        }
        odds = next;
    }
    let total = i64::try_from(sizes().sum::<usize>()).unwrap_or(i64::MAX);
    let at_least = |lead: i64| -> f64 {
        // The total is won + lost, and the lead is won - lost, so the sum is never negative.
        let won = usize::try_from((total + lead) / 2).unwrap_or_default();
        odds.iter().skip(won).sum()
    };
    PairedTest {
        // The distribution is symmetric. At a lead of 0, both sides include it, so limit p to 1.
        p: (2.0 * at_least(lead.abs())).min(1.0),
        p_better: at_least(lead).min(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the test over clusters with these net flips, which are the pairs that are right only in
    /// B minus those that are right only in A.
    fn test(nets: &[i64]) -> PairedTest {
        let names: Vec<String> = (0..nets.len()).map(|at| at.to_string()).collect();
        let flips = names.iter().zip(nets).flat_map(|(name, net)| {
            let flip = (name.as_str(), *net < 0, *net > 0);
            // Pairs of flips that cancel each other, and questions without a flip, must not change
            // the result.
            let others = [(true, false), (false, true), (true, true), (false, false)];
            let others = others.map(|(a, b)| (name.as_str(), a, b));
            (0..net.unsigned_abs()).map(move |_| flip).chain(others)
        });
        clustered_mcnemar(flips)
    }

    /// The expected values are sums of binomial probabilities, computed independently with rational
    /// arithmetic.
    #[test]
    fn one_flip_a_cluster_is_mcnemars_exact_test() {
        for (a, b, p, p_better) in [
            (0, 5, 0.0625, 0.03125),
            (3, 9, 0.14599609375, 0.072998046875),
            (10, 10, 1.0, 0.588098526001),
            (1, 40, 3.81987774745e-11, 1.90993887372e-11),
            (400, 460, 0.0441695481946, 0.0220847740973),
            (900, 1100, 8.4570895355e-06, 4.22854476775e-06),
        ] {
            let of = |net, n: usize| std::iter::repeat_n(net, n);
            let nets: Vec<i64> = of(-1, a).chain(of(1, b)).collect();
            let found = test(&nets);
            assert!((found.p - p).abs() < 1e-9, "{a} {b}");
            assert!((found.p_better - p_better).abs() < 1e-9, "{a} {b}");
        }
        assert_eq!(
            test(&[]),
            PairedTest {
                p: 1.0,
                p_better: 1.0
            }
        );
    }

    #[test]
    fn p_is_that_of_exchanging_a_and_b_in_every_subset_of_the_clusters() {
        let nets = [3, -1, 2, 5, 0, -2, 1, 1, 4, -3, 2, 1];
        let lead: i64 = nets.iter().sum();
        let leads = (0..1_u32 << nets.len()).map(|exchanged| -> i64 {
            let signed = nets.iter().enumerate();
            signed
                .map(|(at, net)| if exchanged >> at & 1 == 1 { -net } else { *net })
                .sum()
        });
        let leads: Vec<i64> = leads.collect();
        let share = |holds: &dyn Fn(i64) -> bool| {
            leads.iter().filter(|lead| holds(**lead)).count() as f64 / leads.len() as f64
        };
        let found = test(&nets);
        assert!((found.p - share(&|other| other.abs() >= lead)).abs() < 1e-12);
        assert!((found.p_better - share(&|other| other >= lead)).abs() < 1e-12);
        let reversed: Vec<i64> = nets.iter().map(|net| -net).collect();
        assert!((test(&reversed).p_better - share(&|other| other >= -lead)).abs() < 1e-12);
    }

    #[test]
    fn many_clusters_tend_to_obuchowskis_statistic() {
        let nets: Vec<i64> = (0..600)
            .map(|at| [2, -1, 0, 1, -2, 1, -1, 0, 3, -2][at % 10])
            .collect();
        // The expected two-sided p is that of the normal distribution. The statistic is the lead of
        // 60, less 1 for continuity because possible leads are 2 apart, divided by the root of the
        // sum of the squared net flips.
        let p = 0.127665;
        assert!((test(&nets).p - p).abs() < 2e-3, "{} {p}", test(&nets).p);
    }

    #[test]
    fn flips_on_one_page_are_one_coin() {
        let apart = test(&[1; 12]);
        let together = test(&[4, 4, 4]);
        assert!((apart.p - 2.0_f64.powi(-11)).abs() < 1e-12);
        assert!((together.p - 0.25).abs() < 1e-12);
        assert!((together.p_better - 0.125).abs() < 1e-12);
    }
}
