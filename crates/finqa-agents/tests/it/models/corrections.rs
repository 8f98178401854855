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
    let told = Arc::new(Mutex::new(Vec::new()));
    let model = {
        let mut settings = openai(&server);
        settings.model = "brand-new".into();
        let told = Arc::clone(&told);
        HttpModel::new(settings)
            .unwrap()
            .with_observer(Arc::new(move |_, event| {
                if let CallEvent::Correction(correction) = event {
                    told.lock().unwrap().push(correction.parameter);
                }
            }))
    };
    let reply = chat(&model, &full_request()).await.unwrap();
    assert_eq!((reply.attempts, server.count()), (3, 3));
    assert_eq!(*told.lock().unwrap(), ["max_tokens", "temperature"]);

    let reply = chat(&model, &full_request()).await.unwrap();
    assert_eq!((reply.attempts, server.count()), (1, 4), "it is remembered");
    let last = &server.requests()[3].body;
    assert_eq!(last["max_completion_tokens"], 500);
    assert_eq!(last["seed"], 1);
}

#[tokio::test]
async fn a_schema_steps_down_to_an_object_and_to_text() {
    for (refused, left) in [
        ("json_schema", json!({"type": "json_object"})),
        ("json", json!(null)),
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
        let model = HttpModel::new(openai(&server)).unwrap();
        chat(&model, &full_request()).await.unwrap();
        assert_eq!(
            server.requests().last().unwrap().body["response_format"],
            left
        );
    }
}

/// A verdict without an objection is not an object: a server without schemas, known or learnt,
/// is asked for text.
#[tokio::test]
async fn a_schema_with_a_reply_in_text_skips_the_object() {
    let mut verdict = full_request();
    verdict.format = ReplyFormat::JsonSchema {
        name: "verdict".into(),
        schema: json!({"type": "object"}),
        strict: true,
        or_text: true,
    };
    for (name, formats) in [
        (
            "m",
            vec![json!("json_schema"), json!(null), json!("json_object")],
        ),
        ("gpt-4-turbo", vec![json!(null), json!("json_object")]),
    ] {
        let server =
            FaultServer::start(
                |request| match request.body["response_format"]["type"].as_str() {
                    Some("json_schema") => Reply::error(
                        400,
                        "invalid_request_error",
                        "response_format of this type is not supported",
                    ),
                    _ => Reply::chat("ALL_OK"),
                },
            );
        let mut settings = openai(&server);
        settings.model = name.into();
        let model = HttpModel::new(settings).unwrap();
        chat(&model, &verdict).await.unwrap();
        chat(&model, &full_request()).await.unwrap();
        let requests = server.requests();
        let sent = requests
            .iter()
            .map(|request| request.body["response_format"]["type"].clone());
        assert_eq!(sent.collect::<Vec<_>>(), formats);
    }
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
async fn concurrent_calls_learn_from_each_other() {
    let server = FaultServer::start(|request| {
        let body = &request.body;
        if body.get("temperature").is_some() {
            Reply::unsupported("temperature", "'temperature' is not supported")
        } else if body.get("seed").is_some() {
            Reply::unsupported("seed", "'seed' is not supported")
        } else {
            Reply::chat("{}")
        }
        .after(Duration::from_millis(5))
    });
    let model = Arc::new(HttpModel::new(openai(&server)).unwrap());
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let model = Arc::clone(&model);
            tokio::spawn(async move { chat(&model, &full_request()).await })
        })
        .collect();
    let mut counted = 0;
    for call in calls {
        counted += call.await.unwrap().unwrap().attempts;
    }
    assert_eq!(usize::try_from(counted).unwrap(), server.count());
    let reply = chat(&model, &full_request()).await.unwrap();
    assert_eq!(reply.attempts, 1);
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
