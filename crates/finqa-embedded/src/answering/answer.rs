//! What the analyst answers.

use std::sync::Arc;

use finqa_core::number::{Unit, Value};
use finqa_core::question::CitedEvidence;

use crate::reading::facts::Facts;
use crate::tables::Tables;

/// A page, read once for all its questions; cheap to clone.
#[derive(Clone, Debug)]
pub struct PageIndex {
    pub(crate) facts: Arc<Facts>,
    /// Of a page of the user's own. One of several tables has no facts.
    pub(crate) tables: Option<Arc<Tables>>,
}

/// A program that may answer a question, with its result.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedAnswer {
    /// In the dataset's language, literals as the official evaluator reads them.
    pub program: String,
    /// The name of the plan that made it.
    pub plan_name: &'static str,
    pub unit: Unit,
    /// A name for the value.
    pub label: String,
    pub evidence: Vec<CitedEvidence>,
    pub steps: Vec<String>,
    /// The program's result, unrounded.
    pub value: Value,
    pub in_percent: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedAnswer {
    pub best: RankedAnswer,
    /// Probability that it is right.
    pub confidence: f64,
    /// Why it is only a guess, if so.
    pub doubt: Option<String>,
    /// The answer in words, where no program gives it: a label of the page.
    pub words: Option<String>,
    /// Its values, if several are asked for.
    pub values: Vec<String>,
    /// The inputs of the confidence, in the order of its weights.
    pub signals: Vec<f64>,
}

impl EmbeddedAnswer {
    /// An answer without doubts.
    pub(super) fn of(best: RankedAnswer, confidence: f64) -> Self {
        Self {
            best,
            confidence,
            doubt: None,
            words: None,
            values: Vec::new(),
            signals: Vec::new(),
        }
    }
}
