//! ConvFinQA records: documents, questions and, kept apart from them, gold.
//!
//! [`Question`] and [`Gold`] are separate types so that whatever talks to a
//! model takes a `Question` and cannot see gold: `prompt`, `agents`, `parse`
//! and `offline` may not name `Gold` (held by a test).

mod outcome;
mod types;

pub use outcome::Outcome;
pub use types::{
    Case, Dataset, Document, Gold, HistoryEntry, HistorySource, Kind, Question, QuestionKey, Record,
};
