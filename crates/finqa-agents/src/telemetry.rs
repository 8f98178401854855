//! Attributes on `tracing` spans, by the names of OpenTelemetry's GenAI conventions (1.41;
//! all of `gen_ai.*` is still in development) and of MLflow. On a span without a subscriber
//! every function is a cheap no-op; prompts and replies are content, which is only recorded
//! on request ([`Content`]).

use opentelemetry::trace::Status;
use opentelemetry::{Array, StringValue, Value};
use serde_json::json;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;

/// Sets an attribute, which must be done once for each key: the SDK keeps both of two.
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

pub fn count(n: impl TryInto<i64>) -> i64 {
    n.try_into().unwrap_or(i64::MAX)
}

/// The serialised name of a plain variant.
pub fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// Marks a span as failed, with a stable word and a message.
pub fn fail(span: &Span, kind: &str, message: &str) {
    if !span.is_disabled() {
        span.set_attribute("error.type", kind.to_owned());
        span.set_status(Status::error(message.to_owned()));
    }
}

/// In the subscriber if content is recorded; found by its type.
pub struct Content;

impl<S: tracing::Subscriber> Layer<S> for Content {}

/// True if questions, prompts and replies are to be recorded (`--trace-content`).
pub(crate) fn wants_content() -> bool {
    tracing::dispatcher::get_default(|subscriber| subscriber.downcast_ref::<Content>().is_some())
}

/// A message that may quote a prompt or a reply: unchanged if content is recorded, else
/// nothing.
pub fn if_content(message: &str) -> &str {
    if wants_content() { message } else { "" }
}

/// Sets an attribute that is content; `make` is called only if content is recorded.
pub(crate) fn set_content(span: &Span, key: &'static str, make: impl FnOnce() -> String) {
    if !span.is_disabled() && wants_content() {
        span.set_attribute(key, make());
    }
}

/// A message in the form of the GenAI conventions.
pub fn message(role: &str, text: &str) -> serde_json::Value {
    json!({"role": role, "parts": [{"type": "text", "content": text}]})
}

/// Records the question that an agent is asked.
pub(crate) fn set_question(span: &Span, text: &str) {
    set_content(span, "gen_ai.input.messages", || {
        json!([message("user", text)]).to_string()
    });
    set_content(span, "mlflow.spanInputs", || {
        // MLflow's list shows the text of messages, and raw JSON for anything else.
        json!({"messages": [{"role": "user", "content": text}]}).to_string()
    });
}

/// Records what an agent has said.
pub(crate) fn set_output(span: &Span, text: &str) {
    set_content(span, "gen_ai.output.messages", || {
        let mut entry = message("assistant", text);
        if let Some(fields) = entry.as_object_mut() {
            fields.insert("finish_reason".to_owned(), "stop".into());
        }
        json!([entry]).to_string()
    });
}
