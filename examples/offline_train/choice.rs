//! The choice among candidates: a conditional logit over whole programs, right
//! where they come to the gold value.

use convfinqa::dataset::Question;
use finqa_agents::offline::{RuleAnalyst, RuleWeights, candidates};

use crate::items::{Item, converse};

/// Weights below this are left out: the choice is the same without them.
const LEAST: f64 = 0.1;

/// The candidates of one question: their features, and whether each is right.
type Choices = Vec<(Vec<(usize, f64)>, bool)>;

fn choices(solver: &RuleAnalyst, item: &Item, question: &Question) -> Option<Choices> {
    item.gold.as_ref()?;
    let page = solver.index(&question.document);
    let all: Choices = candidates(&page, question)
        .into_iter()
        .map(|c| {
            let right = item.value(&c.program).is_some_and(|v| item.right(&v));
            (c.features, right)
        })
        .collect();
    let right = all.iter().filter(|(_, right)| *right).count();
    (right > 0 && right < all.len()).then_some(all)
}

fn dot(features: &[(usize, f64)], weights: &[f64]) -> f64 {
    features
        .iter()
        .map(|(i, x)| x * weights.get(*i).copied().unwrap_or_default())
        .sum()
}

fn train(all: &[Choices], n: usize, l2: f64) -> Vec<f64> {
    let (mut weights, mut velocity) = (vec![0.0; n], vec![0.0; n]);
    let count = all.len().max(1) as f64;
    for _ in 0..500 {
        let mut gradient: Vec<f64> = weights.iter().map(|w| l2 * w).collect();
        for choices in all {
            let scores: Vec<f64> = choices.iter().map(|(f, _)| dot(f, &weights)).collect();
            let top = scores.iter().copied().fold(f64::MIN, f64::max);
            let mass: Vec<f64> = scores.iter().map(|s| (s - top).exp()).collect();
            let total: f64 = mass.iter().sum();
            let of_right = mass.iter().zip(choices).filter(|(_, (_, right))| *right);
            let right = of_right.map(|(m, _)| m).sum::<f64>().max(1e-12);
            for (m, (features, is_right)) in mass.iter().zip(choices) {
                let push = (m / total - if *is_right { m / right } else { 0.0 }) / count;
                for (i, x) in features {
                    if let Some(g) = gradient.get_mut(*i) {
                        *g += push * x;
                    }
                }
            }
        }
        for ((w, v), g) in weights.iter_mut().zip(&mut velocity).zip(&gradient) {
            *v = 0.9 * *v - 0.2 * g;
            *w += *v;
        }
    }
    for weight in &mut weights {
        if weight.abs() < LEAST {
            *weight = 0.0;
        }
    }
    weights
}

/// Two rounds: the second adds every turn as it stands over the first round's
/// own history, so that the choice also knows conversations gone astray.
pub fn fit(items: &[&Item], slots: &[f64], l2: f64) -> Vec<f64> {
    let mut weights = RuleWeights {
        slots: slots.to_vec(),
        ..RuleWeights::embedded().clone()
    };
    let n = weights.choice.len();
    let solver = RuleAnalyst::with_weights(weights.clone());
    let mut all: Vec<Choices> = items
        .iter()
        .filter_map(|item| choices(&solver, item, &item.question))
        .collect();
    weights.choice = train(&all, n, l2);
    let solver = RuleAnalyst::with_weights(weights);
    let turns: Vec<&Item> = items.iter().copied().filter(|i| !i.stand_alone).collect();
    all.extend(
        converse(&solver, &turns)
            .iter()
            .filter(|a| !a.item.first)
            .filter_map(|a| choices(&solver, a.item, &a.question)),
    );
    train(&all, n, l2)
}
