//! Gold and everything that is judged by it: the records of the dataset, the scores of an answer,
//! the probability that it is right, the causes of misses, and whether changed prompts help.
//!
//! [`dataset`] reads the records and separates a question from its gold, [`score`] applies every
//! scoring rule, [`calibration`] fits and applies probabilities, [`analysis`] explains misses and
//! compares runs, and [`improve`] judges candidates. Nothing here asks a model or knows of a run's
//! folder.

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
