//! Reads predictions from disk, so that they can be scored again without a model. It reads our own
//! `output.csv`, the CSV of the LangGraph baseline, JSONL, and the official prediction file.
//!
//! [`read_predictions`] reads the rows unchanged. [`rescore`] pairs them with a dataset, if there
//! is one, and scores them. Nothing is guessed. A missing column, a question that occurs twice, an
//! encoding other than UTF-8, an id that the dataset does not have, and a gold that differs from
//! the dataset's are errors that name the place.

mod cell;
mod json;
mod pair;
mod read;

pub use cell::cell;
pub use pair::{rescore, rescore_by};
pub use read::{PredictionRow, read_predictions};
