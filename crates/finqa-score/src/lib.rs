//! Gold, and everything that is judged by gold: the score of an answer, the probability that it is
//! right, the cause of a wrong one, and whether changed prompts help.
//!
//! - **In:** files of records and of predictions, and the solutions that agents found.
//! - **Out:** a `Row` with its scores for each question, and what is made of rows: scorecards,
//!   calibrations, causes of misses, comparisons of two runs.
//!
//! Read [`dataset`] first, which reads the records and separates a question from its gold.
//! [`score`] applies every scoring rule. [`calibration`], [`analysis`] and [`improve`] use rows and
//! do not need each other: they fit and apply probabilities, explain misses and compare runs, and
//! judge changed prompts. Nothing here asks a model or knows the folder of a run.

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
