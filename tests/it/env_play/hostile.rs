//! Servers that send more than a play should keep, and what they were sent.

use serde_json::{Value, json};

use super::environment::{Double, old_core};
use super::play;
use crate::support::cli::Workplace;

/// A server of the old core whose answers of this type are changed.
fn changed(kind: &'static str, change: impl Fn(&mut Value) + Send + Sync + 'static) -> Double {
    let old = old_core(5);
    Double::start(move |connection, number, message| {
        let mut answer = serde_json::from_str(&old(connection, number, message)?).unwrap();
        if message["type"] == kind {
            change(&mut answer);
        }
        Some(answer.to_string())
    })
}

/// How a play of two episodes ends, what it says, and its file.
fn played(server: &Double, more: &str) -> (Option<i32>, String, String) {
    let place = Workplace::new();
    let url = server.url();
    let line = format!("--url {url} -j 1 -n 2 -v --export-episodes a.jsonl {more}");
    let (ran, _) = play(&place, &line);
    (ran.code, ran.stderr, place.read("a.jsonl"))
}

/// Puts `text` into a field of the state once a question is dealt.
fn dealt(answer: &mut Value, key: &str, text: impl Fn(&str) -> String) {
    if answer["data"]["question_id"] != "" {
        let before = answer["data"][key].as_str().unwrap().to_owned();
        answer["data"][key] = json!(text(&before));
    }
}

#[test]
fn a_message_of_any_size_is_not_taken() {
    let server = changed("step", |answer| {
        answer["data"]["observation"]["result"] = json!({"data": "x".repeat(9 << 20)});
    });
    let (code, told, file) = played(&server, "");
    // Each episode is lost, and no other was played.
    assert_eq!(code, Some(5), "{told}");
    assert!(told.contains("too long"), "{told}");
    assert!(
        file.len() < 100_000 && told.len() < 10_000,
        "{} bytes",
        file.len()
    );
}

#[test]
fn errors_of_any_length_are_cut() {
    let server = changed("step", |answer| {
        answer["data"]["observation"]["error"] =
            json!({"error_type": "e".repeat(100_000), "message": "m".repeat(100_000)});
    });
    let (_, told, file) = played(&server, "");
    assert!(file.contains("mmm…"), "{file}");
    assert!(
        file.len() < 200_000 && told.len() < 10_000,
        "{} bytes",
        file.len()
    );
}

#[test]
fn a_token_that_a_server_repeats_is_kept_nowhere() {
    const TOKEN: &str = "planted-token-0123";
    let server = changed("state", |answer| {
        dealt(answer, "current_question", |text| format!("{text} {TOKEN}"));
    });
    let (_, told, file) = played(&server, &format!("--token {TOKEN}"));
    assert!(file.contains("[redacted]"), "{told}");
    assert!(!file.contains(TOKEN) && !told.contains(TOKEN));
}
