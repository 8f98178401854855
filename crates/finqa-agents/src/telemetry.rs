//! Helpers that set attributes on `tracing` spans. Their names follow OpenTelemetry's GenAI
//! conventions (1.41, in which all of `gen_ai.*` is still in development) and MLflow. On a span
//! that nobody records, setting an attribute costs almost nothing. Prompts and replies are content,
//! which is recorded only on request ([`Content`]).

use opentelemetry::trace::Status;
use opentelemetry::{Array, StringValue, Value};
use serde_json::json;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;

/// Sets an attribute. Call this only once per key, because the SDK does not replace the first value
/// but stores both.
pub fn set(span: &Span, key: &'static str, value: impl Into<Value>) {
    if !span.is_disabled() {
        span.set_attribute(key, value);
    }
}

pub(crate) fn set_list<'a>(
    span: &Span,
    key: &'static str,
    words: impl IntoIterator<Item = &'a str>,
) {
    if !span.is_disabled() {
        let words = words
            .into_iter()
            .map(|word| StringValue::from(word.to_owned()));
        span.set_attribute(key, Value::Array(Array::String(words.collect())));
    }
}

/// A count as an integer, the type that attributes have; `i64::MAX` if the count does not fit.
pub fn count(n: impl TryInto<i64>) -> i64 {
    n.try_into().unwrap_or(i64::MAX)
}

/// The serialised name of a unit variant; empty for a value that is not serialised as a string.
pub fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// Marks a span as failed. `kind` is a fixed word by which dashboards can group; `message` is for
/// people.
pub fn fail(span: &Span, kind: &str, message: &str) {
    if !span.is_disabled() {
        span.set_attribute("error.type", kind.to_owned());
        span.set_status(Status::error(message.to_owned()));
    }
}

/// A marker. Content is recorded if the subscriber has this layer, which is found by its type. The
/// layer itself does nothing.
pub struct Content;

impl<S: tracing::Subscriber> Layer<S> for Content {}

/// True if questions, prompts and replies should be recorded
/// (`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`).
pub(crate) fn wants_content() -> bool {
    tracing::dispatcher::get_default(|subscriber| subscriber.downcast_ref::<Content>().is_some())
}

/// Returns a message that may quote a prompt or a reply. If content is not recorded, returns an
/// empty text.
pub(crate) fn if_content(message: &str) -> &str {
    if wants_content() { message } else { "" }
}

/// Sets an attribute that is content. `make` is called only if content is recorded.
pub(crate) fn set_content(span: &Span, key: &'static str, make: impl FnOnce() -> String) {
    if !span.is_disabled() && wants_content() {
        span.set_attribute(key, make());
    }
}

/// A message in the JSON form of the GenAI conventions.
pub fn message(role: &str, text: &str) -> serde_json::Value {
    json!({"role": role, "parts": [{"type": "text", "content": text}]})
}

/// Records the question as the span's input.
pub(crate) fn set_question(span: &Span, text: &str) {
    set_content(span, "gen_ai.input.messages", || {
        json!([message("user", text)]).to_string()
    });
    set_content(span, "mlflow.spanInputs", || {
        // MLflow's list shows the text of `messages`, but shows any other input as raw JSON.
        json!({"messages": [{"role": "user", "content": text}]}).to_string()
    });
}

/// Records an agent's reply as the span's output.
pub(crate) fn set_output(span: &Span, text: &str) {
    set_content(span, "gen_ai.output.messages", || {
        let mut entry = message("assistant", text);
        if let Some(fields) = entry.as_object_mut() {
            // The conventions require a reason. Only replies that are used are recorded here.
            fields.insert("finish_reason".to_owned(), "stop".into());
        }
        json!([entry]).to_string()
    });
}
