//! Traces and logs that cannot be set up as asked.

use std::path::PathBuf;

use thiserror::Error;

/// Why telemetry cannot be set up.
#[derive(Debug, Error)]
pub enum TelemetryError {
    /// The file of traces cannot be written.
    #[error("cannot write {path}: {source}; `--traces off` leaves it out")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The collector's variables cannot work.
    #[error("OpenTelemetry export: {0}; check the OTEL_EXPORTER_OTLP_* variables")]
    Exporter(String),
    /// A log level or filter that is none.
    #[error(
        "log level `{level}`: {reason}; use error, warn, info, debug, trace, or `target=level,…`"
    )]
    Level {
        /// As given.
        level: String,
        /// Why.
        reason: String,
    },
    /// Something else in the process has taken the place.
    #[error("traces and logs are set up already")]
    Installed,
}
