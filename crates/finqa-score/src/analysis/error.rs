//! The errors of comparing answers.

use thiserror::Error;

use crate::dataset::QuestionKey;
use crate::score::Rule;
use finqa_core::error::{Kind, Kinded};
use finqa_core::text::counted;

#[derive(Debug, Error)]
pub enum AnalysisError {
    #[error(
        "A and B have different questions: {common} in both, {only_a} only in A, {only_b} only in B \
         (such as {example})"
    )]
    DifferentQuestions {
        common: usize,
        /// Questions of A that B does not have.
        only_a: usize,
        /// Questions of B that A does not have.
        only_b: usize,
        example: String,
    },
    #[error(
        "A and B have no question in common (such as {a} in A and {b} in B); \
         rows are paired by id, part and epoch"
    )]
    NothingInCommon { a: String, b: String },
    #[error("no gold to compare {} by", counted(*questions, "question"))]
    NothingToCompare { questions: usize },
    #[error("{} can judge none of the questions", rule.title())]
    NotJudged { rule: Rule },
    #[error(
        "{key} is not the same question in A and B: their texts differ; compare runs over the same data"
    )]
    DifferentText { key: QuestionKey },
    #[error(
        "{key} has gold `{a}` in A and `{b}` in B: scores by different golds cannot be compared"
    )]
    DifferentGold {
        key: QuestionKey,
        a: String,
        b: String,
    },
}

impl Kinded for AnalysisError {
    fn kind(&self) -> Kind {
        Kind::Data
    }
}
