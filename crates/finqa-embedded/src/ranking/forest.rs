//! Boosted regression trees over the features of candidates: how they rank them. Only
//! comparisons and sums, so that they choose the same on every platform.

use serde::{Deserialize, Serialize};

/// A tree; a step leads to another split, or as `!k` to the `k`-th value.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    pub splits: Vec<TreeSplit>,
    pub values: Vec<f64>,
}

/// A feature, a threshold, and where a feature at or below it leads, and where one above it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct TreeSplit(pub u16, pub f64, pub i16, pub i16);

impl Tree {
    /// The value to which a step leads.
    fn value(&self, step: i16) -> f64 {
        let value = usize::try_from(!step).ok();
        let value = value.and_then(|value| self.values.get(value));
        value.copied().unwrap_or_default()
    }

    /// The value of one candidate; a feature that it lacks is 0.
    #[must_use]
    pub fn score(&self, features: &[f64]) -> f64 {
        let mut step = if self.splits.is_empty() { !0 } else { 0 };
        while let Some(TreeSplit(feature, threshold, low, high)) = usize::try_from(step)
            .ok()
            .and_then(|at| self.splits.get(at))
        {
            let value = features.get(usize::from(*feature)).copied();
            step = match value.unwrap_or_default() <= *threshold {
                true => *low,
                false => *high,
            };
        }
        self.value(step)
    }
}

/// Trees whose values are added up.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Forest(Vec<Tree>);

impl From<Vec<Tree>> for Forest {
    fn from(trees: Vec<Tree>) -> Self {
        Self(trees)
    }
}

/// After so many trees only so many of the best candidates are compared by the others.
const FIRST: usize = 64;
const KEPT: usize = 12;

impl Forest {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The score of each candidate: what the first trees give, and for the best by these also
    /// what the other trees and `more` give.
    pub(crate) fn scores(
        &self,
        candidates: &[&[f64]],
        more: impl Fn(&[&[f64]]) -> Vec<f64>,
    ) -> Vec<f64> {
        let (first, rest) = self.0.split_at(FIRST.min(self.0.len()));
        let add = |trees: &[Tree], i: usize, out: &mut [f64]| {
            if let (Some(features), Some(sum)) = (candidates.get(i), out.get_mut(i)) {
                *sum = trees
                    .iter()
                    .fold(*sum, |sum, tree| sum + tree.score(features));
            }
        };
        let mut out = vec![0.0; candidates.len()];
        let mut order: Vec<usize> = (0..out.len()).collect();
        order.iter().for_each(|i| add(first, *i, &mut out));
        let score = |scores: &[f64], i: usize| scores.get(i).copied().unwrap_or_default();
        order.sort_by(|a, b| score(&out, *b).total_cmp(&score(&out, *a)));
        let (kept, left) = order.split_at(KEPT.min(order.len()));
        kept.iter().for_each(|i| add(rest, *i, &mut out));
        let rows = kept.iter().filter_map(|i| candidates.get(*i).copied());
        for (i, score) in kept.iter().zip(more(&rows.collect::<Vec<_>>())) {
            if let Some(sum) = out.get_mut(*i) {
                *sum += score;
            }
        }
        // Those that were left remain behind the others, in their order.
        let lowest = kept.iter().map(|i| score(&out, *i)).fold(0.0, f64::min);
        let highest = left.first().map_or(0.0, |i| score(&out, *i));
        for i in left {
            if let Some(sum) = out.get_mut(*i) {
                *sum += lowest - highest - 1.0;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree with a value for each third of the feature's range.
    fn thirds() -> Tree {
        Tree {
            splits: vec![TreeSplit(0, 0.6, 1, !2), TreeSplit(0, 0.3, !0, !1)],
            values: vec![0.0, 0.1, 1.0],
        }
    }

    #[test]
    fn a_tree_leads_each_candidate_to_a_value() {
        for (feature, value) in [(0.2, 0.0), (0.3, 0.0), (0.5, 0.1), (0.9, 1.0)] {
            let score = thirds().score(&[feature]);
            assert!((score - value).abs() < 1e-9, "{feature}");
        }
        assert!(thirds().score(&[]).abs() < 1e-9);
        let bare = Tree {
            splits: Vec::new(),
            values: vec![0.3],
        };
        assert!((bare.score(&[1.0]) - 0.3).abs() < 1e-9);
    }

    #[test]
    fn candidates_that_the_first_trees_leave_stay_behind_in_their_order() {
        let mut trees = vec![thirds(); FIRST];
        let left = [0.1, 0.5];
        let features = std::iter::repeat_n(0.9, KEPT).chain(left).zip(0..);
        let candidates: Vec<Vec<f64>> = features
            .map(|(feature, number)| vec![feature, f64::from(number)])
            .collect();
        trees.push(Tree {
            splits: Vec::new(),
            values: vec![-500.0],
        });
        let forest = Forest::from(trees);
        let rows: Vec<&[f64]> = candidates.iter().map(Vec::as_slice).collect();
        let scores = forest.scores(&rows, |kept| {
            assert!(kept.iter().all(|one| !left.contains(&one[0])), "{kept:?}");
            kept.iter().map(|one| -100.0 - one[1]).collect()
        });
        let (kept, left) = scores.split_at(KEPT);
        assert!(kept.is_sorted_by(|a, b| a > b), "{kept:?}");
        let lowest = kept.iter().copied().fold(f64::MAX, f64::min);
        assert!(left[0] < left[1] && left[1] < lowest, "{scores:?}");
    }
}
