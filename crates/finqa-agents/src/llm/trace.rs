//! Creates and fills the span of a model call, according to OpenTelemetry's GenAI conventions. It
//! is used for live calls and for calls that stored replies answer.

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use serde_json::{Value, json};
use tracing::{Span, info_span};

use crate::telemetry::{count, fail, message, set, set_content, set_list, wants_content};

use super::cost::Cost;
use super::error::{ErrorKind, ModelError};
use super::settings::ModelConnection;
use super::types::{ChatMessage, ChatReply, ChatRequest, ReplyFormat, Role};

/// The span of a call of `model`, as a child of the current span.
pub fn chat(model: &str, request: &ChatRequest) -> Span {
    let span = info_span!(
        "chat",
        otel.name = format!("chat {model}"),
        otel.kind = "client"
    );
    if span.is_disabled() {
        return span;
    }
    set(&span, "gen_ai.operation.name", "chat");
    set(&span, "gen_ai.request.model", model.to_owned());
    set(&span, "convfinqa.node", request.node.clone());
    let output = match request.format {
        ReplyFormat::Text => "text",
        ReplyFormat::JsonSchema { .. } => "json",
    };
    set(&span, "gen_ai.output.type", output);
    if let Some(temperature) = request.temperature {
        set(&span, "gen_ai.request.temperature", temperature);
    }
    if let Some(tokens) = request.max_output_tokens {
        set(&span, "gen_ai.request.max_tokens", i64::from(tokens));
    }
    if let Some(seed) = request.seed {
        set(&span, "gen_ai.request.seed", count(seed));
    }
    set_content(&span, "gen_ai.input.messages", || {
        let parts: Vec<Value> = request.messages.iter().map(in_parts).collect();
        Value::from(parts).to_string()
    });
    span
}

/// Records the server that is called.
pub(super) fn server(span: &Span, settings: &ModelConnection) {
    if span.is_disabled() {
        return;
    }
    let provider = settings.provider.profile().trace_name;
    set(span, "gen_ai.provider.name", provider);
    if let Ok(url) = reqwest::Url::parse(&settings.base_url) {
        if let Some(host) = url.host_str() {
            set(span, "server.address", host.to_owned());
        }
        if let Some(port) = url.port_or_known_default() {
            set(span, "server.port", i64::from(port));
        }
    }
}

/// Records the reply, with its usage.
pub fn record_reply(span: &Span, reply: &ChatReply) {
    if span.is_disabled() {
        return;
    }
    set(span, "gen_ai.response.model", reply.model.clone());
    set_list(
        span,
        "gen_ai.response.finish_reasons",
        [reply.finish.as_str()],
    );
    set(span, "convfinqa.attempts", i64::from(reply.attempts));
    if !reply.left_out.is_empty() {
        let left_out = reply.left_out.iter().map(String::as_str);
        set_list(span, "convfinqa.left_out", left_out);
    }
    if let Some(usage) = reply.usage {
        set(span, "gen_ai.usage.input_tokens", count(usage.input_tokens));
        set(
            span,
            "gen_ai.usage.output_tokens",
            count(usage.output_tokens),
        );
        let parts = [
            (
                "gen_ai.usage.cache_read.input_tokens", usage.cached_input_tokens,
            ),
            (
                "gen_ai.usage.cache_creation.input_tokens",
                usage.cache_write_tokens,
            ),
            (
                "gen_ai.usage.reasoning.output_tokens", usage.reasoning_tokens,
            ),
        ];
        for (name, tokens) in parts.into_iter().filter(|(_, tokens)| *tokens > 0) {
            set(span, name, count(tokens));
        }
    }
    set_content(span, "gen_ai.output.messages", || {
        let text = reply.refusal.as_deref().unwrap_or(&reply.content);
        let mut reply_parts = in_parts(&ChatMessage {
            tool_calls: reply.tool_calls.clone(),
            ..ChatMessage::assistant(text)
        });
        if let Some(fields) = reply_parts.as_object_mut() {
            fields.insert("finish_reason".to_owned(), reply.finish.as_str().into());
        }
        Value::from(vec![reply_parts]).to_string()
    });
}

/// Records the end of a call to the server.
pub(super) fn record_end(
    span: &Span,
    outcome: &Result<ChatReply, ModelError>,
    dollars: impl FnOnce(&ChatReply) -> Option<Decimal>,
) {
    if span.is_disabled() {
        return;
    }
    match outcome {
        Ok(reply) => {
            record_reply(span, reply);
            let cost = Cost::of_reply(reply, dollars(reply)).total();
            if let Some(dollars) = cost.and_then(|cost| cost.to_f64()) {
                set(span, "convfinqa.cost_usd", dollars);
            }
        }
        Err(error) => {
            set(span, "convfinqa.attempts", i64::from(error.attempts));
            // The provider's message may quote the prompt or the reply.
            let message = if wants_content() {
                error.to_string()
            } else {
                error.kind.to_string()
            };
            fail(span, error.kind.as_str(), &message);
            if error.kind != ErrorKind::Cancelled {
                tracing::warn!(
                    parent: span,
                    kind = error.kind.as_str(),
                    status = error.status,
                    reason = message,
                    "call failed"
                );
            }
        }
    }
}

/// A message in the form of the conventions, with its tool calls or its result.
fn in_parts(sent: &ChatMessage) -> Value {
    let role = match sent.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    if let Some(id) = &sent.tool_call_id {
        let result = json!({"type": "tool_call_response", "id": id, "response": sent.content});
        return json!({"role": role, "parts": [result]});
    }
    let mut whole = message(role, &sent.content);
    if sent.tool_calls.is_empty() {
        return whole;
    }
    let calls = sent.tool_calls.iter().map(|call| {
        json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments})
    });
    if let Some(parts) = whole.get_mut("parts").and_then(Value::as_array_mut) {
        if sent.content.is_empty() {
            parts.clear();
        }
        parts.extend(calls);
    }
    whole
}
