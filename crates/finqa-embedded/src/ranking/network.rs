//! Computes the scores of the network, which has one hidden layer over the features of a candidate.
//! It only adds, multiplies and compares, in a fixed order, so that it chooses the same on every
//! platform. The trainer fits it.

use serde::{Deserialize, Serialize};

use super::network_features::CATEGORIES;
use crate::question::feature_values::count;

/// Number of hidden units that are summed at a time, few enough that their sums stay in registers.
/// The number of units must be a multiple of it.
const TOGETHER: usize = 16;

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
    /// The bias of each hidden unit. Their number is a multiple of 16.
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
            && units % TOGETHER == 0
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
        let inputs = candidates.iter().map(|features| self.inputs_used(features));
        let inputs: Vec<Vec<(usize, f32)>> = inputs.collect();
        let direct = |(input, value): &(usize, f32)| {
            let weight = self.direct.get(*input).copied().unwrap_or_default();
            weight * value
        };
        let of_direct = inputs.iter().map(|inputs| inputs.iter().map(direct).sum());
        let mut scores: Vec<f32> = of_direct.collect();
        let bias = self.bias.as_chunks::<TOGETHER>().0.iter();
        let units = bias.zip(self.output.as_chunks::<TOGETHER>().0).enumerate();
        // All candidates for a few units, then the next units, so that their weights stay in the
        // cache. This made an answer faster with the same scores.
        for (chunk, (bias, output)) in units {
            let weights = self.hidden.iter();
            let weights = weights.filter_map(|of| of.as_chunks().0.get(chunk));
            let weights: Vec<&[f32; TOGETHER]> = weights.collect();
            for (score, inputs) in scores.iter_mut().zip(&inputs) {
                let mut sums = *bias;
                for (input, value) in inputs {
                    let weights = weights.get(*input).copied().unwrap_or(&[0.0; TOGETHER]);
                    for (sum, weight) in sums.iter_mut().zip(weights) {
                        *sum += value * weight;
                    }
                }
                for (unit, weight) in sums.iter().zip(output) {
                    *score += unit.max(0.0) * weight;
                }
            }
        }
        scores.into_iter().map(f64::from).collect()
    }

    /// The inputs of a candidate that differ from zero.
    fn inputs_used(&self, features: &[f64]) -> Vec<(usize, f32)> {
        let mut out = Vec::with_capacity(features.len());
        // `for_each` is faster than `extend` through the chain of iterators.
        Self::inputs(&self.ranges, features).for_each(|(input, value)| {
            if value != 0.0 {
                out.push((input, value));
            }
        });
        out
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
        // The units between the first and the last contribute nothing.
        let of_units = |first: f32, last: f32| {
            let mut units = vec![0.0; 2 * TOGETHER];
            (units[0], units[2 * TOGETHER - 1]) = (first, last);
            units
        };
        let network = Network {
            ranges: vec![RANGE],
            hidden: vec![of_units(1.0, -1.0)],
            bias: of_units(-2.0, 2.0),
            output: of_units(2.0, 3.0),
            direct: vec![0.25],
        };
        let scores = network.scores(&[&[4.0], &[0.0]]);
        assert!((scores[0] - 5.0).abs() < 1e-6);
        assert!((scores[1] - 6.0).abs() < 1e-6);
    }
}
