//! The model of shapes: multinomial logistic regression over the buckets of a question.

use std::path::Path;

use finqa_agents::offline::training::{BUCKETS, ShapeModel, buckets, shape_of, shapes};

use crate::items::Item;

/// A question's buckets and the shape of its gold program.
pub struct ShapeExample {
    buckets: Vec<usize>,
    shape: usize,
    pub fold: usize,
}

/// Every question with a program, after the gold of the turns before it.
pub fn examples(items: &[Item]) -> Vec<ShapeExample> {
    let of = |item: &Item| {
        let before = item.question.history.iter();
        let before: Vec<usize> = before
            .filter_map(|turn| shape_of(turn.program.as_deref()?))
            .collect();
        Some(ShapeExample {
            buckets: buckets(&item.question.text, &before, item.stand_alone),
            shape: shape_of(item.program.as_deref()?)?,
            fold: item.fold,
        })
    };
    items.iter().filter_map(of).collect()
}

/// Conversations without pages: their questions and programs.
pub fn of_dialogues(
    file: &Path,
    fold: impl Fn(&str) -> usize,
    known: impl Fn(&str) -> bool,
) -> Result<Vec<ShapeExample>, Box<dyn std::error::Error>> {
    let all: Vec<serde_json::Value> = serde_json::from_slice(&std::fs::read(file)?)?;
    let mut out = Vec::new();
    for record in &all {
        let id = record["id"].as_str().unwrap_or_default();
        if known(id) {
            continue;
        }
        let list = |field: &str| record[field].as_array().cloned().unwrap_or_default();
        let mut before = Vec::new();
        for (question, program) in list("dialogue_break").iter().zip(list("turn_program")) {
            let Some(shape) = program.as_str().and_then(shape_of) else {
                continue;
            };
            out.push(ShapeExample {
                buckets: buckets(question.as_str().unwrap_or_default(), &before, false),
                shape,
                fold: fold(id),
            });
            before.push(shape);
        }
    }
    Ok(out)
}

const PASSES: usize = 12;
const RATE: f64 = 0.15;
const L2: f64 = 2e-5;

/// Stochastic gradient descent with a rate of its own for every weight; the examples in the
/// order of a fixed permutation.
pub fn fit(examples: &[&ShapeExample]) -> ShapeModel {
    let n = shapes().len();
    let mut weights = vec![0.0_f64; BUCKETS * n];
    let mut seen = vec![1e-2_f64; BUCKETS * n];
    let mut order: Vec<usize> = (0..examples.len()).collect();
    let mut random = crate::random::Random::new(14);
    let mut odds = vec![0.0; n];
    for _ in 0..PASSES {
        random.shuffle(&mut order);
        for i in &order {
            let example = examples[*i];
            odds.fill(0.0);
            for bucket in &example.buckets {
                let of_bucket = &weights[bucket * n..(bucket + 1) * n];
                for (o, w) in odds.iter_mut().zip(of_bucket) {
                    *o += w;
                }
            }
            let top = odds.iter().copied().fold(f64::MIN, f64::max);
            odds.iter_mut().for_each(|o| *o = libm::exp(*o - top));
            let sum: f64 = odds.iter().sum();
            odds.iter_mut().for_each(|o| *o /= sum);
            odds[example.shape] -= 1.0;
            for bucket in &example.buckets {
                let of_bucket = bucket * n..(bucket + 1) * n;
                let learnt = weights[of_bucket.clone()]
                    .iter_mut()
                    .zip(&mut seen[of_bucket]);
                for ((weight, seen), odds) in learnt.zip(&odds) {
                    let g = odds + L2 * *weight * examples.len() as f64;
                    *seen += g * g;
                    *weight -= RATE * g / seen.sqrt();
                }
            }
        }
    }
    ShapeModel::from_weights(&weights)
}
