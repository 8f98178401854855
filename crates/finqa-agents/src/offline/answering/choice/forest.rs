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
    #[must_use]
    pub fn score(&self, features: &[f64]) -> f64 {
        let mut at = if self.splits.is_empty() { -1 } else { 0 };
        // A path is no longer than the tree has splits.
        for _ in 0..=self.splits.len() {
            let Ok(split) = usize::try_from(at) else {
                break;
            };
            let Some(TreeSplit(feature, threshold, low, high)) = self.splits.get(split) else {
                break;
            };
            let value = features.get(usize::from(*feature)).copied();
            at = if value.unwrap_or_default() <= *threshold {
                *low
            } else {
                *high
            };
        }
        let leaf = usize::try_from(!at)
            .ok()
            .and_then(|leaf| self.values.get(leaf));
        leaf.copied().unwrap_or_default()
    }
}

/// After so many trees only so many of the best candidates are compared by the others.
const FIRST: usize = 64;
const KEPT: usize = 12;

/// Adds to the score of each candidate. One tree after the other: it stays in the cache.
pub(crate) fn add_scores(trees: &[Tree], candidates: &[Vec<f64>], mut out: Vec<f64>) -> Vec<f64> {
    let (first, rest) = trees.split_at(FIRST.min(trees.len()));
    for tree in first {
        for (sum, features) in out.iter_mut().zip(candidates) {
            *sum += tree.score(features);
        }
    }
    let mut order: Vec<usize> = (0..out.len()).collect();
    let score = |scores: &[f64], i: usize| scores.get(i).copied().unwrap_or_default();
    order.sort_by(|a, b| score(&out, *b).total_cmp(&score(&out, *a)));
    let (kept, left) = order.split_at(KEPT.min(order.len()));
    for tree in rest {
        for i in kept {
            if let Some((sum, features)) = out.get_mut(*i).zip(candidates.get(*i)) {
                *sum += tree.score(features);
            }
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
    fn candidates_that_the_first_trees_leave_stay_behind_in_their_order() {
        let mut trees = vec![thirds(); FIRST];
        let left = [0.1, 0.5];
        let features = std::iter::repeat_n(0.9, KEPT).chain(left);
        let candidates: Vec<Vec<f64>> = features.map(|feature| vec![feature]).collect();
        trees.push(Tree {
            splits: Vec::new(),
            values: vec![-500.0],
        });
        let scores = add_scores(&trees, &candidates, vec![0.0; KEPT + left.len()]);
        let (kept, left) = scores.split_at(KEPT);
        let lowest = kept.iter().copied().fold(f64::MAX, f64::min);
        assert!(left[0] < left[1] && left[1] < lowest, "{scores:?}");
    }
}
