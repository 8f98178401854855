//! Log lines: one event a line, as text or JSON, with the run and the question
//! that it belongs to. Fields of spans other than these are not repeated in
//! every line, and content never is.

use std::fmt::{Debug, Write};
use std::sync::{Arc, OnceLock};

use opentelemetry::trace::TraceContextExt;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tracing::dispatcher::WeakDispatch;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Filter};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{EnvFilter, Layer};

use super::error::TelemetryError;
use super::install::{OURS, is_from_us};
use super::redact::Redactor;
use finqa_agents::telemetry::attributes;

/// How log lines look (`--log`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// There are none.
    #[default]
    Off,
    /// Time, level, where from, what, `key=value`.
    Text,
    /// One JSON object a line.
    Json,
}

/// Takes one line, without its end.
pub type LineSink = Arc<dyn Fn(&str) + Send + Sync>;

/// Which log lines, in what form, where to.
pub struct LogOptions {
    /// The form.
    pub format: LogFormat,
    /// `error` to `trace` for this program, or `target=level,…` for all.
    pub level: String,
    /// Where they go.
    pub sink: LineSink,
}

/// Fields of spans that stand in the lines of their events.
const CONTEXT: &[&str] = &[
    attributes::RUN_ID,
    attributes::QUESTION_ID,
    attributes::QUESTION_PART,
    attributes::ROUND,
    attributes::AGENT,
    attributes::TOOL,
];

/// The subscriber, once it is installed: what knows the trace of a span.
/// (`on_register_dispatch` would tell it, but not a layer in an `Option`.)
pub(super) type Installed = Arc<OnceLock<WeakDispatch>>;

/// What a span gives to the lines of its events.
struct Given(Vec<(&'static str, Value)>);

/// The layer that makes lines of events.
pub(super) struct LogLayer {
    json: bool,
    sink: LineSink,
    redactor: Arc<Redactor>,
    installed: Installed,
}

impl LogLayer {
    /// The layer behind its filter; `None` when there are to be no lines.
    pub(super) fn filtered<S>(
        options: LogOptions,
        redactor: Arc<Redactor>,
        installed: Installed,
    ) -> Result<Option<impl Layer<S>>, TelemetryError>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        if options.format == LogFormat::Off {
            return Ok(None);
        }
        let layer = Self {
            json: options.format == LogFormat::Json,
            sink: options.sink,
            redactor,
            installed,
        };
        Ok(Some(layer.with_filter(Wanted(filter(&options.level)?))))
    }
}

/// A bare level is this program's; its dependencies then tell warnings only.
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
    // A lone word that is no level would pass as the name of a target.
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

/// Events by the user's filter; our spans always, for they say which question
/// an event belongs to.
struct Wanted(EnvFilter);

/// The provider's client library logs whole bodies, replies and quoted prompts
/// among them, at levels that are on by default. What goes wrong in a call is
/// told by our own lines.
const TELLS_CONTENT: &str = "async_openai";

fn tells_content(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with(TELLS_CONTENT)
}

fn is_our_span(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && is_from_us(metadata)
}

impl<S> Filter<S> for Wanted {
    fn enabled(&self, metadata: &Metadata<'_>, context: &Context<'_, S>) -> bool {
        is_our_span(metadata)
            || (!tells_content(metadata) && Filter::<S>::enabled(&self.0, metadata, context))
    }

    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        if is_our_span(metadata) {
            Interest::always()
        } else if tells_content(metadata) {
            Interest::never()
        } else {
            Filter::<S>::callsite_enabled(&self.0, metadata)
        }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Filter::<S>::max_level_hint(&self.0).map(|hint| hint.max(LevelFilter::INFO))
    }
}

impl<S> Layer<S> for LogLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        fields.0.retain(|(name, _)| CONTEXT.contains(name));
        if let (false, Some(span)) = (fields.0.is_empty(), context.span(id)) {
            span.extensions_mut().insert(Given(fields.0));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        let mut fields = Fields::default();
        event.record(&mut fields);
        let at = fields.0.iter().position(|(name, _)| *name == "message");
        let message = at.map_or(Value::Null, |at| fields.0.remove(at).1);

        let mut line = Map::new();
        let now = jiff::Timestamp::now();
        line.insert("timestamp".to_owned(), format!("{now:.6}").into());
        line.insert("level".to_owned(), metadata.level().as_str().into());
        line.insert("target".to_owned(), metadata.target().into());
        line.insert("message".to_owned(), message);
        for span in context.event_scope(event).into_iter().flatten() {
            if let Some(given) = span.extensions().get::<Given>() {
                for (name, value) in &given.0 {
                    // The innermost span is seen first, and holds.
                    if !line.contains_key(*name) {
                        line.insert((*name).to_owned(), value.clone());
                    }
                }
            }
        }
        if let Some(span) = context.event_span(event) {
            self.trace_ids(&span.id(), &mut line);
        }
        for (name, value) in fields.0 {
            line.insert(name.to_owned(), value);
        }
        let line = if self.json {
            Value::Object(line).to_string()
        } else {
            text(&line)
        };
        (self.sink)(&self.redactor.text(&line));
    }
}

impl LogLayer {
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

/// Fields with their values, in order.
#[derive(Default)]
struct Fields(Vec<(&'static str, Value)>);

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.0.push((field.name(), value.into()));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.push((field.name(), value.into()));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.push((field.name(), value.into()));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.push((field.name(), value.into()));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.push((field.name(), value.into()));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push((field.name(), format!("{value:?}").into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_no_level_is_refused() {
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
