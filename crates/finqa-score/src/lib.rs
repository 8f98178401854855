//! Gold, and everything that depends on it: the score of an answer, the probability that an answer
//! is right, the cause of a wrong one, and whether changed prompts help.
//!
//! - **In:** files of records and of predictions, and the solutions that agents found.
//! - **Out:** a `Row` with its scores for each question, and what is computed from rows:
//!   scorecards, calibrations, causes of misses, comparisons of two runs.
//!
//! Read [`dataset`] first, which reads the records and separates a question from its gold.
//! [`score`] applies every scoring rule. [`calibration`] fits and applies probabilities,
//! [`analysis`] explains misses and compares runs, and [`improve`] judges changed prompts. These
//! three use rows but not each other. Nothing here asks a model or reads the folder of a run.

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

pub mod analysis;
pub mod calibration;
pub mod dataset;
pub mod improve;
pub mod score;
