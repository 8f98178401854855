//! Fits the model that scores which facts fill the slots of a plan: a conditional logit over joint
//! choices of facts. The number of rounds is set by hand.

use finqa_embedded::EmbeddedAnalyst;
use finqa_embedded::training::{EmbeddedWeights, example};

use crate::items::Item;
use crate::logit::{self, Choices, Descent};

const DESCENT: Descent = Descent {
    steps: 150,
    momentum: 0.9,
    l2: 0.001,
};

/// The joint choices of facts of all items from which something can be learned.
fn examples(analyst: &EmbeddedAnalyst, items: &[&Item]) -> Vec<Choices<Vec<f64>>> {
    items
        .iter()
        .filter_map(|item| {
            let page = analyst.index(&item.question.document);
            let example = example(&page, &item.question, item.program.as_deref()?)?;
            Some(example.choices)
        })
        .collect()
}

/// Trains in three rounds, because the weights also decide which choices of facts are considered:
/// each round learns from the choices that the weights of the round before consider. The first
/// round begins with zero weights, because the built-in ones were trained on these pages.
pub fn fit(items: &[&Item], features: usize) -> Vec<f64> {
    let mut weights = vec![0.0; features];
    for _ in 0..3 {
        let analyst = EmbeddedAnalyst::with_weights(EmbeddedWeights {
            slots: weights,
            ..EmbeddedWeights::built_in().clone()
        });
        let examples = examples(&analyst, items);
        weights = logit::train(&examples, features, &DESCENT);
    }
    weights
}
