//! `output.csv`: the seven columns of the LangGraph baseline in its order, then our own. The file
//! is safe to open in a spreadsheet, and is written whole or not at all.

use std::io::{self, Write};
use std::path::Path;

use finqa_agents::pair::{Answer, SecondOpinion, Solution};
use finqa_score::dataset::Outcome;
use finqa_score::score::files::cell;
use finqa_score::score::{FeVerdict, Row};

use super::staged::{OutputError, StagedFile};

/// A column: its name, and the function that returns its cell for a row.
type CsvColumn = (&'static str, fn(&Row) -> String);

const COLUMNS: [CsvColumn; 42] = [
    ("id", |row| cell(&row.key.id)),
    ("question", |row| cell(&row.question)),
    ("ground_truth", |row| text(row.ground_truth())),
    ("prediction", |row| cell(&row.prediction())),
    ("latency", |row| plain(row.latency)),
    ("exact_match", |row| truth(row.scores.exact_match)),
    ("numerical_match", |row| truth(row.scores.numerical_match)),
    ("part", |row| cell(&row.key.part)),
    ("outcome", |row| row.outcome().name().to_owned()),
    ("answer", |row| text(answer(row).map(|it| &it.printed))),
    ("value", |row| text(row.value())),
    ("unit", |row| {
        text(answer(row).map(|it| unit_text(&it.unit)))
    }),
    ("program", |row| text(row.program())),
    ("execution_accuracy", |row| {
        truth(row.scores.execution_accuracy)
    }),
    ("program_execution", |row| {
        truth(row.scores.program_execution)
    }),
    ("program_accuracy", |row| truth(row.scores.program_accuracy)),
    ("financial_equivalence", |row| truth(row.accepted())),
    ("fe_reason", |row| {
        plain(verdict(row).and_then(|it| it.reason).map(|it| name(&it)))
    }),
    ("diagnostic", |row| {
        plain(verdict(row).map(|it| names(&it.diagnostics)))
    }),
    ("gold_program", |row| text(row.gold.program.as_ref())),
    ("exe_ans", |row| text(row.gold.exe_ans.as_ref())),
    ("filename", |row| cell(&row.filename)),
    ("epoch", |row| row.epoch.to_string()),
    ("rounds", |row| row.solution.rounds.len().to_string()),
    ("chosen_round", |row| plain(row.solution.chosen_round)),
    ("stop", |row| name(&row.solution.stop)),
    ("first_draft", |row| {
        text(row.solution.rounds.first().map(|it| &it.answer.printed))
    }),
    ("findings", |row| findings(&row.solution)),
    ("confidence", |row| {
        share(answer(row).and_then(|it| it.confidence))
    }),
    ("calls", |row| row.solution.calls.len().to_string()),
    ("attempts", |row| attempts(&row.solution).to_string()),
    ("input_tokens", |row| row.solution.tokens().0.to_string()),
    ("output_tokens", |row| row.solution.tokens().1.to_string()),
    ("cost_usd", |row| plain(row.cost)),
    ("error", |row| text(note(&row.solution))),
    ("votes", |row| text(row.solution.votes.as_ref())),
    ("second_opinion", |row| {
        text(opinion(row).map(|it| &it.printed))
    }),
    ("opinion_confidence", |row| {
        share(opinion(row).map(|it| it.confidence))
    }),
    ("opinion_agrees", |row| {
        truth(opinion(row).and_then(|it| it.agrees))
    }),
    ("cached_calls", |row| {
        row.solution.cached_calls().to_string()
    }),
    ("probability", |row| share(row.solution.probability)),
    ("withheld_answer", |row| {
        let withheld = row.solution.withheld.as_ref();
        text(withheld.map(|answer| &answer.printed))
    }),
];

/// `output.csv` while it is being written, row by row in the plan's order.
pub struct CsvFile(StagedFile);

impl CsvFile {
    /// Creates a file with only its header.
    pub fn create(path: &Path) -> Result<Self, OutputError> {
        let mut file = StagedFile::create(path)?;
        file.put(|file| write_record(file, COLUMNS.map(|(name, _)| name)))?;
        Ok(Self(file))
    }

    pub fn add(&mut self, row: &Row) -> Result<(), OutputError> {
        let cells = COLUMNS.map(|(_, cell)| cell(row));
        self.0.put(|file| write_record(file, cells))
    }

    /// Copies what is written so far to `path`.
    pub fn copy_to(&mut self, path: &Path) -> Result<(), OutputError> {
        self.0.copy_to(path)
    }

    /// Moves the finished file into place.
    pub fn finish(self) -> Result<(), OutputError> {
        self.0.persist()
    }
}

pub(super) fn write_record(
    file: &mut dyn Write,
    cells: impl IntoIterator<Item = impl AsRef<[u8]>>,
) -> io::Result<()> {
    let mut writer = ::csv::Writer::from_writer(file);
    writer.write_record(cells)?;
    writer.flush()
}

fn answer(row: &Row) -> Option<&Answer> {
    row.solution.answer.as_ref()
}

fn opinion(row: &Row) -> Option<&SecondOpinion> {
    row.solution.opinion.as_ref()
}

fn verdict(row: &Row) -> Option<&FeVerdict> {
    row.scores.financial_equivalence.as_ref()
}

/// The cell of a text from the data, a user or a model, made safe for spreadsheets. Empty for
/// `None`.
fn text(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| cell(&value.to_string()))
}

/// The cell of a number, or of a name that this program defines. Empty for `None`.
fn plain(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// The cell of a probability or confidence, with three decimals, which is set by hand.
fn share(value: Option<f64>) -> String {
    plain(value.map(|value| format!("{value:.3}")))
}

fn findings(solution: &Solution) -> String {
    let rounds = solution.rounds.iter();
    let found = rounds.flat_map(|round| round.findings.iter().map(move |it| (round.number, it)));
    let found = found.map(|(round, finding)| format!("{round}:{}", name(&finding.kind)));
    found.collect::<Vec<_>>().join(" ")
}

fn attempts(solution: &Solution) -> u32 {
    solution.calls.iter().map(|call| call.attempts).sum()
}

/// The error of a question without an answer. An answered question may have one too, which is left
/// out.
fn note(solution: &Solution) -> Option<&str> {
    let error = solution.error.as_deref();
    error.filter(|_| solution.outcome != Outcome::Answered)
}

/// The cell of a score. Without gold there is no score, so the cell is empty instead of `False`.
fn truth(score: Option<bool>) -> String {
    match score {
        Some(true) => "True".to_owned(),
        Some(false) => "False".to_owned(),
        None => String::new(),
    }
}

/// The name that serde writes for a value such as an enum variant; empty for a value that is not
/// written as a string.
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
