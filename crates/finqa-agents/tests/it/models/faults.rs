//! Tests every way in which a call can fail: which requests are repeated, and what the error says.

use finqa_agents::llm::Scope;
use tokio::net::TcpSocket;

use super::*;

/// The call must succeed at the second attempt, and the server must have received both.
async fn recovers(reply: Reply) {
    let told = format!("{reply:?}");
    let (outcome, server) = once(reply).await;
    let answer = outcome.unwrap_or_else(|error| panic!("{error}: {told}"));
    assert_eq!(answer.content, "recovered");
    assert_eq!((answer.attempts, server.count()), (2, 2), "{told}");
}

/// The call must fail at once with this kind.
async fn fails(reply: Reply, kind: ErrorKind) -> ModelError {
    let (outcome, server) = one(reply).await;
    let error = outcome.unwrap_err();
    assert_eq!(error.kind, kind, "{error}");
    assert_eq!((error.attempts, server.count()), (1, 1), "{error}");
    error
}

#[tokio::test]
async fn transient_statuses_are_retried() {
    for status in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
        recovers(Reply::error(status, "x", "not now")).await;
        recovers(Reply::plain(status, "not now")).await;
    }
    // async-openai's own retries give up if the code is an integer.
    let integer = json!({"error": {"code": 429, "message": "slow down"}});
    recovers(Reply::json(429, &integer)).await;
    recovers(Reply::new(503, "text/html", "<html><title>busy</title>")).await;
}

#[tokio::test]
async fn broken_connections_and_bodies_are_repeated() {
    recovers(Reply::reset()).await;
    recovers(Reply::chat("42").cut_off()).await;
    recovers(Reply::chat("42").truncated()).await;
    recovers(Reply::plain(200, "<html>welcome to the hotel</html>")).await;
    recovers(Reply::json(200, &json!({"choices": []}))).await;
    recovers(Reply::json(200, &json!(null))).await;
    recovers(Reply::json(
        200,
        &json!({"error": {"code": 502, "message": "upstream"}}),
    ))
    .await;
    recovers(Reply::error(500, "x", "y").cut_off()).await;
    let deep = "[".repeat(100_000);
    recovers(Reply::plain(200, &deep)).await;
}

/// A complete answer in a body that only JavaScript's or Python's parser accepts.
#[tokio::test]
async fn a_body_that_is_almost_json_is_read_the_first_time() {
    let answer = completion("42 \\u", "stop").to_string();
    let with = |member: &str| {
        answer
            .replacen('{', &format!("{{{member},"), 1)
            .into_bytes()
    };
    let mut not_utf8 = with(r#""note": "?""#);
    let place = not_utf8.iter().position(|byte| *byte == b'?').unwrap();
    not_utf8[place] = 0xff;
    let streamed = format!("data: {}\n\ndata: [DONE]\n\n", answer);
    for body in [
        with(r#""note": "\ud83d""#),
        with(r#""logprobs": [-Infinity, NaN, 1e999]"#),
        not_utf8,
        [b"\xef\xbb\xbf", answer.as_bytes()].concat(),
        format!("\n\n\n{answer}").into_bytes(),
        streamed.into_bytes(),
    ] {
        let (outcome, server) = one(Reply::new(200, "application/json", body)).await;
        assert_eq!(outcome.unwrap().content, "42 \\u");
        assert_eq!(server.count(), 1);
    }
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut to, body).unwrap();
    to.finish().unwrap()
}

#[tokio::test]
async fn a_compressed_body_is_decoded_within_the_limit_or_its_compression_is_named() {
    let answer = completion("42", "stop").to_string().into_bytes();
    let mut deflate = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut deflate, &answer).unwrap();
    let deflate = deflate.finish().unwrap();
    let reply = |body: Vec<u8>, encoding: &str| {
        Reply::new(200, "application/json", body).header("content-encoding", encoding)
    };
    for (body, encoding) in [(gzip(&answer), "gzip"), (deflate, "deflate")] {
        let (outcome, server) = one(reply(body, encoding)).await;
        assert_eq!(outcome.unwrap().content, "42");
        assert_eq!(
            server.requests()[0].header("accept-encoding"),
            Some("identity")
        );
    }
    for (reply, words) in [
        (
            reply(gzip(&vec![b' '; 17 << 20]), "gzip"),
            "larger than allowed",
        ),
        (reply(b"\x1b\x0f\x00\xf8".to_vec(), "br"), "compressed (br)"),
        (
            reply(b"\x28\xb5\x2f\xfd".to_vec(), "zstd"),
            "compressed (zstd)",
        ),
        (reply(b"no such thing".to_vec(), "gzip"), "gzip"),
        (
            Reply::new(200, "application/json", gzip(&answer)),
            "compressed (gzip)",
        ),
    ] {
        let (outcome, server) = one(reply).await;
        let error = outcome.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Malformed);
        assert!(error.message.contains(words), "{error}");
        assert!(!error.message.contains(char::is_control), "{error}");
        assert_eq!(server.count(), 2, "{error}");
    }
}

/// The error was once "the body is not JSON: expected value at line 1 column 1" for every body.
#[tokio::test]
async fn a_reply_that_cannot_be_read_is_quoted_without_the_key() {
    let page = format!(
        "<html>sk-test-key welcomes\n you{}</html>",
        " ever so much".repeat(20)
    );
    for reply in [
        Reply::plain(200, &page),
        Reply::json(200, &json!({"welcome": page})),
    ] {
        let error = one(reply).await.0.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Malformed);
        let (_, quoted) = error.message.split_once("; it begins with `").unwrap();
        assert!(quoted.contains("[redacted] welcomes"), "{error}");
        assert!(quoted.chars().count() <= 82, "{error}");
    }
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_named_and_asked_for_twice() {
    for (reply, words) in [
        (
            Reply::plain(200, "<html><title>Sign in</title>"),
            "probably a login page (`Sign in`)",
        ),
        (
            Reply::plain(200, "{\"choices\": ["),
            "JSON that ends too early",
        ),
        (Reply::plain(200, ""), "it is empty"),
        (
            Reply::json(200, &json!({"choices": []})),
            "its `choices` are empty",
        ),
    ] {
        let (outcome, server) = one(reply).await;
        let error = outcome.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Malformed);
        assert!(error.message.contains(words), "{error}");
        assert_eq!((server.count(), error.lost), (2, 2), "{error}");
    }
}

#[tokio::test]
async fn attempts_end_and_the_last_failure_is_reported() {
    let (outcome, server) =
        one(Reply::error(503, "overloaded", "try later").header("x-request-id", "req_9")).await;
    let error = outcome.unwrap_err();
    assert_eq!(error.kind, ErrorKind::ServerError);
    assert_eq!(error.status, Some(503));
    assert_eq!(error.request_id.as_deref(), Some("req_9"));
    assert!(error.body.as_deref().unwrap().contains("try later"));
    assert_eq!((error.attempts, server.count()), (6, 6));
    assert_eq!(
        error.to_string(),
        "the provider failed: try later (status 503, request req_9, 6 attempts)"
    );
    assert_ne!(error.scope(), Scope::Run);
}

#[tokio::test]
async fn a_wrong_key_is_reported_once_and_never_shown() {
    let error = fails(
        Reply::error(
            401,
            "invalid_api_key",
            "Incorrect API key provided: sk-test-key.",
        ),
        ErrorKind::Unauthorized,
    )
    .await;
    assert_eq!(error.scope(), Scope::Run);
    assert!(!error.to_string().contains("sk-test-key"), "{error}");
    assert!(!format!("{error:?}").contains("sk-test-key"));
}

#[tokio::test]
async fn not_found_at_an_address_without_v1_hints_at_it() {
    for (path, hinted) in [("", true), ("/v1", false)] {
        let reply = Reply::error(404, "not_found", "no such path");
        let server = FaultServer::start(move |_| reply.clone());
        let settings = ModelConnection {
            base_url: server.azure_endpoint() + path,
            ..openai(&server)
        };
        let model = HttpModel::new(settings).unwrap();
        let error = chat(&model, &ask("How much?"))
            .await
            .unwrap_err()
            .to_string();
        let hint = "(the address of most servers ends in /v1)";
        assert_eq!(error.contains(hint), hinted, "{error}");
    }
}

/// OpenRouter sends this if the server behind it fails.
#[tokio::test]
async fn a_failure_returned_as_a_success_is_that_failure() {
    let inside = |code: u16| Reply::json(200, &json!({"error": {"code": code, "message": "no"}}));
    fails(inside(401), ErrorKind::Unauthorized).await;
    recovers(inside(429)).await;
}

#[tokio::test]
async fn a_filtered_prompt_has_its_own_outcome() {
    let error = fails(Reply::content_filter(), ErrorKind::ContentFilter).await;
    assert_ne!(error.scope(), Scope::Run);
    assert!(error.body.unwrap().contains("ResponsibleAIPolicyViolation"));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = FaultServer::start(|_| Reply::chat("stolen"));
    let to = format!("{}/chat/completions", elsewhere.base_url());
    let reply = Reply::plain(308, "").header("location", &to);
    let error = fails(reply, ErrorKind::Settings).await;
    assert!(error.message.contains("it redirects"), "{error}");
    assert_eq!(error.scope(), Scope::Run);
    assert_eq!(elsewhere.count(), 0);
}

#[tokio::test]
async fn a_huge_body_is_not_read_to_its_end() {
    let error = one(Reply::plain(200, &" ".repeat(17 << 20))).await.0;
    let error = error.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Malformed);
    assert!(error.to_string().contains("larger than allowed"), "{error}");
    assert!(error.body.unwrap_or_default().len() <= ModelError::MAX_BODY);
}

#[tokio::test]
async fn a_server_that_never_answers_is_a_timeout_and_asked_twice() {
    let server = FaultServer::start(|_| Reply::hang());
    let mut settings = openai(&server);
    // Long enough for a loaded machine to connect and to send the request.
    settings.timeout = Duration::from_millis(500);
    let model = HttpModel::new(settings).unwrap();
    let error = chat(&model, &ask("How much?")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Timeout);
    assert!(error.to_string().contains("within 0.5 s"), "{error}");
    assert_eq!((error.attempts, server.count()), (2, 2));
}

#[tokio::test]
async fn a_dead_host_and_one_without_encryption_are_named_after_all_attempts() {
    // Nothing listens on port 9, and the system gives it to no other test.
    let dead = "http://127.0.0.1:9/v1".to_owned();
    let plain = FaultServer::start(|_| Reply::chat(""));
    let encrypted = format!("https://{}/v1", plain.address());
    for base in [dead, encrypted] {
        let model = HttpModel::new(settings(&[("OPENAI_BASE_URL", &base)], "gpt-4o")).unwrap();
        let error = chat(&model, &ask("How much?")).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Connect);
        assert_eq!(error.attempts, 0, "nothing was sent");
        assert_eq!(error.scope(), Scope::Run);
        assert!(error.message.starts_with(&format!("{base}: ")), "{error}");
    }
}

#[tokio::test]
async fn cancelling_ends_a_wait_and_a_running_request_at_once() {
    let stop = Stop::default();
    let waiting = FaultServer::start(|_| Reply::error(503, "x", "busy"));
    let mut slow = openai(&waiting);
    slow.retry.first_delay = Duration::from_secs(600);
    slow.retry.max_delay = Duration::from_secs(600);
    slow.retry.give_up_after = Duration::from_secs(6000);
    let waiting = HttpModel::new(slow).unwrap();
    let hanging_server = FaultServer::start(|_| Reply::hang());
    let hanging = HttpModel::new(openai(&hanging_server)).unwrap();
    let request = ask("How much?");
    let (first, second, ()) = tokio::join!(
        waiting.chat(&request, &stop),
        hanging.chat(&request, &stop),
        async {
            while hanging_server.count() == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
            stop.abort.cancel();
        }
    );
    // A request that is cancelled in flight may have been billed. A call that is cancelled during a
    // wait was not billed.
    for (outcome, lost) in [(first, 0), (second, 1)] {
        let error = outcome.unwrap_err();
        let ended = (error.kind, error.attempts, error.lost);
        assert_eq!(ended, (ErrorKind::Cancelled, 1, lost));
    }
    let late = hanging.chat(&request, &stop).await.unwrap_err();
    assert_eq!((late.kind, late.attempts), (ErrorKind::Cancelled, 0));
    assert_eq!(hanging_server.count(), 1);
}

/// In each protocol, 30 % of 200 parallel prompts fail, in all known ways. Each call must end with
/// its own answer or a definite error, and replies and errors must count the requests that the
/// server received.
#[tokio::test]
async fn under_every_fault_at_once_each_call_gets_its_own_answer() {
    for connection in [openai, azure, anthropic, responses] {
        let server = FaultServer::with_faults(0.3, 11, |request| {
            Reply::chat(&format!("answer to {}", request.user())).after(Duration::from_millis(1))
        });
        let model = Arc::new(HttpModel::new(connection(&server)).unwrap());
        let calls = (0..200).map(|number| {
            let model = Arc::clone(&model);
            tokio::spawn(async move {
                let outcome = chat(&model, &ask(&format!("question {number}"))).await;
                (number, outcome)
            })
        });
        let (mut counted, mut filtered, mut repeated) = (0, 0, 0);
        for call in calls.collect::<Vec<_>>() {
            match call.await.unwrap() {
                // Anthropic has no filter, but its model may refuse to answer.
                (_, Ok(reply)) if reply.is_withheld() => {
                    counted += reply.attempts;
                    filtered += 1;
                }
                (number, Ok(reply)) => {
                    assert_eq!(reply.content, format!("answer to question {number}"));
                    counted += reply.attempts;
                    repeated += u32::from(reply.attempts > 1);
                }
                (_, Err(error)) => {
                    assert_eq!(error.kind, ErrorKind::ContentFilter, "{error}");
                    counted += error.attempts;
                    filtered += 1;
                }
            }
        }
        assert_eq!(usize::try_from(counted).unwrap(), server.count());
        assert!(filtered > 0 && repeated > 20, "{filtered} {repeated}");
    }
}

/// A drain once waited as long as the server had asked for, which was 90 s and more.
#[tokio::test]
async fn draining_ends_a_retry_after_and_lets_a_request_in_flight_be_answered() {
    let stop = Stop::default();
    let busy = FaultServer::start(|_| Reply::error(429, "x", "").header("retry-after", "3600"));
    let mut patient = openai(&busy);
    patient.retry.give_up_after = Duration::from_secs(36_000);
    let drain = stop.drain.clone();
    let mut waiting = HttpModel::new(patient).unwrap();
    waiting.observer = Some(Arc::new(move |event| {
        if let CallEvent::Retry(_) = event {
            drain.cancel();
        }
    }));
    let error = waiting.chat(&ask("How much?"), &stop).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (ErrorKind::Cancelled, 1));

    let stop = Stop::default();
    let drain = stop.drain.clone();
    let server = FaultServer::start(move |_| {
        drain.cancel();
        Reply::chat("42").after(Duration::from_millis(20))
    });
    let model = HttpModel::new(openai(&server)).unwrap();
    let reply = model.chat(&ask("How much?"), &stop).await.unwrap();
    assert_eq!(reply.content, "42");
}

#[tokio::test]
async fn requests_that_may_have_been_billed_are_counted_and_refused_ones_are_not() {
    for (reply, lost) in [
        (Reply::chat("42").truncated(), 1),
        (Reply::reset(), 1),
        (Reply::error(500, "x", "sorry"), 1),
        (Reply::error(503, "x", "busy"), 0),
    ] {
        let told = format!("{reply:?}");
        assert_eq!(once(reply).await.0.unwrap().lost, lost, "{told}");
    }
    // An earlier attempt was lost, although the last one was refused.
    let server = FaultServer::start(|request| match request.repeat {
        0 => Reply::reset(),
        _ => Reply::error(401, "x", "revoked"),
    });
    let model = HttpModel::new(openai(&server)).unwrap();
    let error = chat(&model, &ask("How much?")).await.unwrap_err();
    assert_eq!(
        (error.kind.clone(), error.lost),
        (ErrorKind::Unauthorized, 1)
    );
}

#[tokio::test]
async fn a_403_and_after_an_answer_a_404_affects_only_its_own_request() {
    for (status, scope) in [(403, Scope::Request), (404, Scope::Run)] {
        let server = FaultServer::start(move |request| match request.user().as_str() {
            "forbidden" => Reply::error(status, "x", "not this one"),
            _ => Reply::chat("42"),
        });
        let model = HttpModel::new(openai(&server)).unwrap();
        let first = chat(&model, &ask("forbidden")).await.unwrap_err();
        assert_eq!(first.scope(), scope, "{first}");
        chat(&model, &ask("How much?")).await.unwrap();
        let later = chat(&model, &ask("forbidden")).await.unwrap_err();
        assert_eq!(later.scope(), Scope::Request, "{later}");
    }
}

/// Each status is tried before and after a first answer.
#[tokio::test]
async fn a_status_with_unknown_words_ends_a_run_only_if_every_request_would_meet_it() {
    use Scope::{Provider, Request, Run};
    for status in 400..600 {
        let server = FaultServer::start(move |request| match request.user().as_str() {
            "odd" => Reply::plain(status, "frobnicated"),
            _ => Reply::chat("42"),
        });
        let mut settings = openai(&server);
        settings.retry.max_attempts = 1;
        let model = HttpModel::new(settings).unwrap();
        let first = chat(&model, &ask("odd")).await.unwrap_err();
        chat(&model, &ask("How much?")).await.unwrap();
        let later = chat(&model, &ask("odd")).await.unwrap_err();
        let expected = match status {
            401 | 402 => [Run, Run],
            404 | 405 | 410 => [Run, Request],
            408 | 409 | 425 | 429 | 498 | 500.. => [Provider, Provider],
            _ => [Request, Request],
        };
        assert_eq!([first.scope(), later.scope()], expected, "{first}");
        assert!(first.to_string().contains("frobnicated"), "{first}");
    }
}

#[tokio::test]
async fn a_host_that_dies_after_an_answer_is_given_time_and_ends_the_run_then() {
    let server = FaultServer::start(|_| Reply::chat("42"));
    let mut connection = openai(&server);
    connection.retry.give_up_after = Duration::from_secs(2);
    let model = HttpModel::new(connection).unwrap();
    chat(&model, &ask("How much?")).await.unwrap();
    let address = server.address();
    drop(server);
    // Bound but not listening, so that no other test's server gets the port.
    let held = TcpSocket::new_v4().unwrap();
    held.set_reuseaddr(true).unwrap();
    held.bind(address).unwrap();
    let mut other = ask("How much?");
    other.origin.question = "other#0".to_owned();
    let alone = chat(&model, &ask("How much?")).await.unwrap_err();
    assert_eq!(alone.scope(), Scope::Provider, "{alone}");
    let error = chat(&model, &other).await.unwrap_err();
    assert_eq!(error.scope(), Scope::Run, "{error}");
    let said = "no answer for 2s (give_up_after)";
    assert!(error.message.ends_with(said), "{error}");
}
