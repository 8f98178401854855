//! Parameters that a server refuses: renamed or dropped once, then remembered.

use super::*;

fn full_request() -> ChatRequest {
    ChatRequest {
        temperature: Some(0.0),
        max_output_tokens: Some(500),
        seed: Some(1),
        format: ReplyFormat::JsonSchema {
            name: "answer".into(),
            schema: json!({"type": "object"}),
            strict: true,
            or_text: false,
        },
        ..ChatRequest::new(
            "analyst",
            vec![ChatMessage::system("s"), ChatMessage::user("u")],
        )
    }
}

#[tokio::test]
async fn an_unknown_reasoning_model_is_learnt_in_one_call() {
    let server = FaultServer::start(|request| {
        let body = &request.body;
        if body.get("max_tokens").is_some() {
            Reply::unsupported(
                "max_tokens",
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            )
        } else if body.get("temperature").is_some() {
            Reply::unsupported(
                "temperature",
                "Unsupported value: 'temperature' does not support 0 with this model.",
            )
        } else {
            Reply::chat("{}")
        }
    });
    let mut settings = openai(&server);
    settings.model = "brand-new".into();
    let model = HttpModel::new(settings).unwrap();
    let reply = chat(&model, &full_request()).await.unwrap();
    assert_eq!((reply.attempts, server.count()), (3, 3));

    let reply = chat(&model, &full_request()).await.unwrap();
    assert_eq!((reply.attempts, server.count()), (1, 4), "it is remembered");
    let last = &server.requests()[3].body;
    assert_eq!(last["max_completion_tokens"], 500);
    assert_eq!(last["seed"], 1);
}

/// A verdict without an objection is not an object: a server without schemas, known or learnt,
/// is asked for text.
#[tokio::test]
async fn a_schema_steps_down_to_an_object_and_to_text_but_for_a_verdict_at_once() {
    let mut verdict = full_request();
    if let ReplyFormat::JsonSchema { or_text, .. } = &mut verdict.format {
        *or_text = true;
    }
    let [schema, object, text] = [json!("json_schema"), json!("json_object"), json!(null)];
    for (model, refused, verdict_too, formats) in [
        ("m", "json_schema", false, vec![&schema, &object]),
        ("m", "json", false, vec![&schema, &object, &text]),
        ("m", "json_schema", true, vec![&schema, &text, &object]),
        ("gpt-4-turbo", "json_schema", true, vec![&text, &object]),
    ] {
        let server =
            FaultServer::start(move |request| {
                match request.body["response_format"]["type"].as_str() {
                    Some(kind) if kind.starts_with(refused) => Reply::error(
                        400,
                        "invalid_request_error",
                        "response_format of this type is not supported",
                    ),
                    _ => Reply::chat("{}"),
                }
            });
        let mut settings = openai(&server);
        settings.model = model.into();
        let model = HttpModel::new(settings).unwrap();
        if verdict_too {
            chat(&model, &verdict).await.unwrap();
        }
        chat(&model, &full_request()).await.unwrap();
        let requests = server.requests();
        let sent = requests
            .iter()
            .map(|request| &request.body["response_format"]["type"]);
        assert_eq!(sent.collect::<Vec<_>>(), formats);
    }
}

/// Every later request of the run went without a limit, and was refused under `--max-cost`.
#[tokio::test]
async fn one_prompt_that_is_too_long_leaves_the_limit_of_the_others() {
    let server = FaultServer::start(|request| {
        match request.user() == "long" && request.body["max_tokens"].is_u64() {
            true => Reply::error(
                400,
                "x",
                "This model's maximum context length is 8192 tokens. However, you requested 9000 \
                 tokens (4904 in the messages, 4096 in the completion).",
            ),
            false => Reply::chat("42"),
        }
    });
    let prices = r#"{"version": 1, "models": {"priced": {"input": "1", "output": "2"}}}"#;
    let mut connection = openai(&server);
    connection.model = "priced".to_owned();
    let mut model = HttpModel::new(connection).unwrap();
    model.prices = Arc::new(PriceList::from_json(prices).unwrap());
    chat(&model, &ask("long")).await.unwrap();
    chat(&model, &ask("short")).await.unwrap();
    let cost = Some(1.into());
    model.budget = Arc::new(Budget::new(BudgetLimits { cost, time: None }));
    let error = chat(&model, &ask("long")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::ContextTooLong);
    chat(&model, &ask("short")).await.unwrap();
    let requests = server.requests();
    let sent = requests.iter().map(|it| it.body["max_tokens"].as_u64());
    let limit = Some(4096);
    assert_eq!(sent.collect::<Vec<_>>(), [limit, None, limit, limit, limit]);
}

#[tokio::test]
async fn a_server_that_refuses_both_names_is_not_asked_forever() {
    let server = FaultServer::start(|request| {
        let name = if request.body.get("max_tokens").is_some() {
            "max_tokens"
        } else {
            "max_completion_tokens"
        };
        Reply::unsupported(name, &format!("Unsupported parameter: '{name}'"))
    });
    let model = HttpModel::new(openai(&server)).unwrap();
    let error = chat(&model, &full_request()).await.unwrap_err();
    assert!(matches!(error.kind, ErrorKind::BadRequest { .. }));
    assert_eq!((error.attempts, server.count()), (2, 2));
}

#[tokio::test]
async fn a_reply_names_the_sampling_settings_that_it_was_made_without() {
    let server = FaultServer::start(|request| {
        if request.body.get("seed").is_some() {
            Reply::unsupported("seed", "'seed' is not supported")
        } else {
            Reply::chat("{}")
        }
    });
    let model = HttpModel::new(openai(&server)).unwrap();
    // The second request is not refused any more, and lacks it nevertheless.
    for _ in 0..2 {
        let reply = chat(&model, &full_request()).await.unwrap();
        assert_eq!(reply.left_out, ["seed"]);
    }
    let plain = chat(&model, &ask("How much?")).await.unwrap();
    assert!(plain.left_out.is_empty(), "nothing was asked for");

    let mut published = openai(&server);
    published.model = "o3-mini".into();
    let model = HttpModel::new(published).unwrap();
    let reply = chat(&model, &full_request()).await.unwrap();
    assert_eq!(reply.left_out, ["temperature", "seed"]);
}
