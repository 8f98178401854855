//! Tests replies in the forms of other servers: the place of the answer, event streams, compressed
//! bodies, the words for the end of a generation, and hidden tokens.

use std::io::Write as _;

use super::*;

/// A request for a JSON object.
fn question() -> ChatRequest {
    ChatRequest {
        format: ReplyFormat::JsonSchema {
            name: "analysis".into(),
            schema: json!({"type": "object", "properties": {}}),
            strict: true,
            or_text: false,
        },
        ..ask("How much?")
    }
}

fn analysis() -> serde_json::Value {
    json!({"steps": [], "program": "subtract(5, 3)", "answer": "2"})
}

/// The reply to a request for an object, and the number of requests that were needed.
async fn asked(
    settings: fn(&FaultServer) -> ModelConnection,
    reply: Reply,
) -> (Result<ChatReply, ModelError>, usize) {
    let server = FaultServer::start(move |_| reply.clone());
    let model = HttpModel::new(settings(&server)).unwrap();
    let outcome = chat(&model, &question()).await;
    (outcome, server.count())
}

/// A chat completion with this message.
fn with_message(message: serde_json::Value, finish: &str) -> serde_json::Value {
    let mut body = completion("", finish);
    body["choices"][0]["message"] = message;
    body
}

fn message_of(content: serde_json::Value) -> serde_json::Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude",
        "content": content, "stop_reason": "tool_use",
        "usage": {"input_tokens": 10, "output_tokens": 2}})
}

/// Such replies once counted as empty and were scored as the model's answers.
#[tokio::test]
async fn a_complete_answer_is_used_wherever_it_is() {
    let text = || analysis().to_string();
    let call = |arguments: serde_json::Value| json!([{"id": "a", "type": "function", "function": {"name": "answer", "arguments": arguments}}]);
    type Settings = fn(&FaultServer) -> ModelConnection;
    let chats = [
        json!({"content": analysis()}),
        json!({"content": null, "tool_calls": call(text().into())}),
        json!({"content": "", "tool_calls": call(analysis())}),
        json!({"content": null, "tool_calls": [{"function": {"arguments": text()}}]}),
        json!({"content": null, "function_call": {"name": "answer", "arguments": text()}}),
    ];
    let chats = chats.into_iter().flat_map(|message| {
        ["stop", "tool_calls", "function_call"]
            .map(|finish| (openai as Settings, with_message(message.clone(), finish)))
    });
    let items = |item: serde_json::Value| json!({"id": "r", "status": "completed", "output": [item], "usage": {"input_tokens": 9, "output_tokens": 9}});
    let others = [
        (
            responses as Settings,
            items(
                json!({"type": "function_call", "name": "answer", "arguments": text(), "call_id": "c"}),
            ),
        ),
        (
            responses as Settings,
            items(json!({"type": "message", "role": "assistant", "content": analysis()})),
        ),
        (
            anthropic as Settings,
            message_of(
                json!([{"type": "tool_use", "id": "t", "name": "functions.answer", "input": analysis()}]),
            ),
        ),
    ];
    for (settings, body) in chats.chain(others) {
        let told = body.to_string();
        let (reply, requests) = asked(settings, Reply::json(200, &body)).await;
        let reply = reply.unwrap_or_else(|error| panic!("{error}: {told}"));
        let read: serde_json::Value = serde_json::from_str(&reply.content).unwrap_or_default();
        assert_eq!((read, requests), (analysis(), 1), "{told}");
        assert!(reply.tool_calls.is_empty(), "{told}");
    }
    // A call that was cut off is not an answer.
    let cut = &text()[..20];
    let body = with_message(
        json!({"content": null, "tool_calls": call(cut.into())}),
        "stop",
    );
    let reply = asked(openai, Reply::json(200, &body)).await.0.unwrap();
    assert_eq!((reply.content.as_str(), reply.tool_calls.len()), ("", 1));
}

/// Anthropic's events as documented, with one block of each kind.
fn events(ending: bool) -> String {
    let whole = analysis().to_string();
    let (first, rest) = whole.split_at(9);
    let delta = |index: u64, delta: serde_json::Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let begun = |index: u64, block: serde_json::Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let mut events = vec![
        json!({"type": "message_start", "message": {"id": "msg_1", "type": "message",
            "role": "assistant", "model": "claude", "content": [], "stop_reason": null,
            "usage": {"input_tokens": 1000, "output_tokens": 1}}}),
        begun(
            0,
            json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        json!({"type": "ping"}),
        delta(0, json!({"type": "thinking_delta", "thinking": "hm"})),
        delta(0, json!({"type": "signature_delta", "signature": "x"})),
        begun(
            1,
            json!({"type": "tool_use", "id": "t", "name": "analysis", "input": {}}),
        ),
        delta(1, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(
            1,
            json!({"type": "input_json_delta", "partial_json": first}),
        ),
        delta(1, json!({"type": "input_json_delta", "partial_json": rest})),
    ];
    if ending {
        events.extend([
            json!({"type": "content_block_stop", "index": 1}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
                "usage": {"output_tokens": 100}}),
            json!({"type": "message_stop"}),
        ]);
    }
    let written =
        |event: &serde_json::Value| format!("event: {}\ndata: {event}\n\n", event["type"]);
    events.iter().map(written).collect()
}

#[tokio::test]
async fn anthropics_events_that_were_not_asked_for_are_put_together() {
    let stream = |text: String| Reply::new(200, "text/event-stream", text);
    let (reply, requests) = asked(anthropic, stream(events(true))).await;
    let reply = reply.unwrap();
    assert_eq!(reply.content, analysis().to_string());
    let usage = reply.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.output_tokens, requests),
        (1000, 100, 1)
    );
    assert_eq!(reply.finish, FinishReason::Stop);
    // Without its last events, the reply has no finish word.
    let reply = asked(anthropic, stream(events(false))).await.0.unwrap();
    assert_eq!(reply.content, analysis().to_string());
    assert_eq!(reply.finish, FinishReason::Other(String::new()));
    // The answer as a text block, followed by an error in the middle of the stream.
    let text = events(true)
        .replace("input_json_delta", "text_delta")
        .replace("partial_json", "text")
        .replace("\"tool_use\",\"id\"", "\"text\",\"id\"")
        .replace("\"type\":\"tool_use\"", "\"type\":\"text\",\"text\":\"\"");
    let reply = asked(anthropic, stream(text)).await.0.unwrap();
    assert_eq!(reply.content, analysis().to_string());
    let error =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let broken = format!("{}event: error\ndata: {error}\n\n", events(false));
    let error = asked(anthropic, stream(broken)).await.0.unwrap_err();
    assert_eq!(error.kind, ErrorKind::ServerError);
    assert!(error.message.contains("Overloaded"), "{error}");
}

/// Some of these bodies once took six requests, each of which may be billed.
#[tokio::test]
async fn an_encoding_that_is_not_decoded_is_named_and_asked_for_twice() {
    let answer = completion("42", "stop").to_string().into_bytes();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&answer).unwrap();
    let gzip = gzip.finish().unwrap();
    let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    raw.write_all(&answer).unwrap();
    let raw = raw.finish().unwrap();
    let cut = gzip[..gzip.len() - 30].to_vec();
    for (body, encoding, words) in [
        (gzip.clone(), "x-gzip", "compressed (x-gzip)"),
        (gzip, "GZIP", "compressed (GZIP)"),
        (raw, "deflate", "deflate"),
        (cut, "gzip", "cannot be decompressed"),
    ] {
        let reply = Reply::new(200, "application/json", body).header("content-encoding", encoding);
        let (outcome, server) = one(reply).await;
        let error = outcome.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Malformed, "{encoding}: {error}");
        assert!(error.message.contains(words), "{encoding}: {error}");
        assert_eq!(server.count(), 2, "{encoding}: {error}");
    }
}

/// Gemini's compatible endpoint joins two words into one.
#[tokio::test]
async fn a_finish_word_with_a_reason_means_what_the_word_means() {
    let ended = |content: serde_json::Value, finish: &str| {
        Reply::json(
            200,
            &with_message(json!({"role": "assistant", "content": content}), finish),
        )
    };
    let filtered = ended(json!(null), "content_filter: PROHIBITED_CONTENT");
    let reply = asked(openai, filtered).await.0.unwrap();
    assert_eq!(reply.finish, FinishReason::ContentFilter);
    for word in [
        "function_call_filter: MALFORMED_FUNCTION_CALL",
        "MALFORMED_FUNCTION_CALL",
    ] {
        let (outcome, requests) = asked(openai, ended(json!(null), word)).await;
        let error = outcome.unwrap_err();
        assert_eq!(
            (error.kind.clone(), requests),
            (ErrorKind::BadGeneration, 2)
        );
        assert!(error.message.contains(word), "{error}");
        let whole = ended(analysis().to_string().into(), word);
        let reply = asked(openai, whole).await.0.unwrap();
        assert_eq!(reply.content, analysis().to_string());
    }
}

/// The provider's message was once lost, so the error had no words.
#[tokio::test]
async fn the_words_of_each_form_of_error_are_shown() {
    for (status, body) in [
        (
            418,
            json!({"errors": [{"message": "frobnicated", "code": 4006}], "success": false}),
        ),
        (
            418,
            json!({"base_resp": {"status_code": 2013, "status_msg": "frobnicated"}}),
        ),
        (
            200,
            json!({"errors": [{"message": "frobnicated"}], "success": false, "result": null}),
        ),
        (
            200,
            json!({"choices": null, "base_resp": {"status_code": 2013, "status_msg": "frobnicated"}}),
        ),
    ] {
        let error = one(Reply::json(status, &body)).await.0.unwrap_err();
        let words = error.message.split("; it begins").next().unwrap();
        assert!(words.contains("frobnicated"), "{error}");
    }
}

/// A gateway's 400 can hide the failure of the server behind it.
#[tokio::test]
async fn a_passing_failure_inside_a_refusal_is_retried() {
    for body in [
        json!({"message": "Too many tokens, please wait before trying again.",
            "__type": "ThrottlingException"}),
        json!({"error": {"message": "litellm.ServiceUnavailableError: AnthropicException - x",
            "type": null, "param": null, "code": "503"}}),
        json!({"error_code": "BAD_REQUEST", "message": "{\"external_model_error\":\
            {\"message\":\"Too many requests, please wait before trying again.\"}}"}),
    ] {
        let told = body.to_string();
        let (outcome, server) = once(Reply::json(400, &body)).await;
        let reply = outcome.unwrap_or_else(|error| panic!("{error}: {told}"));
        assert_eq!((reply.content.as_str(), server.count()), ("recovered", 2));
    }
}

/// A run once spent $1.11 with a limit of $0.30, because 74,000 tokens were not counted.
#[tokio::test]
async fn hidden_output_is_counted_wherever_its_field_stands() {
    let usage = |more: serde_json::Value| {
        let mut usage =
            json!({"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100});
        usage
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        usage
    };
    for more in [
        json!({"reasoning_tokens": 73_997, "citation_tokens": 20_016}),
        json!({"thoughtsTokenCount": 73_997}),
        json!({"output_tokens_details": {"reasoning_tokens": 73_997}}),
        json!({"completion_tokens_details": {"thinking_tokens": 73_997}}),
    ] {
        let reply = Reply::chat("42").with_usage(usage(more.clone()));
        let reply = one(reply).await.0.unwrap();
        let usage = reply.usage.unwrap();
        assert_eq!(usage.output_tokens, 74_097, "{more}");
        assert!(reply.is_usage_doubtful, "{more}");
    }
    // There are more tokens from the cache than tokens read.
    for more in [
        json!({"total_tokens": 1100, "prompt_tokens_details": {"cached_tokens": 9000}}),
        json!({"total_tokens": 1100, "prompt_cache_hit_tokens": 9000}),
        json!({"total_tokens": 1100, "cache_creation_input_tokens": 9000}),
    ] {
        let reply = Reply::chat("42").with_usage(usage(more.clone()));
        assert!(one(reply).await.0.unwrap().is_usage_doubtful, "{more}");
    }
}

/// Messages that once ended runs at their first five prompts.
#[tokio::test]
async fn a_stated_maximum_of_output_tokens_is_kept_in_each_wording() {
    for (body, kept) in [
        (
            json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Unable to submit request because it has a maxOutputTokens value of 4096 but the supported range is from 1 (inclusive) to 2001 (exclusive). Update the value and try again."}}),
            2000,
        ),
        (
            json!({"error": {"message": "Requests with max_tokens > 2000 must have stream=true"}}),
            2000,
        ),
        (
            json!({"message": "Malformed input request: #/max_tokens: 4096 is not less or equal to 2000, please reformat your input and try again."}),
            2000,
        ),
        (
            json!({"message": "too many tokens: max tokens must be less than or equal to 2000, the maximum output for this model - received 4096."}),
            2000,
        ),
        (
            json!({"errors": [{"code": "invalid_request", "message": "Json document validation error: max_tokens cannot be higher than 2000"}]}),
            2000,
        ),
        (
            json!({"detail": [{"type": "less_than_equal", "loc": ["body", "max_tokens"], "msg": "Input should be less than or equal to 2000", "input": 4096}]}),
            2000,
        ),
    ] {
        let told = body.to_string();
        let server = FaultServer::start(move |request| match request.body["max_tokens"].as_u64() {
            Some(limit) if limit <= kept => Reply::chat("42"),
            _ => Reply::json(400, &body),
        });
        let mut connection = openai(&server);
        connection.model = "unheard-of".to_owned();
        let model = HttpModel::new(connection).unwrap();
        for _ in 0..2 {
            chat(&model, &ask("How much?"))
                .await
                .unwrap_or_else(|error| panic!("{error}: {told}"));
        }
        let sent = server.requests();
        let limits: Vec<_> = sent
            .iter()
            .map(|it| it.body["max_tokens"].as_u64().unwrap())
            .collect();
        assert_eq!(limits, [4096, kept, kept], "{told}");
    }
}
