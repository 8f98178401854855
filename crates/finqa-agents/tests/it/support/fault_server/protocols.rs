//! Anthropic's Messages and OpenAI's Responses. Handlers answer in the form of chat completions,
//! which the server converts to the protocol of the path. It refuses the same requests as the real
//! servers.

use serde_json::{Value, json};

use super::{Reply, Request};

/// The refusal of a request that does not fit the protocol of its path; `None` if it does.
pub(super) fn refused(request: &Request) -> Option<Reply> {
    let fault = match request.protocol() {
        "messages" => message_fault(request),
        "responses" => response_fault(request),
        _ => None,
    }?;
    Some(Reply::error(400, "invalid_request_error", &fault))
}

fn message_fault(request: &Request) -> Option<String> {
    let body = &request.body;
    if request.header("anthropic-version").is_none() {
        return Some("anthropic-version: header is required".into());
    }
    if !body["max_tokens"].is_u64() {
        return Some("max_tokens: Field required".into());
    }
    if body.get("seed").is_some() {
        return Some("seed: Extra inputs are not permitted".into());
    }
    let mut last = "assistant";
    for (at, message) in body["messages"].as_array()?.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == last || !["user", "assistant"].contains(&role) {
            return Some(format!("messages.{at}.role: `{role}` after `{last}`"));
        }
        last = role;
        let blocks = message["content"].as_array();
        let blank = |block: &Value| block["type"] == "text" && block["text"] == "";
        if blocks.is_none_or(|blocks| blocks.is_empty() || blocks.iter().any(blank)) {
            return Some(format!(
                "messages.{at}.content: text content blocks must be non-empty"
            ));
        }
    }
    (last == "assistant").then(|| "messages: the last one must be the user's".into())
}

fn response_fault(request: &Request) -> Option<String> {
    let body = &request.body;
    let moved = ["messages", "max_tokens", "response_format", "seed"];
    let moved = moved.into_iter().find(|name| body.get(*name).is_some());
    if let Some(name) = moved {
        return Some(format!("Unsupported parameter: '{name}'"));
    }
    let Some(items) = body["input"].as_array() else {
        return Some("Missing required parameter: 'input'".into());
    };
    let short = |item: &&Value| item["role"] == "assistant" && !item["content"].is_array();
    if items.iter().any(|item| short(&item)) {
        // The message of llama-server.
        return Some("Cannot determine type of 'item'".into());
    }
    (body["store"] != false).then(|| "the test wants nothing stored".into())
}

/// Translates a reply into the protocol of the request's path.
pub(super) fn translated(request: &Request, mut reply: Reply) -> Reply {
    let Ok(body) = serde_json::from_slice::<Value>(&reply.body) else {
        return reply;
    };
    let translated = match (request.protocol(), body.get("choices"), body.get("error")) {
        ("messages", Some(_), _) => message(request, &body),
        ("responses", Some(_), _) => response(&body),
        ("messages", None, Some(error)) => {
            if error["code"] == "content_filter" {
                reply.status = 200;
                message_of(json!([]), "refusal", 0)
            } else {
                reply = reply.header("request-id", "req_fault");
                let kind = match reply.status {
                    401 => "authentication_error",
                    403 => "permission_error",
                    404 => "not_found_error",
                    429 => "rate_limit_error",
                    529 => "overloaded_error",
                    500.. => "api_error",
                    _ => "invalid_request_error",
                };
                json!({"type": "error", "request_id": "req_fault",
                    "error": {"type": kind, "message": error["message"]}})
            }
        }
        _ => return reply,
    };
    reply.body = translated.to_string().into_bytes();
    reply
}

fn said(body: &Value) -> (&Value, &str, &str, u64) {
    let choice = &body["choices"][0];
    let text = choice["message"]["content"].as_str().unwrap_or_default();
    let finish = choice["finish_reason"].as_str().unwrap_or_default();
    let output = body["usage"]["completion_tokens"].as_u64().unwrap_or(0);
    (&choice["message"]["tool_calls"], text, finish, output)
}

/// Counts like Anthropic: 100 tokens read, 40 of them from the cache and 10 written to it.
fn message_of(content: Value, stop_reason: &str, output: u64) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "served-model",
        "content": content, "stop_reason": stop_reason, "stop_sequence": null,
        "usage": {"input_tokens": 50, "cache_read_input_tokens": 40,
            "cache_creation_input_tokens": 10, "output_tokens": output},
    })
}

fn message(request: &Request, body: &Value) -> Value {
    let (calls, text, finish, output) = said(body);
    let arguments = |call: &Value| {
        let text = call["function"]["arguments"].as_str().unwrap_or_default();
        serde_json::from_str(text).unwrap_or_else(|_| json!({}))
    };
    let mut blocks: Vec<Value> = calls.as_array().into_iter().flatten().map(|call| {
        json!({"type": "tool_use", "id": call["id"], "name": call["function"]["name"], "input": arguments(call)})
    }).collect();
    let forced = request.body["tool_choice"]["name"].as_str();
    let object = serde_json::from_str::<Value>(text).ok();
    let object = object.filter(Value::is_object);
    let stop_reason = match (forced, object, finish) {
        (Some(name), Some(input), "stop") => {
            blocks.push(json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": input}));
            "tool_use"
        }
        (.., finish) => {
            if !text.is_empty() {
                blocks.insert(0, json!({"type": "text", "text": text}));
            }
            match finish {
                "stop" => "end_turn",
                "length" => "max_tokens",
                "tool_calls" => "tool_use",
                other => other,
            }
        }
    };
    message_of(blocks.into(), stop_reason, output)
}

fn response(body: &Value) -> Value {
    let (calls, text, finish, output) = said(body);
    let mut items = vec![json!({"type": "reasoning", "id": "rs_1", "summary": []})];
    if !text.is_empty() {
        items.push(
            json!({"type": "message", "id": "msg_1", "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}),
        );
    }
    items.extend(calls.as_array().into_iter().flatten().map(|call| {
        json!({"type": "function_call", "id": "fc_1", "call_id": call["id"],
            "name": call["function"]["name"], "arguments": call["function"]["arguments"]})
    }));
    let incomplete = match finish {
        "length" => json!({"reason": "max_output_tokens"}),
        "content_filter" => json!({"reason": "content_filter"}),
        _ => Value::Null,
    };
    json!({
        "id": "resp_1", "object": "response", "model": "served-model", "error": null,
        "status": if incomplete.is_null() { "completed" } else { "incomplete" },
        "incomplete_details": incomplete, "output": items,
        "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 40},
            "output_tokens": output, "output_tokens_details": {"reasoning_tokens": 1},
            "total_tokens": 100 + output},
    })
}
