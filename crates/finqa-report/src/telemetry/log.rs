//! Log lines, one per event, as text or JSON in the formats of `tracing_subscriber`. A line names
//! its spans, which say to which run and question it belongs. The fields of these spans never
//! contain prompts or replies.

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

/// The default for `RUST_LOG`: events of our packages from level `info`, of others from `warn`.
const LEVELS: &str = "warn,convfinqa=info,finqa_=info";

/// True for spans and events of this workspace's packages.
pub(super) fn is_from_us(metadata: &Metadata<'_>) -> bool {
    let target = metadata.target();
    target.starts_with("convfinqa") || target.starts_with("finqa_")
}

/// A function that takes one line, without its line break.
pub(super) type LineSink = Arc<dyn Fn(&str) + Send + Sync>;

/// Turns off the log of the client library. At levels that are on by default, it writes whole
/// bodies with replies and prompts. Our packages log failed calls themselves.
const CONTENT: &str = "async_openai=off";

/// The layer that writes events as lines; `None` for [`LogFormat::Off`].
///
/// # Errors
/// [`TelemetryError::Level`] for a level that cannot be parsed.
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
    // Our spans are enabled at every level, because they say to which question an event belongs.
    let ours = |metadata: &Metadata<'_>| metadata.is_span() && is_from_us(metadata);
    let filter = EnvFilter::builder().parse(format!("{level},{CONTENT}"));
    let chosen = filter
        .map_err(|source| TelemetryError::Level { level, source })?
        .or(filter_fn(ours).with_max_level_hint(LevelFilter::INFO));
    Ok(Some(lines.with_filter(chosen)))
}

/// Removes secrets from each line and passes it on.
#[derive(Clone)]
pub(super) struct RedactingWriter {
    pub lines: LineSink,
    pub redactor: Arc<Redactor>,
}

impl io::Write for RedactingWriter {
    /// Takes one event, which the layer writes in a single call, and makes it one line.
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
