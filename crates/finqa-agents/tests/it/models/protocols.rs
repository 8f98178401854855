//! Tests Anthropic's Messages and OpenAI's Responses: the requests, the replies and the meaning of
//! failures. The bodies have the forms that the providers document.

use super::*;
use finqa_agents::llm::ToolCall;

const SCHEMA: fn() -> serde_json::Value = || json!({"type": "object", "properties": {}});

/// A request with instructions, a page that later requests repeat, a question, and a reply format.
fn question() -> ChatRequest {
    let mut user = ChatMessage::user("THE PAGE\n\nQuestion: how much?");
    user.stable_bytes = "THE PAGE\n".len();
    ChatRequest {
        temperature: Some(0.0),
        max_output_tokens: Some(500),
        seed: Some(7),
        format: ReplyFormat::JsonSchema {
            name: "analysis".into(),
            schema: SCHEMA(),
            strict: true,
            or_text: false,
        },
        ..ChatRequest::new("analyst", vec![ChatMessage::system("INSTRUCTIONS"), user])
    }
}

/// A conversation with a tool call, its result, and then a reminder.
fn episode() -> ChatRequest {
    let mut request = ask("How much?");
    request.messages.push(ChatMessage {
        tool_calls: vec![ToolCall {
            id: "call_1".into(),
            name: "look".into(),
            arguments: "{\"row\":1}".into(),
        }],
        ..ChatMessage::assistant("")
    });
    request.messages.push(ChatMessage::tool("call_1", "seen"));
    request.messages.push(ChatMessage::user("Go on."));
    request.tools.push(ToolSpec {
        name: "look".into(),
        description: "Looks a row up.".into(),
        parameters: SCHEMA(),
    });
    request
}

async fn answered(
    settings: fn(&FaultServer) -> ModelConnection,
    request: &ChatRequest,
    handler: impl Fn(&crate::support::fault_server::Request) -> Reply + Send + Sync + 'static,
) -> (Result<ChatReply, ModelError>, FaultServer) {
    let server = FaultServer::start(handler);
    let model = HttpModel::new(settings(&server)).unwrap();
    let outcome = chat(&model, request).await;
    (outcome, server)
}

#[tokio::test]
async fn anthropic_gets_instructions_page_and_question_with_two_cache_marks() {
    let (outcome, server) = answered(anthropic, &question(), |_| {
        Reply::chat("{\"answer\":\"42\"}")
    })
    .await;
    let reply = outcome.unwrap();
    assert_eq!(reply.content, "{\"answer\":\"42\"}");
    assert_eq!(reply.finish, FinishReason::Stop);
    assert_eq!(reply.left_out, ["seed"]);
    // The provider counts 50 tokens in addition to the 40 and 10 of its cache.
    assert_eq!(
        reply.usage,
        Some(Usage {
            input_tokens: 100,
            output_tokens: 15,
            cached_input_tokens: 40,
            cache_write_tokens: 10,
            reasoning_tokens: 0,
        })
    );
    let seen = &server.requests()[0];
    assert_eq!(seen.path, "/v1/messages");
    assert_eq!(seen.header("x-api-key"), Some("sk-ant-test-key"));
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(seen.header("authorization"), None);
    let cache = json!({"type": "ephemeral"});
    assert_eq!(
        seen.body,
        json!({
            "model": "claude-sonnet-4-5",
            "max_tokens": 500,
            "system": [{"type": "text", "text": "INSTRUCTIONS", "cache_control": cache}],
            "messages": [{"role": "user", "content": [
                {"type": "text", "text": "THE PAGE\n", "cache_control": cache},
                {"type": "text", "text": "\nQuestion: how much?"},
            ]}],
            "temperature": 0.0,
            "tools": [{"name": "analysis", "description": "Give the reply in this form.",
                "input_schema": SCHEMA()}],
            "tool_choice": {"type": "tool", "name": "analysis"},
        })
    );
}

#[tokio::test]
async fn responses_get_instructions_input_and_a_format_and_store_nothing() {
    let (outcome, server) = answered(responses, &question(), |_| {
        Reply::chat("{}").header("x-request-id", "req_1")
    })
    .await;
    let reply = outcome.unwrap();
    assert_eq!(reply.content, "{}");
    assert_eq!(reply.request_id.as_deref(), Some("req_1"));
    assert_eq!(reply.left_out, ["seed"]);
    assert_eq!(
        reply.usage,
        Some(Usage {
            input_tokens: 100,
            output_tokens: 2,
            cached_input_tokens: 40,
            cache_write_tokens: 0,
            reasoning_tokens: 1,
        })
    );
    let seen = &server.requests()[0];
    assert_eq!(seen.path, "/v1/responses");
    assert_eq!(
        seen.body,
        json!({
            "model": "gpt-4o",
            "instructions": "INSTRUCTIONS",
            "input": [{"role": "user", "content": "THE PAGE\n\nQuestion: how much?"}],
            "temperature": 0.0,
            "max_output_tokens": 500,
            "text": {"format": {"type": "json_schema", "name": "analysis", "strict": true,
                "schema": SCHEMA()}},
            "store": false,
        })
    );
}

#[tokio::test]
async fn responses_get_the_model_s_own_words_as_a_whole_output_message() {
    let mut again = question();
    again.messages.push(ChatMessage::assistant("About 5."));
    again.messages.push(ChatMessage::user("As JSON, please."));
    let (outcome, server) = answered(responses, &again, |_| Reply::chat("{}")).await;
    outcome.unwrap();
    assert_eq!(
        server.requests()[0].body["input"][1],
        json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
            "content": [{"type": "output_text", "text": "About 5.", "annotations": []}]})
    );
}

#[tokio::test]
async fn tools_their_calls_and_their_results_are_written_in_each_protocol() {
    let calls = |_: &_| Reply::tool_calls(&[("look", "{\"row\":2}".to_owned())]);
    let (outcome, server) = answered(anthropic, &episode(), calls).await;
    let reply = outcome.unwrap();
    assert_eq!(reply.finish, FinishReason::ToolCalls);
    assert_eq!(reply.tool_calls[0].arguments, "{\"row\":2}");
    let body = &server.requests()[0].body;
    assert_eq!(body["max_tokens"], 4096, "the protocol demands a limit");
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "How much?"}]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "call_1", "name": "look", "input": {"row": 1}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": "seen"},
                {"type": "text", "text": "Go on."}]},
        ])
    );

    let (outcome, server) = answered(openai, &episode(), calls).await;
    assert_eq!(outcome.unwrap().finish, FinishReason::ToolCalls);
    let body = &server.requests()[0].body;
    let function = json!({"name": "look", "arguments": "{\"row\":1}"});
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": "How much?"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "call_1", "type": "function", "function": function}]},
            {"role": "tool", "content": "seen", "tool_call_id": "call_1"},
            {"role": "user", "content": "Go on."},
        ])
    );
    assert_eq!(body["tools"][0]["function"]["name"], "look");

    let (outcome, server) = answered(responses, &episode(), calls).await;
    let reply = outcome.unwrap();
    assert_eq!(reply.finish, FinishReason::ToolCalls);
    assert_eq!(reply.tool_calls[0].id, "call_0");
    let body = &server.requests()[0].body;
    assert_eq!(
        body["input"],
        json!([
            {"role": "user", "content": "How much?"},
            {"type": "function_call", "call_id": "call_1", "name": "look",
                "arguments": "{\"row\":1}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "seen"},
            {"role": "user", "content": "Go on."},
        ])
    );
    assert_eq!(body["tools"][0]["name"], "look");
    assert_eq!(body["tools"][0]["strict"], false);
}

#[tokio::test]
async fn azures_responses_belong_to_the_resource() {
    let on_azure = |server: &FaultServer| ModelConnection {
        api: OpenAiApi::Responses,
        ..azure(server)
    };
    let (outcome, server) = answered(on_azure, &ask("How much?"), |_| Reply::chat("42")).await;
    assert_eq!(outcome.unwrap().content, "42");
    let seen = &server.requests()[0];
    assert_eq!(seen.path, "/openai/responses");
    assert_eq!(seen.query, "api-version=2024-10-21");
    assert_eq!(seen.body["model"], "my-deployment");
}

/// A message in Anthropic's form with this stop reason.
fn stopped(reason: &str, text: &str) -> Reply {
    Reply::json(
        200,
        &json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude",
            "content": [{"type": "text", "text": text}], "stop_reason": reason,
            "usage": {"input_tokens": 10, "output_tokens": 2},
        }),
    )
}

#[tokio::test]
async fn each_reason_to_stop_is_an_outcome() {
    for (reason, finish) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("pause_turn", FinishReason::Other("pause_turn".into())),
        ("one_of_2030", FinishReason::Other("one_of_2030".into())),
    ] {
        let reply = move |_: &_| stopped(reason, "4");
        let (outcome, _server) = answered(anthropic, &ask("How much?"), reply).await;
        let reply = outcome.unwrap();
        assert_eq!((reply.finish, reply.refusal), (finish, None), "{reason}");
    }
    let refused = |_: &_| stopped("refusal", "I can't.");
    let (outcome, server) = answered(anthropic, &ask("How much?"), refused).await;
    let reply = outcome.unwrap();
    assert_eq!(reply.refusal.as_deref(), Some("I can't."));
    assert!(reply.is_withheld());
    assert_eq!(server.count(), 1);

    for (finish, expected) in [
        ("length", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
    ] {
        let reply = move |_: &_| Reply::json(200, &completion("4", finish));
        let (outcome, _server) = answered(responses, &ask("How much?"), reply).await;
        assert_eq!(outcome.unwrap().finish, expected);
    }
    let refused = json!({
        "id": "resp_1", "status": "completed", "model": "m", "output": [
            {"type": "message", "content": [{"type": "refusal", "refusal": "I can't."}]}],
    });
    let refused = move |_: &_| Reply::json(200, &refused);
    let (outcome, _server) = answered(responses, &ask("How much?"), refused).await;
    let reply = outcome.unwrap();
    assert_eq!(reply.refusal.as_deref(), Some("I can't."));
    assert_eq!(reply.usage, None, "what is not said is not zero");
}

/// At the limit, the provider closes an object that the model has left open.
#[tokio::test]
async fn an_object_that_reached_the_limit_inside_a_tool_is_not_closed() {
    for (reason, content) in [
        ("max_tokens", "{\"steps\":[]"),
        ("tool_use", "{\"steps\":[]}"),
    ] {
        let body = json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude",
            "content": [{"type": "tool_use", "id": "t", "name": "analysis", "input": {"steps": []}}],
            "stop_reason": reason, "usage": {"input_tokens": 10, "output_tokens": 2},
        });
        let reply = move |_: &_| Reply::json(200, &body);
        let (outcome, _server) = answered(anthropic, &question(), reply).await;
        assert_eq!(outcome.unwrap().content, content);
    }
}

#[tokio::test]
async fn a_failed_response_with_status_200_is_repeated() {
    let failed = json!({"id": "resp_1", "status": "failed", "output": [],
        "error": {"code": "server_error", "message": "The model failed."}});
    let (outcome, server) = answered(responses, &ask("How much?"), move |request| {
        match request.repeat {
            0 => Reply::json(200, &failed),
            _ => Reply::chat("42"),
        }
    })
    .await;
    assert_eq!(outcome.unwrap().attempts, 2);
    assert_eq!(server.count(), 2);
}

#[tokio::test]
async fn anthropics_errors_are_distinguished() {
    let limits = "prompt is too long: 210000 tokens > 200000 maximum";
    let poor = "Your credit balance is too low to access the Anthropic API.";
    for (status, message, kind, requests) in [
        (401, "invalid x-api-key", ErrorKind::Unauthorized, 1),
        (403, "not allowed", ErrorKind::Unauthorized, 1),
        (404, "model: claude-none", ErrorKind::NotFound, 1),
        (413, limits, ErrorKind::ContextTooLong, 1),
        (400, limits, ErrorKind::ContextTooLong, 1),
        (400, poor, ErrorKind::QuotaExceeded, 1),
        (
            400,
            "temperature: 7 is above the maximum",
            ErrorKind::BadRequest {
                parameter: Some("temperature".into()),
            },
            1,
        ),
        (429, "slow down", ErrorKind::RateLimited, 6),
        (500, "Internal server error", ErrorKind::ServerError, 6),
        (529, "Overloaded", ErrorKind::ServerError, 6),
    ] {
        let (outcome, server) = answered(anthropic, &ask("How much?"), move |_| {
            Reply::error(status, "", message)
        })
        .await;
        let error = outcome.unwrap_err();
        assert_eq!(error.kind, kind, "{status} {message}");
        assert_eq!(server.count(), requests, "{status} {message}");
        assert_eq!(error.request_id.as_deref(), Some("req_fault"));
    }
}

#[tokio::test]
async fn what_anthropic_refuses_is_left_out_and_remembered() {
    for (refused, message) in [
        ("temperature", "`temperature` is deprecated for this model."),
        (
            "tool_choice",
            "Thinking may not be enabled when tool_choice forces tool use.",
        ),
        (
            "cache_control",
            "system.0.cache_control: Extra inputs are not permitted",
        ),
    ] {
        let server = FaultServer::start(move |request| {
            if String::from_utf8_lossy(&request.raw).contains(&format!("\"{refused}\"")) {
                Reply::error(400, "", message)
            } else {
                Reply::chat("{}")
            }
        });
        let model = HttpModel::new(anthropic(&server)).unwrap();
        let attempts = [
            chat(&model, &question()).await.unwrap().attempts,
            chat(&model, &question()).await.unwrap().attempts,
        ];
        assert_eq!(attempts, [2, 1], "{refused}");
    }
}

#[tokio::test]
async fn responses_step_down_to_an_object() {
    let server =
        FaultServer::start(
            |request| match request.body["text"]["format"]["type"].as_str() {
                Some("json_schema") => Reply::json(
                    400,
                    &json!({"error": {"message": "Invalid schema", "param": "text.format.schema",
                    "type": "invalid_request_error", "code": "invalid_json_schema"}}),
                ),
                _ => Reply::chat("{}"),
            },
        );
    let model = HttpModel::new(responses(&server)).unwrap();
    assert_eq!(chat(&model, &question()).await.unwrap().attempts, 2);
    let last = server.requests().pop().unwrap().body;
    assert_eq!(last["text"]["format"], json!({"type": "json_object"}));
}
