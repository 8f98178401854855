//! The errors of reading predictions.

use std::path::PathBuf;

use finqa_core::error::{Kind, Kinded};
use finqa_core::text::counted;
use thiserror::Error;

/// An error of reading or pairing predictions. Lines are counted from 1.
#[derive(Debug, Error)]
pub enum ScoreError {
    #[error("cannot read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{}, line {line}: the text is not UTF-8; save the file as UTF-8", path.display())]
    NotUtf8 {
        path: PathBuf,
        /// The line with the first bad byte.
        line: usize,
    },
    #[error("{} holds no predictions", path.display())]
    NoRows { path: PathBuf },
    #[error("{} has no column `{column}`; it has: {found}", path.display())]
    MissingColumn {
        path: PathBuf,
        /// The names of the column, separated by `|`.
        column: &'static str,
        /// The columns that the file has, what to do if that is known, and the line of a JSON
        /// object.
        found: String,
    },
    #[error("{}, line {line}: {reason}; remove one of the columns", path.display())]
    DuplicateColumn {
        path: PathBuf,
        line: usize,
        reason: String,
    },
    /// The columns `prediction` and `answer` of a row differ.
    #[error(
        "{}, line {line}: two answers, `prediction` {prediction} and `answer` {answer}; if one is the \
         dataset's, name its column `ground_truth`, otherwise leave one out", path.display()
    )]
    TwoAnswers {
        path: PathBuf,
        line: usize,
        prediction: String,
        answer: String,
    },
    #[error("{}, line {line}: not a row of the table", path.display())]
    Csv {
        path: PathBuf,
        line: usize,
        #[source]
        source: csv::Error,
    },
    #[error(
        "{}, line {line}: a quote that begins here is not closed; close it, or write two for one \
         inside a text", path.display()
    )]
    OpenQuote { path: PathBuf, line: usize },
    #[error("{}, line {line}: not a JSON object", path.display())]
    Json {
        path: PathBuf,
        line: usize,
        #[source]
        source: serde_json::Error,
    },
    #[error("{}, line {line}: `{column}` holds `{text}`, not {expected}", path.display())]
    BadField {
        path: PathBuf,
        line: usize,
        column: &'static str,
        text: String,
        expected: &'static str,
    },
    /// A JSON value of a type that the field does not have.
    #[error("{}, line {line}: field `{field}`: {reason}", path.display())]
    BadValue {
        path: PathBuf,
        line: usize,
        field: String,
        /// The type of the value, and the types that are allowed.
        reason: String,
    },
    #[error("line {line}: {id} ({part}) occurs a second time; it first appears on line {first}")]
    Duplicate {
        line: usize,
        first: usize,
        id: String,
        /// The part, or the question if the row has no part.
        part: String,
    },
    #[error("line {line}: {dataset} has no record {id}")]
    UnknownRecord {
        line: usize,
        id: String,
        dataset: String,
    },
    /// The record has no such part, or no question with this text.
    #[error("line {line}: record {id} in {dataset} has no question for {part}")]
    UnknownPart {
        line: usize,
        id: String,
        part: String,
        dataset: String,
    },
    /// The row's text is the text of another question of the same record.
    #[error(
        "line {line}: the text for {question} is that of {other} in {dataset}; number turns from 0, \
         in the order of the conversation"
    )]
    OtherPart {
        line: usize,
        /// The record, and the part that the row names.
        question: String,
        /// The part to which the text belongs.
        other: String,
        dataset: String,
    },
    #[error(
        "line {line}: {question} has the gold `{file}` here and `{data}` in {dataset}; \
         name the records that the answers are for, or correct the row"
    )]
    DifferentGold {
        line: usize,
        /// The record, and the part that the row was paired with.
        question: String,
        file: String,
        data: String,
        dataset: String,
    },
    #[error("{}: no gold to score its {} by", path.display(), counted(*rows, "answer"))]
    NothingScored { path: PathBuf, rows: usize },
    #[error("the built-in list of suspect golds")]
    Suspects(#[source] serde_json::Error),
}

impl Kinded for ScoreError {
    fn kind(&self) -> Kind {
        // A file of predictions is data, even if it cannot be read.
        Kind::Data
    }
}
