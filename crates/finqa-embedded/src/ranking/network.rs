//! Computes the scores of the network, which has one hidden layer over the features of a candidate.
//! It only adds, multiplies and compares, in a fixed order, so that it chooses the same on every
//! platform. The trainer fits it.

use serde::{Deserialize, Serialize};

use super::network_features::CATEGORIES;
use crate::question::feature_values::count;

/// The weights of the network. Its inputs are the features, clamped to their usual range. A feature
/// that numbers a category, such as the shape, has an input for each of its values instead: 1 for
/// the value that it has, and 0 for the others.
///
/// The score is the weighted sum of the inputs plus the weighted sum of the hidden units, each of
/// which is a weighted sum of the inputs plus its bias, or 0 if that is negative.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// The usual range of each feature.
    pub ranges: Vec<InputRange>,
    /// For each input its weights to the hidden units.
    pub hidden: Vec<Vec<f32>>,
    /// The bias of each hidden unit.
    pub bias: Vec<f32>,
    /// The weight of each hidden unit in the score.
    pub output: Vec<f32>,
    /// The weight of each input in the score.
    pub direct: Vec<f32>,
}

/// The range to which a feature is clamped.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct InputRange {
    pub low: f32,
    pub high: f32,
}

impl InputRange {
    /// Clamps a value to the range.
    fn cut(self, value: f64) -> f32 {
        #[allow(clippy::cast_possible_truncation, reason = "features are small")]
        let mut value = value as f32;
        // Each of these lines compiles to one instruction, unlike `max` and `min`.
        value = if value > self.low { value } else { self.low };
        if value < self.high { value } else { self.high }
    }
}

impl Network {
    /// The number of inputs for a number of features.
    #[must_use]
    pub fn width(features: usize) -> usize {
        let categories: usize = CATEGORIES.iter().map(|(_, values)| values).sum();
        features + categories
    }

    /// True if its layers have the right sizes for a number of features.
    pub(crate) fn fits(&self, features: usize) -> bool {
        let (width, units) = (Self::width(features), self.bias.len());
        self.ranges.len() == features
            && [self.hidden.len(), self.direct.len()] == [width; 2]
            && self.output.len() == units
            && self.hidden.iter().all(|of| of.len() == units)
            && units > 0
    }

    /// The inputs that can differ from zero, as index and value: each clamped feature that is not a
    /// category, and the input of each category's value, which is 1.
    pub fn inputs(ranges: &[InputRange], features: &[f64]) -> impl Iterator<Item = (usize, f32)> {
        let cut = ranges.iter().zip(features).enumerate();
        let cut = cut.filter(|(at, _)| CATEGORIES.iter().all(|(number, _)| number != at));
        let cut = cut.map(|(at, (range, value))| (at, range.cut(*value)));
        let mut from = features.len();
        cut.chain(CATEGORIES.into_iter().filter_map(move |(at, values)| {
            let value = features.get(at).copied().unwrap_or_default();
            // Beyond the last category there is no input.
            let value = (0..values).find(|known| count(*known) >= value);
            let input = value.map(|value| (from + value, 1.0));
            from += values;
            input
        }))
    }

    /// True for the network before it is trained.
    pub(crate) fn is_empty(&self) -> bool {
        self.output.is_empty()
    }

    /// The score of each candidate, given by its features.
    #[must_use]
    pub fn scores(&self, candidates: &[&[f64]]) -> Vec<f64> {
        let scores = candidates.iter().map(|features| self.score(features));
        scores.map(f64::from).collect()
    }

    /// The score of a candidate. Inputs that are 0 are skipped.
    fn score(&self, features: &[f64]) -> f32 {
        let mut score = 0.0;
        let mut units = self.bias.clone();
        let inputs = Self::inputs(&self.ranges, features);
        // `for_each` is faster than a loop over this chain of iterators.
        inputs
            .filter(|(_, value)| *value != 0.0)
            .for_each(|(input, value)| {
                score += self.direct.get(input).copied().unwrap_or_default() * value;
                let weights = self.hidden.get(input).map_or(&[][..], Vec::as_slice);
                for (unit, weight) in units.iter_mut().zip(weights) {
                    *unit += value * weight;
                }
            });
        for (unit, weight) in units.iter().zip(&self.output) {
            score += unit.max(0.0) * weight;
        }
        score
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: InputRange = InputRange {
        low: 0.0,
        high: 10.0,
    };

    #[test]
    fn a_feature_is_cut_to_its_range_and_a_category_is_one_of_its_values() {
        let [(kind, kinds), ..] = CATEGORIES;
        let ranges = vec![RANGE; kind + 1];
        let mut features = vec![0.0; kind + 1];
        features[0] = 50.0;
        features[kind] = 3.0;
        let inputs: Vec<(usize, f32)> = Network::inputs(&ranges, &features).collect();
        assert_eq!(inputs[0], (0, 10.0));
        assert_eq!(inputs[1], (1, 0.0));
        let of_kind: Vec<_> = inputs
            .iter()
            .filter(|(at, _)| *at == kind || (ranges.len()..ranges.len() + kinds).contains(at))
            .collect();
        assert_eq!(of_kind, [&(ranges.len() + 3, 1.0)]);
    }

    #[test]
    fn a_unit_counts_above_zero_only() {
        let network = Network {
            ranges: vec![RANGE],
            hidden: vec![vec![1.0, -1.0]],
            bias: vec![-2.0, 2.0],
            output: vec![2.0, 3.0],
            direct: vec![0.25],
        };
        let scores = network.scores(&[&[4.0], &[0.0]]);
        assert!((scores[0] - 5.0).abs() < 1e-6);
        assert!((scores[1] - 6.0).abs() < 1e-6);
    }
}
