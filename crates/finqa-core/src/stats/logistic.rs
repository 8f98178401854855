//! Fits a logistic regression to a few inputs, some of which may be missing.

use serde::{Deserialize, Serialize};

/// The weight of the ridge penalty, set by hand. A larger weight moves the coefficients towards 0
/// and the probabilities towards the overall rate.
const PENALTY: f64 = 1.0;

/// A fitted logistic model, which computes a probability.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Logistic {
    intercept: f64,
    inputs: Vec<LogisticInput>,
}

/// The standardisation and the weight of an input. A missing value counts as the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct LogisticInput {
    mean: f64,
    deviation: f64,
    weight: f64,
}

impl LogisticInput {
    /// Measures the values that are not missing. The weight is set after the fit.
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let n = values.clone().count().max(1) as f64;
        let mean = values.clone().fold(0.0, |sum, value| sum + value) / n;
        let variance = values.map(|value| (value - mean).powi(2)).sum::<f64>() / n;
        Self {
            mean,
            // An input that never varies carries no information. Rounding errors may give it a tiny
            // variance.
            deviation: if variance > 1e-12 {
                variance.sqrt()
            } else {
                0.0
            },
            weight: 0.0,
        }
    }

    fn standardised(&self, value: Option<f64>) -> f64 {
        match value {
            Some(value) if self.deviation > 0.0 => (value - self.mean) / self.deviation,
            _ => 0.0,
        }
    }
}

impl Logistic {
    /// Fits the model to examples, each with its inputs and whether the event happened. The weights
    /// of the standardised inputs have a ridge penalty. The same examples always result in the same
    /// model.
    pub fn fit(examples: &[(&[Option<f64>], bool)]) -> Self {
        let count = examples.iter().map(|(inputs, _)| inputs.len()).max();
        let inputs: Vec<LogisticInput> = (0..count.unwrap_or_default())
            .map(|at| {
                let values = examples.iter();
                LogisticInput::of(values.filter_map(move |(inputs, _)| *inputs.get(at)?))
            })
            .collect();
        let rows: Vec<(Vec<f64>, f64)> = examples
            .iter()
            .map(|(values, happened)| {
                let values = inputs.iter().zip(*values);
                let values = values.map(|(input, value)| input.standardised(*value));
                let row = std::iter::once(1.0).chain(values).collect();
                (row, f64::from(u8::from(*happened)))
            })
            .collect();
        let mut weights = newton(&rows, inputs.len() + 1).into_iter();
        Self {
            intercept: weights.next().unwrap_or_default(),
            inputs: inputs
                .into_iter()
                .zip(weights)
                .map(|(input, weight)| LogisticInput { weight, ..input })
                .collect(),
        }
    }

    /// The probability of the event for these inputs, from 0 to 1.
    pub fn probability(&self, inputs: &[Option<f64>]) -> f64 {
        let terms = self.inputs.iter().zip(inputs);
        let terms = terms.map(|(input, value)| input.weight * input.standardised(*value));
        logistic(self.intercept + terms.sum::<f64>())
    }

    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }
}

fn logistic(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

/// Finds the weights by Newton's method. The first weight is the intercept, which has no penalty.
fn newton(rows: &[(Vec<f64>, f64)], count: usize) -> Vec<f64> {
    let penalty = |weights: &[f64]| -> Vec<f64> {
        let penalised = weights.iter().skip(1).map(|weight| PENALTY * weight);
        std::iter::once(0.0).chain(penalised).collect()
    };
    let mut weights = vec![0.0; count];
    // The limit is set by hand. The loop ends earlier if the weights no longer change.
    for _ in 0..30 {
        let mut gradient: Vec<f64> = penalty(&weights).iter().map(|it| -it).collect();
        let mut curvature = Vec::with_capacity(rows.len());
        for (row, happened) in rows {
            let p = logistic(dot(&weights, row));
            add(&mut gradient, happened - p, row);
            // Keep the curvature above 0, even if all examples have the same outcome.
            curvature.push((p * (1.0 - p)).max(1e-6));
        }
        let bend = |direction: &[f64]| {
            let mut out = penalty(direction);
            for ((row, _), weight) in rows.iter().zip(&curvature) {
                add(&mut out, weight * dot(direction, row), row);
            }
            out
        };
        let mut step = conjugate_gradient(bend, &gradient);
        let length = dot(&step, &step).sqrt();
        // A full step can end far beyond the solution, so limit its length to 2 (set by hand).
        let kept = (2.0 / length.max(2.0)).min(1.0);
        step.iter_mut().for_each(|it| *it *= kept);
        add(&mut weights, 1.0, &step);
        // The weights no longer change.
        if length < 1e-9 {
            break;
        }
    }
    weights
}

/// Solves `matrix(x) = right`. The matrix is symmetric and positive definite, and given as a
/// function.
fn conjugate_gradient(matrix: impl Fn(&[f64]) -> Vec<f64>, right: &[f64]) -> Vec<f64> {
    let mut x = vec![0.0; right.len()];
    let (mut rest, mut direction) = (right.to_vec(), right.to_vec());
    let mut size = dot(&rest, &rest);
    // In exact arithmetic, one step for each unknown is enough. Twice as many allow for
    // rounding errors.
    for _ in 0..2 * right.len() {
        // The squared length of the residual; the solution is exact up to rounding errors.
        if size < 1e-24 {
            break;
        }
        let bent = matrix(&direction);
        let by = size / dot(&direction, &bent);
        add(&mut x, by, &direction);
        add(&mut rest, -by, &bent);
        let next = dot(&rest, &rest);
        for (along, rest) in direction.iter_mut().zip(&rest) {
            *along = rest + next / size * *along;
        }
        size = next;
    }
    x
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Adds `factor` × `other` to `to`, component by component.
fn add(to: &mut [f64], factor: f64, other: &[f64]) {
    for (to, other) in to.iter_mut().zip(other) {
        *to += factor * other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(examples: &[(Vec<Option<f64>>, bool)]) -> Logistic {
        let examples: Vec<_> = examples
            .iter()
            .map(|(inputs, it)| (inputs.as_slice(), *it))
            .collect();
        Logistic::fit(&examples)
    }

    #[test]
    fn the_model_gives_the_shares_of_its_examples_and_missing_counts_as_the_mean() {
        // The event happens for 30 of 100 examples with the first input and for 90 of 100 examples
        // without it. The second input never varies.
        let examples: Vec<_> = (0..200)
            .map(|i| {
                let has = f64::from(u8::from(i < 100));
                (
                    vec![Some(has), Some(7.0), None],
                    i % 100 < if i < 100 { 30 } else { 90 },
                )
            })
            .collect();
        let model = fit(&examples);
        let with = |input| model.probability(&[input, Some(100.0), Some(-5.0)]);
        assert!((with(Some(1.0)) - 0.3).abs() < 0.02, "{}", with(Some(1.0)));
        assert!((with(Some(0.0)) - 0.9).abs() < 0.02, "{}", with(Some(0.0)));
        assert!(with(Some(1.0)) < with(None) && with(None) < with(Some(0.0)));
        assert_eq!(model, fit(&examples));
    }

    #[test]
    fn examples_that_are_all_alike_or_separable_give_finite_weights() {
        for right in [|_| true, |_| false, |i| i < 5] {
            let examples: Vec<_> = (0..10)
                .map(|i| (vec![Some(f64::from(i))], right(i)))
                .collect();
            let model = fit(&examples);
            for value in [0.0, 5.0, 1e6] {
                let p = model.probability(&[Some(value)]);
                assert!((0.0..=1.0).contains(&p), "{p}");
            }
        }
        assert_eq!(fit(&[]).probability(&[]), 0.5);
    }
}
