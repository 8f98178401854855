//! One question's full result: what the journal keeps and every sink reads.

use std::sync::Arc;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::dataset::{Document, Gold, Outcome, QuestionKey, RecordKind};
use crate::score::{Item, ScoredRow, Scores, score};
use finqa_agents::agents::{Answer, Settled};
use finqa_agents::models::Cost;
use finqa_core::number::{Value, round5};

use super::plan::Mode;

/// One question's full result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its place in the plan: the order of every output.
    pub index: usize,
    /// Which repetition, from 0.
    pub epoch: u32,
    /// Which question.
    pub key: QuestionKey,
    /// Turns of its conversation; absent for stand-alone questions and in
    /// journals of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<usize>,
    /// The report page: the cluster for statistics.
    pub filename: String,
    /// Single or Double.
    pub kind: RecordKind,
    /// The question's text.
    pub question: String,
    /// What the dataset says.
    pub gold: Gold,
    /// Which questions the run asks; it decides what is compared.
    pub mode: Mode,
    /// What the agents came to.
    pub settled: Settled,
    /// What it scores; absent parts have no gold.
    pub scores: Scores,
    /// Seconds from the first request to the verdict, retries included,
    /// waiting for a slot not.
    pub latency: f64,
    /// What the calls cost in US dollars; `None` if a part of it is unknown.
    #[serde(default)]
    pub cost: Option<Decimal>,
    /// What the first draft alone cost; `None` if a part of it is unknown.
    #[serde(default)]
    pub draft_cost: Option<Decimal>,
    /// When it was put down, and as the how-manieth; absent in journals of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
}

/// A row's place in the order of answering, which is not the plan's: what
/// develops over a run can be told again from its journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// From 1, without gaps over all processes of a run.
    pub ordinal: u64,
    /// Milliseconds since 1970 UTC; never before that of an earlier row.
    pub at: i64,
}

impl Stamp {
    /// The stamp of the next row, put down `now`.
    #[must_use]
    pub(super) fn next(self, now: i64) -> Self {
        Self {
            ordinal: self.ordinal + 1,
            at: now.max(self.at),
        }
    }

    /// The last stamp of the rows so far and this one; those without a stamp
    /// came before all others.
    #[must_use]
    pub(super) fn past(self, row: &Row) -> Self {
        Self {
            ordinal: self.ordinal + 1,
            at: self.at.max(row.stamp.map_or(0, |stamp| stamp.at)),
        }
    }
}

impl Row {
    /// The row scored by every rule over its page.
    #[must_use]
    pub fn scored(mut self, page: &Arc<Document>) -> Self {
        let item = Item {
            document: Some(Arc::clone(page)),
            ..self.item()
        };
        self.scores = score(&item);
        self
    }

    /// The row with the scores it was given when it was answered.
    #[must_use]
    pub fn as_scored(&self) -> ScoredRow {
        ScoredRow {
            item: self.item(),
            scores: self.scores.clone(),
        }
    }

    /// What the calls cost, with what is not known of it.
    #[must_use]
    pub fn spent(&self) -> Cost {
        match self.cost {
            // Calls in journals of earlier versions do not say what they cost.
            Some(known) => Cost {
                known,
                priced: self.settled.calls.len() as u64,
                unpriced: 0,
            },
            None => self.settled.calls.iter().map(|call| call.cost).sum(),
        }
    }

    /// What is scored, without the page.
    fn item(&self) -> Item {
        self.item_with(self.settled.answer.as_ref(), self.settled.outcome)
    }

    /// What would be scored, had asking ended with another answer.
    pub(super) fn item_with(&self, answer: Option<&Answer>, outcome: Outcome) -> Item {
        Item {
            key: self.key.clone(),
            epoch: self.epoch.to_string(),
            turns: self.turns,
            filename: self.filename.clone(),
            kind: Some(self.kind),
            question: self.question.clone(),
            ground_truth: self.ground_truth(),
            gold: self.gold.clone(),
            prediction: self.prediction_of(answer),
            answer: answer
                .map(|answer| answer.printed.clone())
                .unwrap_or_default(),
            value: answer.and_then(|answer| answer.value.clone()),
            program: answer.and_then(|answer| answer.program.clone()),
            document: None,
            outcome,
            latency: Some(self.latency),
        }
    }

    /// The gold that the prediction is compared with, as written in the CSV:
    /// `qa.answer` of a question, `exe_ans` of a turn.
    #[must_use]
    pub fn ground_truth(&self) -> Option<String> {
        match self.mode {
            Mode::Questions => self.gold.answer.clone(),
            Mode::Conversations => self.gold.exe_ans.as_ref().map(ToString::to_string),
        }
    }

    /// The prediction as written in the CSV: the printed answer to a question,
    /// the value rounded to 5 decimals of a turn; empty without an answer.
    #[must_use]
    pub fn prediction(&self) -> String {
        self.prediction_of(self.settled.answer.as_ref())
    }

    fn prediction_of(&self, answer: Option<&Answer>) -> String {
        let Some(answer) = answer else {
            return String::new();
        };
        match (self.mode, &answer.value) {
            (Mode::Conversations, Some(Value::Number(x))) => round5(*x).to_string(),
            (Mode::Conversations, Some(word)) => word.to_string(),
            _ => answer.printed.clone(),
        }
    }
}
