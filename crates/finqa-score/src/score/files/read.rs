//! Reads the rows of a CSV, JSONL or JSON file of predictions.

use std::collections::HashMap;
use std::path::Path;

use rust_decimal::Decimal;

use crate::dataset::{Outcome, Pairs, is_missing, is_typo};
use crate::score::{Quantity, ScoreError};
use finqa_core::files;
use finqa_core::number::{Value, python_float};
use finqa_core::regex;
use finqa_core::text::{NOT_FINITE, line_of, one_line, with_nulls};

use super::cell::text_of;
use super::json::{self, Form};

/// The fields that are read, each with all of its column names. Messages use the first name.
const FIELDS: [(&str, Form); 16] = [
    ("id|record_id", Form::Text),
    (PART, Form::Text),
    ("question", Form::Text),
    (GOLD, Form::Answer),
    ("prediction|predicted_answer", Form::Answer),
    ("answer", Form::Answer),
    ("value", Form::Answer),
    // `predicted` is the name in the official prediction file.
    ("program|predicted_program|predicted", Form::Program),
    ("gold_program|expected_program", Form::Program),
    ("exe_ans", Form::Answer),
    ("outcome", Form::Text),
    ("latency", Form::Text),
    ("filename", Form::Text),
    ("epoch", Form::Text),
    ("rounds", Form::Text),
    ("cost_usd", Form::Text),
];

/// `turn_ind` is the dataset's own name of a turn's number.
const PART: &str = "part|turn|turn_idx|turn_ind|turn_index|turn_id";

const GOLD: &str = "ground_truth|gold|expected_answer";

/// A file must have at least one column from each of these lists.
const NEEDED: [&str; 2] = [
    "id|record_id",
    "prediction|predicted_answer|answer|program|predicted_program",
];

/// The field of a column or key, by the field's first name, and its form; `None` if the name is
/// unknown.
fn field_of(name: &str) -> Option<(&'static str, Form)> {
    let name = name.trim().to_lowercase();
    let (names, form) = FIELDS
        .into_iter()
        .find(|(names, _)| names.split('|').any(|known| known == name))?;
    Some((names.split('|').next()?, form))
}

/// One prediction as it is in a file. Fields that the file does not have are `None` or empty.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictionRow {
    /// Line number, from 1.
    pub line: usize,
    /// Record id.
    pub id: String,
    /// `qa`, `qa_0`, `qa_1` or a turn's number.
    pub part: Option<String>,
    /// The question's text; empty if the file does not have it.
    pub question: String,
    /// The gold as written.
    pub ground_truth: Option<String>,
    /// The prediction as written.
    pub prediction: String,
    /// The printed answer, with its unit.
    pub answer: Option<String>,
    /// The value before rounding.
    pub value: Option<Value>,
    pub program: Option<String>,
    pub gold_program: Option<String>,
    /// The executed value of gold's program.
    pub exe_ans: Option<Value>,
    pub outcome: Option<Outcome>,
    /// Seconds from the first request to the answer.
    pub latency: Option<f64>,
    pub filename: Option<String>,
    /// The epoch, if each question is asked several times.
    pub epoch: Option<u32>,
    /// Rounds of analyst and critic.
    pub rounds: Option<usize>,
    /// The cost in US dollars.
    pub cost: Option<Decimal>,
}

/// Reads a file of predictions. A file that begins with `{` is JSONL, and one that begins with `[`
/// is an array of objects, such as the official prediction file. Any other file is a CSV with a
/// header, whose cells are as [`cell`](super::cell()) writes them.
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

/// The text of a file, without a byte order mark. The error names the line of the first byte that
/// is not UTF-8.
fn utf8<'b>(path: &Path, bytes: &'b [u8]) -> Result<&'b str, ScoreError> {
    // A byte order mark would become part of the first column name.
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| ScoreError::NotUtf8 {
        path: path.to_owned(),
        line: line_of(bytes, error.valid_up_to()),
    })
}

/// A file of predictions, as read from disk.
struct PredictionFile<'f> {
    path: &'f Path,
    text: &'f str,
}

impl PredictionFile<'_> {
    /// Reads a CSV file with a header. Unknown columns are ignored.
    ///
    /// # Errors
    /// The file is not a CSV, a quote is not closed, a necessary column is missing, or a cell
    /// cannot be read.
    fn csv(&self) -> Result<Vec<PredictionRow>, ScoreError> {
        let malformed = |source: csv::Error| ScoreError::Csv {
            path: self.path.to_owned(),
            line: source.position().map_or(1, line_number),
            source,
        };
        if let Some(line) = open_quote(self.text) {
            let path = self.path.to_owned();
            return Err(ScoreError::OpenQuote { path, line });
        }
        let mut reader = csv::Reader::from_reader(self.text.as_bytes());
        let header = reader.headers().map_err(malformed)?.iter();
        let names: Vec<String> = header.map(|name| name.trim().to_lowercase()).collect();
        self.refuse_incomplete(&names, None)?;
        let fields: Vec<_> = names.iter().map(|name| field_of(name)).collect();
        let records = reader.into_records().map(|record| {
            let record = record.map_err(malformed)?;
            let line = record.position().map_or(1, line_number);
            let mut cells = self.cells(line);
            for (field, text) in fields.iter().zip(&record) {
                if let Some((field, _)) = field {
                    cells.put(field, text_of(text).to_owned())?;
                }
            }
            cells.row()
        });
        records.collect()
    }

    /// Reads JSONL, or an array of objects. Unknown keys are ignored.
    ///
    /// # Errors
    /// The file is not JSON, an object lacks a necessary key, or a value cannot be read.
    fn json(&self) -> Result<Vec<PredictionRow>, ScoreError> {
        let malformed = |line: usize, source: serde_json::Error| ScoreError::Json {
            path: self.path.to_owned(),
            line,
            source,
        };
        let text = with_nulls(self.text, &NOT_FINITE);
        let values = json::values(&text).map_err(|error| malformed(error.line(), error))?;
        let rows = values.into_iter().map(|(line, value)| {
            let Pairs::<serde_json::Value>(fields) =
                serde_json::from_str(value.get()).map_err(|source| malformed(line, source))?;
            let names: Vec<String> = fields.iter().map(|(name, _)| name.clone()).collect();
            self.refuse_incomplete(&names, Some(line))?;
            let mut cells = self.cells(line);
            for (name, value) in fields {
                // Unknown keys are ignored, like unknown columns of a CSV.
                let Some((field, form)) = field_of(&name) else {
                    continue;
                };
                let bad = |reason| ScoreError::BadValue {
                    path: self.path.to_owned(),
                    line,
                    field: name,
                    reason,
                };
                let text = json::text_of_value(&value, form).map_err(bad)?;
                cells.put(field, text.unwrap_or_default())?;
            }
            cells.row()
        });
        rows.collect()
    }

    /// Refuses columns without an id or an answer. Also refuses an unknown column that probably has
    /// golds or turn numbers, unless a known column has them, because it would be ignored. `line`
    /// is the line of a JSON object.
    fn refuse_incomplete(&self, names: &[String], line: Option<usize>) -> Result<(), ScoreError> {
        let is_there = |known: &str| {
            let field = field_of(known);
            names.iter().any(|name| field_of(name) == field)
        };
        let is_missing = |needed: &&str| !needed.split('|').any(is_there);
        let is_mistyped = |known: &str| names.iter().any(|name| is_typo(name, known));
        let gold = Some(GOLD)
            .filter(|gold| is_missing(gold) && !is_there("exe_ans"))
            .filter(|gold| gold.split('|').any(is_mistyped));
        // Refuse an unknown name for a turn's number instead of guessing, because some files count
        // turns from 1.
        let numbers_turns = |name: &String| {
            let name = name.trim().to_lowercase();
            let begins = name.starts_with("turn") && !name.starts_with("turns");
            (begins || name.ends_with("turn")) && !name.contains("program")
        };
        let part = Some(PART).filter(|part| is_missing(part) && names.iter().any(numbers_turns));
        match NEEDED.into_iter().find(is_missing).or(gold).or(part) {
            None => Ok(()),
            Some(column) => {
                let mut found = names.join(", ");
                if found.contains([';', '\t']) {
                    found += "; separate columns by commas";
                }
                let path = self.path.to_owned();
                if let Some(line) = line {
                    found += &format!(" (line {line})");
                }
                Err(ScoreError::MissingColumn {
                    path,
                    column,
                    found,
                })
            }
        }
    }

    fn cells(&self, line: usize) -> Cells<'_> {
        Cells {
            path: self.path,
            line,
            texts: HashMap::new(),
        }
    }
}

/// The fields of a row as text.
struct Cells<'f> {
    path: &'f Path,
    line: usize,
    texts: HashMap<&'static str, String>,
}

impl Cells<'_> {
    /// Sets a field. It is an error if two columns name the same field.
    fn put(&mut self, field: &'static str, text: String) -> Result<(), ScoreError> {
        match self.texts.insert(field, text) {
            None => Ok(()),
            Some(_) => Err(ScoreError::DuplicateColumn {
                path: self.path.to_owned(),
                line: self.line,
                reason: format!("duplicate field `{field}`"),
            }),
        }
    }

    /// Makes a prediction of the cells of a row.
    ///
    /// # Errors
    /// The row has no id, has two different answers, or has a cell that cannot be read.
    fn row(mut self) -> Result<PredictionRow, ScoreError> {
        let id = self.texts.remove("id").unwrap_or_default();
        let id = id.trim();
        if id.is_empty() {
            return Err(self.bad("id", "", "a record id"));
        }
        let answer = self.text("answer").map(json::answer_of_text);
        let prediction = self.text("prediction").map(json::answer_of_text);
        // The name `answer` means gold in the dataset, but the printed answer in convfinqa's own
        // CSV, which has the column `outcome`.
        if let (Some(answer), Some(prediction)) = (&answer, &prediction)
            && !self.texts.contains_key("outcome")
            && !answer.trim().eq_ignore_ascii_case(prediction.trim())
        {
            return Err(ScoreError::TwoAnswers {
                path: self.path.to_owned(),
                line: self.line,
                // The texts in messages are cut to 40 characters, set by hand, to keep one line.
                prediction: one_line(prediction, 40),
                answer: one_line(answer, 40),
            });
        }
        let value = self.value(prediction.as_ref().or(answer.as_ref()))?;
        Ok(PredictionRow {
            line: self.line,
            id: id.to_owned(),
            part: self.text("part").map(|part| whole(&part).to_owned()),
            question: self.texts.remove("question").unwrap_or_default(),
            ground_truth: self.text("ground_truth").map(json::answer_of_text),
            // A file may have its predictions in `answer`.
            prediction: prediction.or_else(|| answer.clone()).unwrap_or_default(),
            answer,
            value,
            program: self.program("program")?,
            gold_program: self.program("gold_program")?,
            exe_ans: self.text("exe_ans").map(value_of),
            outcome: self.read("outcome", "a known outcome", |text| text.parse().ok())?,
            latency: self.read("latency", "a number", seconds)?,
            filename: self.text("filename"),
            epoch: self.read("epoch", "a whole number", whole_of)?,
            rounds: self.read("rounds", "a whole number", whole_of)?,
            cost: self.read("cost_usd", "an amount", amount)?,
        })
    }

    /// A field's text; `None` if it is blank or states that there is no value.
    fn text(&mut self, field: &'static str) -> Option<String> {
        let text = self.texts.remove(field)?;
        (!is_missing(&text)).then_some(text)
    }

    /// The unrounded value, read like any answer. A number with a percent sign or a scale word
    /// stays a text. Any other word is accepted only if it is also the answer, or if the file comes
    /// from a run.
    fn value(&mut self, answer: Option<&String>) -> Result<Option<Value>, ScoreError> {
        let Some(text) = self.text("value") else {
            return Ok(None);
        };
        let value = value_of(text.clone());
        if value.number().is_some() {
            return Ok(Some(value));
        }
        match Quantity::parse(&text) {
            Quantity::Number(read) if read.scale.is_some() || read.loss => Ok(Some(value)),
            Quantity::Number(read) if read.percent => {
                Ok(Some(Value::Text(format!("{}%", read.value))))
            }
            Quantity::Number(read) => Ok(Some(Value::Number(read.value))),
            Quantity::Word(word)
                if !self.texts.contains_key("outcome")
                    && answer.is_none_or(|answer| answer.trim() != word) =>
            {
                Err(self.bad("value", &text, "a number, yes or no"))
            }
            _ => Ok(Some(value)),
        }
    }

    /// A program. If its cell begins like a list, it must be a list of tokens.
    fn program(&mut self, field: &'static str) -> Result<Option<String>, ScoreError> {
        match self.text(field) {
            Some(text) if text.trim_start().starts_with('[') => {
                let program = json::program_of_text(&text);
                let program = program.ok_or_else(|| self.bad(field, &text, "a program"))?;
                Ok(Some(program).filter(|program| !program.is_empty()))
            }
            text => Ok(text),
        }
    }

    /// Reads a field; `None` under the conditions of [`Self::text`].
    fn read<T>(
        &mut self,
        field: &'static str,
        expected: &'static str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ScoreError> {
        let Some(text) = self.text(field) else {
            return Ok(None);
        };
        let value = read(text.trim());
        value
            .map(Some)
            .ok_or_else(|| self.bad(field, &text, expected))
    }

    fn bad(&self, column: &'static str, text: &str, expected: &'static str) -> ScoreError {
        ScoreError::BadField {
            path: self.path.to_owned(),
            line: self.line,
            column,
            // As many as in `TwoAnswers`.
            text: text.chars().take(40).collect(),
            expected,
        }
    }
}

/// The line of a quote in a CSV that is never closed. An unclosed cell may end by mistake at the
/// opening quote of a cell on a later line, which would make one cell of the rows between. So a
/// quote on a later line does not close a cell if it is followed by text.
fn open_quote(text: &str) -> Option<usize> {
    let quoted = regex!(r#"(?:^|[,\r\n])("(?:[^"]|"")*)(?:"([^,\r\n]?)|$)"#);
    let mut cells = quoted.captures_iter(text);
    let open = cells.find_map(|cell| {
        let content = cell.get(1)?;
        let closed_in = cell.get(2).map(|next| next.as_str().trim());
        let is_open = match closed_in {
            None => true,
            Some(next) => !next.is_empty() && content.as_str().contains('\n'),
        };
        is_open.then_some(content.start())
    })?;
    Some(1 + text.get(..open)?.matches('\n').count())
}

fn line_number(position: &csv::Position) -> usize {
    usize::try_from(position.line()).unwrap_or(usize::MAX)
}

/// The plain form of a whole number that a data frame wrote as `3.0`; any other text is returned
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

/// An amount in US dollars. Data frames write small amounts as `1e-05`.
fn amount(text: &str) -> Option<Decimal> {
    let read = text.parse().or_else(|_| Decimal::from_scientific(text));
    read.ok()
}

pub(super) fn value_of(text: String) -> Value {
    match python_float(&text) {
        Some(number) => Value::Number(number),
        None => Value::Text(text.trim().to_owned()),
    }
}
