//! Fits the linear model that chooses among the candidates of a question: a conditional logit over
//! whole programs. A program is right if its value is the gold value. The number of steps, the step
//! size and the momentum are set by hand.

use finqa_core::question::Question;
use finqa_embedded::EmbeddedAnalyst;
use finqa_embedded::training::{Pool, ProgramCandidate, candidates};

use crate::items::Item;

/// The candidates of a question: the features of each, and whether it is right.
pub type Choices<F> = Vec<(F, bool)>;

/// The features that are not zero, as index and value. `usize` would double their memory.
pub type Sparse = Vec<(u32, f32)>;

/// The features of the linear model.
pub fn linear_features(candidate: ProgramCandidate) -> Sparse {
    let features = candidate.features.iter();
    features.map(|(i, x)| (*i as u32, *x as f32)).collect()
}

/// The candidates of a question; `None` unless some are right and some are wrong, because otherwise
/// there is nothing to learn.
pub fn choices<F>(
    analyst: &EmbeddedAnalyst,
    item: &Item,
    question: &Question,
    pool: Pool,
    features: fn(ProgramCandidate) -> F,
) -> Option<Choices<F>> {
    item.gold.as_ref()?;
    let page = analyst.index(&question.document);
    let all: Choices<F> = candidates(analyst, &page, question, pool)
        .into_iter()
        .map(|candidate| {
            let right = item.is_right(&candidate.program);
            (features(candidate), right)
        })
        .collect();
    let right = all.iter().filter(|(_, right)| *right).count();
    (right > 0 && right < all.len()).then_some(all)
}

fn dot(features: &[(u32, f32)], weights: &[f64]) -> f64 {
    let terms = features
        .iter()
        .map(|(i, x)| f64::from(*x) * weights[*i as usize]);
    terms.sum()
}

/// Minimises the mean log-loss plus `l2 * |w|^2 / 2` by gradient descent with momentum. The loss of
/// a question is that of the probability of all its right candidates together.
pub fn train(all: &[&Choices<Sparse>], start: Vec<f64>, l2: f64) -> Vec<f64> {
    let mut velocity = vec![0.0; start.len()];
    let mut weights = start;
    let count = all.len().max(1) as f64;
    for _ in 0..90 {
        let mut gradient: Vec<f64> = weights.iter().map(|w| l2 * w).collect();
        for choices in all {
            let scores: Vec<f64> = choices.iter().map(|(f, _)| dot(f, &weights)).collect();
            let top = scores.iter().copied().fold(f64::MIN, f64::max);
            let mass: Vec<f64> = scores.iter().map(|s| libm::exp(s - top)).collect();
            let total: f64 = mass.iter().sum();
            let of_right = mass.iter().zip(*choices).filter(|(_, (_, right))| *right);
            // A divisor, so more than 0.
            let right = of_right.map(|(m, _)| m).sum::<f64>().max(1e-12);
            for (m, (features, is_right)) in mass.iter().zip(*choices) {
                let push = (m / total - if *is_right { m / right } else { 0.0 }) / count;
                // A smaller push would hardly change the gradient, so the loop over the features is
                // skipped.
                if push.abs() > 1e-9 {
                    for (i, x) in features {
                        gradient[*i as usize] += push * f64::from(*x);
                    }
                }
            }
        }
        let rate = 0.3;
        for ((w, v), g) in weights.iter_mut().zip(&mut velocity).zip(&gradient) {
            *v = 0.93 * *v - rate * g;
            *w += *v;
        }
    }
    weights
}
