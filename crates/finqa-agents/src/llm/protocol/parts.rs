//! What the protocols have in common: parts of a request and of a reply.

use serde_json::{Value, json};

use super::dialect::{ApiDialect, FormatLevel};
use crate::llm::types::{ChatRequest, ReplyFormat, ToolSpec, Usage};

/// A JSON object of those fields that have a value, in this order.
pub(super) fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let fields = fields.into_iter();
    fields
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

pub(super) fn temperature(request: &ChatRequest, dialect: ApiDialect) -> Option<Value> {
    let temperature = request.temperature.filter(|_| dialect.temperature);
    temperature.map(Value::from)
}

/// The tools of a request that has some.
pub(super) fn tools(request: &ChatRequest, tool: fn(&ToolSpec) -> Value) -> Option<Value> {
    (!request.tools.is_empty()).then(|| request.tools.iter().map(tool).collect())
}

/// The format by one of OpenAI's APIs, which differ in where they have the schema.
pub(super) fn openai_format(
    request: &ChatRequest,
    dialect: ApiDialect,
    with_schema: impl Fn(&str, bool, &Value) -> Value,
) -> Option<Value> {
    match (&request.format, dialect.format.for_format(&request.format)) {
        (_, FormatLevel::Text) => None,
        (
            ReplyFormat::JsonSchema {
                name,
                schema,
                strict,
                ..
            },
            FormatLevel::JsonSchema,
        ) => Some(with_schema(name, *strict, schema)),
        _ => Some(json!({"type": "json_object"})),
    }
}

/// A text that is there and not empty.
pub(super) fn text(value: Option<&Value>) -> Option<String> {
    let text = value.and_then(Value::as_str)?;
    (!text.is_empty()).then(|| text.to_owned())
}

pub(super) fn count(body: &Value, path: &str) -> Option<u64> {
    body.pointer(path).and_then(Value::as_u64)
}

/// The tokens by one of OpenAI's APIs, which differ in their words for reading and writing.
/// Unknown unless both are said.
pub(super) fn openai_usage(body: &Value, read: &str, written: &str) -> Option<Usage> {
    let tokens = |path: String| count(body, &format!("/usage/{path}"));
    let part = |of: &str, part: &str| tokens(format!("{of}_tokens_details/{part}")).unwrap_or(0);
    Some(Usage {
        input_tokens: tokens(format!("{read}_tokens"))?,
        output_tokens: tokens(format!("{written}_tokens"))?,
        cached_input_tokens: part(read, "cached_tokens"),
        // OpenAI's models since GPT-5.6 bill what they store.
        cache_write_tokens: part(read, "cache_write_tokens"),
        reasoning_tokens: part(written, "reasoning_tokens"),
    })
}

/// A call's arguments: the JSON that the model wrote, though some servers send an object.
pub(super) fn arguments(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(object) => object.to_string(),
    }
}

/// A call's id, which its result must quote: made up if the server sent none.
pub(super) fn call_id(value: Option<&Value>, index: usize) -> String {
    text(value).unwrap_or_else(|| format!("call_{index}"))
}
