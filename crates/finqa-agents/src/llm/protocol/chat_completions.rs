//! OpenAI's chat-completion JSON. It is written strictly but read leniently.
//!
//! async-openai's own types fail on an unknown `finish_reason` or `service_tier`. Compatible
//! servers send arguments as objects, content as parts, and codes as numbers. Everything that can
//! be understood is accepted.

use serde_json::{Value, json};

use super::accepted_parameters::{AcceptedParameters, SystemRole, TokenLimit};
use super::parts::{
    arguments, call_id, content, note_error, note_reasoning, object, openai_format, temperature,
    text, tools,
};
use crate::llm::types::{
    ChatMessage, ChatReply, ChatRequest, FinishReason, Role, ToolCall, ToolSpec,
};

/// The JSON of a request, with only the parameters that `dialect` accepts.
pub(super) fn body(model: &str, request: &ChatRequest, dialect: AcceptedParameters) -> Value {
    let messages = request.messages.iter();
    let limit = |which| {
        let limit = dialect.max_tokens(request);
        limit
            .filter(|_| dialect.token_limit == which)
            .map(Value::from)
    };
    let format = |name: &str, strict: bool, schema: &Value| {
        let schema = json!({"name": name, "strict": strict, "schema": schema});
        json!({"type": "json_schema", "json_schema": schema})
    };
    object([
        ("model", Some(model.into())),
        (
            "messages",
            Some(
                messages
                    .map(|it| message(it, dialect.system_role))
                    .collect(),
            ),
        ),
        ("temperature", temperature(request, dialect)),
        ("max_tokens", limit(TokenLimit::MaxTokens)),
        (
            "max_completion_tokens",
            limit(TokenLimit::MaxCompletionTokens),
        ),
        (
            "seed",
            request.seed.filter(|_| dialect.seed).map(Value::from),
        ),
        ("response_format", openai_format(request, dialect, format)),
        ("tools", tools(request, tool)),
    ])
}

/// A message in the form of the Chat Completions API.
fn message(message: &ChatMessage, system: SystemRole) -> Value {
    let role = match (message.role, system) {
        (Role::System, SystemRole::System) => "system",
        (Role::System, SystemRole::Developer) => "developer",
        (Role::System, SystemRole::User) | (Role::User, _) => "user",
        (Role::Assistant, _) => "assistant",
        (Role::Tool, _) => "tool",
    };
    // An assistant message that only calls tools has no text.
    let silent = message.content.is_empty() && !message.tool_calls.is_empty();
    let content = Some(message.content.as_str()).filter(|_| !silent);
    let calls = message.tool_calls.iter().map(|call| {
        let function = json!({"name": call.name, "arguments": call.arguments});
        json!({"id": call.id, "type": "function", "function": function})
    });
    object([
        ("role", Some(role.into())),
        ("content", Some(content.into())),
        (
            "tool_calls",
            (!message.tool_calls.is_empty()).then(|| calls.collect()),
        ),
        (
            "tool_call_id",
            message.tool_call_id.as_deref().map(Value::from),
        ),
    ])
}

fn tool(spec: &ToolSpec) -> Value {
    json!({"type": "function", "function": spec})
}

/// The messages in the form of a request, for files that trainers read.
pub fn messages_json(messages: &[ChatMessage]) -> Vec<Value> {
    let messages = messages.iter();
    messages.map(|it| message(it, SystemRole::System)).collect()
}

/// The tools in the form of a request.
pub fn tools_json(tools: &[ToolSpec]) -> Vec<Value> {
    tools.iter().map(tool).collect()
}

/// Reads the first choice of a chat completion.
pub(super) fn read_answer(body: &Value) -> Result<ChatReply, &'static str> {
    let choice = body
        .get("choices")
        .and_then(Value::as_array)
        .ok_or("it has no `choices`")?
        .first()
        .ok_or("its `choices` are empty")?;
    let word = text(choice.get("finish_reason"));
    let mut reply = ChatReply {
        finish: FinishReason::from(word.unwrap_or_default()),
        ..ChatReply::default()
    };
    note_error(&mut reply, choice.get("error"));
    let message = choice.get("message").filter(|message| message.is_object());
    let Some(message) = message else {
        // Gemini sends no message if it filters the reply.
        let is_explained = reply.failure.is_some() || reply.finish.explains_silence();
        return is_explained
            .then_some(reply)
            .ok_or("its first choice has no `message`");
    };
    let calls = message.get("tool_calls").and_then(Value::as_array);
    // OpenAI's first form of a tool call has only the function.
    let old = message.get("function_call");
    let old = old.map(|function| json!({"function": function}));
    let calls = calls.into_iter().flatten().chain(&old).enumerate();
    reply.tool_calls = calls.filter_map(read_call).collect();
    // Some servers report `stop` although the reply calls a tool.
    if reply.finish == FinishReason::Stop && !reply.tool_calls.is_empty() {
        reply.finish = FinishReason::ToolCalls;
    }
    reply.content = content(message.get("content"));
    reply.refusal = text(message.get("refusal"));
    for name in ["reasoning_content", "reasoning"] {
        note_reasoning(&mut reply, name, &content(message.get(name)));
    }
    Ok(reply)
}

/// Reads a tool call; `None` if it has no `function`. `index` replaces an absent id.
fn read_call((index, call): (usize, &Value)) -> Option<ToolCall> {
    let function = call.get("function").filter(|it| it.is_object())?;
    Some(ToolCall {
        id: call_id(call.get("id"), index),
        name: text(function.get("name")).unwrap_or_default(),
        arguments: arguments(function.get("arguments")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::protocol::FormatLevel;
    use crate::llm::types::ReplyFormat;

    const FULL: AcceptedParameters = AcceptedParameters {
        token_limit: TokenLimit::MaxCompletionTokens,
        system_role: SystemRole::System,
        temperature: true,
        seed: true,
        format: FormatLevel::JsonSchema,
        cache_marks: false,
        reply_limit: None,
    };

    #[test]
    fn a_dialect_names_and_drops_parameters() {
        let messages = vec![ChatMessage::system("s"), ChatMessage::user("u")];
        let request = ChatRequest {
            temperature: Some(0.0),
            max_output_tokens: Some(800),
            seed: Some(7),
            format: ReplyFormat::JsonSchema {
                name: "answer".into(),
                schema: json!({"type": "object"}),
                strict: true,
                or_text: false,
            },
            ..ChatRequest::new("analyst", messages)
        };
        let full = body("m", &request, FULL);
        assert_eq!(
            full,
            json!({
                "model": "m",
                "messages": [
                    {"role": "system", "content": "s"},
                    {"role": "user", "content": "u"},
                ],
                "temperature": 0.0,
                "max_completion_tokens": 800,
                "seed": 7,
                "response_format": {"type": "json_schema", "json_schema":
                    {"name": "answer", "strict": true, "schema": {"type": "object"}}},
            })
        );
        let poor = AcceptedParameters {
            token_limit: TokenLimit::MaxTokens,
            system_role: SystemRole::Developer,
            temperature: false,
            seed: false,
            format: FormatLevel::JsonObject,
            ..FULL
        };
        let poor = body("m", &request, poor);
        assert_eq!(
            poor,
            json!({
                "model": "m",
                "messages": [
                    {"role": "developer", "content": "s"},
                    {"role": "user", "content": "u"},
                ],
                "max_tokens": 800,
                "response_format": {"type": "json_object"},
            })
        );
    }

    #[test]
    fn odd_answers_are_understood() {
        let answer = read_answer(&json!({
            "choices": [{"message": {
                "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
                "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1}}}],
            }, "finish_reason": "stop"}],
            "service_tier": 7,
        }))
        .unwrap();
        assert_eq!(answer.content, "ab");
        assert_eq!(answer.tool_calls[0].arguments, "{\"x\":1}");
        assert_eq!(answer.tool_calls[0].id, "call_0");
        assert_eq!(answer.finish, FinishReason::ToolCalls);
    }

    #[test]
    fn a_body_that_is_not_a_completion_says_why() {
        for (body, why) in [
            (json!({}), "no `choices`"),
            (json!({"choices": []}), "empty"),
            (json!({"choices": [{"text": "old"}]}), "no `message`"),
            (json!("text"), "no `choices`"),
        ] {
            assert!(read_answer(&body).unwrap_err().contains(why));
        }
    }
}
