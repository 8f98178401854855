//! What a run shows and leaves behind: the files made from its journal, its page, the terminal,
//! MLflow, traces and log lines.
//!
//! [`output`] consumes events and journals, [`telemetry`] what others record on `tracing` spans.
//! Nothing here decides anything: what a run does is the same without it.

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

pub mod output;
pub mod telemetry;
