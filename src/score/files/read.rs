//! Reading the rows of a CSV, JSONL or JSON file.

use std::path::Path;

use rust_decimal::Decimal;
use serde::Deserialize;
use serde::de::value::{Error, MapDeserializer};

use crate::dataset::Outcome;
use crate::score::ScoreError;
use finqa_core::files;
use finqa_core::number::{Value, python_float};

use super::cell::text_of;

/// The columns or keys that are read, under all their names; blank if absent.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Cells {
    #[serde(alias = "record_id")]
    id: String,
    #[serde(alias = "turn", alias = "turn_idx")]
    part: String,
    question: String,
    #[serde(alias = "gold", alias = "expected_answer")]
    ground_truth: String,
    #[serde(alias = "predicted_answer")]
    prediction: String,
    answer: String,
    value: String,
    #[serde(alias = "predicted_program")]
    program: String,
    #[serde(alias = "expected_program")]
    gold_program: String,
    exe_ans: String,
    outcome: String,
    latency: String,
    filename: String,
    epoch: String,
    rounds: String,
    cost_usd: String,
}

/// The names of columns of which a file must have one each.
const NEEDED: [&str; 2] = [
    "id|record_id",
    "prediction|predicted_answer|answer|program|predicted_program",
];

/// One prediction as a file holds it. What a file does not say is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictionRow {
    /// Line number, from 1.
    pub line: usize,
    /// Record id.
    pub id: String,
    /// `qa`, `qa_0`, `qa_1` or a turn's number.
    pub part: Option<String>,
    /// The question's text, or empty.
    pub question: String,
    /// Gold as written.
    pub ground_truth: Option<String>,
    /// The prediction as written.
    pub prediction: String,
    /// The printed answer.
    pub answer: Option<String>,
    /// The unrounded value.
    pub value: Option<Value>,
    pub program: Option<String>,
    pub gold_program: Option<String>,
    /// The executed value of gold's program.
    pub exe_ans: Option<Value>,
    /// The outcome.
    pub outcome: Option<Outcome>,
    /// Seconds.
    pub latency: Option<f64>,
    pub filename: Option<String>,
    /// The number of the repetition, if the question is asked several times.
    pub epoch: Option<u32>,
    /// Rounds of analyst and critic.
    pub rounds: Option<usize>,
    /// US dollars.
    pub cost: Option<Decimal>,
}

/// Reads a file of predictions: JSONL if it begins with `{`, CSV otherwise with a header and
/// cells as [`cell`](super::cell()) writes them.
pub fn read_predictions(path: &Path) -> Result<Vec<PredictionRow>, ScoreError> {
    let bytes = files::read(path).map_err(|source| ScoreError::Read {
        path: path.to_owned(),
        source,
    })?;
    let file = PredictionFile {
        path,
        text: utf8(path, &bytes)?,
    };
    let is_json = file.text.trim_start().starts_with(['{', '[']);
    let rows = if is_json { file.json()? } else { file.csv()? };
    if rows.is_empty() {
        return Err(ScoreError::NoRows {
            path: path.to_owned(),
        });
    }
    Ok(rows)
}

fn utf8<'b>(path: &Path, bytes: &'b [u8]) -> Result<&'b str, ScoreError> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
        ScoreError::NotUtf8 {
            path: path.to_owned(),
            line: 1 + good.iter().filter(|b| **b == b'\n').count(),
        }
    })
}

struct PredictionFile<'f> {
    path: &'f Path,
    text: &'f str,
}

impl PredictionFile<'_> {
    fn csv(&self) -> Result<Vec<PredictionRow>, ScoreError> {
        let malformed = |source: csv::Error| ScoreError::Csv {
            path: self.path.to_owned(),
            line: source.position().map_or(1, line_number),
            source,
        };
        let mut reader = csv::Reader::from_reader(self.text.as_bytes());
        let header = reader.headers().map_err(malformed)?.iter();
        let names: Vec<String> = header.map(|name| name.trim().to_lowercase()).collect();
        self.refuse_incomplete(&names)?;
        let records = reader.into_records().map(|record| {
            let record = record.map_err(malformed)?;
            let line = record.position().map_or(1, line_number);
            let cells = record.iter().map(|cell| text_of(cell).to_owned());
            self.row(line, names.iter().map(String::as_str).zip(cells))
        });
        records.collect()
    }

    /// An object a line.
    fn json(&self) -> Result<Vec<PredictionRow>, ScoreError> {
        let lines = (1..).zip(self.text.lines());
        let rows = lines.filter(|(_, text)| !text.trim().is_empty());
        let rows = rows.map(|(line, text)| {
            let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text)
                .map_err(|source| ScoreError::Json {
                    path: self.path.to_owned(),
                    line,
                    source,
                })?;
            self.refuse_incomplete(&object.keys().cloned().collect::<Vec<_>>())?;
            let cells = object.iter();
            let cells = cells.filter_map(|(key, value)| Some((key.as_str(), plain_text(value)?)));
            self.row(line, cells)
        });
        rows.collect()
    }

    fn refuse_incomplete(&self, names: &[String]) -> Result<(), ScoreError> {
        let is_there = |name: &str| names.iter().any(|known| known == name);
        let is_missing = |needed: &&str| !needed.split('|').any(is_there);
        match NEEDED.into_iter().find(is_missing) {
            None => Ok(()),
            Some(column) => {
                let mut found = names.join(", ");
                if found.contains(';') {
                    found += "; separate columns by commas";
                }
                let path = self.path.to_owned();
                Err(ScoreError::MissingColumn {
                    path,
                    column,
                    found,
                })
            }
        }
    }

    fn row<'c>(
        &self,
        line: usize,
        cells: impl Iterator<Item = (&'c str, String)>,
    ) -> Result<PredictionRow, ScoreError> {
        let cells =
            Cells::deserialize(MapDeserializer::<_, Error>::new(cells)).map_err(|error| {
                ScoreError::DuplicateColumn {
                    path: self.path.to_owned(),
                    line,
                    reason: error.to_string(),
                }
            })?;
        let id = cells.id.trim();
        if id.is_empty() {
            return Err(self.bad(line, "id", "", "a record id"));
        }
        let latency = self.cell(line, "latency", &cells.latency, "a number", seconds)?;
        let outcome = |text: &str| text.parse().ok();
        let outcome = self.cell(line, "outcome", &cells.outcome, "a known outcome", outcome)?;
        let epoch = self.cell(line, "epoch", &cells.epoch, "a whole number", whole_of)?;
        let rounds = self.cell(line, "rounds", &cells.rounds, "a whole number", whole_of)?;
        let answer = filled(cells.answer);
        Ok(PredictionRow {
            line,
            id: id.to_owned(),
            part: filled(cells.part).map(|part| whole(&part).to_owned()),
            question: cells.question,
            ground_truth: filled(cells.ground_truth),
            prediction: filled(cells.prediction)
                .or_else(|| answer.clone())
                .unwrap_or_default(),
            answer,
            value: filled(cells.value).map(value_of),
            program: filled(cells.program),
            gold_program: filled(cells.gold_program),
            exe_ans: filled(cells.exe_ans).map(value_of),
            outcome,
            latency,
            filename: filled(cells.filename),
            epoch,
            rounds,
            cost: self.cell(line, "cost_usd", &cells.cost_usd, "an amount", amount)?,
        })
    }

    /// Reads a cell; `None` if it is blank.
    fn cell<T>(
        &self,
        line: usize,
        column: &'static str,
        text: &str,
        expected: &'static str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ScoreError> {
        match text.trim() {
            "" => Ok(None),
            bare => match read(bare) {
                None => Err(self.bad(line, column, text, expected)),
                value => Ok(value),
            },
        }
    }

    fn bad(
        &self,
        line: usize,
        column: &'static str,
        text: &str,
        expected: &'static str,
    ) -> ScoreError {
        ScoreError::BadField {
            path: self.path.to_owned(),
            line,
            column,
            text: text.chars().take(40).collect(),
            expected,
        }
    }
}

fn filled(text: String) -> Option<String> {
    (!text.trim().is_empty()).then_some(text)
}

fn line_number(position: &csv::Position) -> usize {
    usize::try_from(position.line()).unwrap_or(usize::MAX)
}

/// The plain form of a whole number as data frames write it, `3.0` for 3; any other text
/// unchanged.
fn whole(text: &str) -> &str {
    let text = text.trim();
    text.strip_suffix(".0").unwrap_or(text)
}

fn whole_of<T: std::str::FromStr>(text: &str) -> Option<T> {
    whole(text).parse().ok()
}

fn seconds(text: &str) -> Option<f64> {
    python_float(text).filter(|seconds| seconds.is_finite())
}

/// Data frames write small amounts as `1e-05`.
fn amount(text: &str) -> Option<Decimal> {
    let read = text.parse().or_else(|_| Decimal::from_scientific(text));
    read.ok()
}

/// A JSON scalar as text; `null`, lists and objects are not cells. A JSON number
/// has no written form to keep: `5.0` is `5`, as in our own CSV.
fn plain_text(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Number(number) => number.as_f64().map(|x| x.to_string()),
        serde_json::Value::Bool(yes) => Some(if *yes { "yes" } else { "no" }.to_owned()),
        _ => None,
    }
}

pub(super) fn value_of(text: String) -> Value {
    match python_float(&text) {
        Some(number) => Value::Number(number),
        None => Value::Text(text.trim().to_owned()),
    }
}
