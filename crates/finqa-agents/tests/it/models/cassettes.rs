//! Cassettes: what was recorded from a server that breaks on purpose is replayed without
//! one, down to attempts, latency and errors.

use std::path::PathBuf;

use finqa_agents::llm::{Cassette, CassetteError, CassetteRecorder, CassetteReplay, RequestOrigin};

use super::*;

struct Tape {
    folder: tempfile::TempDir,
}

impl Tape {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("run.jsonl")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.path()).unwrap()
    }

    fn recorder(&self) -> Cassette {
        let recorder = CassetteRecorder::create(&self.path(), Vec::new()).unwrap();
        recorder.begin(None);
        Cassette::Record(Arc::new(recorder))
    }

    fn replay(&self) -> Cassette {
        Cassette::Replay(Arc::new(CassetteReplay::open(&self.path()).unwrap()))
    }

    /// A model that is recorded from `server`.
    fn recorded(&self, server: &FaultServer) -> HttpModel {
        let model = HttpModel::new(openai(server)).unwrap();
        model.with_cassette(Some(self.recorder()))
    }

    /// The same model without a server and with another key.
    fn replayed(&self) -> HttpModel {
        let vars = [
            ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1"),
            ("OPENAI_API_KEY", "none"),
        ];
        let model = HttpModel::new(settings(&vars, "gpt-4o")).unwrap();
        model.with_cassette(Some(self.replay()))
    }
}

fn asked_by(question: &str, call: u32, text: &str) -> ChatRequest {
    ChatRequest {
        origin: RequestOrigin {
            question: question.to_owned(),
            call,
            ..RequestOrigin::default()
        },
        ..ask(text)
    }
}

/// What is known of an error, without the transport's own type.
fn facts(error: &ModelError) -> String {
    let ModelError {
        kind,
        message,
        status,
        request_id,
        body,
        attempts,
        lost,
        latency,
        ..
    } = error;
    format!("{kind:?} {message} {status:?} {request_id:?} {body:?} {attempts} {lost} {latency:?}")
}

/// One call to a server that gives these replies in turn, recorded and replayed alike.
async fn alike(replies: Vec<Reply>) {
    let told = format!("{replies:?}");
    let server = FaultServer::start(move |request| {
        let last = replies.len() - 1;
        replies[request.repeat.min(last)].clone()
    });
    let tape = Tape::new();
    let live = chat(&tape.recorded(&server), &ask("How much?")).await;
    let sent = server.count();
    let replayed = chat(&tape.replayed(), &ask("How much?")).await;
    assert_eq!(server.count(), sent);
    match (live, replayed) {
        (Ok(live), Ok(replayed)) => assert_eq!(live, replayed, "{told}"),
        (Err(live), Err(replayed)) => {
            // The address and its time limit are the replay's own.
            let place = |error: &ModelError| facts(error).replace(&server.base_url(), "ADDRESS");
            let other = facts(&replayed).replace("http://127.0.0.1:9/v1", "ADDRESS");
            assert_eq!(place(&live), other, "{told}");
        }
        (live, replayed) => panic!("{told}: {live:?} {replayed:?}"),
    }
}

#[tokio::test]
async fn a_replay_repeats_replies_retries_and_errors() {
    let limited =
        Reply::error(429, "rate_limit_exceeded", "slow down").header("retry-after", "0.05");
    let chat = Reply::chat("42").header("x-request-id", "req_1");
    alike(vec![chat.clone()]).await;
    alike(vec![
        limited.clone(),
        Reply::error(500, "x", "y"),
        chat.clone(),
    ])
    .await;
    alike(vec![
        Reply::reset(),
        Reply::chat("42").cut_off(),
        chat.clone(),
    ])
    .await;
    alike(vec![Reply::plain(200, "<html>hotel</html>"), chat.clone()]).await;
    alike(vec![limited]).await;
    alike(vec![Reply::error(400, "invalid_prompt", "no")]).await;
    alike(vec![Reply::error(401, "invalid_api_key", "no")]).await;
    alike(vec![Reply::plain(503, "busy")]).await;
    alike(vec![Reply::json(
        200,
        &json!({"error": {"code": 502, "message": "upstream"}}),
    )])
    .await;
    let unsupported = Reply::unsupported("seed", "Unsupported parameter: 'seed'");
    alike(vec![unsupported, chat]).await;
}

#[tokio::test]
async fn a_refused_connection_and_a_timeout_are_replayed() {
    let silent = FaultServer::start(|_| Reply::hang());
    let gone = {
        let server = FaultServer::start(|_| Reply::chat("gone"));
        server.base_url()
    };
    for (base, kind) in [
        (silent.base_url(), ErrorKind::Timeout),
        (gone, ErrorKind::Connect),
    ] {
        let tape = Tape::new();
        let mut connection = settings(
            &[("OPENAI_BASE_URL", &base), ("OPENAI_API_KEY", "k")],
            "gpt-4o",
        );
        connection.timeouts.attempt = Duration::from_millis(50);
        connection.retry.max_attempts = 2;
        let model = HttpModel::new(connection).unwrap();
        let model = model.with_cassette(Some(tape.recorder()));
        let live = chat(&model, &ask("How much?")).await.unwrap_err();
        let replayed = chat(&tape.replayed(), &ask("How much?")).await.unwrap_err();
        assert_eq!(live.kind, kind, "{live}");
        assert_eq!(
            (
                replayed.kind, replayed.attempts, replayed.lost, replayed.latency
            ),
            (live.kind, live.attempts, live.lost, live.latency)
        );
    }
}

/// The first calls at the same time all learn what the server refuses; a replay one by one
/// must not learn it from the first alone.
#[tokio::test]
async fn a_correction_is_replayed_for_every_call_that_made_it() {
    let server = FaultServer::start(|request| match request.body.get("temperature") {
        Some(_) => Reply::unsupported("temperature", "Unsupported value: 'temperature'"),
        None => Reply::chat("42"),
    });
    let tape = Tape::new();
    let requests: Vec<ChatRequest> = (0..4)
        .map(|n| ChatRequest {
            temperature: Some(0.0),
            ..asked_by(&format!("q{n}"), 0, &format!("How much is {n}?"))
        })
        .collect();
    let model = tape.recorded(&server);
    let live =
        futures::future::join_all(requests.iter().map(|request| chat(&model, request))).await;
    let attempts = |replies: &[Result<ChatReply, ModelError>]| {
        let replies = replies.iter().map(|reply| reply.as_ref().unwrap().attempts);
        replies.collect::<Vec<_>>()
    };
    assert_eq!(attempts(&live), [2; 4]);
    let model = tape.replayed();
    let mut replayed = Vec::new();
    for request in requests.iter().rev() {
        replayed.push(chat(&model, request).await);
    }
    replayed.reverse();
    for (live, replayed) in live.iter().zip(&replayed) {
        assert_eq!(live.as_ref().unwrap(), replayed.as_ref().unwrap());
    }
}

#[tokio::test]
async fn equal_requests_get_the_replies_of_who_asked_and_else_in_recorded_order() {
    let server = FaultServer::start(|request| Reply::chat(&request.repeat.to_string()));
    let tape = Tape::new();
    let model = tape.recorded(&server);
    for (question, repeat) in [("a", 0), ("b", 0), ("a", 1)] {
        chat(&model, &asked_by(question, repeat, "Again?"))
            .await
            .unwrap();
    }
    let model = tape.replayed();
    let mut replies = Vec::new();
    for (question, repeat) in [("a", 1), ("b", 0), ("c", 0)] {
        let reply = chat(&model, &asked_by(question, repeat, "Again?")).await;
        replies.push(reply.unwrap().content);
    }
    assert_eq!(replies, ["2", "1", "0"]);
    let error = chat(&model, &asked_by("d", 0, "Again?")).await.unwrap_err();
    assert_eq!((&error.kind, error.attempts), (&ErrorKind::NotRecorded, 0));
    assert!(
        error.message.contains("analyst of d asks once more"),
        "{error}"
    );
}

#[tokio::test]
async fn a_miss_names_the_nearest_recorded_request_and_its_fields() {
    let server = FaultServer::start(|_| Reply::chat("42"));
    let tape = Tape::new();
    let model = tape.recorded(&server);
    for (question, text) in [("a", "What was revenue in 2008?"), ("b", "What is 2 + 2?")] {
        chat(&model, &asked_by(question, 0, text)).await.unwrap();
    }
    let request = ChatRequest {
        temperature: Some(0.7),
        ..asked_by("a", 0, "What was revenue in 2009?")
    };
    let error = chat(&tape.replayed(), &request).await.unwrap_err();
    assert_eq!(
        (error.kind.clone(), error.scope()),
        (ErrorKind::NotRecorded, Scope::Run)
    );
    let path = tape.path();
    assert_eq!(
        error.to_string(),
        format!(
            "the request is not recorded: {} does not hold the request of analyst of a; the nearest, of \
             analyst of a, differs in /messages/0/content (\"…venue in 2008?\" stored, \"…venue in 2009?\" \
             asked), /temperature (absent stored, 0.7 asked)",
            path.display()
        )
    );
}

#[tokio::test]
async fn a_killed_recording_is_read_and_continued_after_its_last_whole_line() {
    let server = FaultServer::start(|_| Reply::chat("42"));
    let tape = Tape::new();
    let model = tape.recorded(&server);
    for question in ["a", "b"] {
        chat(&model, &asked_by(question, 0, question))
            .await
            .unwrap();
    }
    drop(model);
    let whole = tape.text();
    std::fs::write(tape.path(), &whole[..whole.len() - 20]).unwrap();
    let replay = CassetteReplay::open(&tape.path()).unwrap();
    assert!(replay.is_cut());
    let model = tape.replayed();
    assert!(chat(&model, &asked_by("a", 0, "a")).await.is_ok());
    assert!(chat(&model, &asked_by("b", 0, "b")).await.is_err());

    let recorder = CassetteRecorder::append(&tape.path(), Vec::new()).unwrap();
    let model = HttpModel::new(openai(&server)).unwrap();
    let model = model.with_cassette(Some(Cassette::Record(Arc::new(recorder))));
    chat(&model, &asked_by("b", 0, "b")).await.unwrap();
    assert!(!CassetteReplay::open(&tape.path()).unwrap().is_cut());
    assert!(chat(&tape.replayed(), &asked_by("b", 0, "b")).await.is_ok());
}

/// The rounds of a question are calls of one node, and only the first meets the refusal.
#[tokio::test]
async fn each_call_of_a_question_begins_in_the_dialect_that_it_was_recorded_in() {
    let server = FaultServer::start(|request| match request.body.get("temperature") {
        Some(_) => Reply::unsupported("temperature", "Unsupported value: 'temperature'"),
        None => Reply::chat("42"),
    });
    let tape = Tape::new();
    let requests = [0, 1, 2].map(|call| ChatRequest {
        temperature: Some(0.0),
        ..asked_by("a", call, &format!("Round {call}?"))
    });
    let (model, mut live) = (tape.recorded(&server), Vec::new());
    for request in &requests {
        live.push(chat(&model, request).await.unwrap());
    }
    let (model, mut replayed) = (tape.replayed(), Vec::new());
    for request in &requests {
        replayed.push(chat(&model, request).await.unwrap());
    }
    assert_eq!(live, replayed);
    assert_eq!([live[0].attempts, live[1].attempts], [2, 1]);
}

/// A reply that was recorded but lost with its process before the journal held it is asked
/// for again: the run has the later one.
#[tokio::test]
async fn of_two_replies_to_one_call_the_later_is_replayed() {
    let server = FaultServer::start(|request| Reply::chat(&request.repeat.to_string()));
    let tape = Tape::new();
    let model = tape.recorded(&server);
    for _ in 0..2 {
        chat(&model, &asked_by("a", 0, "Again?")).await.unwrap();
    }
    let reply = chat(&tape.replayed(), &asked_by("a", 0, "Again?")).await;
    assert_eq!(reply.unwrap().content, "1");
}

#[test]
fn what_is_not_a_whole_cassette_is_refused_in_one_line() {
    let tape = Tape::new();
    let path = tape.path();
    let open = || CassetteReplay::open(&path).unwrap_err();
    assert!(matches!(open(), CassetteError::Read { .. }));
    assert!(matches!(
        CassetteReplay::open(tape.folder.path()).unwrap_err(),
        CassetteError::Read { .. }
    ));
    let header = r#"{"cassette":{"version":1,"program":"convfinqa"}}"#;
    let row = r#"{"row":{"index":0,"latency":0.5,"ordinal":1,"at":1}}"#;
    for (text, words) in [
        (String::new(), "is not a cassette: it is empty"),
        ("id,question\n1,2\n".into(), "is not a cassette"),
        (format!("{row}\n{header}\n"), "is not a cassette"),
        (
            header.replace(":1,", ":2,") + "\n",
            "is a cassette of version 2; this program reads version 1",
        ),
        (
            format!("{header}\n{{\"call\"\n{row}\n"),
            "is damaged in line 2",
        ),
        (format!("{header}\n{header}\n"), "is damaged in line 2"),
        (
            format!("{header}\n{}\n", row.replace("\"at\"", "\"when\"")),
            "unknown field `when`",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = open();
        assert!(
            error.is_data() && error.to_string().contains(words),
            "{error}"
        );
    }
    std::fs::write(&path, "mine").unwrap();
    let error = CassetteRecorder::create(&path, Vec::new()).unwrap_err();
    assert!(error.to_string().contains("exists"), "{error}");
    assert_eq!(tape.text(), "mine");
}

#[test]
fn a_recording_that_never_began_leaves_no_file() {
    let tape = Tape::new();
    drop(CassetteRecorder::create(&tape.path(), Vec::new()).unwrap());
    assert!(!tape.path().exists());
}

const KEY: &str = "sk-planted-0123456789abcdef";

/// A server that repeats what it was sent, in each place that a cassette keeps.
#[tokio::test]
async fn a_cassette_holds_no_secret() {
    let tape = Tape::new();
    let start = "\\u0073\\u006b\\u002d";
    let escaped: String = KEY
        .chars()
        .map(|c| format!("\\u{:04x}", u32::from(c)))
        .collect();
    let server = FaultServer::start(move |request| match request.repeat {
        0 => Reply::error(500, "x", KEY).header("x-request-id", KEY),
        1 => Reply::plain(503, KEY),
        2 => Reply::new(
            500,
            "application/json",
            format!(r#"{{"error": {{"message": "{escaped}"}}}}"#),
        ),
        _ => Reply::chat(&format!("{KEY} org-planted-1 proj-planted-1"))
            .header("x-ratelimit-remaining", KEY)
            .header("set-cookie", "sk-planted-cookie"),
    });
    let base = format!("http://{}/{KEY}/v1", server.address());
    let vars = [
        ("OPENAI_BASE_URL", base.as_str()),
        ("OPENAI_API_KEY", KEY),
        ("OPENAI_ORG_ID", "org-planted-1"),
        ("OPENAI_PROJECT_ID", "proj-planted-1"),
    ];
    let model = HttpModel::new(settings(&vars, "gpt-4o")).unwrap();
    let model = model.with_cassette(Some(tape.recorder()));
    chat(&model, &ask(&format!("What is {KEY}?")))
        .await
        .unwrap();
    let text = tape.text();
    assert!(!text.contains("planted") && !text.contains(start), "{text}");
    assert!(text.contains("[redacted]"), "{text}");
}
