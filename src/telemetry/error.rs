//! Traces and logs that cannot be set up as asked.

use std::path::PathBuf;

use thiserror::Error;

/// Why telemetry cannot be set up.
#[derive(Debug, Error)]
pub enum TelemetryError {
    /// The file of traces cannot be written.
    #[error("cannot write {path}: {source}; pass `--traces off` to run without it")]
    File {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The collector's variables cannot work.
    #[error("OpenTelemetry export: {0}; check the OTEL_EXPORTER_OTLP_* variables")]
    Exporter(String),
    /// A log level or filter that does not exist.
    #[error(
        "log level `{level}`: {reason}; use error, warn, info, debug, trace, or `target=level,…`"
    )]
    Level { level: String, reason: String },
    /// Another subscriber is already installed in this process.
    #[error("traces and logs are already set up")]
    Installed,
}
