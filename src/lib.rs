//! Two agents answer financial questions over a report page of text and
//! tables; their answers are scored by rules that are named with every number.
//!
//! The rooms, and what each may use, are laid out in `docs/architecture.md`;
//! the direction of dependencies is held by `tests/it/architecture.rs`.
//!
//! ```text
//! dataset -> prompt -> agents (analyst <-> critic, on graph) -> parse -> score -> output
//! ```

#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

pub mod analysis;
pub mod cli;
pub mod dataset;
pub mod env_data;
pub mod episodes;
pub mod output;
pub mod run;
pub mod score;
pub mod settings;
pub mod telemetry;
