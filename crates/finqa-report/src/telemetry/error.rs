//! The errors of setting up traces and logs.

use std::path::PathBuf;

use finqa_core::error::{Kind, Kinded};
use opentelemetry_otlp::ExporterBuildError;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum TelemetryError {
    #[error("cannot write {path}: {source}")]
    File {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("OpenTelemetry export: {0}")]
    Exporter(#[from] ExporterBuildError),
    #[error("RUST_LOG is `{level}`: {source}; use a level, or `target=level,…`")]
    Level {
        level: String,
        #[source]
        source: tracing_subscriber::filter::ParseError,
    },
}

impl Kinded for TelemetryError {
    fn kind(&self) -> Kind {
        Kind::Usage
    }
}
