//! Traces and logs: how what other modules record on `tracing` spans leaves the
//! process. Spans go to a file of the run and to an OpenTelemetry collector, log
//! lines to the caller's sink.
//!
//! Modules create spans where things happen. Nothing is recorded or formatted unless
//! the command line has installed a [`Telemetry`]. Prompts and replies are content
//! and only recorded on request
//! (`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`). Nothing
//! here may fail or delay a run.

mod error;
mod file;
mod install;
mod lines;
mod log;
mod otlp;
mod redact;

pub(crate) use error::TelemetryError;
pub use install::{Telemetry, TelemetryOptions, install};
pub use lines::read_traces;
pub use log::LogFormat;
pub(crate) use otlp::Otlp;
pub(crate) use redact::Redactor;

/// Called with a problem, in one line for the user.
pub(crate) type OnWarning = std::sync::Arc<dyn Fn(&str) + Send + Sync>;
