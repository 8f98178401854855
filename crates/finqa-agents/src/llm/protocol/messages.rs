//! Anthropic's Messages API. It is written strictly but read leniently.
//!
//! It differs from OpenAI's API: instructions are separate from the conversation, roles must
//! alternate, the token limit is mandatory, there is no seed, the provider caches only marked
//! parts, and a JSON schema is sent as the input schema of a tool that the model is forced to call.

use serde_json::{Value, json};

use super::accepted_parameters::{AcceptedParameters, FormatLevel};
use super::parts::{arguments, call_id, note_reasoning, object, temperature, text, tools};
use crate::llm::types::{
    ChatMessage, ChatReply, ChatRequest, FinishReason, ReplyFormat, Role, ToolCall, ToolSpec,
};

/// The JSON of a request, with only the parameters that `dialect` accepts.
pub(super) fn body(model: &str, request: &ChatRequest, dialect: AcceptedParameters) -> Value {
    let system = system(request, dialect);
    let forced = forced_tool(request).filter(|_| dialect.format == FormatLevel::JsonSchema);
    let (tools, tool_choice) = match forced {
        Some((name, schema)) => {
            let tool = json!({
                "name": name,
                "description": "Give the reply in this form.",
                "input_schema": schema,
            });
            let choice = json!({"type": "tool", "name": name});
            (Some(json!([tool])), Some(choice))
        }
        None => (tools(request, tool), None),
    };
    object([
        ("model", Some(model.into())),
        ("max_tokens", dialect.max_tokens(request).map(Value::from)),
        ("system", (!system.is_empty()).then(|| system.into())),
        ("messages", Some(conversation(request, dialect).into())),
        ("temperature", temperature(request, dialect)),
        ("tools", tools),
        ("tool_choice", tool_choice),
    ])
}

/// The name and schema of the reply format, which is sent as a tool that the model must call.
/// `None` if the request has tools of its own, or its format has no schema.
fn forced_tool(request: &ChatRequest) -> Option<(&str, &Value)> {
    match &request.format {
        ReplyFormat::JsonSchema { name, schema, .. } if request.tools.is_empty() => {
            Some((name, schema))
        }
        _ => None,
    }
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.parameters,
    })
}

/// The instructions. They are marked for the provider's cache, because they are the same for every
/// question.
fn system(request: &ChatRequest, dialect: AcceptedParameters) -> Vec<Value> {
    let instructions = request.messages.iter();
    let mut blocks: Vec<Value> = instructions
        .filter(|message| message.role == Role::System)
        .filter_map(|message| text_block(&message.content))
        .collect();
    if let Some(last) = blocks.last_mut().filter(|_| dialect.cache_marks) {
        mark(last);
    }
    blocks
}

/// The messages. Adjacent messages of the same role are merged, because roles must alternate.
fn conversation(request: &ChatRequest, dialect: AcceptedParameters) -> Vec<Value> {
    let mut merged: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in &request.messages {
        let (role, blocks) = match message.role {
            Role::System => continue,
            Role::User => ("user", user_blocks(message, dialect)),
            Role::Tool => ("user", vec![tool_result(message)]),
            Role::Assistant => ("assistant", assistant_blocks(message)),
        };
        match merged.last_mut() {
            _ if blocks.is_empty() => {}
            Some((last, content)) if *last == role => content.extend(blocks),
            _ => merged.push((role, blocks)),
        }
    }
    let messages = merged.into_iter();
    messages
        .map(|(role, content)| json!({"role": role, "content": content}))
        .collect()
}

/// The text of a user message. Its beginning, which later requests repeat, becomes a separate block
/// that is marked for the provider's cache.
fn user_blocks(message: &ChatMessage, dialect: AcceptedParameters) -> Vec<Value> {
    let cut = if dialect.cache_marks {
        message.stable_bytes
    } else {
        0
    };
    // If the cut is not within the text, nothing is marked.
    let (stable, rest) = message
        .content
        .split_at_checked(cut)
        .unwrap_or(("", &message.content));
    let mut stable = text_block(stable);
    if let Some(stable) = &mut stable {
        mark(stable);
    }
    stable.into_iter().chain(text_block(rest)).collect()
}

/// The content blocks of an assistant message: its text, if any, then its tool calls.
fn assistant_blocks(message: &ChatMessage) -> Vec<Value> {
    let calls = message.tool_calls.iter().map(|call| {
        // The protocol accepts only objects as arguments.
        let input = serde_json::from_str(&call.arguments)
            .ok()
            .filter(Value::is_object)
            // Keep arguments that are not an object, so that the model sees what it wrote.
            .unwrap_or_else(|| json!({"arguments": call.arguments}));
        json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
    });
    let text = text_block(&message.content).into_iter();
    text.chain(calls).collect()
}

fn tool_result(message: &ChatMessage) -> Value {
    json!({
        "type": "tool_result",
        "tool_use_id": message.tool_call_id,
        "content": message.content,
    })
}

/// A block of text; `None` for a blank text, which the protocol refuses.
fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

/// Marks a block, so that the provider caches the prompt up to its end.
fn mark(block: &mut Value) {
    if let Some(block) = block.as_object_mut() {
        block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

/// Reads the reply in a success body. The arguments of a tool that the request forced are its
/// content. The error says what is missing in the body.
pub(super) fn read_answer(body: &Value, request: &ChatRequest) -> Result<ChatReply, &'static str> {
    let reason = text(body.get("stop_reason")).unwrap_or_default();
    let mut reply = ChatReply {
        finish: FinishReason::from(reason.clone()),
        ..ChatReply::default()
    };
    let blocks = body.get("content").and_then(Value::as_array);
    if blocks.is_none() && !reply.finish.explains_silence() {
        return Err("it has no `content`");
    }
    let (mut formatted, mut thinking) = (None, String::new());
    for (index, block) in blocks.into_iter().flatten().enumerate() {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => reply.content.push_str(
                block
                    .get("text")
                    .and_then(Value::as_str)
                    .unwrap_or_default(),
            ),
            Some("tool_use") => {
                let name = text(block.get("name")).unwrap_or_default();
                // Do not compare the name, because some gateways rename the only tool.
                if forced_tool(request).is_some() {
                    formatted = Some(arguments(block.get("input")));
                } else {
                    reply.tool_calls.push(ToolCall {
                        id: call_id(block.get("id"), index),
                        name,
                        arguments: arguments(block.get("input")),
                    });
                }
            }
            Some("thinking") => thinking.extend(text(block.get("thinking"))),
            // A block of unknown kind is not part of the answer.
            _ => {}
        }
    }
    if reason == "refusal" {
        let why = text(body.pointer("/stop_details/explanation"));
        let content = Some(reply.content.clone()).filter(|text| !text.is_empty());
        reply.refusal = Some(
            why.or(content)
                .unwrap_or_else(|| "the provider stopped the reply".to_owned()),
        );
    }
    reply.finish = match reply.finish {
        FinishReason::ToolCalls | FinishReason::Stop if !reply.tool_calls.is_empty() => {
            FinishReason::ToolCalls
        }
        FinishReason::ToolCalls if formatted.is_some() => FinishReason::Stop,
        other => other,
    };
    if let Some(mut formatted) = formatted {
        if reply.finish == FinishReason::Length {
            // The provider closes an object that its model left open. Without this brace, the
            // answer is recognised as cut off.
            formatted.pop();
        }
        reply.content = formatted;
    }
    note_reasoning(&mut reply, "thinking", &thinking);
    Ok(reply)
}
