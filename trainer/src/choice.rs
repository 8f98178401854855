//! Fits the linear model that chooses among the candidates of a question: a conditional logit over
//! whole programs. A program is right if its value is the gold value.

use finqa_core::question::Question;
use finqa_embedded::EmbeddedAnalyst;
use finqa_embedded::training::{Pool, ProgramCandidate, candidates};

use crate::items::Item;
use crate::logit::{Choices, Descent, Sparse};

pub const DESCENT: Descent = Descent {
    steps: 90,
    momentum: 0.93,
    l2: 0.002,
};

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
