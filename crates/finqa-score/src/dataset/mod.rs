//! ConvFinQA records: documents, questions and, in a separate type, gold.
//!
//! [`Question`] and [`Gold`] are separate types. Code that talks to a model takes a `Question`, so
//! it cannot see gold; the packages that this one depends on do not know the type `Gold`.
//!
//! Read `types` first, then `load`, which calls `read` (JSON array, JSONL or splits, one record at
//! a time), `raw` (the fields of a record) and `assemble` (the checks). `select` chooses records.
//! Nothing here repairs a table or scores an answer.

mod assemble;
mod check;
mod cleaned;
mod error;
mod keys;
mod load;
mod missing;
mod off_page;
mod pairs;
mod raw;
mod read;
mod select;
mod show;
mod stats;
mod types;

pub use check::{ProgramDefect, check};
pub use error::DatasetError;
pub(crate) use keys::{is_missing, is_typo};
pub use load::{
    DATA_FOLDER, Source, from_str, load, load_named, load_split, record_errors, sample,
};
pub use missing::missing_fields;
pub use off_page::figures_off_page;
pub(crate) use pairs::Pairs;
pub use select::{RecordRange, Selection, select};
pub use show::{gold_text, record_text};
pub use stats::stats_text;
pub use types::{Case, Dataset, Gold, HistoryMode, Mode, Record, RecordKind, filename_in_id};

pub use finqa_core::outcome::Outcome;
pub use finqa_core::question::{
    Document, HistoryEntry, HistorySource, Question, QuestionKey, QuestionKind,
};
