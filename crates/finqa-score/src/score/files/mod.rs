//! Reads predictions from disk, to score them again without a model: our own `output.csv`, the CSV
//! of the LangGraph baseline, JSONL, and the official prediction file.
//!
//! [`read_predictions`] reads rows as they are. [`rescore`] pairs them with a dataset, if there is
//! one, and scores them. Nothing is guessed: a missing column, a question that occurs twice, an
//! encoding other than UTF-8, an id that the dataset does not have, or another gold than the
//! dataset's is an error that says where it is.

mod cell;
mod json;
mod pair;
mod read;

pub use cell::cell;
pub use pair::{rescore, rescore_by};
pub use read::{PredictionRow, read_predictions};
