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

/// Trees in a form that scores several candidates at once, without jumps: a candidate rules out
/// leaves at every split, on its path or not, and gets the value of the first that is left.
/// This is the method of QuickScorer (Lucchese et al., SIGIR 2015).
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(try_from = "Vec<Tree>", into = "Vec<Tree>")]
pub struct Forest(Vec<LeafTree>);

#[derive(Clone, Debug, PartialEq)]
struct LeafTree {
    tree: Tree,
    splits: Vec<LeafSplit>,
    /// Of the leaves, from left to right.
    values: Vec<f64>,
}

/// A split as the set of leaves that remain, a bit each, where the feature is above the threshold.
#[derive(Clone, Debug, PartialEq)]
struct LeafSplit {
    feature: usize,
    threshold: f64,
    above: u64,
}

impl TryFrom<Vec<Tree>> for Forest {
    type Error = &'static str;

    fn try_from(trees: Vec<Tree>) -> Result<Self, Self::Error> {
        let by_leaf = trees.into_iter().map(LeafTree::new).collect::<Option<_>>();
        by_leaf.map(Self).ok_or("not a tree of at most 64 leaves")
    }
}

impl From<Forest> for Vec<Tree> {
    fn from(forest: Forest) -> Self {
        forest.0.into_iter().map(|by_leaf| by_leaf.tree).collect()
    }
}

impl LeafTree {
    /// `None` unless each step leads on, and each leaf has its bit.
    fn new(tree: Tree) -> Option<Self> {
        let start = if tree.splits.is_empty() { !0 } else { 0 };
        let mut out = Self {
            tree,
            splits: Vec::new(),
            values: Vec::new(),
        };
        out.follow(start).then_some(out)
    }

    /// Adds what a step leads to.
    fn follow(&mut self, step: i16) -> bool {
        let Ok(split) = usize::try_from(step) else {
            self.values.push(self.tree.value(step));
            return self.values.len() <= LEAVES;
        };
        let at = self.splits.len();
        let split = self.tree.splits.get(split).copied();
        // As many splits as the tree has: it does not go in circles.
        let Some(TreeSplit(feature, threshold, low, high)) =
            split.filter(|_| at < self.tree.splits.len())
        else {
            return false;
        };
        self.splits.push(LeafSplit {
            feature: usize::from(feature),
            threshold,
            above: 0,
        });
        let first = self.values.len();
        if !self.follow(low) {
            return false;
        }
        let below = (first..self.values.len()).fold(0, |set, leaf| set | 1 << leaf);
        if let Some(split) = self.splits.get_mut(at) {
            split.above = !below;
        }
        self.follow(high)
    }

    /// The value of each candidate, whose features are columns; a feature without one is 0.
    fn values<const N: usize>(&self, columns: &[[f64; N]]) -> [f64; N] {
        self.left(columns).map(|left| {
            let value = self.values.get(left.trailing_zeros() as usize);
            value.copied().unwrap_or_default()
        })
    }

    /// The leaves that are left to each candidate: in a function of its own, where all sets stay
    /// in registers.
    #[inline(never)]
    fn left<const N: usize>(&self, columns: &[[f64; N]]) -> [u64; N] {
        let mut left = [u64::MAX; N];
        for split in &self.splits {
            let column = columns.get(split.feature).unwrap_or(&[0.0; N]);
            for (left, value) in left.iter_mut().zip(column) {
                // All bits or none, not by a jump.
                let below = 0_u64.wrapping_sub(u64::from(*value <= split.threshold));
                *left &= below | split.above;
            }
        }
        left
    }
}

/// The most leaves of a tree.
const LEAVES: usize = u64::BITS as usize;

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
        let mut out = vec![0.0; candidates.len()];
        let mut order: Vec<usize> = (0..out.len()).collect();
        add_together::<TOGETHER>(first, candidates, &order, &mut out);
        let score = |scores: &[f64], i: usize| scores.get(i).copied().unwrap_or_default();
        order.sort_by(|a, b| score(&out, *b).total_cmp(&score(&out, *a)));
        let (kept, left) = order.split_at(KEPT.min(order.len()));
        add_together::<KEPT>(rest, candidates, kept, &mut out);
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

/// How many candidates the first trees score at a time: their sets of leaves stay in registers.
const TOGETHER: usize = 16;

/// Adds what the trees give to the scores of some candidates, `N` at a time.
fn add_together<const N: usize>(
    trees: &[LeafTree],
    candidates: &[&[f64]],
    some: &[usize],
    out: &mut [f64],
) {
    for some in some.chunks(N) {
        let rows = some.iter().filter_map(|i| candidates.get(*i));
        let mut columns =
            vec![[0.0; N]; rows.clone().map(|row| row.len()).max().unwrap_or_default()];
        for (at, row) in rows.enumerate() {
            for (column, value) in columns.iter_mut().zip(*row) {
                if let Some(slot) = column.get_mut(at) {
                    *slot = *value;
                }
            }
        }
        for tree in trees {
            for (i, value) in some.iter().zip(tree.values(&columns)) {
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
        let forest = Forest::try_from(trees.clone()).unwrap();
        let rows: Vec<&[f64]> = candidates.iter().map(Vec::as_slice).collect();
        add_together::<TOGETHER>(&forest.0, &rows, &order, &mut together);
        for (sum, features) in together.iter().zip(&candidates) {
            let alone = trees
                .iter()
                .fold(0.5, |sum, tree| sum + tree.score(features));
            assert!(*sum == alone, "{features:?}: {sum} and {alone}");
        }
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
        let forest = Forest::try_from(trees).unwrap();
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

    #[test]
    fn a_tree_that_goes_in_circles_or_has_too_many_leaves_is_refused() {
        let circle = Tree {
            splits: vec![TreeSplit(0, 0.6, 0, !0)],
            values: vec![0.0],
        };
        let chain = |splits: i16| Tree {
            splits: (1..=splits)
                .map(|next| {
                    TreeSplit(
                        0,
                        f64::from(next),
                        !0,
                        if next < splits { next } else { !0 },
                    )
                })
                .collect(),
            values: vec![0.0],
        };
        assert!(Forest::try_from(vec![chain(63)]).is_ok());
        for tree in [circle, chain(64)] {
            assert!(Forest::try_from(vec![tree]).is_err());
        }
    }
}
