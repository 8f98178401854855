//! The errors of data files, selections and downloads.

use finqa_core::error::{Kind, Kinded};
use finqa_core::text::counted;
use std::path::PathBuf;

/// Says in one line what is wrong, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    #[error(
        "no data file at {path}: name a JSON or JSONL file of ConvFinQA records, `sample`, or fetch the published files with `convfinqa data download`"
    )]
    Missing { path: PathBuf },
    #[error("the path of the data is blank; name a file of ConvFinQA records, or `sample`")]
    BlankPath,
    #[error("cannot read {path}")]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The bytes are not JSON, or JSON of another shape.
    #[error("{origin} is not a ConvFinQA file: {reason}")]
    NotJson {
        origin: String,
        /// The content that was found instead, its place, and what to do.
        reason: String,
    },
    #[error("{origin} is cut off at line {line}, column {column}: fetch or copy it again")]
    Truncated {
        origin: String,
        line: usize,
        column: usize,
    },
    #[error("{origin}, {record}{}: {reason}", of_field(field))]
    Record {
        origin: String,
        /// `record 4 (Single_…)`, counted from 1.
        record: String,
        /// Path of the field, e.g. `annotation.exe_ans_list[2]`; `.` is the record itself.
        field: String,
        /// The fault, and what to do about it.
        reason: String,
    },
    #[error(
        "{origin}: records {first} and {second} both have the id {id}: ids name the rows of the output, so drop or rename one"
    )]
    DuplicateId {
        origin: String,
        id: String,
        /// Number of the first, from 1.
        first: usize,
        /// Number of the second, from 1.
        second: usize,
    },
    #[error("{origin} has no records: check that it is the right file")]
    Empty {
        /// The file, or `built-in sample`.
        origin: String,
    },
    #[error("{origin} has no split `{split}`: it has {names}")]
    NoSplit {
        origin: String,
        split: String,
        /// Lists the splits of the source, or says that it has none.
        names: String,
    },
    #[error("{origin} has no split `{split}`: its records have no splits")]
    NoSplits { origin: String, split: String },
    #[error("{origin}: there is no record {id}")]
    UnknownId { origin: String, id: String },
    #[error(
        "`{range}` is not a range of records: write `A..B` with A below B, counted from 0, B excluded, e.g. 0..100"
    )]
    RangeForm { range: String },
    #[error(
        "the range {range} exceeds the {} of {origin}: it may end at {records}",
        counted(*records, "record")
    )]
    RangeBeyondEnd {
        origin: String,
        range: String,
        records: usize,
    },
    #[error(
        "the filter `{filter}` is not a regular expression: {reason}; write a backslash before ( [ * + ? to match them literally"
    )]
    Filter { filter: String, reason: String },
    #[error("{origin}: no record matches the range, the ids and the filter together")]
    NothingSelected { origin: String },
}

impl Kinded for DatasetError {
    fn kind(&self) -> Kind {
        match self {
            Self::BlankPath
            | Self::NoSplit { .. }
            | Self::NoSplits { .. }
            | Self::UnknownId { .. }
            | Self::RangeForm { .. }
            | Self::RangeBeyondEnd { .. }
            | Self::Filter { .. }
            | Self::NothingSelected { .. } => Kind::Usage,
            _ => Kind::Data,
        }
    }
}

fn of_field(path: &str) -> String {
    match path {
        "." => String::new(),
        path => format!(", field `{path}`"),
    }
}
