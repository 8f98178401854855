//! Boosted regression trees over the features of candidates: how they rank them. Only
//! comparisons and sums, so that they choose the same on every platform.

use std::hint::select_unpredictable;

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

    #[must_use]
    pub fn score(&self, features: &[f64]) -> f64 {
        let [score] = self.scores([features]);
        score
    }

    /// The score of each row; a feature that it lacks is 0.
    fn scores<const N: usize>(&self, rows: [&[f64]; N]) -> [f64; N] {
        let start = if self.splits.is_empty() { !0 } else { 0 };
        let mut steps = [start; N];
        for _ in 0..self.splits.len() {
            for (at, row) in steps.iter_mut().zip(rows) {
                // A row whose path has ended looks at the first split again, to no effect.
                let split = self.splits.get(usize::try_from(*at).unwrap_or_default());
                let Some(TreeSplit(feature, threshold, low, high)) = split else {
                    continue;
                };
                let value = row.get(usize::from(*feature)).copied().unwrap_or_default();
                // Not by a jump, which the processor would have to guess.
                let next = select_unpredictable(value <= *threshold, *low, *high);
                *at = select_unpredictable(*at < 0, *at, next);
            }
            if steps.iter().all(|at| *at < 0) {
                break;
            }
        }
        steps.map(|at| self.value(at))
    }
}

/// After so many trees only so many of the best candidates are compared by the others.
const FIRST: usize = 64;
const KEPT: usize = 12;

/// Adds to the score of each candidate.
pub(crate) fn add_scores(trees: &[Tree], candidates: &[Vec<f64>], mut out: Vec<f64>) -> Vec<f64> {
    let (first, rest) = trees.split_at(FIRST.min(trees.len()));
    let mut order: Vec<usize> = (0..out.len()).collect();
    add_together(first, candidates, &order, &mut out);
    let score = |scores: &[f64], i: usize| scores.get(i).copied().unwrap_or_default();
    order.sort_by(|a, b| score(&out, *b).total_cmp(&score(&out, *a)));
    let (kept, left) = order.split_at(KEPT.min(order.len()));
    add_together(rest, candidates, kept, &mut out);
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

/// How many candidates go down a tree at a time: the processor follows their paths side by side.
const TOGETHER: usize = 4;

/// Adds what the trees give to the scores of some candidates. One tree after the other: it stays
/// in the cache.
fn add_together(trees: &[Tree], candidates: &[Vec<f64>], some: &[usize], out: &mut [f64]) {
    let row = |i: &usize| candidates.get(*i).map_or(&[][..], Vec::as_slice);
    let groups = some.chunks(TOGETHER).map(|some| {
        let mut rows = some.iter().map(row);
        let rows: [&[f64]; TOGETHER] = std::array::from_fn(|_| rows.next().unwrap_or_default());
        (some, rows)
    });
    let groups: Vec<(&[usize], [&[f64]; TOGETHER])> = groups.collect();
    for tree in trees {
        for (some, rows) in &groups {
            for (i, value) in some.iter().zip(tree.scores(*rows)) {
                if let Some(sum) = out.get_mut(*i) {
                    *sum += value;
                }
            }
        }
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

    /// Follows the steps of a tree one by one.
    fn walk(tree: &Tree, features: &[f64]) -> f64 {
        let mut at = if tree.splits.is_empty() { !0 } else { 0 };
        while let Ok(split) = usize::try_from(at) {
            let TreeSplit(feature, threshold, low, high) = tree.splits[split];
            let value = features.get(usize::from(feature)).copied();
            at = if value.unwrap_or(0.0) <= threshold {
                low
            } else {
                high
            };
        }
        tree.values[usize::try_from(!at).unwrap()]
    }

    #[test]
    fn candidates_together_get_what_each_gets_alone() {
        let tree = |threshold: f64| Tree {
            splits: vec![
                TreeSplit(0, threshold, 1, 2),
                TreeSplit(1, -threshold, !0, !1),
                TreeSplit(2, threshold, 3, !2),
                TreeSplit(0, 2.0 * threshold, !3, !4),
            ],
            values: vec![0.1, 0.2, 0.7, 1.3, 2.9],
        };
        let bare = Tree {
            splits: Vec::new(),
            values: vec![0.3],
        };
        let trees: Vec<Tree> = (-4..4)
            .map(|k| tree(f64::from(k) / 2.0))
            .chain([bare])
            .collect();
        // The last group is not full; many values are a threshold, and some candidates lack features.
        let candidate = |k: u32| {
            let value = |by: u32| f64::from(k * by % 11) / 2.0 - 2.5;
            [value(3), value(5), value(7)][..3 - (k % 4) as usize % 3].to_vec()
        };
        let candidates: Vec<Vec<f64>> = (0..69).map(candidate).collect();
        let order: Vec<usize> = (0..candidates.len()).collect();
        let mut together = vec![0.5; candidates.len()];
        add_together(&trees, &candidates, &order, &mut together);
        for (sum, features) in together.iter().zip(&candidates) {
            let walked = trees
                .iter()
                .fold(0.5, |sum, tree| sum + walk(tree, features));
            let alone = trees
                .iter()
                .fold(0.5, |sum, tree| sum + tree.score(features));
            assert!(alone == walked, "{features:?}: {alone} and {walked}");
            assert!(*sum == alone, "{features:?}: {sum} and {alone}");
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
