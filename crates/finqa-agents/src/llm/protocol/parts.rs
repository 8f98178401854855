//! Parts of requests and replies that several protocols share.

use serde_json::{Value, json};

use super::accepted_parameters::{AcceptedParameters, FormatLevel};
use crate::llm::error::ErrorKind;
use crate::llm::error_details::ErrorDetails;
use crate::llm::failures::kind_of;
use crate::llm::types::{ChatReply, ChatRequest, FinishReason, ReplyFormat, ToolSpec};

/// A JSON object of those fields that have a value, in this order.
pub(super) fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let fields = fields.into_iter();
    fields
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

pub(super) fn temperature(request: &ChatRequest, dialect: AcceptedParameters) -> Option<Value> {
    let temperature = request.temperature.filter(|_| dialect.temperature);
    temperature.map(Value::from)
}

/// The tools of a request; `None` if it has none.
pub(super) fn tools(request: &ChatRequest, tool: fn(&ToolSpec) -> Value) -> Option<Value> {
    (!request.tools.is_empty()).then(|| request.tools.iter().map(tool).collect())
}

/// The reply format for OpenAI's two APIs, which have different places for the schema. A server
/// that accepts no schema is asked for any JSON object. `None` if it should reply with text.
pub(super) fn openai_format(
    request: &ChatRequest,
    dialect: AcceptedParameters,
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

/// A text; `None` if it is missing or empty.
pub(super) fn text(value: Option<&Value>) -> Option<String> {
    let text = value.and_then(Value::as_str)?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// The text of a message. It is a string, a list of parts with texts, or an object, which some
/// servers send instead of text.
pub(super) fn content(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| part.get("text").and_then(Value::as_str))
            .collect(),
        Some(object @ Value::Object(_)) => match object.get("text").and_then(Value::as_str) {
            Some(text) => text.to_owned(),
            None => object.to_string(),
        },
        _ => String::new(),
    }
}

/// The arguments of a call as the JSON text that the model wrote. Some servers send an object
/// instead.
pub(super) fn arguments(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(object) => object.to_string(),
    }
}

/// The id of a call, which its result must quote. If the server sent none, an id is made up.
pub(super) fn call_id(value: Option<&Value>, index: usize) -> String {
    text(value).unwrap_or_else(|| format!("call_{index}"))
}

/// Records an error inside a reply. A gateway may send the success status before the server behind
/// it fails. If the message is that of a filter, the reply counts as filtered.
pub(super) fn note_error(reply: &mut ChatReply, error: Option<&Value>) {
    // OpenAI's Responses API sends `null` with every reply that succeeded; empty values are read
    // like it.
    let nothing = [Value::Null, false.into(), "".into(), json!({})];
    let is_some = |error: &&Value| !nothing.contains(error);
    let Some(error) = error.filter(is_some) else {
        return;
    };
    let words = ErrorDetails::of(&json!({"error": error}));
    if kind_of(words.status().unwrap_or_default(), &words) == ErrorKind::ContentFilter {
        reply.finish = FinishReason::ContentFilter;
        return;
    }
    let mut said = words.message;
    if said.is_empty() {
        said = error.to_string();
    }
    // Field names are also codes, but they tell a person nothing.
    let code = words.codes.first();
    if let Some(code) = code.filter(|code| error.get(code.as_str()).is_none()) {
        said.push_str(&format!(" (code {code})"));
    }
    reply.failure = Some(said);
}

/// Records why a reply is empty, if the server put the whole text into `name` as reasoning.
pub(super) fn note_reasoning(reply: &mut ChatReply, name: &str, reasoning: &str) {
    let ended = !matches!(
        reply.finish,
        FinishReason::Length | FinishReason::ContentFilter
    );
    let is_empty = reply.content.trim().is_empty() && reply.tool_calls.is_empty();
    if ended && is_empty && reply.refusal.is_none() && !reasoning.trim().is_empty() {
        reply.failure.get_or_insert(format!(
            "its content is empty, and its text is in `{name}`: the server's reasoning parser \
             takes the answer for reasoning; start the server with the parser of this model, or \
             without one (vLLM and SGLang: --reasoning-parser, llama.cpp: --reasoning-format none)"
        ));
    }
}
