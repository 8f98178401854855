//! Boosted regression trees over the features of a candidate: what they add to its linear
//! score. Only comparisons and sums, so that they choose the same on every platform.

use serde::{Deserialize, Serialize};

/// A tree; a step leads to another split, or as `!k` to the `k`-th value.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// The feature that each split compares.
    pub features: Vec<u16>,
    pub thresholds: Vec<f64>,
    /// Where a feature at or below the threshold leads, and where one above it does.
    pub low: Vec<i16>,
    pub high: Vec<i16>,
    pub values: Vec<f64>,
}

impl Tree {
    #[must_use]
    pub fn score(&self, features: &[f64]) -> f64 {
        let mut at = if self.features.is_empty() { -1 } else { 0 };
        // A path is no longer than the tree has splits.
        for _ in 0..=self.features.len() {
            let Ok(split) = usize::try_from(at) else {
                break;
            };
            let feature = self.features.get(split).map(|f| usize::from(*f));
            let value = feature.and_then(|f| features.get(f)).copied();
            let threshold = self.thresholds.get(split).copied();
            let next = if value.unwrap_or_default() <= threshold.unwrap_or_default() {
                &self.low
            } else {
                &self.high
            };
            at = next.get(split).copied().unwrap_or(-1);
        }
        let leaf = usize::try_from(!at)
            .ok()
            .and_then(|leaf| self.values.get(leaf));
        leaf.copied().unwrap_or_default()
    }
}

pub(crate) fn score(trees: &[Tree], features: &[f64]) -> f64 {
    trees.iter().map(|tree| tree.score(features)).sum()
}
