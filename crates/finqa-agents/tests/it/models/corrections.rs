//! Tests parameters that a server refuses. They are renamed or dropped once, and later requests
//! remember it.

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

/// A verdict without an objection does not have to be an object. A server that is known, or turns
/// out, not to support schemas is therefore asked for text.
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

/// A server that accepts the prompt `long` only with a limit of at most `most` tokens. Otherwise it
/// refuses the request with this message.
fn limited(most: u64, status: u16, code: &'static str, words: &'static str) -> FaultServer {
    FaultServer::start(move |request| {
        let names = ["max_tokens", "max_completion_tokens"];
        let asked = names.iter().find_map(|name| request.body[*name].as_u64());
        let asked = asked.unwrap();
        if request.user() == "long" && asked > most {
            let words = words.replace("ASKED", &asked.to_string());
            Reply::error(
                status,
                code,
                &words.replace("TOTAL", &(asked + 5000).to_string()),
            )
        } else {
            Reply::chat("42")
        }
    })
}

fn limits(server: &FaultServer) -> Vec<u64> {
    let requests = server.requests();
    let limit = |name: &str, body: &serde_json::Value| body[name].as_u64();
    let sent = requests.iter().map(|it| {
        limit("max_tokens", &it.body).or_else(|| limit("max_completion_tokens", &it.body))
    });
    sent.map(Option::unwrap).collect()
}

fn priced(server: &FaultServer) -> HttpModel {
    let prices = r#"{"version": 1, "models": {"priced": {"input": "1", "output": "2"}}}"#;
    let mut connection = openai(server);
    connection.model = "priced".to_owned();
    let mut model = HttpModel::new(connection).unwrap();
    model.prices = Arc::new(PriceList::from_json(prices).unwrap());
    let cost = Some(1.into());
    model.budget = Arc::new(Budget::new(BudgetLimits { cost, time: None }));
    model
}

#[tokio::test]
async fn a_default_limit_that_leaves_no_room_for_the_prompt_is_lowered_for_that_prompt() {
    let context = "This model's maximum context length is 8192 tokens. However, you requested TOTAL \
                   tokens (5000 in the messages, ASKED in the completion).";
    let minute = "Request too large for model `m` on tokens per minute (TPM): Limit 8192, Requested TOTAL, \
                  please reduce your message size and try again.";
    let inputs = "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 5000 \
                  `inputs` tokens and ASKED `max_new_tokens`";
    let without = "Please reduce the length of the messages or completion.";
    for (status, code, words, lower) in [
        (400, "context_length_exceeded", context, vec![3192]),
        (413, "rate_limit_exceeded", minute, vec![3192]),
        (429, "rate_limit_exceeded", minute, vec![3192]),
        (422, "validation", inputs, vec![3192]),
        (400, "context_length_exceeded", without, vec![2048]),
        (
            413,
            "x",
            "The prompt and output tokens exceed the limit.",
            vec![2048],
        ),
    ] {
        let server = limited(3192, status, code, words);
        // A budget changes nothing, because the requests have a limit anyway.
        for model in [
            HttpModel::new(ModelConnection {
                model: "m".into(),
                ..openai(&server)
            })
            .unwrap(),
            priced(&server),
        ] {
            let before = server.count();
            chat(&model, &ask("long")).await.unwrap();
            chat(&model, &ask("short")).await.unwrap();
            let expected = [&[4096], &lower[..], &[4096]].concat();
            assert_eq!(limits(&server)[before..], expected, "{words}");
        }
    }
}

#[tokio::test]
async fn the_maximum_that_a_model_states_is_kept_for_later_prompts() {
    for words in [
        "max_tokens is too large: ASKED. This model supports at most 2000 completion tokens, whereas you \
         provided ASKED.",
        "max_tokens: ASKED > 2000, which is the maximum allowed number of output tokens for m",
        "`max_tokens` must be less than or equal to `2000`",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 2000]",
    ] {
        let server = limited(2000, 400, "invalid_request_error", words);
        let model = HttpModel::new(openai(&server)).unwrap();
        for question in ["long", "short", "long"] {
            chat(&model, &ask(question)).await.unwrap();
        }
        assert_eq!(limits(&server), [4096, 2000, 2000, 2000], "{words}");
    }
}

#[tokio::test]
async fn a_limit_of_the_users_own_that_is_too_high_is_an_error_that_says_so() {
    let context = "This model's maximum context length is 5100 tokens. However, you requested TOTAL \
                   tokens (5000 in the messages, ASKED in the completion).";
    let without = "Please reduce the length of the messages or completion.";
    for (status, asked, words) in [
        (
            413,
            4096,
            "Request too large on tokens per minute (TPM): Limit 8192, Requested TOTAL",
        ),
        (
            400,
            4096,
            "max_tokens is too large: ASKED. This model supports at most 2000 completion tokens.",
        ),
        // The prompt itself fits into the context.
        (400, 4096, context),
        (400, 256, context),
        (400, 120, context),
        (400, 256, without),
        (400, 100, without),
    ] {
        let server = limited(50, status, "x", words);
        let model = HttpModel::new(openai(&server)).unwrap();
        let request = ChatRequest {
            max_output_tokens: Some(asked),
            ..ask("long")
        };
        let error = chat(&model, &request).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::OutputLimitTooHigh);
        assert!(error.message.ends_with("; lower --max-tokens"), "{error}");
        assert_eq!(server.count(), 1);
    }
}

#[tokio::test]
async fn a_prompt_that_is_too_long_by_itself_is_said_to_be_that() {
    let own = "This model's maximum context length is 4096 tokens. However, you requested TOTAL \
               tokens (5000 in the messages, ASKED in the completion).";
    let server = limited(0, 400, "x", own);
    let request = ChatRequest {
        max_output_tokens: Some(100),
        ..ask("long")
    };
    let model = HttpModel::new(openai(&server)).unwrap();
    let error = chat(&model, &request).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::ContextTooLong, "{error}");
    for (words, requests) in [
        (
            "Request too large on tokens per minute (TPM): Limit 4000, Requested TOTAL",
            1,
        ),
        ("prompt is too long: 210000 tokens > 200000 maximum", 1),
        (
            "This model's maximum context length is 4096 tokens. However, you requested TOTAL tokens \
          (5000 in the messages, ASKED in the completion).",
            1,
        ),
        // The limits are 4096, 2048, 1024, 512 and 256.
        ("Please reduce the length of the messages or completion.", 5),
    ] {
        let server = limited(0, 400, "x", words);
        let model = HttpModel::new(openai(&server)).unwrap();
        let error = chat(&model, &ask("long")).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::ContextTooLong, "{words}");
        assert_eq!(server.count(), requests, "{words}");
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
async fn a_reply_names_the_sampling_settings_that_it_was_made_without() {
    let server = FaultServer::start(|request| {
        if request.body.get("seed").is_some() {
            Reply::unsupported("seed", "'seed' is not supported")
        } else {
            Reply::chat("{}")
        }
    });
    let model = HttpModel::new(openai(&server)).unwrap();
    // The second request is not refused, but it is sent without the seed too.
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
