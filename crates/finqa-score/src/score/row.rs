//! The full result of one question, which the journal stores and every output reads. EM, NM and FE
//! are the rules exact match, numeric match and financial equivalence.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::calibration::{JudgedAnswer, ScoredAnswer, inputs_of};
use crate::dataset::{Document, Gold, Mode, Outcome, QuestionKey, RecordKind};
use finqa_agents::llm::Cost;
use finqa_agents::pair::{Answer, Solution};
use finqa_core::number::{Value, round5};
use finqa_core::program::Program;

use super::equivalence::{FeVerdict, financial_equivalence};
use super::matching::FeContext;
use super::quantity::Quantity;
use super::rules;

/// The full result of one question. A row of a file of predictions is a `Row` too; fields that the
/// file does not have are absent or have their defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The place in the plan, which is the order of every output.
    pub index: usize,
    /// The epoch, from 0.
    pub epoch: u32,
    pub key: QuestionKey,
    /// The number of turns in its conversation; absent for stand-alone questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<usize>,
    /// The report page, which is the cluster for statistics.
    pub filename: String,
    /// Single or Double; `None` if unknown.
    pub kind: Option<RecordKind>,
    /// The question's text.
    pub question: String,
    /// The gold from the dataset.
    pub gold: Gold,
    /// The kind of questions that the run asks; it decides which gold is compared.
    pub mode: Mode,
    /// The answer with its rounds and calls, or the outcome without one.
    // The name in journals and transcripts (docs/transcripts.schema.json).
    #[serde(rename = "settled")]
    pub solution: Solution,
    /// The scores; `None` for each rule that lacks its gold.
    pub scores: Scores,
    /// Seconds from the first request to the verdict. Retries count, but waiting for a slot, a
    /// batch or the budget does not. Absent if a file of predictions does not have it.
    pub latency: Option<f64>,
    /// The cost of the calls in US dollars; `None` if part of it is unknown.
    #[serde(default)]
    pub cost: Option<Decimal>,
    /// The cost of only the first draft; `None` if part of it is unknown.
    #[serde(default)]
    pub draft_cost: Option<Decimal>,
    /// The order and time of recording; absent until the row is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
    /// The page, if it is available, because programs may read its table.
    #[serde(skip)]
    pub document: Option<Arc<Document>>,
    /// The cells of a file of predictions, unchanged; absent for a run.
    #[serde(skip)]
    pub cells: Option<PredictionCells>,
}

/// Columns that a file of predictions has. For a row of a run, they are computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PredictionCells {
    /// The gold, which EM and NM compare unchanged.
    pub ground_truth: Option<String>,
    /// The prediction, which EM and NM compare unchanged.
    pub prediction: String,
    /// Rounds of analyst and critic.
    pub rounds: Option<usize>,
}

/// A row's place in the order of answering, which differs from the order of the plan. It makes it
/// possible to reproduce from the journal how a figure developed during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// From 1, without gaps across all processes of a run.
    pub ordinal: u64,
    /// Milliseconds since 1970 UTC, never less than those of an earlier row.
    pub at: i64,
}

impl Stamp {
    /// The stamp of the next row, recorded `now`.
    #[must_use]
    pub fn next(self, now: i64) -> Self {
        Self {
            ordinal: self.ordinal + 1,
            at: now.max(self.at),
        }
    }

    /// The stamp after one more row. A row without a stamp counts, but does not change the time.
    #[must_use]
    pub fn after_row(self, row: &Row) -> Self {
        Self {
            ordinal: self.ordinal + 1,
            at: self.at.max(row.stamp.map_or(0, |stamp| stamp.at)),
        }
    }
}

impl Row {
    /// Scores the row by every rule for which it has gold.
    #[must_use]
    pub fn with_scores(mut self) -> Self {
        self.scores = score(&self);
        self
    }

    /// Drops requests, replies and reasoning. A run whose rows are only counted and compared keeps
    /// rows without them, to save memory.
    #[must_use]
    pub fn without_exchange(mut self) -> Self {
        self.solution.calls = Vec::new();
        for round in &mut self.solution.rounds {
            round.reply = String::new();
            round.critic_reply = None;
            round.answer = Answer::default();
            round.findings = Vec::new();
        }
        self
    }

    /// The cost of the calls, with the number of requests of unknown cost.
    pub fn spent(&self) -> Cost {
        self.solution.calls.iter().map(|call| call.cost).sum()
    }

    /// Hashes of the names of its page and of its question. The page is the cluster for statistics.
    pub fn group(&self) -> (u64, u64) {
        (name_hash(&self.filename), name_hash(&self.key))
    }

    /// A hash of its answer and outcome, to tell whether two answers are the same. Equal numbers at
    /// 5 decimals have equal hashes.
    pub(crate) fn answer_hash(&self) -> u64 {
        let answer = match self.value() {
            Some(Value::Number(x)) => round5(*x).to_string(),
            Some(word) => word.to_string(),
            None => self.prediction().trim().to_lowercase(),
        };
        name_hash(&(answer, self.outcome().name()))
    }

    /// The turn's number, from 0; `None` for a stand-alone question.
    pub fn turn(&self) -> Option<usize> {
        self.key.part.parse().ok()
    }

    /// The table as published; empty if the page is not available.
    pub fn table(&self) -> &[Vec<String>] {
        self.document.as_deref().map_or(&[], |page| &page.table)
    }

    /// The outcome. Every rule counts a question without an answer as wrong.
    pub fn outcome(&self) -> Outcome {
        self.solution.outcome
    }

    /// The unrounded value, which FE and execution accuracy read; `None` if unknown.
    pub fn value(&self) -> Option<&Value> {
        self.solution.answer.as_ref()?.value.as_ref()
    }

    /// The predicted program, if any.
    pub fn program(&self) -> Option<&str> {
        self.solution.answer.as_ref()?.program.as_deref()
    }

    /// The number of rounds of analyst and critic; `None` for a row of a file that does not state
    /// it.
    pub fn rounds(&self) -> Option<usize> {
        match &self.cells {
            Some(cells) => cells.rounds,
            None => Some(self.solution.rounds.len()),
        }
    }

    /// The gold that the prediction is compared with, as the CSV has it: `qa.answer` for a
    /// stand-alone question, `exe_ans` for a turn. `None` if the gold lacks it.
    pub fn ground_truth(&self) -> Option<Cow<'_, str>> {
        if let Some(cells) = &self.cells {
            return cells.ground_truth.as_deref().map(Cow::Borrowed);
        }
        match self.mode {
            Mode::Questions => self.gold.answer.as_deref().map(Cow::Borrowed),
            Mode::Conversations => {
                let value = self.gold.exe_ans.as_ref();
                value.map(|value| Cow::Owned(value.to_string()))
            }
        }
    }

    /// The prediction as the CSV has it: the printed answer to a stand-alone question, or the value
    /// of a turn, rounded to 5 decimals. Empty if there is no answer.
    pub fn prediction(&self) -> Cow<'_, str> {
        match &self.cells {
            Some(cells) => Cow::Borrowed(&cells.prediction),
            None => self.prediction_of(self.solution.answer.as_ref()),
        }
    }

    /// The prediction for this answer, in the form of [`Self::prediction`].
    fn prediction_of<'a>(&self, answer: Option<&'a Answer>) -> Cow<'a, str> {
        let Some(answer) = answer else {
            return Cow::Borrowed("");
        };
        match (self.mode, &answer.value) {
            (Mode::Conversations, Some(Value::Number(x))) => Cow::Owned(round5(*x).to_string()),
            (Mode::Conversations, Some(word)) => Cow::Owned(word.to_string()),
            _ => Cow::Borrowed(&answer.printed),
        }
    }

    /// The printed answer with its unit, or the prediction if there is none.
    pub fn printed(&self) -> Cow<'_, str> {
        match &self.solution.answer {
            Some(answer) if !answer.printed.is_empty() => Cow::Borrowed(&answer.printed),
            _ => self.prediction(),
        }
    }

    /// FE's verdict; `None` without gold.
    pub fn accepted(&self) -> Option<bool> {
        let verdict = self.scores.financial_equivalence.as_ref();
        verdict.map(|verdict| verdict.accepted)
    }

    /// True if the model's answer was right after the critic's review; `None` without gold. After a
    /// revision, this scores the model's own answer. The row's answer may differ, because
    /// arbitration can replace it and a limit can withhold it.
    pub fn right_after_review(&self) -> Option<bool> {
        match self.solution.model_answer() {
            Some(last) if self.solution.rounds.len() > 1 => self.right_with(last),
            _ => self.accepted(),
        }
    }

    /// The probability and correctness of the answer, even if it was withheld; `None` if there is
    /// no answer or no probability.
    pub fn scored(&self) -> Option<ScoredAnswer> {
        let answer = self.solution.answer_or_withheld()?;
        Some(ScoredAnswer {
            group: self.group(),
            probability: self.solution.probability?,
            right: self.right_if_given(answer),
        })
    }

    /// The row as an example for a calibration; `None` without gold, without an answer of the
    /// model, or if arbitration replaced the answer.
    pub fn as_example(&self) -> Option<JudgedAnswer> {
        let answer = self.solution.answer_or_withheld()?;
        Some(JudgedAnswer {
            group: self.group(),
            inputs: inputs_of(&self.solution)?,
            right: self.right_if_given(answer)?,
        })
    }

    /// FE's verdict on `answer`, even if it was withheld.
    fn right_if_given(&self, answer: &Answer) -> Option<bool> {
        match self.solution.withheld {
            Some(_) => self.right_with(answer),
            None => self.accepted(),
        }
    }

    /// True if FE accepts `answer` for this question; `None` without gold.
    pub fn right_with(&self, answer: &Answer) -> Option<bool> {
        let printed = match answer.printed.as_str() {
            "" => self.prediction_of(Some(answer)),
            printed => Cow::Borrowed(printed),
        };
        let verdict = equivalence(self, &printed, answer.value.as_ref(), true);
        verdict.map(|verdict| verdict.accepted)
    }
}

/// Hashes a name to 64 bits, so that counters need not keep the names. Equal hashes for two names
/// of a run are less likely than a disk error. `DefaultHasher::new()` has fixed keys, so every
/// process computes the same hash.
pub(crate) fn name_hash(name: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// The verdict of each rule on one answer; `None` if the rule lacks its gold or something else that
/// it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scores {
    /// EM: the same text.
    pub exact_match: Option<bool>,
    /// NM: the numbers differ by at most 0.5, as the LangGraph baseline compares.
    pub numerical_match: Option<bool>,
    /// Official execution accuracy of the answer. It uses the answer's value, or its printed form
    /// if there is no value.
    pub execution_accuracy: Option<bool>,
    /// Official execution accuracy of the predicted program.
    pub program_execution: Option<bool>,
    /// Official program accuracy.
    pub program_accuracy: Option<bool>,
    /// FE, with the reason for the verdict.
    pub financial_equivalence: Option<FeVerdict>,
}

/// Scores a row by every rule for which it has gold.
pub fn score(row: &Row) -> Scores {
    let answered = row.outcome() == Outcome::Answered;
    let (ground_truth, prediction) = (row.ground_truth(), row.prediction());
    // EM and NM cannot judge an answer that is only a program, because nothing is printed.
    let is_printed = !answered || !prediction.trim().is_empty();
    let ground_truth = ground_truth.as_deref().filter(|_| is_printed);
    let exe_ans = row.gold.exe_ans.as_ref().filter(|gold| has_content(gold));
    let gold_program = row.gold.program.as_deref();
    Scores {
        exact_match: ground_truth.map(|gold| answered && rules::exact_match(gold, &prediction)),
        numerical_match: ground_truth
            .map(|gold| answered && rules::numeric_match(gold, &prediction)),
        execution_accuracy: exe_ans
            .map(|gold| answered && answer_executes_to(gold, row, &prediction)),
        program_execution: exe_ans.and_then(|gold| {
            // Wrong without a program; `RuleRates` has no rate if no row has one.
            let Some(program) = row.program().filter(|_| answered) else {
                return Some(false);
            };
            // A program that reads the table cannot be judged without the page.
            let judged = row.document.is_some() || !program.contains("table_");
            judged.then(|| rules::program_execution(gold, program, row.table()))
        }),
        program_accuracy: gold_program.map(|gold| {
            let program = row.program();
            answered && program.is_some_and(|program| rules::program_accuracy(gold, program))
        }),
        financial_equivalence: equivalence(row, &row.printed(), row.value(), answered),
    }
}

/// True if the answer's value is gold by execution accuracy. Without a value, the printed answer is
/// read as a number.
fn answer_executes_to(gold: &Value, row: &Row, prediction: &str) -> bool {
    match row.value() {
        // The value in a file of predictions may be a printed answer, such as `14.1%`.
        Some(Value::Text(printed)) if row.cells.is_some() => rules::plain_answer(printed)
            .is_some_and(|value| rules::execution_accuracy(gold, &value)),
        Some(value) => rules::execution_accuracy(gold, value),
        None => rules::plain_answer(prediction)
            .is_some_and(|value| rules::execution_accuracy(gold, &value)),
    }
}

/// FE's verdict on an answer; `None` without gold. FE reads the unrounded value if there is one. If
/// gold is a printed answer, the percent sign and the scale word of `printed` count too.
fn equivalence(
    row: &Row,
    printed: &str,
    value: Option<&Value>,
    answered: bool,
) -> Option<FeVerdict> {
    let answer = row.gold.answer.as_deref().map(str::trim);
    let printed_gold = answer.filter(|answer| !answer.is_empty());
    let gold = match (printed_gold, &row.gold.exe_ans) {
        (Some(printed), _) => Quantity::parse(printed),
        (None, Some(value)) if has_content(value) => Quantity::of(value),
        _ => return None,
    };
    if !answered {
        return Some(FeVerdict::default());
    }
    let prediction = match value {
        Some(value) if printed_gold.is_some() => Quantity::sharpened(printed, value),
        Some(value) => Quantity::of(value),
        None => Quantity::parse(printed),
    };
    let context = FeContext {
        question: &row.question,
        gold_program: row.gold.program.as_deref(),
        table: row.table(),
    };
    Some(financial_equivalence(&gold, &prediction, &context))
}

/// Returns false for a gold of `""` or `n/a`, which counts as no gold.
fn has_content(value: &Value) -> bool {
    !matches!(value, Value::Text(word) if word.trim().is_empty() || word == "n/a")
}

/// The number of steps of a question, by its gold program.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Effort {
    /// The program is a single number.
    LookUp,
    OneStep,
    /// Two steps or more.
    MoreSteps,
}

impl Effort {
    /// The effort of gold's program; `None` if there is no program or it cannot be read.
    pub fn of(gold: &Gold) -> Option<Self> {
        let program = Program::parse(gold.program.as_deref()?).ok()?;
        Some(match program.steps().len() {
            0 => Self::LookUp,
            1 => Self::OneStep,
            _ => Self::MoreSteps,
        })
    }

    /// The name in files.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_back_keeps_the_order_of_rows() {
        let first = Stamp::default().next(1_000);
        let second = first.next(400);
        assert_eq!((second.ordinal, second.at), (2, 1_000));
        assert_eq!(second.next(2_000).at, 2_000);
    }
}
