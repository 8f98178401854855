//! Log lines: one event a line, as text or JSON, in the formats of `tracing_subscriber`. The
//! spans that a line names say which run and question it belongs to. Prompts and replies are
//! never fields of theirs.

use std::io;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tracing::level_filters::LevelFilter;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::filter::{FilterExt, filter_fn};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use super::error::TelemetryError;
use super::redact::Redactor;

/// The packages whose spans and events are ours.
const OURS: [&str; 5] = [
    "convfinqa", "finqa_agents", "finqa_core", "finqa_embedded", "finqa_env",
];

/// True for spans and events of this workspace's packages.
pub(super) fn is_from_us(metadata: &Metadata<'_>) -> bool {
    OURS.iter()
        .any(|package| metadata.target().starts_with(package))
}

/// The format of log lines (`--log`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// No log lines.
    #[default]
    Off,
    /// Time, level, spans, target, message, `key=value`.
    Text,
    /// One JSON object per line.
    Json,
}

/// Takes one line, without its end.
pub(crate) type LineSink = Arc<dyn Fn(&str) + Send + Sync>;

/// Level, format and destination of log lines.
pub struct LogOptions {
    pub format: LogFormat,
    /// `error` to `trace` for this program, or `target=level,…` for all.
    pub level: String,
    pub sink: LineSink,
}

/// The provider's client library logs whole bodies, replies and quoted prompts
/// among them, at levels that are on by default. Our own lines report what goes
/// wrong in a call.
const CONTENT_TARGET: &str = "async_openai";

/// The layer that makes lines of events; `None` when there are to be no lines.
pub(super) fn layer<S>(
    options: LogOptions,
    redactor: Arc<Redactor>,
) -> Result<Option<impl Layer<S>>, TelemetryError>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let writer = RedactingWriter {
        sink: options.sink,
        redactor,
    };
    let lines = fmt::layer()
        .with_ansi(false)
        .with_writer(move || writer.clone());
    let lines = match options.format {
        LogFormat::Off => return Ok(None),
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    // Our spans always, because they say which question an event belongs to.
    let ours = |metadata: &Metadata<'_>| metadata.is_span() && is_from_us(metadata);
    let content = |metadata: &Metadata<'_>| metadata.target().starts_with(CONTENT_TARGET);
    let chosen = filter(&options.level)?
        .and(filter_fn(move |metadata| !content(metadata)).with_max_level_hint(LevelFilter::TRACE))
        .or(filter_fn(ours).with_max_level_hint(LevelFilter::INFO));
    Ok(Some(lines.with_filter(chosen)))
}

/// Hands each line on without secrets.
#[derive(Clone)]
struct RedactingWriter {
    sink: LineSink,
    redactor: Arc<Redactor>,
}

impl io::Write for RedactingWriter {
    /// The layer writes each event in one piece, which is one line here too.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let line = text.trim_end_matches('\n').replace('\n', "\\n");
        (self.sink)(&self.redactor.text(&line));
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A bare level applies to this program; its dependencies then log warnings only.
fn filter(level: &str) -> Result<EnvFilter, TelemetryError> {
    let level = level.trim();
    let directives = match level.parse::<LevelFilter>() {
        Ok(LevelFilter::OFF) => "off".to_owned(),
        Ok(own) => {
            let ours = OURS.map(|package| format!("{package}={own}"));
            format!("{},{}", own.min(LevelFilter::WARN), ours.join(","))
        }
        Err(_) => level.to_owned(),
    };
    // `EnvFilter` would take a lone word as the name of a target.
    let reason = if !directives.contains(['=', ',']) && directives != "off" {
        "no such level".to_owned()
    } else {
        match EnvFilter::builder().parse(&directives) {
            Ok(filter) => return Ok(filter),
            Err(error) => error.to_string(),
        }
    };
    Err(TelemetryError::Level {
        level: level.to_owned(),
        reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_not_a_level_is_refused() {
        assert!(filter("info").is_ok());
        assert!(filter("off").is_ok());
        assert!(filter("convfinqa=debug,hyper=warn").is_ok());
        let error = filter("loud").unwrap_err().to_string();
        assert!(
            error.starts_with("RUST_LOG is `loud`: no such level"),
            "{error}"
        );
        assert!(filter("convfinqa=loud").is_err());
    }
}
