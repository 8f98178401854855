//! The agents: chat models, prompts, the state machine on petgraph, the analyst
//! and its critic, and the embedded analyst that needs no model.
//!
//! Gold is a type of the package `convfinqa`: nothing here can name it.

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

pub mod graph;
pub mod llm;
pub mod pair;
pub mod parse;
pub mod prompt;
pub mod solve;
pub mod telemetry;
