//! Traces and logs: what rooms below record on `tracing` spans, and how that
//! leaves the process. Spans go to a file of the run and to an OpenTelemetry
//! collector, log lines to where the caller says.
//!
//! Rooms make spans where things happen and name attributes by
//! [`finqa_agents::telemetry::attributes`]; nothing is recorded, and nothing is formatted, unless the
//! command line has installed a [`Telemetry`]. Prompts and replies are content
//! and only recorded on request ([`finqa_agents::telemetry::set_content`]). Nothing here decides
//! anything, and nothing here may fail or hold up a run.

mod error;
mod file;
mod install;
mod lines;
mod log;
mod otlp;
mod pipeline;
mod redact;

pub use error::TelemetryError;
pub use install::{Options, Telemetry, install};
pub use lines::{TraceLine, TraceLines, read_lines};
pub use log::{LineSink, LogFormat, LogOptions};
pub use otlp::Otlp;
pub use redact::Redactor;

/// Told of trouble, in one line for the user.
pub type Notice = std::sync::Arc<dyn Fn(&str) + Send + Sync>;
