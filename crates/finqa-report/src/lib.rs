//! Outputs of a run: files, the HTML report, the terminal, MLflow, traces and log lines.
//!
//! In: a run's journal, its summary and its events ([`output`]), and the `tracing` spans and events
//! that other packages record ([`telemetry`]). Out: text, files, and requests to MLflow and to an
//! OpenTelemetry collector. Nothing here affects a run: without this package it would ask and score
//! the same.
//!
//! Reading order: `output::staged` (writes a file whole or not at all), `output::csv` (the simplest
//! file), [`output::report`] (the HTML report), [`output::terminal`] (text for people),
//! [`output::mlflow`] (delivery to a tracking server), [`telemetry`] (traces and logs).

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

pub mod output;
pub mod telemetry;
