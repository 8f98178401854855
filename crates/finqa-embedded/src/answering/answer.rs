//! The types that the analyst takes and returns: a page that was read, and an answer.

use std::sync::{Arc, OnceLock};

use finqa_core::number::{Unit, Value};
use finqa_core::question::{CitedEvidence, Document};

use crate::reading::facts::Facts;
use crate::tables::Tables;

/// A page that was read, for all questions about it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PageIndex {
    facts: Arc<OnceLock<Facts>>,
    slot_weights: Arc<[f64]>,
    /// The tables of a page of the user's own, or of a report; `None` for a page of the dataset.
    pub(crate) tables: Option<Arc<Tables>>,
}

impl PageIndex {
    pub(super) fn new(slot_weights: &[f64], tables: Option<Tables>) -> Self {
        Self {
            facts: Arc::default(),
            slot_weights: slot_weights.into(),
            tables: tables.map(Arc::new),
        }
    }

    /// The facts of the page, which must be the indexed one. They are read when a question first
    /// needs them, as most questions about the user's own page do not.
    pub(crate) fn facts(&self, document: &Document) -> &Facts {
        let read = || Facts::read(document, &self.slot_weights);
        self.facts.get_or_init(read)
    }
}

/// A program that answers a question, with its value and what supports it.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedAnswer {
    /// The program in the dataset's language. Empty if the answer is a label or several values.
    pub program: String,
    /// The name of the plan that made it.
    pub plan_name: &'static str,
    pub unit: Unit,
    /// A name for the value, made from the names of its figures: `ratio: rent, 2012; revenue,
    /// 2012`.
    pub label: String,
    pub evidence: Vec<CitedEvidence>,
    pub steps: Vec<String>,
    /// The value of the program, unrounded, or the words of [`EmbeddedAnswer::words`].
    pub value: Value,
    /// True if the value is a percentage as it is printed: 21.5 for 21.5 %, not 0.215.
    pub in_percent: bool,
}

/// An answer of the analyst.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedAnswer {
    pub best: RankedAnswer,
    /// The probability that the answer is right, from 0 to 1.
    pub confidence: f64,
    /// The reason to call the answer a guess; `None` if there is none.
    pub doubt: Option<String>,
    /// The answer in words if no program gives it: a label of the page, or several values.
    pub words: Option<String>,
    /// The values in the order asked, if the question asks for several; empty otherwise.
    pub values: Vec<String>,
    /// The inputs of the confidence, in the order of its weights. Empty for an answer from labels
    /// or a sentence.
    pub signals: Vec<f64>,
}

impl EmbeddedAnswer {
    /// An answer by a program, without a doubt.
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
