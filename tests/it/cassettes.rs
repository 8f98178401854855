//! Cassettes end to end: a run that was recorded against a server with faults gives the
//! same files again without one, whatever the concurrency.

use std::path::Path;

use rstest::rstest;

use crate::support::agents::{repeating_the_key, scripted};
use crate::support::cli::{Ran, Workplace, words};
use crate::support::fault_server::{FaultServer, Faults, Reply, Request};

/// The files of a run but its journal, by name.
fn files(place: &Workplace) -> Vec<(String, String)> {
    let folder = place.run_folder();
    let mut files = vec![("output.csv".to_owned(), place.path("output/output.csv"))];
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("journal.sqlite") && name != "run.lock" {
            files.push((format!("runs/{name}"), path));
        }
    }
    files.sort();
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    files
        .into_iter()
        .map(|(name, path)| (name, read(&path)))
        .collect()
}

#[track_caller]
pub fn same_files(recorded: &Workplace, replayed: &Workplace) {
    let (was, now) = (files(recorded), files(replayed));
    let names = |files: &[(String, String)]| {
        let names = files.iter().map(|(name, _)| name.clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(&was), names(&now));
    assert!(was.len() >= 5, "{:?}", names(&was));
    for ((name, was), (_, now)) in was.iter().zip(&now) {
        let differing = was.lines().zip(now.lines()).find(|(was, now)| was != now);
        assert_eq!(was.len(), now.len(), "{name}: {differing:?}");
        assert!(was == now, "{name}: {differing:?}");
    }
}

fn cassette(place: &Workplace) -> String {
    place.path("run.jsonl").display().to_string()
}

/// A run of the sample against `server`, recorded.
fn record(place: &Workplace, server: &FaultServer, more: &[&str]) -> Ran {
    let url = server.base_url();
    let line = format!("--model m --data-path sample --base-url {url} --record run.jsonl");
    let fixed = words(&line);
    place.run(&[&fixed, more].concat())
}

fn replay(recorded: &Workplace, place: &Workplace, more: &[&str]) -> Ran {
    place.run(&[&["--replay", &cassette(recorded)], more].concat())
}

/// A server with every fault that is over after one attempt.
fn faulty() -> FaultServer {
    let faults = Faults::every_kind(0.3, 7);
    FaultServer::with_faults(faults, scripted)
}

#[rstest]
#[case::questions(&["-j", "4"], "1")]
#[case::conversations(&["--mode", "conversations", "--n", "4", "-j", "8"], "1")]
#[case::epochs_and_samples(&["--n", "3", "--epochs", "2", "--samples", "2", "--temperature", "0.5", "-j", "8"], "2")]
fn a_replay_writes_the_same_bytes_at_any_concurrency(
    #[case] arguments: &[&str],
    #[case] concurrency: &str,
) {
    let (place, again) = (Workplace::new(), Workplace::new());
    let server = faulty();
    let ran = record(&place, &server, &[arguments, &["--timeout", "1"]].concat());
    assert!(matches!(ran.code, Some(0 | 4)), "{}", ran.stderr);
    drop(server);
    let replayed = replay(&place, &again, &["-j", concurrency]);
    assert_eq!(replayed.code, ran.code, "{}", replayed.stderr);
    same_files(&place, &again);
}

/// Nothing in the files says that a replay names what its recording took by default.
#[rstest]
#[case::sample(false)]
#[case::downloaded(true)]
fn a_replay_of_the_default_data_writes_the_same_bytes(#[case] downloaded: bool) {
    let (place, again) = (Workplace::new(), Workplace::new());
    if downloaded {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/data/sample.json");
        std::fs::create_dir(place.path("data")).unwrap();
        std::fs::copy(sample, place.path("data/train.json")).unwrap();
    }
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    let line = format!("--model m -n 2 --base-url {url} --record run.jsonl");
    place.run_line(&line).succeeds();
    replay(&place, &place, &["-o", "again"]).succeeds();
    std::fs::rename(place.path("again"), again.path("output")).unwrap();
    same_files(&place, &again);
}

/// A server whose model refuses a parameter: which calls met the refusal depends on the
/// concurrency, and is replayed anyway.
#[test]
fn refused_parameters_are_replayed_as_they_were_met() {
    let (place, again) = (Workplace::new(), Workplace::new());
    let server = FaultServer::start(|request| match request.body.get("temperature") {
        Some(_) => Reply::unsupported("temperature", "Unsupported value: 'temperature'"),
        None => scripted(request),
    });
    record(&place, &server, &["-j", "8", "--temperature", "0.5"]).succeeds();
    replay(&place, &again, &["-j", "1"]).succeeds();
    same_files(&place, &again);
}

/// Own prices are a part of the run, like its settings.
#[test]
fn a_replay_has_the_prices_of_its_recording() {
    let (place, again) = (Workplace::new(), Workplace::new());
    let prices = r#"{"version": 1, "models": {"m": {"input": 2, "output": 8, "anywhere": true}}}"#;
    place.write("prices.json", prices);
    let server = FaultServer::start(scripted);
    record(&place, &server, &["--n", "2", "--prices", "prices.json"]).succeeds();
    replay(&place, &again, &[]).succeeds();
    same_files(&place, &again);
    let summary = std::fs::read_to_string(again.run_folder().join("summary.json")).unwrap();
    assert!(!summary.contains(r#""cost_usd": null"#), "{summary}");
}

#[test]
fn a_dry_run_of_a_replay_has_the_prices_of_its_recording() {
    let place = Workplace::new();
    let prices = r#"{"version": 1, "models": {"m": {"input": 2, "output": 8, "anywhere": true}}}"#;
    place.write("prices.json", prices);
    let server = FaultServer::start(scripted);
    record(&place, &server, &["--n", "2", "--prices", "prices.json"]).succeeds();
    let ran = replay(&place, &Workplace::new(), &["--dry-run", "--json"]);
    let estimate = ran.succeeds().json();
    assert!(estimate["cost_usd"]["low"].is_string(), "{estimate}");
}

#[test]
fn a_replay_in_the_folder_of_its_recording_is_a_run_of_its_own() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    record(&place, &server, &["--n", "1"]).succeeds();
    let csv = place.read("output/output.csv");
    let sent = server.count();
    let ran = replay(&place, &place, &[]);
    ran.succeeds().tells("is already in output");
    assert_eq!(
        std::fs::read_dir(place.path("output/runs"))
            .unwrap()
            .count(),
        2
    );
    assert_eq!(
        (place.read("output/output.csv"), server.count()),
        (csv, sent)
    );
}

/// A run that is killed, resumed and recorded on is replayed whole.
#[test]
fn a_recording_continues_with_the_run_that_is_resumed() {
    let (place, again) = (Workplace::new(), Workplace::new());
    let broken = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let is_broken = std::sync::Arc::clone(&broken);
    let server = FaultServer::start(move |request| {
        if is_broken.load(std::sync::atomic::Ordering::Relaxed) && request.user().contains("2022") {
            Reply::plain(503, "down")
        } else {
            scripted(request)
        }
    });
    let ran = record(&place, &server, &["--attempts", "1", "-j", "1"]);
    ran.ends(4);
    // The process might have been killed within its last line.
    let text = place.read("run.jsonl");
    place.write("run.jsonl", &format!("{text}{{\"call\""));
    broken.store(false, std::sync::atomic::Ordering::Relaxed);
    place.run(&["--resume", "--record", "run.jsonl"]).succeeds();

    let ran = replay(&place, &again, &[]);
    assert_eq!(ran.code, Some(4), "as recorded: {}", ran.stderr);
    again
        .run(&["--resume", "--replay", &cassette(&place)])
        .succeeds();
    same_files(&place, &again);
}

#[test]
fn a_request_that_is_not_recorded_ends_the_run_and_names_what_differs() {
    let (place, again) = (Workplace::new(), Workplace::new());
    let server = FaultServer::start(scripted);
    record(&place, &server, &["--n", "2"]).succeeds();
    let ran = replay(&place, &again, &["--temperature", "0.7", "-j", "1"]);
    ran.fails(
        5,
        &[
            "run.jsonl does not hold the request of analyst of ",
            "differs in /temperature (",
            " stored, 0.7 asked)",
        ],
    );
    // A part of a recorded run is one too.
    let part = Workplace::new();
    replay(&place, &part, &["--n", "1"]).succeeds();
    let more = replay(&place, &Workplace::new(), &["--n", "3"]);
    more.fails(
        5,
        &[
            "does not hold the request of analyst of ",
            "/messages/1/content",
        ],
    );
}

#[test]
fn a_cassette_of_another_model_data_or_command_is_refused() {
    let (place, again) = (Workplace::new(), Workplace::new());
    let server = FaultServer::start(scripted);
    record(&place, &server, &["--n", "1"]).succeeds();
    let refused = |arguments: &[&str], words: &[&str]| {
        let ran = replay(&place, &again, arguments);
        ran.fails(2, &[&["does not belong to this run"], words].concat());
        assert!(!again.path("output/runs").exists());
    };
    refused(&["--model", "other"], &["--model was m, now other"]);
    let data = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/convfinqa/train.json"
    );
    if Path::new(data).exists() {
        refused(&["--data-path", data], &["the data were ", "now "]);
    }
    let play = again.run(&[
        "env",
        "play",
        "--model",
        "m",
        "--data",
        "sample",
        "--replay",
        &cassette(&place),
    ]);
    play.fails(2, &["it was recorded by `run`"]);
    let ran = again.run(&["--resume", "--record", &cassette(&place)]);
    ran.fails(2, &[]);
}

#[test]
fn a_recording_continues_its_own_run_only() {
    let (one, other) = (Workplace::new(), Workplace::new());
    let server = FaultServer::start(scripted);
    record(&one, &server, &["--n", "1"]).succeeds();
    let broken = FaultServer::start(|_| Reply::plain(503, "down"));
    let url = broken.base_url();
    let line = format!("--model m --data-path sample --base-url {url} --attempts 1 --n 1");
    let start = words(&line);
    assert_eq!(other.run(&start).code, Some(5));
    let ran = other.run(&["--resume", "--record", &cassette(&one)]);
    ran.fails(2, &["it is not the recording of run "]);
    let ran = other.run(&["--resume", "--record", "none.jsonl"]);
    ran.fails(2, &["cannot read the cassette none.jsonl"]);
}

#[rstest]
#[case::missing(&["--replay", "none.jsonl"], 2, "cannot read the cassette none.jsonl")]
#[case::folder(&["--replay", "."], 2, "cannot read the cassette .")]
#[case::both(&["--replay", "a", "--record", "b"], 2, "cannot be used with")]
#[case::offline(&["--record", "b"], 2, "need a chat model")]
#[case::exists(&["--model", "m", "--record", "page.md"], 2, "page.md exists")]
#[case::not_a_cassette(&["--replay", "page.md"], 3, "page.md is not a cassette")]
#[case::newer(&["--replay", "newer.jsonl"], 3, "version 9; this program reads version 1")]
#[case::unwritable(&["--model", "m", "--record", "none/b"], 2, "cannot write the cassette none/b")]
fn a_file_that_cannot_be_used_is_one_line(
    #[case] arguments: &[&str],
    #[case] code: i32,
    #[case] words: &str,
) {
    let place = Workplace::new();
    place.write("page.md", "| | 2019 |\n|---|---|\n| Revenue | 1,250 |\n");
    place.write("newer.jsonl", "{\"cassette\":{\"version\":9}}\n");
    for command in [&[][..], &["ask", "page.md", "what was revenue in 2019?"]] {
        let ran = place.run(&[command, arguments].concat());
        if words == "cannot be used with" {
            assert_eq!(ran.code, Some(2));
            ran.tells(words);
        } else {
            ran.fails(code, &[words]);
        }
        assert!(!place.path("b").exists(), "an empty recording is left");
    }
}

#[test]
fn questions_about_a_document_are_recorded_and_replayed() {
    let place = Workplace::new();
    place.write("page.md", "| | 2019 |\n|---|---|\n| Revenue | 1,250 |\n");
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    let ask = |more: &[&str]| {
        let fixed = [
            "ask",
            "--model",
            "m",
            "--json",
            "page.md",
            "what was revenue in 2019?",
        ];
        place.run(&[&fixed, more].concat())
    };
    let live = ask(&["--base-url", &url, "--record", "ask.jsonl"]);
    live.succeeds();
    drop(server);
    let replayed = ask(&["--replay", "ask.jsonl"]);
    replayed.succeeds();
    assert_eq!(live.stdout, replayed.stdout);
    let run = place.run_line("--model m --data-path sample --replay ask.jsonl");
    run.fails(2, &["it holds the calls of `ask`"]);
}

const KEY: &str = "sk-planted-0123456789abcdef";

/// Servers that repeat the key they were sent, in the places that a cassette keeps.
#[rstest]
#[case::answer(|_: &Request, key: &str| Reply::chat(&format!("12 {key}")))]
#[case::header(|request: &Request, key: &str| scripted(request).header("x-request-id", key))]
#[case::refused(|_: &Request, key: &str| Reply::error(400, "invalid_prompt", &format!("{key} may not")))]
#[case::page(|_: &Request, key: &str| Reply::plain(503, key))]
fn a_recording_and_the_messages_of_its_replay_hold_no_key(
    #[case] reply: fn(&Request, &str) -> Reply,
) {
    let place = Workplace::new();
    let server = repeating_the_key(reply);
    let base = format!("http://{}/{KEY}/v1", server.address());
    let mut command = place.command_with_key(KEY, &base);
    command.args(["--n", "1", "--attempts", "1", "--record", "run.jsonl"]);
    let ran = Ran::of(&mut command);
    assert!(matches!(ran.code, Some(0 | 4 | 5)), "{}", ran.stderr);
    let replayed = replay(
        &place,
        &Workplace::new(),
        &["--model", "m", "--temperature", "0.9"],
    );
    for text in [&place.read("run.jsonl"), &ran.stderr, &replayed.stderr] {
        assert!(!text.contains("sk-planted"), "{text}");
    }
}

/// Runs of the built-in sample by a real model (`.ci/record-cassettes`).
#[rstest]
#[case::questions("questions")]
#[case::conversations("conversations")]
#[case::anthropic_messages("messages")]
#[case::openai_responses("responses")]
fn a_run_by_a_real_model_gives_the_rows_that_it_gave(#[case] name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cassettes");
    let place = Workplace::new();
    let recorded = folder.join(format!("{name}.jsonl"));
    let ran = place.run(&["--replay", recorded.to_str().unwrap()]);
    assert!(matches!(ran.code, Some(0 | 4)), "{}", ran.stderr);
    let expected = std::fs::read_to_string(folder.join(format!("{name}.csv"))).unwrap();
    assert_eq!(
        without_opinion(&place.read("output/output.csv")),
        without_opinion(&expected)
    );
}

/// The rows without what the embedded analyst of this build says of them.
fn without_opinion(csv: &str) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let kept: Vec<bool> = reader
        .headers()
        .unwrap()
        .iter()
        .map(|name| !name.contains("opinion"))
        .collect();
    let rows = reader.records().map(|row| {
        let row = row.unwrap();
        let cells = row.iter().zip(&kept).filter(|(_, kept)| **kept);
        cells.map(|(cell, _)| cell.to_owned()).collect()
    });
    rows.collect()
}
