//! Reading the rows of a CSV, JSONL or JSON file.

use std::collections::BTreeMap;
use std::path::Path;

use rust_decimal::Decimal;

use crate::dataset::Outcome;
use crate::score::ScoreError;
use finqa_core::files;
use finqa_core::number::{Value, python_float};

use super::cell::text_of;
use super::fields::PredictionField;

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

/// Reads a file of predictions: JSONL if it begins with `{`, a JSON array if
/// with `[`, else CSV with a header and cells as [`cell`](super::cell()) writes them.
pub fn read_predictions(path: &Path) -> Result<Vec<PredictionRow>, ScoreError> {
    let bytes = files::read(path).map_err(|source| ScoreError::Read {
        path: path.to_owned(),
        source,
    })?;
    let file = PredictionFile {
        path,
        text: &utf8(path, &bytes)?,
    };
    let rows = match file.text.trim_start().chars().next() {
        Some('{') => file.jsonl()?,
        Some('[') => file.json_array()?,
        _ => file.csv()?,
    };
    if rows.is_empty() {
        return Err(ScoreError::NoRows {
            path: path.to_owned(),
        });
    }
    Ok(rows)
}

fn utf8(path: &Path, bytes: &[u8]) -> Result<String, ScoreError> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        // UTF-16 of plain English is valid UTF-8 with a zero in every character.
        // A single zero may be part of a reply.
        Ok(text) if !text.chars().take(4).any(|c| c == '\0') => Ok(text.to_owned()),
        Ok(_) => Err(ScoreError::NotUtf8 {
            path: path.to_owned(),
            line: 1,
        }),
        Err(error) => {
            let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let line = 1 + good.iter().filter(|b| **b == b'\n').count();
            Err(ScoreError::NotUtf8 {
                path: path.to_owned(),
                line,
            })
        }
    }
}

struct PredictionFile<'f> {
    path: &'f Path,
    text: &'f str,
}

/// The fields of one row, as text.
type FieldCells = BTreeMap<PredictionField, String>;
type JsonObject = serde_json::Map<String, serde_json::Value>;

impl PredictionFile<'_> {
    fn csv(&self) -> Result<Vec<PredictionRow>, ScoreError> {
        let malformed = |line: usize, source| ScoreError::Csv {
            path: self.path.to_owned(),
            line,
            source,
        };
        let mut reader = csv::Reader::from_reader(self.text.as_bytes());
        let header = reader.headers().map_err(|e| malformed(1, e))?.clone();
        let fields: Vec<Option<PredictionField>> = header.iter().map(PredictionField::of).collect();
        self.refuse_twice(1, header.iter())?;
        self.need(&fields, PredictionField::Id, "id|record_id", &header)?;
        let answers = fields.contains(&Some(PredictionField::Answer));
        if !answers {
            let names = "prediction|predicted_answer|answer";
            self.need(&fields, PredictionField::Prediction, names, &header)?;
        }
        let mut rows = Vec::new();
        let mut record = csv::StringRecord::new();
        loop {
            let line = line_number(reader.position().line());
            match reader.read_record(&mut record) {
                Ok(false) => return Ok(rows),
                Err(source) => return Err(malformed(line, source)),
                Ok(true) => {}
            }
            let line = record.position().map_or(line, |p| line_number(p.line()));
            let cells = fields
                .iter()
                .zip(&record)
                .filter_map(|(field, cell)| Some(((*field)?, text_of(cell))));
            rows.push(self.row(line, cells.collect())?);
        }
    }

    /// Refuses repeated columns: which of two is meant is unknown.
    fn refuse_twice<'a>(
        &self,
        line: usize,
        names: impl Iterator<Item = &'a str>,
    ) -> Result<(), ScoreError> {
        let mut seen: BTreeMap<PredictionField, &str> = BTreeMap::new();
        for name in names {
            let Some(field) = PredictionField::of(name) else {
                continue;
            };
            if let Some(first) = seen.insert(field, name) {
                return Err(ScoreError::DuplicateColumn {
                    path: self.path.to_owned(),
                    line,
                    first: first.trim().to_owned(),
                    second: name.trim().to_owned(),
                });
            }
        }
        Ok(())
    }

    fn need(
        &self,
        fields: &[Option<PredictionField>],
        field: PredictionField,
        column: &'static str,
        header: &csv::StringRecord,
    ) -> Result<(), ScoreError> {
        if fields.contains(&Some(field)) {
            return Ok(());
        }
        Err(self.missing(column, header.iter().collect::<Vec<_>>().join(", ")))
    }

    fn missing(&self, column: &'static str, found: String) -> ScoreError {
        ScoreError::MissingColumn {
            path: self.path.to_owned(),
            column,
            found: match found.trim() {
                "" => "it has no columns".to_owned(),
                names => format!("it has: {names}"),
            },
        }
    }

    fn jsonl(&self) -> Result<Vec<PredictionRow>, ScoreError> {
        let mut rows = Vec::new();
        for (at, text) in self.text.lines().enumerate() {
            if text.trim().is_empty() {
                continue;
            }
            let line = at + 1;
            let object = serde_json::from_str(text).map_err(|e| self.not_json(line, e))?;
            rows.push(self.json_row(line, &object)?);
        }
        Ok(rows)
    }

    /// The lines of an array are its entries.
    fn json_array(&self) -> Result<Vec<PredictionRow>, ScoreError> {
        let objects: Vec<JsonObject> =
            serde_json::from_str(self.text).map_err(|e| self.not_json(e.line(), e))?;
        let rows = objects.iter().enumerate();
        rows.map(|(at, object)| self.json_row(at + 1, object))
            .collect()
    }

    fn not_json(&self, line: usize, source: serde_json::Error) -> ScoreError {
        ScoreError::Json {
            path: self.path.to_owned(),
            line,
            source,
        }
    }

    fn json_row(&self, line: usize, object: &JsonObject) -> Result<PredictionRow, ScoreError> {
        let found = || object.keys().cloned().collect::<Vec<_>>().join(", ");
        let held = object.iter().filter(|(_, value)| !value.is_null());
        self.refuse_twice(line, held.map(|(key, _)| key.as_str()))?;
        let cells: FieldCells = object
            .iter()
            .filter_map(|(key, value)| Some((PredictionField::of(key)?, plain_text(value)?)))
            .collect();
        if !cells.contains_key(&PredictionField::Id) {
            return Err(self.missing("id|record_id", found()));
        }
        let is_answer = |key: &String| {
            matches!(
                PredictionField::of(key),
                Some(
                    PredictionField::Prediction
                        | PredictionField::Answer
                        | PredictionField::Program
                )
            )
        };
        if !object.keys().any(is_answer) {
            return Err(self.missing("answer|predicted_answer|program", found()));
        }
        self.row(line, cells)
    }

    fn row(&self, line: usize, mut cells: FieldCells) -> Result<PredictionRow, ScoreError> {
        let bad = |column, text: &str, expected| ScoreError::BadField {
            path: self.path.to_owned(),
            line,
            column,
            text: text.chars().take(40).collect(),
            expected,
        };
        let mut take = |field| cells.remove(&field).filter(|text| !text.trim().is_empty());
        let id = take(PredictionField::Id).ok_or_else(|| bad("id", "", "a record id"))?;
        let outcome = take(PredictionField::Outcome)
            .map(|text| {
                let known = text.trim().parse();
                known.map_err(|_| bad("outcome", &text, "a known outcome"))
            })
            .transpose()?;
        let mut seconds = |field, column, unit: f64| {
            take(field)
                .map(|text| {
                    let number = python_float(&text).filter(|s| s.is_finite());
                    number
                        .map(|s| s / unit)
                        .ok_or_else(|| bad(column, &text, "a number"))
                })
                .transpose()
        };
        let milliseconds = seconds(PredictionField::LatencyMilliseconds, "latency_ms", 1e3)?;
        let latency = seconds(PredictionField::LatencySeconds, "latency", 1.0)?.or(milliseconds);
        let rounds = take(PredictionField::Rounds)
            .map(|text| {
                let rounds = whole(&text).parse();
                rounds.map_err(|_| bad("rounds", &text, "a whole number"))
            })
            .transpose()?;
        let cost = take(PredictionField::Cost)
            .map(|text| {
                let text = text.trim();
                // Data frames write small amounts as `1e-05`.
                let cost = text.parse().or_else(|_| Decimal::from_scientific(text));
                cost.map_err(|_| bad("cost_usd", text, "an amount"))
            })
            .transpose()?;
        let answer = take(PredictionField::Answer);
        Ok(PredictionRow {
            line,
            id: id.trim().to_owned(),
            part: take(PredictionField::Part).map(|part| whole(&part)),
            question: take(PredictionField::Question).unwrap_or_default(),
            ground_truth: take(PredictionField::GroundTruth),
            prediction: take(PredictionField::Prediction)
                .or_else(|| answer.clone())
                .unwrap_or_default(),
            answer,
            value: take(PredictionField::Value).map(value_of),
            program: take(PredictionField::Program),
            gold_program: take(PredictionField::GoldProgram),
            exe_ans: take(PredictionField::ExeAns).map(value_of),
            outcome,
            latency,
            filename: take(PredictionField::Filename),
            epoch: take(PredictionField::Epoch)
                .map(|text| {
                    let epoch = whole(&text).parse();
                    epoch.map_err(|_| bad("epoch", &text, "a whole number"))
                })
                .transpose()?,
            rounds,
            cost,
        })
    }
}

fn line_number(line: u64) -> usize {
    usize::try_from(line).unwrap_or(usize::MAX)
}

/// The plain form of a whole number as data frames write it, `3.0` for 3; any other text
/// unchanged.
fn whole(text: &str) -> String {
    let text = text.trim();
    match text.split_once('.') {
        Some((digits, zeros))
            if digits.bytes().all(|b| b.is_ascii_digit())
                && !digits.is_empty()
                && zeros.bytes().all(|b| b == b'0') =>
        {
            digits.to_owned()
        }
        _ => text.to_owned(),
    }
}

/// A JSON scalar as text; `null`, lists and objects are not cells. A JSON number
/// has no written form to keep: `5.0` is `5`, as in our own CSV.
fn plain_text(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Number(number) => {
            let shortest = number.as_f64().map(|x| x.to_string());
            Some(shortest.unwrap_or_else(|| number.to_string()))
        }
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
