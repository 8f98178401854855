//! Fits the model that scores which facts fill the slots of a plan: a conditional logit over joint
//! choices of facts. The numbers of rounds and of steps, the step size, the momentum and the
//! penalty are set by hand.

use finqa_embedded::EmbeddedAnalyst;
use finqa_embedded::training::{EmbeddedWeights, SlotExample, example};

use crate::items::Item;

/// The examples of all items from which something can be learned.
pub fn examples(analyst: &EmbeddedAnalyst, items: &[&Item]) -> Vec<SlotExample> {
    items
        .iter()
        .filter_map(|item| {
            let page = analyst.index(&item.question.document);
            example(&page, &item.question, item.program.as_deref()?)
        })
        .collect()
}

/// Minimises the mean log-loss plus `l2 * |w - start|^2 / 2` by gradient descent with momentum. The
/// loss of an example is that of the probability of all its right choices together.
fn train(examples: &[SlotExample], start: &[f64], l2: f64) -> Vec<f64> {
    let mut weights = start.to_vec();
    let mut velocity = vec![0.0; weights.len()];
    let n = examples.len().max(1) as f64;
    for _ in 0..150 {
        let mut gradient: Vec<f64> = weights
            .iter()
            .zip(start)
            .map(|(w, s)| l2 * (w - s))
            .collect();
        for example in examples {
            let scores: Vec<f64> = example
                .choices
                .iter()
                .map(|(f, _)| dot(f, &weights))
                .collect();
            let top = scores.iter().copied().fold(f64::MIN, f64::max);
            let weight: Vec<f64> = scores.iter().map(|s| libm::exp(s - top)).collect();
            let all: f64 = weight.iter().sum();
            let right: f64 = weight
                .iter()
                .zip(&example.choices)
                .filter(|(_, (_, used))| *used)
                .map(|(w, _)| w)
                .sum::<f64>()
                // A divisor, so more than 0.
                .max(1e-12);
            for (w, (features, used)) in weight.iter().zip(&example.choices) {
                let push = (w / all - if *used { w / right } else { 0.0 }) / n;
                // A smaller push would hardly change the gradient, so the loop over all features is
                // skipped.
                if push.abs() > 1e-9 {
                    for (g, f) in gradient.iter_mut().zip(features) {
                        *g += push * f;
                    }
                }
            }
        }
        for ((w, v), g) in weights.iter_mut().zip(&mut velocity).zip(&gradient) {
            *v = 0.9 * *v - 0.3 * g;
            *w += *v;
        }
    }
    weights
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Trains in three rounds, because the weights also decide which choices of facts are considered:
/// each round learns from the choices that the weights of the round before consider. The first
/// round begins with zero weights, because the built-in ones were trained on these pages.
pub fn fit(items: &[&Item], features: usize) -> Vec<f64> {
    let l2 = 0.001;
    let zero = vec![0.0; features];
    let mut weights = zero.clone();
    for _ in 0..3 {
        let analyst = EmbeddedAnalyst::with_weights(EmbeddedWeights {
            slots: weights,
            ..EmbeddedWeights::built_in().clone()
        });
        weights = train(&examples(&analyst, items), &zero, l2);
    }
    weights
}
