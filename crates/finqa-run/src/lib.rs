//! Runs: asks the questions of a dataset, or plays the episodes of an environment, and writes the
//! results.
//!
//! In: [`Settings`](finqa_journal::settings::Settings), and a [`pipeline::RunContext`] with
//! everything else that a run needs, such as keys and the tokens that stop it. Out: events while
//! the run is in progress ([`pipeline::Run::next`]), and at the end the run's folder with its
//! journal and files ([`pipeline::Run::finish`]).
//!
//! Reading order: [`pipeline`] (from settings to a run and its files), [`engine`] (asks the
//! questions of a plan and journals each outcome), [`episodes`] (questions that an agent answers in
//! an environment), [`env_build`] (makes an environment's data from the dataset), [`improve`]
//! (searches for better prompts).

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
