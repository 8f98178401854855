//! A run from its settings to its files: the questions of a dataset or the episodes of an
//! environment, asked to their end.
//!
//! [`pipeline`] is the library call, [`engine`] asks the questions of a plan, [`episodes`] plays
//! them in an environment, whose data [`env_build`] makes of the dataset, and [`improve`] lets a
//! model change the prompts.

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

pub mod engine;
pub mod env_build;
pub mod episodes;
pub mod improve;
pub mod pipeline;
