//! OpenAI's Responses API. It is written strictly but read leniently.
//!
//! The Responses API differs from chat completions: instructions are separate from the input, calls
//! and results are separate items, the reply format is a part of `text`, and there is no seed. The
//! provider is asked to store nothing.

use serde_json::{Value, json};

use super::accepted_parameters::AcceptedParameters;
use super::parts::{
    arguments, call_id, content, note_reasoning, object, openai_format, temperature, text, tools,
};
use crate::llm::types::{
    ChatMessage, ChatReply, ChatRequest, FinishReason, Role, ToolCall, ToolSpec,
};

/// The JSON of a request, with only the parameters that `dialect` accepts.
pub(super) fn body(model: &str, request: &ChatRequest, dialect: AcceptedParameters) -> Value {
    let messages = request.messages.iter();
    let instructions: Vec<&str> = messages
        .clone()
        .filter(|message| message.role == Role::System)
        .map(|message| message.content.as_str())
        .collect();
    let format = |name: &str, strict: bool, schema: &Value| json!({"type": "json_schema", "name": name, "strict": strict, "schema": schema});
    let format = openai_format(request, dialect, format);
    let mut input = Vec::new();
    for message in messages {
        push_items(message, &mut input);
    }
    object([
        ("model", Some(model.into())),
        (
            "instructions",
            (!instructions.is_empty()).then(|| instructions.join("\n\n").into()),
        ),
        ("input", Some(input.into())),
        ("temperature", temperature(request, dialect)),
        (
            "max_output_tokens",
            dialect.max_tokens(request).map(Value::from),
        ),
        ("text", format.map(|format| json!({"format": format}))),
        ("tools", tools(request, tool)),
        ("store", Some(false.into())),
    ])
}

/// Adds the items of a message to `input`. A system message has none, because [`body`] sends it as
/// `instructions`.
fn push_items(message: &ChatMessage, input: &mut Vec<Value>) {
    match message.role {
        Role::System => {}
        Role::User => input.push(json!({"role": "user", "content": message.content})),
        Role::Tool => input.push(json!({
            "type": "function_call_output",
            "call_id": message.tool_call_id,
            "output": message.content,
        })),
        Role::Assistant => {
            // An assistant message that only calls tools has no text.
            let silent = message.content.is_empty() && !message.tool_calls.is_empty();
            if !silent {
                // Use the long form with all fields: llama-server requires it for the model's own
                // messages, and OpenAI's types require all of its fields.
                input.push(json!({
                    "type": "message",
                    "id": format!("msg_{}", input.len()),
                    "status": "completed",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": message.content, "annotations": []}],
                }));
            }
            let calls = message.tool_calls.iter().map(|call| {
                json!({
                    "type": "function_call",
                    "call_id": call.id,
                    "name": call.name,
                    "arguments": call.arguments,
                })
            });
            input.extend(calls);
        }
    }
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
        // The default in this API is true, but many schemas do not meet its requirements.
        "strict": false,
    })
}

/// Reads the reply in a success body. An error, in words, if the body has no `output` or its status
/// is not that of a reply.
pub(super) fn read_answer(body: &Value) -> Result<ChatReply, &'static str> {
    let status = text(body.get("status"));
    match status.as_deref() {
        Some("failed") => return Err("its `status` is `failed`"),
        Some("queued" | "in_progress" | "cancelled") => return Err("it is not complete"),
        // `completed`, `incomplete`, or no status: the rest of the body decides.
        _ => {}
    }
    let reason = match status.as_deref() {
        Some("incomplete") => text(body.pointer("/incomplete_details/reason")).or(status),
        _ => status,
    };
    let mut reply = ChatReply {
        finish: FinishReason::from(reason.unwrap_or_default()),
        ..ChatReply::default()
    };
    let output = body.get("output").and_then(Value::as_array);
    if output.is_none() && !reply.finish.explains_silence() {
        return Err("it has no `output`");
    }
    let (mut refusal, mut reasoning) = (String::new(), String::new());
    for (index, item) in output.into_iter().flatten().enumerate() {
        match item.get("type").and_then(Value::as_str) {
            // Comments of a model before its answer are not part of the answer.
            Some("message") if item.get("phase").is_none_or(|phase| phase != "commentary") => {
                read_message(item, &mut reply.content, &mut refusal);
            }
            Some("function_call") => reply.tool_calls.push(ToolCall {
                id: call_id(item.get("call_id"), index),
                name: text(item.get("name")).unwrap_or_default(),
                arguments: arguments(item.get("arguments")),
            }),
            Some("reasoning") => read_message(item, &mut reasoning, &mut String::new()),
            // Items of other types, such as calls of the server's own tools, are not shown to the
            // agents.
            _ => {}
        }
    }
    reply.refusal = (!refusal.is_empty()).then_some(refusal);
    if reply.finish == FinishReason::Stop && !reply.tool_calls.is_empty() {
        reply.finish = FinishReason::ToolCalls;
    }
    note_reasoning(&mut reply, "reasoning", &reasoning);
    Ok(reply)
}

fn read_message(item: &Value, text: &mut String, refusal: &mut String) {
    let said = item.get("content");
    text.push_str(&content(said));
    let parts = said.and_then(Value::as_array).into_iter().flatten();
    refusal.extend(parts.filter_map(|part| part.get("refusal").and_then(Value::as_str)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_before_the_answer_is_not_part_of_it() {
        let message = |phase: &str, text: &str| {
            let content = json!([{"type": "output_text", "text": text}]);
            json!({"type": "message", "phase": phase, "content": content})
        };
        let body = json!({
            "status": "completed",
            "output": [message("commentary", "I look at the page."), message("final_answer", "42")],
        });
        assert_eq!(read_answer(&body).unwrap().content, "42");
    }
}
