//! A network with one hidden layer over the features of candidates: what it adds to the trees'
//! scores. Only sums, products and comparisons in a fixed order, so that it chooses the same on
//! every platform.

use serde::{Deserialize, Serialize};

use super::detail::CATEGORIES;

/// The inputs are the features, cut to their usual range and scaled, and for each value of a
/// category whether it is that value.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    pub features: Vec<InputRange>,
    /// For each input the weights of the hidden units.
    pub hidden: Vec<Vec<f32>>,
    pub bias: Vec<f32>,
    /// The weight of each hidden unit.
    pub output: Vec<f32>,
    /// The weight of each input by itself.
    pub direct: Vec<f32>,
}

/// What a feature is cut to and scaled by.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct InputRange {
    pub low: f32,
    pub high: f32,
    pub mean: f32,
    pub scale: f32,
}

impl InputRange {
    fn scaled(&self, value: f64) -> f32 {
        #[allow(clippy::cast_possible_truncation, reason = "features are small")]
        let mut value = value as f32;
        // One instruction each, unlike `max` and `min`.
        value = if value > self.low { value } else { self.low };
        value = if value < self.high { value } else { self.high };
        (value - self.mean) * self.scale
    }
}

/// The mean of what networks add to a candidate's score.
pub(crate) fn mean(networks: &[Network], features: &[f64]) -> f64 {
    let sum: f64 = networks.iter().map(|one| one.score(features)).sum();
    sum / super::detail::count(networks.len().max(1))
}

impl Network {
    /// How many hidden units there are: a fixed number, so that their sums stay in registers.
    pub const UNITS: usize = 48;

    /// How many inputs there are for so many features.
    #[must_use]
    pub fn width(features: usize) -> usize {
        let categories: usize = CATEGORIES.iter().map(|(_, values)| values).sum();
        features + categories
    }

    /// Whether its layers have the sizes that so many features need.
    pub(crate) fn fits(&self, features: usize) -> bool {
        let width = Self::width(features);
        self.features.len() == features
            && [self.hidden.len(), self.direct.len()] == [width; 2]
            && [self.bias.len(), self.output.len()] == [Self::UNITS; 2]
            && self.hidden.iter().all(|of| of.len() == Self::UNITS)
    }

    /// The inputs that are not always zero, index and value: the features, scaled, and 1 for the
    /// value of each category.
    #[must_use]
    pub fn inputs(ranges: &[InputRange], features: &[f64]) -> Vec<(usize, f32)> {
        let scaled = Self::scaled(ranges, features);
        scaled.chain(Self::of_categories(features)).collect()
    }

    /// The features, scaled, but for the numbers of categories' values, which say nothing by
    /// themselves.
    fn scaled(ranges: &[InputRange], features: &[f64]) -> impl Iterator<Item = (usize, f32)> {
        let inputs = ranges.iter().zip(features).enumerate();
        let inputs = inputs.filter(|(at, _)| CATEGORIES.iter().all(|(number, _)| number != at));
        inputs.map(|(at, (range, value))| (at, range.scaled(*value)))
    }

    /// 1 for the value of each category; these inputs follow those of all features.
    fn of_categories(features: &[f64]) -> impl Iterator<Item = (usize, f32)> {
        let mut from = features.len();
        CATEGORIES.into_iter().filter_map(move |(at, values)| {
            let value = features.get(at).copied().unwrap_or_default();
            let value = (0..values).find(|known| super::detail::count(*known) >= value);
            let input = value.map(|value| (from + value, 1.0));
            from += values;
            input
        })
    }

    #[must_use]
    fn score(&self, features: &[f64]) -> f64 {
        let bias = self.bias.first_chunk().copied();
        let sums = (0.0, bias.unwrap_or([0.0; Self::UNITS]));
        let sums = self.add(Self::scaled(&self.features, features), sums);
        let (mut sum, units) = self.add(Self::of_categories(features), sums);
        for (unit, weight) in units.iter().zip(&self.output) {
            sum += unit.max(0.0) * weight;
        }
        f64::from(sum)
    }

    /// Adds inputs to the sum of the inputs by themselves, and to the sum of each hidden unit: in
    /// a function of its own, where all stay in registers.
    #[inline(never)]
    fn add(
        &self,
        inputs: impl Iterator<Item = (usize, f32)>,
        (mut sum, mut units): (f32, [f32; Self::UNITS]),
    ) -> (f32, [f32; Self::UNITS]) {
        for (input, value) in inputs {
            let weights = self.hidden.get(input).and_then(|of| of.first_chunk());
            let Some(weights): Option<&[f32; Self::UNITS]> = weights else {
                continue;
            };
            for (unit, weight) in units.iter_mut().zip(weights) {
                *unit += value * weight;
            }
            sum += value * self.direct.get(input).copied().unwrap_or_default();
        }
        (sum, units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range() -> InputRange {
        InputRange {
            low: 0.0,
            high: 10.0,
            mean: 2.0,
            scale: 0.5,
        }
    }

    #[test]
    fn a_feature_is_cut_to_its_range_and_a_category_is_one_of_its_values() {
        let [(kind, kinds), ..] = CATEGORIES;
        let ranges = vec![range(); kind + 1];
        let mut features = vec![0.0; kind + 1];
        features[0] = 50.0;
        features[kind] = 3.0;
        let inputs = Network::inputs(&ranges, &features);
        assert_eq!(inputs[0], (0, 4.0));
        assert_eq!(inputs[1], (1, -1.0));
        let of_kind: Vec<_> = inputs
            .iter()
            .filter(|(at, _)| *at == kind || (ranges.len()..ranges.len() + kinds).contains(at))
            .collect();
        assert_eq!(of_kind, [&(ranges.len() + 3, 1.0)]);
    }

    #[test]
    fn a_unit_counts_above_zero_only() {
        let of_units = |first: f32, second: f32| {
            let mut out = vec![0.0; Network::UNITS];
            out[..2].copy_from_slice(&[first, second]);
            out
        };
        let network = Network {
            features: vec![range()],
            hidden: vec![of_units(1.0, -1.0)],
            bias: of_units(0.0, 0.0),
            output: of_units(2.0, 3.0),
            direct: vec![0.25],
        };
        assert!((network.score(&[4.0]) - 2.25).abs() < 1e-6);
        assert!((network.score(&[0.0]) - 2.75).abs() < 1e-6);
    }
}
