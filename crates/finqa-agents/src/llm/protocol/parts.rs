//! What the protocols have in common: parts of a body, and the contents of a reply.

use serde_json::{Value, json};

use super::dialect::{ApiDialect, FormatLevel};
use crate::llm::types::{ChatReply, ChatRequest, ReplyFormat, ToolSpec, Usage};

/// The contents of a success body.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::llm) struct ReplyBody {
    /// As far as the body says; the model is empty where it is not named.
    pub reply: ChatReply,
    pub id: Option<String>,
}

impl ReplyBody {
    /// What the bodies of all protocols say alike.
    pub(super) fn of(body: &Value) -> Self {
        Self {
            reply: ChatReply {
                model: text(body.get("model")).unwrap_or_default(),
                ..ChatReply::default()
            },
            id: text(body.get("id")),
        }
    }

    /// Sets the tokens, where those read and those written are known.
    pub(super) fn set_usage(&mut self, input: Option<u64>, output: Option<u64>, parts: Usage) {
        let known = input.zip(output);
        self.reply.usage = known.map(|(input_tokens, output_tokens)| Usage {
            input_tokens,
            output_tokens,
            ..parts
        });
    }
}

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
