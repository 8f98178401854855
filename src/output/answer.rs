//! One answer with everything that a reader needs to check it: what `ask`
//! prints, and what it gives as JSON.

use serde::Serialize;

use crate::dataset::{Outcome, Question};
use finqa_agents::agents::{CriticVerdict, SecondOpinion, Settled, StopReason, VoteTally};
use finqa_core::number::{Unit, Value};
use finqa_core::table::{Table, TableStyle, position};

/// One answer, laid open.
#[derive(Clone, Debug, Serialize)]
pub struct AnswerView {
    /// What was asked.
    pub question: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The answer as printed for a person; absent unless answered.
    pub answer: Option<String>,
    /// The value behind it: a percent as its fraction.
    pub value: Option<Value>,
    /// Its unit.
    pub unit: Option<Unit>,
    /// What the value is.
    pub label: Option<String>,
    /// The reasoning, a step a line.
    pub steps: Vec<String>,
    /// What it is read from.
    pub evidence: Vec<Cited>,
    /// The calculation.
    pub program: Option<String>,
    /// Why the program did not decide the value, if it should have.
    pub program_error: Option<String>,
    /// The analyst's own confidence, 0 to 1.
    pub confidence: Option<f64>,
    /// The rounds with their verdicts.
    pub rounds: Vec<Judged>,
    /// The round that the answer is from.
    pub chosen_round: Option<u32>,
    /// How the samples of the first draft voted, if there were several.
    pub votes: Option<VoteTally>,
    /// What the embedded rules make of the question, beside a chat model.
    pub second_opinion: Option<SecondOpinion>,
    /// Why the two agents stopped.
    pub stop: StopReason,
    /// One line on what went wrong, if something did.
    pub error: Option<String>,
    /// Model calls.
    pub calls: usize,
    /// Tokens in, over all calls that say so.
    pub input_tokens: u64,
    /// Tokens out.
    pub output_tokens: u64,
}

/// A cited figure with what its place is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cited {
    /// `r{row}c{col}`, `t{n}` or `h{n}`.
    pub id: String,
    /// Row and column of a cell, the text of a sentence, the earlier question;
    /// empty if there is no such place.
    pub label: String,
    /// The figure as written there.
    pub literal: String,
}

/// A round with its verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// From 1.
    pub number: u32,
    /// The answer of this round.
    pub answer: String,
    /// `ok`, `revise`, `unparsable` or `skipped`.
    pub verdict: &'static str,
    /// The verdict in a few words.
    #[serde(skip)]
    pub(super) told: String,
    /// What the checks and the critic found, a line each.
    pub findings: Vec<String>,
}

impl AnswerView {
    /// Lays open what asking came to.
    #[must_use]
    pub fn new(question: &Question, settled: &Settled) -> Self {
        let answer = settled.answer.as_ref();
        let (input_tokens, output_tokens) = settled.tokens();
        let table = Table::from_document(&question.document, TableStyle::Repaired);
        let cited = answer.map(|answer| answer.evidence.as_slice());
        Self {
            question: question.text.clone(),
            outcome: settled.outcome,
            answer: answer.map(|answer| answer.printed.clone()),
            value: answer.and_then(|answer| answer.value.clone()),
            unit: answer.map(|answer| answer.unit),
            label: answer.and_then(|answer| answer.label.clone()),
            steps: answer
                .map(|answer| answer.steps.clone())
                .unwrap_or_default(),
            evidence: cited
                .unwrap_or_default()
                .iter()
                .map(|evidence| Cited {
                    id: evidence.id.clone(),
                    label: label(question, &table, &evidence.id),
                    literal: evidence.literal.clone(),
                })
                .collect(),
            program: answer.and_then(|answer| answer.program.clone()),
            program_error: answer.and_then(|answer| answer.program_error.clone()),
            confidence: answer.and_then(|answer| answer.confidence),
            rounds: settled.rounds.iter().map(judged).collect(),
            chosen_round: settled.chosen_round,
            votes: settled.votes.clone(),
            second_opinion: settled.opinion.clone(),
            stop: settled.stop,
            error: settled.error.clone(),
            calls: settled.calls.len(),
            input_tokens,
            output_tokens,
        }
    }
}

fn judged(round: &finqa_agents::agents::Round) -> Judged {
    let mut findings: Vec<String> = round.findings.iter().map(ToString::to_string).collect();
    match &round.verdict {
        CriticVerdict::Revise { findings: others } => {
            findings.extend(others.iter().map(ToString::to_string));
        }
        CriticVerdict::Unparsable { reason } => findings.push(reason.clone()),
        CriticVerdict::Ok | CriticVerdict::Skipped => {}
    }
    Judged {
        number: round.number,
        answer: round.answer.printed.clone(),
        verdict: round.verdict.name(),
        told: super::terminal::verdict_text(round),
        findings,
    }
}

/// What a cited place is called.
fn label(question: &Question, table: &Table, id: &str) -> String {
    if let Some((row, column)) = position(id) {
        let row = table.rows().get(row).map(|row| row.label.trim());
        let column = table
            .columns()
            .get(column)
            .map(|column| column.label.trim());
        let named = [row, column]
            .into_iter()
            .flatten()
            .filter(|label| !label.is_empty());
        return named.collect::<Vec<_>>().join(" · ");
    }
    if let Some(text) = question.document.evidence(id) {
        return text.to_owned();
    }
    let earlier = id
        .trim()
        .strip_prefix(['h', 'H'])
        .and_then(|n| n.parse::<usize>().ok());
    earlier
        .and_then(|n| question.history.get(n.checked_sub(1)?))
        .map(|entry| entry.question.clone())
        .unwrap_or_default()
}
