//! Fits the models of shapes and of sketches: multinomial logistic regression over the buckets into
//! which the words of a question are hashed. The number of passes and the learning rate are set by
//! hand.

use std::path::Path;

use finqa_embedded::training::{
    BUCKETS, ClassExample, WordClassifier, shape_example, sketch_example,
};

use crate::items::Item;

/// A question as an example for each of the two models; `None` if its program cannot be read.
pub struct Example {
    pub shape: Option<ClassExample>,
    /// Also `None` for a stand-alone question, which has no earlier turns to refer to.
    pub sketch: Option<ClassExample>,
    pub fold: usize,
}

impl Example {
    /// `before` has the programs of earlier turns. `alone` marks a stand-alone question.
    fn new(question: &str, before: &[&str], program: &str, alone: bool, fold: usize) -> Self {
        let sketch = || sketch_example(question, before, program);
        Self {
            shape: shape_example(question, before, program, alone),
            sketch: if alone { None } else { sketch() },
            fold,
        }
    }
}

/// The examples of all questions that have a program, each with the gold programs of earlier turns.
pub fn examples(items: &[Item]) -> Vec<Example> {
    let of = |item: &Item| {
        let before = item.question.history.iter();
        let before: Vec<&str> = before.filter_map(|turn| turn.program.as_deref()).collect();
        let (text, program) = (&item.question.text, item.program.as_deref()?);
        Some(Example::new(
            text, &before, program, item.stand_alone, item.fold,
        ))
    };
    let learned = items.iter().filter(|item| !item.only_tested);
    learned.filter_map(of).collect()
}

/// Reads examples from a file of conversations without pages. A conversation that is `known` is left
/// out, because another file has it or its page is held out; `fold` is the fold of its page.
pub fn of_dialogues(
    file: &Path,
    fold: impl Fn(&str) -> usize,
    known: impl Fn(&str) -> bool,
) -> Result<Vec<Example>, Box<dyn std::error::Error>> {
    let all: Vec<serde_json::Value> = serde_json::from_slice(&std::fs::read(file)?)?;
    let mut out = Vec::new();
    for record in &all {
        let id = record["id"].as_str().unwrap_or_default();
        if known(id) {
            continue;
        }
        let list = |field: &str| -> Vec<&str> {
            let all = record[field].as_array().into_iter().flatten();
            all.filter_map(|text| text.as_str()).collect()
        };
        let (questions, programs) = (list("dialogue_break"), list("turn_program"));
        for (turn, (question, program)) in questions.iter().zip(&programs).enumerate() {
            let before = &programs[..turn];
            out.push(Example::new(question, before, program, false, fold(id)));
        }
    }
    Ok(out)
}

/// Number of passes over the examples.
const PASSES: usize = 12;
/// The learning rate of the first step; it falls to zero.
const RATE: f64 = 0.02;

/// Fits a classifier by stochastic gradient descent. The order of the examples comes from a fixed
/// seed, so that the same examples give the same weights.
pub fn fit<const CLASSES: usize>(examples: &[&ClassExample]) -> WordClassifier<CLASSES> {
    let mut weights = vec![0.0_f64; BUCKETS * CLASSES];
    let mut order: Vec<usize> = (0..examples.len()).collect();
    let mut random = crate::random::Random::new(14);
    let steps = (PASSES * examples.len()) as f64;
    let mut step = 0.0;
    for _ in 0..PASSES {
        random.shuffle(&mut order);
        for i in &order {
            let example = examples[*i];
            let mut odds = [0.0; CLASSES];
            for bucket in &example.buckets {
                let of_bucket = &weights[bucket * CLASSES..(bucket + 1) * CLASSES];
                for (o, w) in odds.iter_mut().zip(of_bucket) {
                    *o += w;
                }
            }
            let top = odds.iter().copied().fold(f64::MIN, f64::max);
            odds.iter_mut().for_each(|o| *o = libm::exp(*o - top));
            let sum: f64 = odds.iter().sum();
            odds.iter_mut().for_each(|o| *o /= sum);
            odds[example.class] -= 1.0;
            let rate = RATE * (1.0 - step / steps);
            step += 1.0;
            for bucket in &example.buckets {
                let of_bucket = &mut weights[bucket * CLASSES..(bucket + 1) * CLASSES];
                for (weight, push) in of_bucket.iter_mut().zip(&odds) {
                    *weight -= rate * push;
                }
            }
        }
    }
    WordClassifier::from_weights(&weights)
}
