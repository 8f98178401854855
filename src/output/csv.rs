//! `output.csv`: the LangGraph baseline's seven columns first and in its order,
//! then ours; safe to open in a spreadsheet, and written whole or not at all.

use std::path::{Path, PathBuf};

use crate::dataset::Outcome;
use crate::run::Row;
use crate::score::Scores;
use crate::score::files::cell;
use finqa_agents::agents::{Call, Solution};

use super::staged::{OutputError, StagedFile};

/// The columns, in order.
pub(crate) const COLUMNS: &[&str] = &[
    "id",
    "question",
    "ground_truth",
    "prediction",
    "latency",
    "exact_match",
    "numerical_match",
    "part",
    "outcome",
    "answer",
    "value",
    "unit",
    "program",
    "execution_accuracy",
    "program_accuracy",
    "financial_equivalence",
    "fe_reason",
    "diagnostic",
    "gold_program",
    "exe_ans",
    "filename",
    "epoch",
    "rounds",
    "chosen_round",
    "stop",
    "first_draft",
    "findings",
    "confidence",
    "calls",
    "attempts",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "error",
    "votes",
    "second_opinion",
    "opinion_confidence",
    "opinion_agrees",
    "cached_calls",
];

/// `output.csv` while it is being written, row by row in the plan's order.
pub(crate) struct CsvFile {
    path: PathBuf,
    writer: ::csv::Writer<StagedFile>,
    failed: Option<std::io::Error>,
}

impl CsvFile {
    /// A file with nothing but its header.
    pub(crate) fn create(path: &Path) -> Result<Self, OutputError> {
        let mut writer = ::csv::Writer::from_writer(StagedFile::create(path)?);
        let failed = writer.write_record(COLUMNS).err().map(Into::into);
        Ok(Self {
            path: path.to_owned(),
            writer,
            failed,
        })
    }

    /// Adds a row. [`CsvFile::finish`] returns the error, if any.
    pub(crate) fn add(&mut self, row: &Row) {
        if self.failed.is_none() {
            self.failed = self.writer.write_record(cells(row)).err().map(Into::into);
        }
    }

    /// Puts the file in its place.
    pub(crate) fn finish(self) -> Result<(), OutputError> {
        let Self {
            path,
            writer,
            failed,
        } = self;
        let error = |source| OutputError::Write { path, source };
        if let Some(source) = failed {
            return Err(error(source));
        }
        let file = writer.into_inner();
        file.map_err(|failed| error(failed.into_error()))?.persist()
    }
}

fn cells(row: &Row) -> Vec<String> {
    let Solution {
        outcome,
        answer,
        rounds,
        calls,
        stop,
        chosen_round,
        error,
        votes,
        first_sample: _,
        opinion,
        episode: _,
    } = &row.solution;
    let (input_tokens, output_tokens) = row.solution.tokens();
    let answer = answer.as_ref();
    let text = |value: Option<String>| cell(&value.unwrap_or_default());
    let findings: Vec<String> = rounds
        .iter()
        .flat_map(|round| {
            round
                .findings
                .iter()
                .map(move |finding| format!("{}:{}", round.number, name(&finding.kind)))
        })
        .collect();
    let Scores {
        exact_match,
        numerical_match,
        execution_accuracy,
        program_accuracy,
        financial_equivalence,
        ..
    } = &row.scores;
    let equivalence = financial_equivalence.as_ref();
    vec![
        cell(&row.key.id),
        cell(&row.question),
        cell(&row.ground_truth().unwrap_or_default()),
        cell(&row.prediction()),
        row.latency.map(|s| s.to_string()).unwrap_or_default(),
        truth(*exact_match),
        truth(*numerical_match),
        row.key.part.clone(),
        outcome.name().to_owned(),
        text(answer.map(|answer| answer.printed.clone())),
        text(answer.and_then(|answer| answer.value.as_ref().map(ToString::to_string))),
        text(answer.map(|answer| unit_text(&answer.unit))),
        text(answer.and_then(|answer| answer.program.clone())),
        truth(*execution_accuracy),
        truth(*program_accuracy),
        truth(equivalence.map(|found| found.accepted)),
        equivalence
            .and_then(|found| found.reason)
            .map(|reason| name(&reason))
            .unwrap_or_default(),
        equivalence
            .map(|found| names(&found.diagnostics))
            .unwrap_or_default(),
        text(row.gold.program.clone()),
        text(row.gold.exe_ans.as_ref().map(ToString::to_string)),
        cell(&row.filename),
        row.epoch.to_string(),
        rounds.len().to_string(),
        chosen_round
            .map(|number| number.to_string())
            .unwrap_or_default(),
        name(stop),
        text(rounds.first().map(|round| round.answer.printed.clone())),
        findings.join(" "),
        answer
            .and_then(|answer| answer.confidence)
            .map(|p| format!("{p:.3}"))
            .unwrap_or_default(),
        calls.len().to_string(),
        calls
            .iter()
            .map(|call| call.attempts)
            .sum::<u32>()
            .to_string(),
        input_tokens.to_string(),
        output_tokens.to_string(),
        row.cost.map(|cost| cost.to_string()).unwrap_or_default(),
        text(note(
            error.as_deref().filter(|_| *outcome != Outcome::Answered),
            calls,
        )),
        text(votes.as_ref().map(ToString::to_string)),
        text(opinion.as_ref().map(|opinion| opinion.printed.clone())),
        opinion
            .as_ref()
            .map(|opinion| format!("{:.3}", opinion.confidence))
            .unwrap_or_default(),
        truth(opinion.as_ref().and_then(|opinion| opinion.agrees)),
        row.solution.cached_calls().to_string(),
    ]
}

/// What went wrong, and whether the provider may have a request twice.
fn note(error: Option<&str>, calls: &[Call]) -> Option<String> {
    let mut replies = calls.iter().filter_map(|call| call.reply.as_ref());
    let repeated = replies.any(|reply| reply.batch_repeated);
    let twice = repeated.then_some("a request may be at the provider twice");
    let notes: Vec<&str> = error.into_iter().chain(twice).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// A score that is absent (no gold) is an empty cell, not `False`.
fn truth(score: Option<bool>) -> String {
    match score {
        Some(true) => "True".to_owned(),
        Some(false) => "False".to_owned(),
        None => String::new(),
    }
}

/// The name that serde gives a unit-like value.
pub(super) fn name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn names<T: serde::Serialize>(values: &[T]) -> String {
    values.iter().map(name).collect::<Vec<_>>().join(" ")
}

fn unit_text(unit: &finqa_core::number::Unit) -> String {
    let kind = name(&unit.kind);
    match unit.scale {
        Some(scale) => format!("{kind} {}", scale.word()),
        None => kind,
    }
}
