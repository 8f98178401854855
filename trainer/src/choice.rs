//! Makes the examples from which the network learns: the candidates of a question with their
//! features. A candidate is right if its program has the gold value.

use finqa_core::question::Question;
use finqa_embedded::EmbeddedAnalyst;
use finqa_embedded::training::candidates;

use crate::items::Item;
use crate::logit::Choices;

/// The features of a candidate. `f32` halves the memory of millions of rows.
pub type Row = Vec<f32>;

/// The candidates of a question; `None` unless some are right and some are wrong, because otherwise
/// there is nothing to learn.
pub fn choices(
    analyst: &EmbeddedAnalyst,
    item: &Item,
    question: &Question,
) -> Option<Choices<Row>> {
    item.gold.as_ref()?;
    let page = analyst.index(&question.document);
    let all: Choices<Row> = candidates(analyst, &page, question)
        .into_iter()
        .map(|candidate| {
            let right = item.is_right(&candidate.program);
            let features = candidate.features.into_iter();
            (features.map(|value| value as f32).collect(), right)
        })
        .collect();
    let right = all.iter().filter(|(_, right)| *right).count();
    (right > 0 && right < all.len()).then_some(all)
}
