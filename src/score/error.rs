//! Why a file of predictions cannot be scored.

use std::path::PathBuf;

use thiserror::Error;

/// Why a file of predictions cannot be scored. Lines are counted from 1.
#[derive(Debug, Error)]
pub enum ScoreError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The bytes are not UTF-8.
    #[error("{}, line {line}: the text is not UTF-8; save the file as UTF-8", path.display())]
    NotUtf8 {
        path: PathBuf,
        /// The line with the first bad byte.
        line: usize,
    },
    /// There is no row.
    #[error("{} holds no predictions", path.display())]
    NoRows { path: PathBuf },
    /// A column that is needed is not there.
    #[error("{} has no column `{column}` (it has: {found})", path.display())]
    MissingColumn {
        path: PathBuf,
        /// Its name, alternatives after a `|`.
        column: &'static str,
        found: String,
    },
    /// Two columns would both be read as the same thing.
    #[error("{}, line {line}: the columns `{first}` and `{second}` hold the same data; remove one of them", path.display())]
    DuplicateColumn {
        path: PathBuf,
        line: usize,
        first: String,
        /// The other; often of the same name.
        second: String,
    },
    /// A row is not valid CSV.
    #[error("{}, line {line}: not a row of the table", path.display())]
    Csv {
        path: PathBuf,
        line: usize,
        #[source]
        source: csv::Error,
    },
    /// A line is not a JSON object.
    #[error("{}, line {line}: not a JSON object", path.display())]
    Json {
        path: PathBuf,
        line: usize,
        #[source]
        source: serde_json::Error,
    },
    /// A field does not hold what it should.
    #[error("{}, line {line}: `{column}` holds `{text}`, not {expected}", path.display())]
    BadField {
        path: PathBuf,
        line: usize,
        column: &'static str,
        text: String,
        expected: &'static str,
    },
    /// A question occurs twice.
    #[error("line {line}: {id} ({part}) occurs a second time; it first appears on line {first}")]
    Duplicate {
        line: usize,
        first: usize,
        id: String,
        /// The part, or the question where there is no part.
        part: String,
    },
    /// The dataset has no such record.
    #[error("line {line}: {dataset} has no record {id}")]
    UnknownRecord {
        line: usize,
        id: String,
        dataset: String,
    },
    /// The record has no such part, or fewer questions than rows.
    #[error("line {line}: record {id} in {dataset} has no question for {part}")]
    UnknownPart {
        line: usize,
        id: String,
        part: String,
        dataset: String,
    },
    /// The row was answered for another gold.
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
    /// No row has gold.
    #[error(
        "{}: none of its {rows} answers has gold to score by; name the records with --data-path", path.display()
    )]
    NothingScored { path: PathBuf, rows: usize },
    /// The suspect golds that are part of the program do not parse.
    #[error("the built-in list of suspect golds")]
    Suspects(#[source] serde_json::Error),
}
