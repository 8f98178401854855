//! Tests the bytes that are sent, and the reply that a good answer becomes.

use super::*;

#[tokio::test]
async fn openai_gets_its_path_key_and_body() {
    let server = FaultServer::start(|_| Reply::chat("42").header("x-request-id", "req_1"));
    let model = HttpModel::new(openai(&server)).unwrap();
    let reply = chat(&model, &ask("How much?")).await.unwrap();

    assert_eq!(reply.content, "42");
    assert_eq!(reply.finish, FinishReason::Stop);
    assert_eq!(reply.model, "served-model");
    assert_eq!(reply.request_id.as_deref(), Some("req_1"));
    assert_eq!(reply.attempts, 1);
    assert_eq!(
        reply.usage,
        Some(Usage {
            input_tokens: 100,
            output_tokens: 2,
            cached_input_tokens: 40,
            ..Usage::default()
        })
    );

    let seen = server.requests();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].method, "POST");
    assert_eq!(seen[0].path, "/v1/chat/completions");
    assert_eq!(seen[0].key(), Some("sk-test-key"));
    assert_eq!(
        seen[0].body,
        json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "How much?"}],
            "max_tokens": 4096})
    );
}

#[tokio::test]
async fn azure_gets_the_deployment_in_the_path_and_its_own_key_header() {
    let server = FaultServer::start(|request| {
        if request.query != "api-version=2024-10-21" {
            return Reply::error(404, "404", "Resource not found");
        }
        Reply::chat("42").header("apim-request-id", "apim_1")
    });
    let model = HttpModel::new(azure(&server)).unwrap();
    assert_eq!(model.settings().provider, Provider::Azure);
    let reply = chat(&model, &ask("How much?")).await.unwrap();
    assert_eq!(reply.request_id.as_deref(), Some("apim_1"));
    let seen = &server.requests()[0];
    assert_eq!(
        seen.path,
        "/openai/deployments/my-deployment/chat/completions"
    );
    assert_eq!(seen.header("api-key"), Some("azure-test-key"));
    assert_eq!(seen.header("authorization"), None);
}

#[tokio::test]
async fn azures_v1_path_names_the_deployment_in_the_body() {
    let server = FaultServer::start(|_| Reply::chat("42"));
    let endpoint = format!("{}/openai/v1/", server.azure_endpoint());
    let model = HttpModel::new(settings(
        &[
            ("AZURE_OPENAI_ENDPOINT", &endpoint),
            ("AZURE_OPENAI_API_KEY", "azure-test-key"),
        ],
        "my-deployment",
    ))
    .unwrap();
    chat(&model, &ask("How much?")).await.unwrap();
    let seen = &server.requests()[0];
    assert_eq!(seen.path, "/openai/v1/chat/completions");
    assert_eq!(seen.query, "");
    assert_eq!(seen.body["model"], "my-deployment");
    assert_eq!(seen.key(), Some("azure-test-key"));
}

#[tokio::test]
async fn a_server_on_this_machine_needs_no_key() {
    let server = FaultServer::start(|_| Reply::chat("42"));
    let settings = settings(&[("OPENAI_BASE_URL", &server.base_url())], "qwen");
    let model = HttpModel::new(settings).unwrap();
    chat(&model, &ask("How much?")).await.unwrap();
    assert_eq!(server.requests()[0].key(), Some("none"));
}

#[tokio::test]
async fn a_refusal_and_a_filtered_answer_are_outcomes_and_not_repeated() {
    let mut refused = completion("", "stop");
    refused["choices"][0]["message"] =
        json!({"role": "assistant", "content": null, "refusal": "I can't."});
    let (outcome, server) = one(Reply::json(200, &refused)).await;
    let reply = outcome.unwrap();
    assert_eq!(reply.refusal.as_deref(), Some("I can't."));
    assert!(reply.is_withheld());
    assert_eq!(server.count(), 1);

    let (outcome, server) = one(Reply::json(200, &completion("ha", "content_filter"))).await;
    let reply = outcome.unwrap();
    assert_eq!(reply.finish, FinishReason::ContentFilter);
    assert_eq!((reply.content.as_str(), reply.is_withheld()), ("ha", true));
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn an_unknown_finish_reason_and_service_tier_are_not_failures() {
    let mut body = completion("42", "model_overloaded");
    body["service_tier"] = json!("galactic");
    let (outcome, _server) = one(Reply::json(200, &body)).await;
    let reply = outcome.unwrap();
    assert_eq!(reply.finish, FinishReason::Other("model_overloaded".into()));
    assert_eq!(reply.service_tier.as_deref(), Some("galactic"));
    assert_eq!(reply.unlisted_tier(), Some("galactic"));
}

#[tokio::test]
async fn another_model_is_recorded_and_a_version_or_a_deployment_is_none() {
    for (connection, served, asked) in [
        (
            openai as fn(&FaultServer) -> ModelConnection,
            "gpt-4o-2024-08-06",
            None,
        ),
        (openai, "gpt-4o-mini", Some("gpt-4o")),
        (responses, "gpt-4.1", Some("gpt-4o")),
        (anthropic, "claude-sonnet-4-5-20250929", None),
        (anthropic, "claude-haiku-4-5", Some("claude-sonnet-4-5")),
        (azure, "gpt-4o-2024-08-06", None),
    ] {
        let server = FaultServer::start(move |request| {
            let body = match request.protocol() {
                "messages" => json!({"content": [{"type": "text", "text": "42"}],
                    "stop_reason": "end_turn", "model": served,
                    "usage": {"input_tokens": 9, "output_tokens": 1, "service_tier": "priority"}}),
                "responses" => json!({"status": "completed", "model": served, "output": [
                    {"type": "message", "content": "42"}], "service_tier": "priority"}),
                _ => {
                    let mut body = completion("42", "stop");
                    body["model"] = served.into();
                    body["service_tier"] = "priority".into();
                    body
                }
            };
            Reply::json(200, &body)
        });
        let model = HttpModel::new(connection(&server)).unwrap();
        let reply = chat(&model, &ask("How much?")).await.unwrap();
        assert_eq!(
            (reply.model.as_str(), reply.asked_model.as_deref()),
            (served, asked)
        );
        assert_eq!(reply.unlisted_tier(), Some("priority"), "{served}");
    }
}

/// Runs another test of this binary in a process with these variables.
#[test]
fn neither_certificates_nor_a_proxy_are_needed_for_a_server_on_this_machine() {
    let no_certificates = [
        ("SSL_CERT_FILE", "/nonexistent"),
        ("SSL_CERT_DIR", "/nonexistent"),
    ];
    let dead = "http://127.0.0.1:9";
    let proxy = [
        ("HTTP_PROXY", dead),
        ("http_proxy", dead),
        ("ALL_PROXY", dead),
        ("NO_PROXY", ""),
        ("no_proxy", ""),
    ];
    for variables in [&no_certificates[..], &proxy] {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "models::wire::openai_gets_its_path_key_and_body"])
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && told.contains("1 passed"),
            "{told}"
        );
    }
}

/// A small model once repeated itself until the timeout.
#[tokio::test]
async fn a_reply_is_limited_and_more_so_where_the_model_does_not_reason() {
    let server = FaultServer::start(|request| match request.body["max_tokens"].as_u64() {
        // vLLM refuses a limit that is as large as its context.
        Some(4096) if request.body["model"] == "small" => Reply::error(
            400,
            "BadRequestError",
            "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum \
             context length is 4096 tokens and your request has 1500 input tokens.",
        ),
        _ => Reply::chat("42"),
    });
    let mut own = ask("How much?");
    own.max_output_tokens = Some(9);
    let mut limits = Vec::new();
    for (name, request) in [
        ("m", ask("a")),
        ("o3", ask("b")),
        ("small", ask("c")),
        ("m", own),
    ] {
        let mut connection = openai(&server);
        connection.model = name.to_owned();
        let model = HttpModel::new(connection).unwrap();
        chat(&model, &request).await.unwrap();
        let body = server.requests().pop().unwrap().body;
        let limit = ["max_tokens", "max_completion_tokens"].map(|key| body[key].as_u64());
        limits.push(limit[0].or(limit[1]));
    }
    assert_eq!(limits, [Some(4096), Some(32_768), Some(2596), Some(9)]);
}
