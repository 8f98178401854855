//! Predictions on disk: our own `output.csv`, the LangGraph baseline's, JSONL, and the official
//! prediction file, to be scored again without a model.
//!
//! [`read_predictions`] reads rows as they are; [`rescore`] pairs them with a
//! dataset where there is one, and scores them. Nothing is guessed: a missing
//! column, a question that occurs twice, an encoding other than UTF-8, an id
//! that the dataset does not have, a gold that is not the dataset's are errors
//! that name line and column.

mod cell;
mod json;
mod pair;
mod read;

pub use cell::cell;
pub use pair::{rescore, rescore_by};
pub use read::{PredictionRow, read_predictions};
