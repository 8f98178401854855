//! One answered question with its scores.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::dataset::{Document, Gold, Outcome, QuestionKey, RecordKind};
use finqa_core::number::Value;
use finqa_core::program::Program;

use super::equivalence::{FeContext, FeVerdict, financial_equivalence};
use super::quantity::Quantity;
use super::rules;

/// One question, its gold and what was answered: the input of scoring.
#[derive(Clone, Debug)]
pub struct Item {
    /// Which question.
    pub key: QuestionKey,
    /// Which repetition; `0` where nothing is repeated.
    pub epoch: String,
    /// Turns of its conversation, if it is a turn and their number is known.
    pub turns: Option<usize>,
    /// The report page: the cluster for statistics.
    pub filename: String,
    /// Single or Double, where known.
    pub kind: Option<RecordKind>,
    /// The question's text.
    pub question: String,
    /// The gold as written in the CSV: `qa.answer` of a question, `exe_ans`
    /// of a turn. EM and NM read it.
    pub ground_truth: Option<String>,
    /// What the dataset says.
    pub gold: Gold,
    /// The prediction as written in the CSV: the printed answer to a question,
    /// the value rounded to 5 decimals of a turn. EM and NM read it.
    pub prediction: String,
    /// The printed answer, unit and all.
    pub answer: String,
    /// The unrounded value, if known; FE and execution accuracy read it.
    pub value: Option<Value>,
    /// The predicted program, if any.
    pub program: Option<String>,
    /// The page, for programs that read its table.
    pub document: Option<Arc<Document>>,
    /// How asking ended. Whatever is not answered is right by no rule.
    pub outcome: Outcome,
    /// Seconds, if known.
    pub latency: Option<f64>,
}

impl Item {
    /// The turn's number, from 0; `None` for a stand-alone question.
    #[must_use]
    pub fn turn(&self) -> Option<usize> {
        self.key.part.parse().ok()
    }

    /// The table as filed; empty if the page is not at hand.
    #[must_use]
    pub fn table(&self) -> &[Vec<String>] {
        self.document.as_deref().map_or(&[], |page| &page.table)
    }
}

/// What each rule says of one answer; `None` where the gold that the rule
/// needs is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scores {
    /// EM.
    pub exact_match: Option<bool>,
    /// NM, the reference system's ±0.5.
    pub numerical_match: Option<bool>,
    /// Official execution accuracy of the answer: its value, or what is printed.
    pub execution_accuracy: Option<bool>,
    /// Official execution accuracy of the predicted program.
    pub program_execution: Option<bool>,
    /// Official program accuracy.
    pub program_accuracy: Option<bool>,
    /// FE.
    pub financial_equivalence: Option<FeVerdict>,
}

/// An item with its scores.
#[derive(Clone, Debug)]
pub struct ScoredRow {
    /// What was scored.
    pub item: Item,
    /// How.
    pub scores: Scores,
}

impl ScoredRow {
    /// Scores an item by every rule for which it has gold.
    #[must_use]
    pub fn score(item: Item) -> Self {
        let scores = score(&item);
        Self { item, scores }
    }

    /// Whether FE accepts the answer; `None` without gold.
    #[must_use]
    pub fn accepted(&self) -> Option<bool> {
        self.scores
            .financial_equivalence
            .as_ref()
            .map(|v| v.accepted)
    }
}

/// Scores an item by every rule for which it has gold.
#[must_use]
pub fn score(item: &Item) -> Scores {
    let answered = item.outcome == Outcome::Answered;
    let ground_truth = item.ground_truth.as_deref();
    let exe_ans = item.gold.exe_ans.as_ref().filter(|gold| has_content(gold));
    let gold_program = item.gold.program.as_deref();
    Scores {
        exact_match: ground_truth
            .map(|gold| answered && rules::exact_match(gold, &item.prediction)),
        numerical_match: ground_truth
            .map(|gold| answered && rules::numeric_match(gold, &item.prediction)),
        execution_accuracy: exe_ans.map(|gold| answered && answer_executes_to(gold, item)),
        program_execution: exe_ans.and_then(|gold| {
            let Some(program) = item.program.as_deref().filter(|_| answered) else {
                return Some(false);
            };
            // Without the page a program that reads its table cannot be judged.
            let judged = item.document.is_some() || !program.contains("table_");
            judged.then(|| rules::program_execution(gold, program, item.table()))
        }),
        program_accuracy: gold_program.map(|gold| {
            let program = item.program.as_deref();
            answered && program.is_some_and(|program| rules::program_accuracy(gold, program))
        }),
        financial_equivalence: equivalence(item, answered),
    }
}

fn answer_executes_to(gold: &Value, item: &Item) -> bool {
    match &item.value {
        Some(value) => rules::execution_accuracy(gold, value),
        None => rules::plain_answer(&item.prediction)
            .is_some_and(|value| rules::execution_accuracy(gold, &value)),
    }
}

/// FE reads the unrounded value where there is one. Against a printed gold it
/// keeps the printed answer's percent sign and scale word.
fn equivalence(item: &Item, answered: bool) -> Option<FeVerdict> {
    let answer = item.gold.answer.as_deref().map(str::trim);
    let printed_gold = answer.filter(|answer| !answer.is_empty());
    let gold = match (printed_gold, &item.gold.exe_ans) {
        (Some(printed), _) => Quantity::parse(printed),
        (None, Some(value)) if has_content(value) => Quantity::of(value),
        _ => return None,
    };
    if !answered {
        return Some(FeVerdict::default());
    }
    let printed = if item.answer.is_empty() {
        &item.prediction
    } else {
        &item.answer
    };
    let prediction = match &item.value {
        Some(value) if printed_gold.is_some() => Quantity::sharpened(printed, value),
        Some(value) => Quantity::of(value),
        None => Quantity::parse(printed),
    };
    let context = FeContext {
        question: &item.question,
        gold_program: item.gold.program.as_deref(),
        table: item.table(),
    };
    Some(financial_equivalence(&gold, &prediction, &context))
}

/// A gold of `""` or `n/a` is no gold.
fn has_content(value: &Value) -> bool {
    !matches!(value, Value::Text(word) if word.trim().is_empty() || word == "n/a")
}

/// What a question takes, by its gold program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// The program is a single number.
    LookUp,
    /// One step.
    OneStep,
    /// Two steps or more.
    MoreSteps,
}

impl Effort {
    /// By gold's program; `None` if it is missing or cannot be read.
    #[must_use]
    pub fn of(gold: &Gold) -> Option<Self> {
        let program = Program::parse(gold.program.as_deref()?).ok()?;
        Some(match program.steps().len() {
            0 => Self::LookUp,
            1 => Self::OneStep,
            _ => Self::MoreSteps,
        })
    }

    /// The name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LookUp => "look_up",
            Self::OneStep => "one_step",
            Self::MoreSteps => "more_steps",
        }
    }
}
