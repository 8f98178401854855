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

/// The score of each candidate. One tree after the other: it stays in the cache.
pub(crate) fn scores(trees: &[Tree], candidates: &[Vec<f64>]) -> Vec<f64> {
    let mut out = vec![0.0; candidates.len()];
    for tree in trees {
        for (sum, features) in out.iter_mut().zip(candidates) {
            *sum += tree.score(features);
        }
    }
    out
}
