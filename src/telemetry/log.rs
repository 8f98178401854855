//! Log lines: one event a line, as text or JSON. `tracing_subscriber` writes the
//! event; added are the run and the question that it belongs to. Other fields of
//! spans are not repeated in every line, and content never is.

use std::fmt::{self, Write as _};
use std::io;
use std::sync::{Arc, OnceLock};

use opentelemetry::trace::TraceContextExt;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tracing::dispatcher::WeakDispatch;
use tracing::level_filters::LevelFilter;
use tracing::span::Id;
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::fmt::format::{Format, Json, JsonFields, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::layer::{Context, Filter};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{EnvFilter, Layer};

use super::error::TelemetryError;
use super::install::{OURS, is_from_us};
use super::redact::Redactor;
use finqa_agents::telemetry::attributes;

/// The format of log lines (`--log`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// No log lines.
    #[default]
    Off,
    /// Time, level, target, message, `key=value`.
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

/// Fields of spans that the lines of their events repeat.
const CONTEXT: &[&str] = &[
    attributes::RUN_ID,
    attributes::QUESTION_ID,
    attributes::QUESTION_PART,
    attributes::ROUND,
    attributes::AGENT,
    attributes::TOOL,
];

/// The subscriber, once it is installed: it knows the trace of a span.
/// (A layer in an `Option` does not get `on_register_dispatch`.)
pub(super) type InstalledSubscriber = Arc<OnceLock<WeakDispatch>>;

/// The layer that makes lines of events; `None` when there are to be no lines.
pub(super) fn layer<S>(
    options: LogOptions,
    redactor: Arc<Redactor>,
    installed: InstalledSubscriber,
) -> Result<Option<impl Layer<S>>, TelemetryError>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    if options.format == LogFormat::Off {
        return Ok(None);
    }
    let line = LineFormat {
        event: Format::default()
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false),
        json: options.format == LogFormat::Json,
        installed,
    };
    let writer = RedactingWriter {
        sink: options.sink,
        redactor,
    };
    let layer = tracing_subscriber::fmt::layer()
        .fmt_fields(JsonFields::new())
        .event_format(line)
        .with_writer(move || writer.clone());
    let filter = LogFilter(filter(&options.level)?);
    Ok(Some(layer.with_filter(filter)))
}

/// Hands each line on without secrets.
#[derive(Clone)]
struct RedactingWriter {
    sink: LineSink,
    redactor: Arc<Redactor>,
}

impl io::Write for RedactingWriter {
    /// The layer writes each line in one piece.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        (self.sink)(&self.redactor.text(&String::from_utf8_lossy(line)));
        Ok(line.len())
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

/// Events by the user's filter; our spans always, because they say which question
/// an event belongs to.
struct LogFilter(EnvFilter);

/// The provider's client library logs whole bodies, replies and quoted prompts
/// among them, at levels that are on by default. Our own lines report what goes
/// wrong in a call.
const CONTENT_TARGET: &str = "async_openai";

fn may_contain_content(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with(CONTENT_TARGET)
}

fn is_our_span(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && is_from_us(metadata)
}

impl<S> Filter<S> for LogFilter {
    fn enabled(&self, metadata: &Metadata<'_>, context: &Context<'_, S>) -> bool {
        is_our_span(metadata)
            || (!may_contain_content(metadata) && Filter::<S>::enabled(&self.0, metadata, context))
    }

    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        if is_our_span(metadata) {
            Interest::always()
        } else if may_contain_content(metadata) {
            Interest::never()
        } else {
            Filter::<S>::callsite_enabled(&self.0, metadata)
        }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Filter::<S>::max_level_hint(&self.0).map(|hint| hint.max(LevelFilter::INFO))
    }
}

/// Time, level, target and message, then where the event belongs, then its
/// other fields.
struct LineFormat {
    event: Format<Json>,
    json: bool,
    installed: InstalledSubscriber,
}

impl<S, N> FormatEvent<S, N> for LineFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut json = String::new();
        self.event
            .format_event(context, Writer::new(&mut json), event)?;
        let mut fields = object(&json)?;
        let mut line = Map::new();
        for name in ["timestamp", "level", "target", "message"] {
            line.extend(fields.shift_remove_entry(name));
        }
        let mut innermost = None;
        let mut spans = Vec::new();
        for span in context.event_scope().into_iter().flatten() {
            innermost.get_or_insert(span.id());
            if let Some(fields) = span.extensions().get::<FormattedFields<N>>() {
                spans.push(object(&fields.fields)?);
            }
        }
        for name in CONTEXT {
            // The innermost span comes first and takes precedence.
            let entry = spans.iter_mut().find_map(|span| span.remove_entry(*name));
            line.extend(entry);
        }
        if let Some(span) = innermost {
            self.trace_ids(&span, &mut line);
        }
        line.extend(fields);
        if self.json {
            write!(writer, "{}", Value::Object(line))
        } else {
            writer.write_str(&text(&line))
        }
    }
}

fn object(json: &str) -> Result<Map<String, Value>, fmt::Error> {
    serde_json::from_str(json).map_err(|_| fmt::Error)
}

impl LineFormat {
    /// The trace that a line belongs to, where there are traces.
    fn trace_ids(&self, span: &Id, line: &mut Map<String, Value>) {
        let subscriber = self.installed.get().and_then(WeakDispatch::upgrade);
        let traced = subscriber
            .and_then(|subscriber| tracing_opentelemetry::get_otel_context(span, &subscriber));
        if let Some(traced) = traced {
            let context = traced.span().span_context().clone();
            if context.is_valid() {
                let ids = [
                    ("trace_id", context.trace_id().to_string()),
                    ("span_id", context.span_id().to_string()),
                ];
                line.extend(ids.map(|(name, id)| (name.to_owned(), id.into())));
            }
        }
    }
}

/// `time LEVEL target: message key=value …`, always one line.
fn text(line: &Map<String, Value>) -> String {
    let mut text = String::new();
    for (name, value) in line {
        let _ = match (name.as_str(), value) {
            ("timestamp", Value::String(value)) => write!(text, "{value}"),
            ("level", Value::String(value)) => write!(text, " {value:>5}"),
            ("target", Value::String(value)) => write!(text, " {value}:"),
            ("message", Value::String(value)) => write!(text, " {}", value.escape_debug()),
            ("message", _) => Ok(()),
            (_, Value::String(value)) if is_plain(value) => write!(text, " {name}={value}"),
            (_, value) => write!(text, " {name}={value}"),
        };
    }
    text
}

/// Needs no quotes.
fn is_plain(value: &str) -> bool {
    !value.is_empty()
        && !value.contains(|c: char| c.is_whitespace() || c.is_control() || c == '"' || c == '=')
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
            error.starts_with("log level `loud`: no such level"),
            "{error}"
        );
        assert!(filter("convfinqa=loud").is_err());
    }

    #[test]
    fn a_text_line_is_one_line() {
        let mut line = Map::new();
        line.insert("timestamp".into(), "t".into());
        line.insert("level".into(), "WARN".into());
        line.insert("target".into(), "convfinqa".into());
        line.insert("message".into(), "a\nb".into());
        line.insert("id".into(), "plain".into());
        line.insert("said".into(), "two\nlines".into());
        line.insert("n".into(), 3.into());
        assert_eq!(
            text(&line),
            r#"t  WARN convfinqa: a\nb id=plain said="two\nlines" n=3"#
        );
    }
}
