//! Log lines: one event a line, as text or JSON, in the formats of `tracing_subscriber`. The
//! spans that a line names say which run and question it belongs to. Prompts and replies are
//! never fields of theirs.

use std::io;
use std::sync::Arc;

use tracing::level_filters::LevelFilter;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::filter::{FilterExt, filter_fn};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use finqa_journal::settings::LogFormat;

use super::error::TelemetryError;
use super::redact::Redactor;

/// Ours from `info`, and others from `warn`.
const LEVELS: &str = "warn,convfinqa=info,finqa_=info";

/// True for spans and events of this workspace's packages.
pub(super) fn is_from_us(metadata: &Metadata<'_>) -> bool {
    let target = metadata.target();
    target.starts_with("convfinqa") || target.starts_with("finqa_")
}

/// Takes one line, without its end.
pub(super) type LineSink = Arc<dyn Fn(&str) + Send + Sync>;

/// The provider's client library logs whole bodies, replies and quoted prompts
/// among them, at levels that are on by default. Our own lines report what goes
/// wrong in a call.
const CONTENT: &str = "async_openai=off";

/// The layer that makes lines of events; `None` when there are to be no lines.
pub(super) fn layer<S>(
    format: LogFormat,
    level: Option<String>,
    writer: RedactingWriter,
) -> Result<Option<impl Layer<S>>, TelemetryError>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let level = level.unwrap_or_else(|| LEVELS.to_owned());
    let lines = fmt::layer()
        .with_ansi(false)
        .with_writer(move || writer.clone());
    let lines = match format {
        LogFormat::Off => return Ok(None),
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    // Our spans always, because they say which question an event belongs to.
    let ours = |metadata: &Metadata<'_>| metadata.is_span() && is_from_us(metadata);
    let filter = EnvFilter::builder().parse(format!("{level},{CONTENT}"));
    let chosen = filter
        .map_err(|source| TelemetryError::Level { level, source })?
        .or(filter_fn(ours).with_max_level_hint(LevelFilter::INFO));
    Ok(Some(lines.with_filter(chosen)))
}

/// Writes each line without secrets.
#[derive(Clone)]
pub(super) struct RedactingWriter {
    pub lines: LineSink,
    pub redactor: Arc<Redactor>,
}

impl io::Write for RedactingWriter {
    /// The layer writes each event in one piece, which is one line here too.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let line = text.trim_end_matches('\n').replace('\n', "\\n");
        (self.lines)(&self.redactor.text(&line));
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
