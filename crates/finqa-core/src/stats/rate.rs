//! Computes a rate and its clustered interval.

use std::collections::HashMap;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use super::Interval;

/// The two-sided 95 % quantile of the normal distribution, used by Wilson's interval.
const Z: f64 = 1.959_963_984_540_054;

/// The rate of right answers, with a 95 % interval clustered by page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Number of right answers.
    pub hits: usize,
    /// Number of answers.
    pub n: usize,
    /// `hits / n`, from 0 to 1.
    pub rate: f64,
    /// Lower end of the interval, from 0 to 1.
    pub low: f64,
    /// Upper end of the interval, from 0 to 1.
    pub high: f64,
    /// The clustered variance divided by the variance of independent questions. It is at least 1,
    /// and at least the average number of times that a question was asked.
    pub design_effect: f64,
}

impl Rate {
    /// The rate of `true` among marks, each with its cluster and its question. A question that was
    /// asked several times counts each time in the rate, but only once as independent information
    /// in the interval. `None` if there are no marks.
    pub fn of<C: Hash + Eq, Q: Hash + Eq>(
        marks: impl IntoIterator<Item = (C, Q, bool)>,
    ) -> Option<Self> {
        let mut questions: HashMap<Q, (C, usize, usize)> = HashMap::new();
        for (cluster, question, right) in marks {
            let asked = questions.entry(question).or_insert((cluster, 0, 0));
            asked.1 += usize::from(right);
            asked.2 += 1;
        }
        Self::of_questions(questions.into_values())
    }

    /// The rate over questions. Each has its cluster, the number of right answers, and the number
    /// of times that it was asked. `None` if none was asked.
    pub fn of_questions<C: Hash + Eq>(
        questions: impl IntoIterator<Item = (C, usize, usize)>,
    ) -> Option<Self> {
        let mut clusters: HashMap<C, (usize, usize)> = HashMap::new();
        let (mut hits, mut n, mut distinct) = (0, 0, 0);
        for (cluster, right, asked) in questions {
            let entry = clusters.entry(cluster).or_default();
            entry.0 += right;
            entry.1 += asked;
            hits += right;
            n += asked;
            distinct += 1;
        }
        if n == 0 {
            return None;
        }
        let rate = count(hits) / count(n);
        let sums = clusters.into_values();
        let sums = sorted(sums.map(|(hits, size)| (count(hits), count(size))));
        let repeats = count(n) / count(distinct);
        let design_effect = design_effect(rate, count(n), &sums).max(repeats);
        let (low, high) = wilson(rate, count(n) / design_effect);
        Some(Self {
            hits,
            n,
            rate,
            low,
            high,
            design_effect,
        })
    }

    pub fn interval(&self) -> Interval {
        Interval {
            low: self.low,
            high: self.high,
        }
    }
}

/// The mean of shares from 0 to 1, one share per question, with a 95 % interval that is clustered
/// like that of a [`Rate`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeanShare {
    pub rate: f64,
    pub low: f64,
    pub high: f64,
}

impl MeanShare {
    /// The mean of shares, each with its cluster. `None` if there are no shares.
    pub fn of<C: Hash + Eq>(shares: impl IntoIterator<Item = (C, f64)>) -> Option<Self> {
        let mut clusters: HashMap<C, (f64, f64)> = HashMap::new();
        for (cluster, share) in shares {
            let entry = clusters.entry(cluster).or_default();
            entry.0 += share;
            entry.1 += 1.0;
        }
        let sums = sorted(clusters.into_values());
        let n: f64 = sums.iter().map(|(_, size)| size).sum();
        let rate = sums.iter().map(|(sum, _)| sum).sum::<f64>() / n;
        let (low, high) = wilson(rate, n / design_effect(rate, n, &sums));
        (n > 0.0).then_some(Self { rate, low, high })
    }
}

/// Counts answers by question for a [`Rate`]. Asking the same questions again needs no more memory.
/// Clusters and questions are identified by hashes of their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RateTally {
    questions: HashMap<u64, (u64, u32, u32)>,
}

impl RateTally {
    pub fn add(&mut self, (cluster, question): (u64, u64), right: bool) {
        let asked = self.questions.entry(question).or_insert((cluster, 0, 0));
        asked.1 += u32::from(right);
        asked.2 += 1;
    }

    /// The rate of right answers; `None` if there are no answers.
    pub fn rate(&self) -> Option<Rate> {
        let asked = self.questions.values();
        Rate::of_questions(asked.map(|(cluster, hits, n)| (cluster, *hits as usize, *n as usize)))
    }
}

/// Sorts the sums, so that adding them up does not depend on the order of a hash map.
fn sorted(clusters: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut sums: Vec<(f64, f64)> = clusters.collect();
    sums.sort_by(|(a, x), (b, y)| a.total_cmp(b).then(x.total_cmp(y)));
    sums
}

/// The clustered variance of the rate divided by the variance without clusters; at least 1. It is 1
/// for a rate of 0 or 1, because such a rate does not vary between clusters, and for a single
/// cluster, because there is no other one to compare it with.
fn design_effect(rate: f64, n: f64, clusters: &[(f64, f64)]) -> f64 {
    let groups = count(clusters.len());
    let simple = rate * (1.0 - rate) / n;
    if groups < 2.0 || simple <= 0.0 {
        return 1.0;
    }
    let squares: f64 = clusters
        .iter()
        .map(|(hits, size)| (hits - rate * size).powi(2))
        .sum();
    let clustered = groups / (groups - 1.0) * squares / (n * n);
    // Below 1, clusters would make the interval narrower.
    (clustered / simple).max(1.0)
}

/// Wilson's 95 % score interval for a rate over `n` questions. `n` does not have to be an integer,
/// because it may have been divided by a design effect.
pub fn wilson(rate: f64, n: f64) -> (f64, f64) {
    let z2n = Z * Z / n;
    let centre = rate + z2n / 2.0;
    let half = Z * (rate * (1.0 - rate) / n + z2n / (4.0 * n)).sqrt();
    let bound = |x: f64| (x / (1.0 + z2n)).clamp(0.0, 1.0);
    (bound(centre - half), bound(centre + half))
}

fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_of_the_langgraph_baseline() {
        let (low, high) = wilson(94.0 / 124.0, 124.0);
        assert!((low - 0.676).abs() < 5e-4 && (high - 0.825).abs() < 5e-4);
        assert!(wilson(0.0, 10.0).0.abs() < 1e-12);
        assert!((wilson(1.0, 10.0).1 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn clusters_that_fail_together_widen_the_interval() {
        let names: Vec<String> = (0..50).map(|i| i.to_string()).collect();
        let marks = |together: bool| {
            Rate::of((0..100).map(|i| {
                let cluster = if together { i / 2 } else { i % 50 };
                (names[cluster].as_str(), i, i < 50)
            }))
            .unwrap()
        };
        let together = marks(true);
        // Two questions that always agree carry the information of a single one.
        assert!((together.design_effect - 2.0 * 50.0 / 49.0).abs() < 1e-12);
        // Two questions that always disagree would have a design effect below 1, which is not used.
        let apart = marks(false);
        assert_eq!(apart.design_effect, 1.0);
        assert!(together.low < apart.low && together.high > apart.high);
        assert_eq!((together.hits, together.n), (50, 100));
    }

    /// The design effect of a rate of 0 or 1 was once always 1, so five passes over the same
    /// questions halved the interval.
    #[test]
    fn repeating_the_questions_narrows_no_interval() {
        let names: Vec<String> = (0..20).map(|i| i.to_string()).collect();
        let rate = |passes: usize, right: fn(usize) -> bool| {
            let marks = (0..20 * passes).map(|i| (names[i % 20].as_str(), i % 20, right(i % 20)));
            Rate::of(marks).unwrap()
        };
        for right in [|_| true, |_| false, |question| question < 13] {
            let (once, often) = (rate(1, right), rate(5, right));
            assert!(often.low <= once.low + 1e-12 && often.high >= once.high - 1e-12);
        }
        // One question on one page, asked five times and answered correctly twice.
        let single = Rate::of([0, 1, 2, 3, 4].map(|pass| ("page", "question", pass < 2))).unwrap();
        assert_eq!((single.n, single.design_effect), (5, 5.0));
    }

    #[test]
    fn no_questions_no_rate() {
        assert!(Rate::of::<&str, usize>([]).is_none());
        assert_eq!(Rate::of([("a", 0, true)]).unwrap().rate, 1.0);
    }

    #[test]
    fn a_tally_gives_the_rate_of_its_marks() {
        let marks = |n: u64| (0..n).map(|i| (i % 5, i % 20, i % 3 == 0 || i % 7 == 0));
        for n in [0, 1, 20, 97] {
            let mut tally = RateTally::default();
            marks(n).for_each(|(cluster, question, right)| tally.add((cluster, question), right));
            assert_eq!(tally.rate(), Rate::of(marks(n)));
            assert!(tally.questions.len() <= 20);
        }
    }
}
