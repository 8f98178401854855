//! A file that is gone on with, and one that is not.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::{FIXTURE, episodes, fixture, knowing, knows, play, truths};
use crate::support::cli::Workplace;
use crate::support::fault_server::{FaultServer, Reply};

fn slow() -> FaultServer {
    let truths = truths(&fixture());
    FaultServer::start(move |request| knows(&truths, request).after(Duration::from_millis(40)))
}

/// The command, as a user would repeat it.
fn arguments(url: &str) -> Vec<&str> {
    vec![
        "env",
        "play",
        "--json",
        "--model",
        "scripted",
        "--base-url",
        url,
        "--data",
        FIXTURE,
        "--out",
        "a.jsonl",
        "-j",
        "2",
    ]
}

/// How often each question stands in the file.
fn counts(lines: &[Value]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in lines {
        *counts
            .entry(line["question_id"].as_str().unwrap().to_owned())
            .or_default() += 1;
    }
    counts
}

#[test]
fn a_killed_play_goes_on_where_it_was() {
    let place = Workplace::new();
    let model = slow();
    let url = model.base_url();
    for pause in [180, 250, 90] {
        let mut child = place
            .command()
            .args(arguments(&url))
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let before = std::fs::read_to_string(place.path("a.jsonl")).unwrap_or_default();
    let whole = before.lines().count() - usize::from(!before.is_empty() && !before.ends_with('\n'));
    let asked = model.count();
    let (ran, summary) = play(&place, &arguments(&url)[3..]);
    ran.succeeds();
    assert_eq!(
        (&summary["episodes"], &summary["complete"]),
        (&json!(12), &json!(true))
    );
    let lines = episodes(&place.path("a.jsonl"));
    assert!(
        counts(&lines).values().all(|n| *n == 1),
        "{:?}",
        counts(&lines)
    );
    assert_eq!(lines.len(), 12);
    assert_eq!(
        model.count() - asked,
        2 * (12 - whole),
        "nothing is played again"
    );
    assert!(
        !place.path("a.csv").exists(),
        "these questions are not ConvFinQA's"
    );

    // A play that is complete asks nothing.
    let asked = model.count();
    play(&place, &arguments(&url)[3..]).0.succeeds();
    assert_eq!(model.count(), asked);
}

#[test]
fn a_line_that_was_cut_off_is_played_again() {
    let place = Workplace::new();
    let model = knowing(truths(&fixture()));
    let url = model.base_url();
    play(&place, &arguments(&url)[3..]).0.succeeds();
    let text = place.read("a.jsonl");
    let cut = text.trim_end().rfind('\n').unwrap() + 40;
    place.write("a.jsonl", &text[..cut]);
    let (ran, summary) = play(&place, &arguments(&url)[3..]);
    ran.succeeds();
    assert_eq!(summary["episodes"], 12);
    assert_eq!(episodes(&place.path("a.jsonl")).len(), 12);
}

#[test]
fn a_file_of_another_player_is_refused() {
    let place = Workplace::new();
    let model = knowing(truths(&fixture()));
    let url = model.base_url();
    play(&place, &[&arguments(&url)[3..], &["-n", "2"]].concat())
        .0
        .succeeds();
    let before = place.read("a.jsonl");
    let mut other = arguments(&url)[3..].to_vec();
    other[1] = "cleverer";
    play(&place, &other)
        .0
        .fails(2, &["a.jsonl", "model", "scripted", "cleverer", "--out"]);
    for (more, what) in [
        (["--seed", "9"], "seed"),
        (["--max-steps", "9"], "step limit"),
        (["--temperature", "0.5"], "settings"),
    ] {
        let all = [&arguments(&url)[3..], &more].concat();
        play(&place, &all).0.fails(2, &["a.jsonl", what, "--out"]);
    }
    let mut other = arguments(&url)[3..].to_vec();
    other[5] = "sample";
    play(&place, &other).0.fails(2, &["environment"]);
    assert_eq!(place.read("a.jsonl"), before, "nothing was touched");
}

#[test]
fn a_file_of_something_else_is_refused_and_left_alone() {
    let place = Workplace::new();
    for text in ["my notes", "{\"id\": 1}\n", "{\"format\": 99}\n"] {
        place.write("a.jsonl", text);
        let (ran, _) = play(&place, &["--data", FIXTURE, "--out", "a.jsonl"]);
        ran.fails(2, &["a.jsonl"]);
        assert_eq!(place.read("a.jsonl"), text);
    }
}

#[test]
fn an_episode_that_failed_is_played_again_and_its_cost_stays_counted() {
    let place = Workplace::new();
    let truths = truths(&fixture());
    let model = FaultServer::start(move |request| {
        // The fifth request and its repetition fail; the model is well later.
        if request.index == 4 {
            return Reply::error(500, "server_error", "no luck");
        }
        knows(&truths, request)
    });
    let url = model.base_url();
    let all = [&arguments(&url)[3..], &["--attempts", "1"]].concat();
    let (ran, summary) = play(&place, &all);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    assert_eq!(
        (&summary["failed"], &summary["reward"]["n"]),
        (&json!(1), &json!(11))
    );
    let (ran, summary) = play(&place, &all);
    ran.succeeds();
    assert_eq!(
        (&summary["failed"], &summary["reward"]["n"]),
        (&json!(0), &json!(12))
    );
    assert_eq!(summary["spent"]["requests"], model.count());
    assert_eq!(episodes(&place.path("a.jsonl")).len(), 13);
}

#[cfg(unix)]
#[test]
fn an_interrupt_finishes_the_episodes_in_play() {
    let place = Workplace::new();
    let model = slow();
    let url = model.base_url();
    let child = place
        .command()
        .args(arguments(&url))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while model.count() < 4 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let told = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(told.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["complete"], false);
    let lines = episodes(&place.path("a.jsonl"));
    assert!(!lines.is_empty() && lines.len() < 12, "{}", lines.len());
    assert!(lines.iter().all(|line| line["outcome"] == "submitted"));
    play(&place, &arguments(&url)[3..]).0.succeeds();
    assert_eq!(episodes(&place.path("a.jsonl")).len(), 12);
}
