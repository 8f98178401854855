//! Fits the linear model that chooses among the candidates of a question: a conditional logit over
//! whole programs. A program is right if its value is the gold value. The number of steps, the step
//! size and the momentum are set by hand.

use finqa_core::question::Question;
use finqa_embedded::EmbeddedAnalyst;
use finqa_embedded::training::{Pool, candidates};

use crate::items::Item;

/// The candidates of one question: the non-zero features of each, and whether it is right.
pub struct Choices {
    all: Vec<(Vec<(u32, f32)>, bool)>,
}

/// All candidates of a question; `None` unless some are right and some are wrong, because otherwise
/// there is nothing to learn.
pub fn choices(analyst: &EmbeddedAnalyst, item: &Item, question: &Question) -> Option<Choices> {
    item.gold.as_ref()?;
    let page = analyst.index(&question.document);
    let all: Vec<_> = candidates(analyst, &page, question, Pool::All)
        .into_iter()
        .map(|c| {
            let right = item.value(&c.program).is_some_and(|v| item.right(&v));
            let features = c.features.iter().map(|(i, x)| (*i as u32, *x as f32));
            (features.collect(), right)
        })
        .collect();
    let right = all.iter().filter(|(_, right)| *right).count();
    (right > 0 && right < all.len()).then_some(Choices { all })
}

/// A candidate with its features for the network, and whether it is right.
pub struct Row {
    pub detail: Vec<f64>,
    pub right: bool,
}

/// The candidates of a question from which the network learns; `None` unless some are right and
/// some are wrong.
pub fn rows(analyst: &EmbeddedAnalyst, item: &Item, question: &Question) -> Option<Vec<Row>> {
    item.gold.as_ref()?;
    let page = analyst.index(&question.document);
    let all: Vec<Row> = candidates(analyst, &page, question, Pool::Best)
        .into_iter()
        .map(|c| Row {
            right: item.value(&c.program).is_some_and(|v| item.right(&v)),
            detail: c.detail,
        })
        .collect();
    let right = all.iter().filter(|row| row.right).count();
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
pub fn train(all: &[&Choices], start: Vec<f64>, l2: f64) -> Vec<f64> {
    let mut velocity = vec![0.0; start.len()];
    let mut weights = start;
    let count = all.len().max(1) as f64;
    for _ in 0..90 {
        let mut gradient: Vec<f64> = weights.iter().map(|w| l2 * w).collect();
        for choices in all {
            let scores: Vec<f64> = choices.all.iter().map(|(f, _)| dot(f, &weights)).collect();
            let top = scores.iter().copied().fold(f64::MIN, f64::max);
            let mass: Vec<f64> = scores.iter().map(|s| libm::exp(s - top)).collect();
            let total: f64 = mass.iter().sum();
            let of_right = mass
                .iter()
                .zip(&choices.all)
                .filter(|(_, (_, right))| *right);
            // A divisor, so more than 0.
            let right = of_right.map(|(m, _)| m).sum::<f64>().max(1e-12);
            for (m, (features, is_right)) in mass.iter().zip(&choices.all) {
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
