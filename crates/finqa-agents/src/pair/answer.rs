//! The result of the two agents: an answer, the rounds that led to it, and the reason they
//! stopped.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::parse::{Analysis, CriticFinding, Leniency};
use finqa_core::number::{self, Unit, UnitKind, Value};
use finqa_core::outcome::Outcome;
use finqa_core::program::Program;
use finqa_core::question::{CitedEvidence, Document, HistoryEntry, HistorySource, Question};
use finqa_embedded::UNDEFINED;

use super::episode::EpisodeRecord;
use super::percent::{self, is_in_percent};
use super::stated::find_value;
use super::verify::Finding;

/// The part of an analysis that determines the value (`--answer-from`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFrom {
    /// The executed program if it is valid, otherwise the answer that the model wrote.
    #[default]
    Program,
    /// The answer that the model wrote.
    Text,
}

/// An answer with everything that supports it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The value before printing: the executed program, or the printed answer read as a number.
    pub value: Option<Value>,
    /// The answer as shown to a person, e.g. `14.1%` (rule: docs/scoring.md, section 0).
    pub printed: String,
    /// The answer as the analyst stated it: a cross-check of the program.
    pub stated: String,
    pub unit: Unit,
    /// The value is in percent already: the program's last step multiplies by 100, or it
    /// uses percentages as the page prints them.
    #[serde(rename = "times_100")]
    pub in_percent: bool,
    pub program: Option<String>,
    /// The source of the value.
    pub source: AnswerFrom,
    /// The reason why the program did not determine the value, if it should have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_error: Option<String>,
    /// A name for the value, e.g. `net revenue, 2009`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The reasoning, one step a line.
    pub steps: Vec<String>,
    pub evidence: Vec<CitedEvidence>,
    /// The analyst's own confidence, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The embedded analyst's reason to call it a guess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

impl Answer {
    /// True if the requested figure does not exist; the doubt has the reason.
    pub fn is_undefined(&self) -> bool {
        self.printed == UNDEFINED && self.doubt.is_some()
    }

    /// The analysis in the requested form, as the critic sees it.
    pub(crate) fn to_analysis_json(&self) -> String {
        let analysis = serde_json::json!({
            "evidence": self.evidence,
            "program": self.program,
            "steps": self.steps,
            "answer": self.printed,
            "unit": self.unit,
            "label": self.label,
        });
        serde_json::to_string_pretty(&analysis).unwrap_or_default()
    }

    /// The answer of an analysis: executes its program over the question's table and prints
    /// the value by its unit.
    pub fn from_analysis(analysis: &Analysis, question: &Question, from: AnswerFrom) -> Self {
        let executed = analysis
            .program
            .as_deref()
            .map(|text| execute(text, question));
        let unit = analysis
            .unit
            .unwrap_or_else(|| implied_unit(&analysis.answer));
        let base = Self {
            stated: analysis.answer.trim().to_owned(),
            unit,
            program: analysis.program.clone(),
            source: from,
            label: analysis.label.clone(),
            steps: analysis.steps.clone(),
            evidence: analysis.evidence.clone(),
            confidence: analysis.confidence,
            ..Self::default()
        };
        match (from, executed) {
            (AnswerFrom::Program, Some(Ok((program, value)))) => {
                let in_percent = unit.kind == UnitKind::Percent
                    && is_in_percent(&program, &value, analysis, question);
                Self {
                    printed: percent::print(&program, &value, unit, in_percent),
                    value: Some(value),
                    in_percent,
                    ..base
                }
            }
            (AnswerFrom::Program, None) if names_label(&question.document, &analysis.answer) => {
                Self {
                    value: Some(Value::Text(base.stated.clone())),
                    printed: base.stated.clone(),
                    source: AnswerFrom::Text,
                    ..base
                }
            }
            (_, executed) => {
                let stated = find_value(&analysis.answer);
                Self {
                    printed: stated
                        .as_ref()
                        .map_or(base.stated.as_str(), |stated| stated.text)
                        .to_owned(),
                    value: stated.map(|stated| stated.value),
                    source: AnswerFrom::Text,
                    program_error: executed.and_then(Result::err),
                    ..base
                }
            }
        }
    }
}

/// True if an answer is a label of the user's own table or a cell that names its row, or words of
/// one ("Consumer", "Q4 2022"), or several of them, or says that there is none.
fn names_label(document: &Document, answer: &str) -> bool {
    let answer = answer.trim().to_lowercase();
    if !document.own || answer.parse::<f64>().is_ok() {
        return false;
    }
    // A row that several columns name is called by all of its names.
    answer == "n/a" || answer.split(", ").all(|name| is_named(document, name))
}

/// True if a cell is this name, or has its words.
fn is_named(document: &Document, answer: &str) -> bool {
    let mut cells = document.table.iter().flatten();
    cells.any(|label| {
        let label = label.to_lowercase();
        // A day or a season is one in full only.
        if !answer.contains(char::is_alphabetic) {
            return label == answer;
        }
        let ends = |text: Option<&str>, side: fn(&str) -> Option<char>| {
            text.and_then(side).is_none_or(|c| !c.is_alphanumeric())
        };
        label.match_indices(answer).any(|(at, _)| {
            ends(label.get(..at), |text| text.chars().next_back())
                && ends(label.get(at + answer.len()..), |text| text.chars().next())
        })
    })
}

/// Executes a program; its value must be finite, as an answer is. The official
/// evaluator, which scores programs, accepts `nan` and `inf`.
fn execute(text: &str, question: &Question) -> Result<(Program, Value), String> {
    let program = Program::parse(text).map_err(|error| error.to_string())?;
    if let Some(literal) = program
        .literals()
        .find(|text| number::literal(text).is_some_and(|number| !number.is_finite()))
    {
        return Err(format!("`{literal}` is not a finite number"));
    }
    let value = program
        .execute_unrounded(&question.document.table)
        .map_err(|error| error.to_string())?;
    match value.number() {
        Some(number) if !number.is_finite() => {
            Err(format!("its value, {number}, is not a finite number"))
        }
        _ => Ok((program, value)),
    }
}

/// Our own answer as a later turn sees it.
pub fn answer_history(question: &str, answer: Option<&Answer>) -> HistoryEntry {
    HistoryEntry {
        question: question.to_owned(),
        value: answer.and_then(|answer| answer.value.clone()),
        program: answer.and_then(|answer| answer.program.clone()),
        label: answer.and_then(|answer| answer.label.clone()),
        source: HistorySource::Own,
    }
}

fn implied_unit(answer: &str) -> Unit {
    let text = answer.trim();
    let kind = if Value::Text(text.to_owned()).yes_no().is_some() {
        UnitKind::YesNo
    } else if text.contains('%') {
        UnitKind::Percent
    } else {
        UnitKind::Number
    };
    Unit { kind, scale: None }
}

#[derive(Clone, Debug, PartialEq, IntoStaticStr, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
#[strum(serialize_all = "snake_case")]
pub enum CriticVerdict {
    /// The answer is accepted.
    Ok,
    /// The answer is sent back.
    Revise {
        /// The LLM critic's findings; those of the checks are in the round.
        findings: Vec<CriticFinding>,
    },
    /// The critic's reply could not be read: neither ok nor a finding.
    Unparsable { reason: String },
    /// No critic reviewed it (`--critic off`, or it failed).
    Skipped,
}

impl CriticVerdict {
    /// The name in files and in traces.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// From 1.
    pub number: u32,
    /// The analyst's reply as received.
    pub reply: String,
    pub answer: Answer,
    /// Departures from the format that the parser accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leniencies: Vec<Leniency>,
    /// The reply is the second attempt, after one that could not be read.
    pub reasked: bool,
    pub findings: Vec<Finding>,
    /// The critic's reply as received, if an LLM was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critic_reply: Option<String>,
    pub verdict: CriticVerdict,
    /// The error of the LLM critic, if its call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) critic_error: Option<String>,
}

impl Round {
    /// The findings of the checks that send the answer back.
    pub fn objections(&self) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.kind.sends_back())
            .count()
    }
}

/// The reason why the two agents stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The checks are clean and the critic says ALL_OK.
    Accepted,
    /// The round limit is reached; the best candidate is returned.
    RoundLimit,
    /// The analyst gave the same answer again, or has no other.
    NoNewAnswer,
    /// The critic is off, or its reply could not be read or obtained.
    NoVerdict,
    /// A call failed or could not be read: see the outcome.
    Failed,
    /// The embedded analyst's answer replaced the model's, or the one it failed to give.
    Arbitrated,
}

/// The result of one question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Solution {
    /// The outcome.
    pub outcome: Outcome,
    pub stop: StopReason,
    /// The best candidate; absent unless answered.
    pub answer: Option<Answer>,
    /// The round of the answer; absent without one.
    pub chosen_round: Option<u32>,
    /// One line on what went wrong, if anything did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The votes of the samples of the first draft, if there were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub votes: Option<super::VoteTally>,
    /// The first sample's answer, where another was chosen; without a value if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_sample: Option<Box<Answer>>,
    /// The embedded analyst's answer to the question, alongside a chat model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opinion: Option<super::SecondOpinion>,
    /// The episode, if the question was played in an environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode: Option<Box<EpisodeRecord>>,
    /// All rounds, oldest first.
    pub rounds: Vec<Round>,
    /// Every model call, in order. Not part of the row's JSON: the journal stores calls as
    /// separate entries, written before the row.
    #[serde(skip)]
    pub calls: Vec<super::Call>,
}

impl Solution {
    /// An outcome of which nothing else is known.
    pub fn new(outcome: Outcome, stop: StopReason) -> Self {
        Self {
            outcome,
            stop,
            answer: None,
            chosen_round: None,
            error: None,
            votes: None,
            first_sample: None,
            opinion: None,
            episode: None,
            rounds: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// The model's answer: the best of its rounds, whoever's was returned.
    pub fn model_answer(&self) -> Option<&Answer> {
        super::best::best_round(&self.rounds).map(|round| &round.answer)
    }

    /// Calls that the response cache answered.
    pub fn cached_calls(&self) -> usize {
        let replies = self.calls.iter().filter_map(|call| call.reply.as_ref());
        replies.filter(|reply| reply.cached).count()
    }

    /// Tokens read and written over all calls that report them.
    pub fn tokens(&self) -> (u64, u64) {
        let usages = self
            .calls
            .iter()
            .filter_map(|call| call.reply.as_ref()?.known_tokens());
        usages.fold((0, 0), |(input, output), usage| {
            (input + usage.input_tokens, output + usage.output_tokens)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_a_label_is_found_behind_one_that_begins_with_it() {
        let document = Document {
            table: vec![
                vec!["item".to_owned(), "2031".to_owned()],
                vec!["Nonoperating operating income".to_owned(), "5".to_owned()],
            ],
            own: true,
            ..Document::default()
        };
        assert!(names_label(&document, "operating"));
        assert!(!names_label(&document, "operat"));
    }
    #[test]
    fn a_row_of_several_names_is_a_label() {
        let row = ["Delta Bank", "Bridge loan", "5"].map(str::to_owned);
        let document = Document {
            table: vec![row.to_vec()],
            own: true,
            ..Document::default()
        };
        assert!(names_label(&document, "Delta Bank, Bridge loan"));
        assert!(!names_label(&document, "Delta Bank, Term loan"));
    }
}
