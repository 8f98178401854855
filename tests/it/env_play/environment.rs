//! Environments that are not there, want a token, are full, speak otherwise,
//! or die in the middle.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use finqa_env::server::ServerOptions;
use futures::{SinkExt, StreamExt};
use rstest::rstest;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::{Serving, episodes, fixture, play, played};
use crate::support::cli::Workplace;
use crate::support::json::has;

/// A server whose answers are scripted: `answer` gets the number of the
/// connection, that of the message on it, and the message; `None` closes.
pub(super) struct Double {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Double {
    pub(super) fn start(
        answer: impl Fn(usize, usize, &Value) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        // It ends with the test's process.
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let answer = Arc::new(answer);
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    let (counted, answer) = (Arc::clone(&counted), Arc::clone(&answer));
                    tokio::spawn(async move {
                        // The request for its tasks is no handshake.
                        let Ok(mut socket) = tokio_tungstenite::accept_async(stream).await else {
                            return;
                        };
                        let connection = counted.fetch_add(1, Ordering::SeqCst);
                        let mut number = 0;
                        while let Some(Ok(message)) = socket.next().await {
                            let Message::Text(text) = message else {
                                continue;
                            };
                            let message = serde_json::from_str(&text).unwrap();
                            match answer(connection, number, &message) {
                                Some(text) => socket.send(Message::text(text)).await.unwrap(),
                                None => break,
                            }
                            number += 1;
                        }
                    });
                }
            });
        });
        Self {
            address,
            connections,
        }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// The answers of core 0.2.3, over questions `0..count`: nothing but reward and
/// done at a reset and a submission, the question and its truth in `state`, each
/// connection in an order of its own, whatever the seed (`count` has no divisor
/// among 3, 5, 7 …).
pub(super) fn old_core(count: usize) -> impl Fn(usize, usize, &Value) -> Option<String> {
    let dealt = std::sync::Mutex::new(std::collections::HashMap::<usize, usize>::new());
    move |connection, _, message| {
        let mut dealt = dealt.lock().unwrap();
        let at = dealt.entry(connection).or_default();
        let empty = |reward: Value, done: bool| json!({"type": "observation", "data": {"observation": {}, "reward": reward, "done": done}});
        let answer = match message["type"].as_str().unwrap() {
            "reset" => {
                *at += 1;
                empty(json!(0.0), false)
            }
            "state" if *at == 0 => {
                json!({"type": "state", "data": {"episode_id": null, "step_count": 0,
                "current_question": "", "current_company": "", "ground_truth": "", "question_id": ""}})
            }
            "state" => {
                let which = (*at * (1 + 2 * connection)) % count;
                json!({"type": "state", "data": {"episode_id": "x", "step_count": 0,
                    "current_question": format!("For company `acme`, here is the question:\nWhat is {which}?"),
                    "current_company": "acme", "ground_truth": format!("\\boxed{{{which}}}"),
                    "question_id": which.to_string()}})
            }
            _ if message["data"]["tool_name"] == "submit_answer" => empty(json!(1.0), true),
            _ => json!({"type": "observation", "data": {"observation": {
                "tool_name": message["data"]["tool_name"], "result": {
                    "content": [{"type": "text", "text": "[]"}],
                    "structured_content": {"result": "[]"}, "data": "[]", "is_error": false},
                "error": null}, "reward": null, "done": false}}),
        };
        Some(answer.to_string())
    }
}

#[test]
fn an_old_core_deals_as_many_questions_as_are_asked_for_and_repeated_ones_are_seen() {
    let place = Workplace::new();
    let server = Double::start(old_core(7));
    let url = server.url();
    let (ran, _) = play(&place, &format!("--url {url}"));
    ran.fails(2, &["lists no tasks", "--n"]);
    let summary = played(
        &place,
        &format!("--url {url} -n 9 -j 1 --export-episodes a.jsonl"),
    );
    has(&summary, json!({"played": 9, "reward": {"mean": 1.0}}));
    let lines = episodes(&place.path("a.jsonl"));
    let ids: BTreeSet<&str> = lines
        .iter()
        .map(|l| l["question_id"].as_str().unwrap())
        .collect();
    assert_eq!((ids.len(), lines.len()), (7, 9));
    let id = summary["run"]["id"].as_str().unwrap();
    let rows = place.rows(&format!("output/runs/{id}/output.csv"));
    let keys: BTreeSet<_> = rows.iter().map(|row| (&row["id"], &row["part"])).collect();
    assert_eq!(keys.len(), 9, "a question dealt twice has two parts");
    assert!(
        rows.iter()
            .all(|row| row["question"].starts_with("What is "))
    );
    for line in &lines {
        let id = line["question_id"].as_str().unwrap();
        assert_eq!(line["ground_truth"], format!("\\boxed{{{id}}}"));
    }
}

#[test]
fn a_server_that_is_not_there_is_one_clear_line() {
    let place = Workplace::new();
    // Nothing listens on port 9, and the system gives it to no other test.
    let url = "http://127.0.0.1:9";
    let (ran, _) = play(&place, &format!("--url {url}"));
    ran.fails(5, &[url, "cannot be reached", "refused"]);
    let (ran, _) = play(&place, "--url 127.0.0.1:8000");
    ran.fails(2, &["127.0.0.1:8000", "http://"]);
}

#[test]
fn a_server_that_wants_a_token_gets_it() {
    let place = Workplace::new();
    let options = ServerOptions {
        bearer_token: Some("secret-word".to_owned().into()),
        ..ServerOptions::default()
    };
    let server = Serving::start(fixture(), options);
    let (ran, _) = play(&place, &format!("--url {}", server.url));
    ran.fails(5, &["status 401", "--token"]);
    played(
        &place,
        &format!(
            "--url {} --token secret-word --export-episodes a.jsonl",
            server.url
        ),
    );
    assert!(!place.read("a.jsonl").contains("secret-word"));
    let play = format!("env play -n 1 --url {}", server.url);
    let ran = place.run_with(&play, &[("FINQA_TOKEN", "secret-word")]);
    ran.succeeds();
}

#[test]
fn episodes_wait_for_a_session_where_the_server_has_fewer_than_j() {
    let place = Workplace::new();
    let options = ServerOptions {
        max_sessions: 1,
        ..ServerOptions::default()
    };
    let server = Serving::start(fixture(), options);
    played(&place, &format!("--url {} -j 4", server.url));
}

#[test]
fn a_full_server_is_one_clear_line() {
    let place = Workplace::new();
    let full = json!({"type": "error", "data": {"code": "CAPACITY_REACHED", "active_sessions": 1,
        "max_sessions": 1, "message": "Server at capacity: 1/1 sessions active. Cannot accept new connections."}});
    let server = Double::start(move |_, _, _| Some(full.to_string()));
    let (ran, _) = play(&place, &format!("--url {} -j 2", server.url()));
    ran.fails(5, &["Server at capacity: 1/1", "-j"]);
    assert!(
        server.connections.load(Ordering::SeqCst) > 2,
        "it is asked again"
    );
}

#[test]
fn what_is_not_an_openenv_server_is_one_clear_line() {
    let place = Workplace::new();
    for (answer, said) in [
        ("hello", "not JSON"),
        ("{\"type\": \"state\"}", "has no `data`"),
        ("{\"type\": \"state\", \"data\": []}", "not an object"),
        (
            "{\"type\": \"observation\", \"data\": {}}",
            "answered with `observation`",
        ),
        ("[1]", "has no `data`"),
    ] {
        let server = Double::start(move |_, _, _| Some(answer.to_owned()));
        let (ran, _) = play(&place, &format!("--url {}", server.url()));
        ran.fails(3, &["not an answer of an OpenEnv FinQA server", said]);
    }
    // A web server of another kind.
    let other = crate::support::fault_server::FaultServer::start(|_| {
        crate::support::fault_server::Reply::plain(200, "hi")
    });
    let (ran, _) = play(&place, &format!("--url {}", other.azure_endpoint()));
    ran.fails(5, &["refused the WebSocket with status 200"]);
}

#[rstest]
#[case::answers_a_step_wrongly(true, "a reward is not a number")]
#[case::goes_away(false, "broke")]
fn an_episode_whose_server_fails_is_played_again_and_never_worth_nothing(
    #[case] answers: bool,
    #[case] told: &str,
) {
    let place = Workplace::new();
    let old = old_core(4);
    let resets = AtomicUsize::new(0);
    // The second episode is never played to its end.
    let server = Double::start(move |connection, number, message| {
        let dealt = if message["type"] == "reset" {
            resets.fetch_add(1, Ordering::SeqCst) + 1
        } else {
            resets.load(Ordering::SeqCst)
        };
        if dealt != 2 || message["data"]["tool_name"] != "get_descriptions" {
            return old(connection, number, message);
        }
        let wrong = json!({"observation": {}, "reward": "much", "done": true});
        answers.then(|| json!({"type": "observation", "data": wrong}).to_string())
    });
    let url = server.url();
    let (ran, summary) = play(
        &place,
        &format!("--url {url} -n 4 -j 1 -v --export-episodes a.jsonl"),
    );
    ran.succeeds().tells(told);
    has(
        &summary,
        json!({"played": 4, "failed": 0, "run": {"total": 4}, "reward": {"n": 4, "mean": 1.0}}),
    );
    assert_eq!(server.connections.load(Ordering::SeqCst), 2);
    assert_eq!(episodes(&place.path("a.jsonl")).len(), 4);
}

#[test]
fn a_server_that_always_goes_away_ends_the_run() {
    let place = Workplace::new();
    let old = old_core(50);
    let server = Double::start(move |connection, number, message| {
        (message["type"] != "step")
            .then(|| old(connection, number, message))
            .flatten()
    });
    let (ran, _) = play(
        &place,
        &format!(
            "--url {} -n 50 -j 1 --export-episodes a.jsonl",
            server.url()
        ),
    );
    ran.fails(5, &["broke"]);
    assert_eq!(server.connections.load(Ordering::SeqCst), 3);
    assert_eq!(episodes(&place.path("a.jsonl")).len(), 0);
}
