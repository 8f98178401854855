//! Cassettes end to end: a run that was recorded against a server with faults gives the
//! same files again without one, whatever the concurrency.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rstest::rstest;

use crate::support::agents::{repeating_the_key, scripted};
use crate::support::cli::{CommandExt, Ran, Workplace, rows_without};
use crate::support::fault_server::{FaultServer, Faults, Reply, Request};
use crate::support::published::{TEN, records_file};

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
fn record(place: &Workplace, server: &FaultServer, more: &str) -> Ran {
    place.chat(server, &format!("--record run.jsonl {more}"))
}

fn replay(recorded: &Workplace, place: &Workplace, more: &str) -> Ran {
    place.run(&format!("--replay {} {more}", cassette(recorded)))
}

/// A server with every fault that is over after one attempt.
fn faulty() -> FaultServer {
    let faults = Faults::every_kind(0.3, 7);
    FaultServer::with_faults(faults, scripted)
}

#[rstest]
#[case::questions("-j 4", 1)]
#[case::conversations("--mode conversations --n 4 -j 8", 1)]
#[case::epochs_and_samples("--n 3 --epochs 2 --samples 2 --temperature 0.5 -j 8", 2)]
fn a_replay_writes_the_same_bytes_at_any_concurrency(
    #[case] arguments: &str,
    #[case] concurrency: u32,
) {
    let (place, again) = (Workplace::new(), Workplace::new());
    let server = faulty();
    let ran = record(&place, &server, &format!("{arguments} --timeout 1"));
    assert!(matches!(ran.code, Some(0 | 4)), "{}", ran.stderr);
    drop(server);
    let replayed = replay(&place, &again, &format!("-j {concurrency}"));
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
    place.run(&line).succeeds();
    replay(&place, &place, "-o again").succeeds();
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
    record(&place, &server, "-j 8 --temperature 0.5").succeeds();
    replay(&place, &again, "-j 1").succeeds();
    same_files(&place, &again);
}

/// Own prices are a part of the run, like its settings.
#[test]
fn a_replay_and_its_dry_run_have_the_prices_of_the_recording() {
    let (place, again) = (Workplace::new(), Workplace::new());
    let prices = r#"{"version": 1, "models": {"m": {"input": 2, "output": 8}}}"#;
    place.write("prices.json", prices);
    let server = FaultServer::start(scripted);
    record(&place, &server, "--n 2 --prices prices.json").succeeds();
    replay(&place, &again, "").succeeds();
    same_files(&place, &again);
    let spent = &again.summary()["spent"];
    assert!(spent["cost_usd"].is_string(), "{spent}");
    let ran = replay(&place, &Workplace::new(), "--dry-run --json");
    let estimate = ran.succeeds().json();
    assert!(estimate["cost_usd"]["low"].is_string(), "{estimate}");
}

#[test]
fn a_replay_in_the_folder_of_its_recording_is_a_run_of_its_own() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    record(&place, &server, "--n 1").succeeds();
    let csv = place.read("output/output.csv");
    let sent = server.count();
    let ran = replay(&place, &place, "");
    ran.succeeds().tells("is already in output");
    let runs = std::fs::read_dir(place.path("output/runs")).unwrap();
    assert_eq!((runs.count(), server.count()), (2, sent));
    assert_eq!(place.read("output/output.csv"), csv);
}

/// A run that is killed, resumed and recorded on is replayed whole.
#[test]
fn a_recording_continues_with_the_run_that_is_resumed() {
    let (place, again) = (Workplace::new(), Workplace::new());
    let broken = Arc::new(AtomicBool::new(true));
    let is_broken = Arc::clone(&broken);
    let server = FaultServer::start(move |request| {
        match is_broken.load(Ordering::Relaxed) && request.user().contains("2022") {
            true => Reply::plain(503, "down"),
            false => scripted(request),
        }
    });
    record(&place, &server, "--attempts 1 -j 1").ends(4);
    // The process might have been killed within its last line.
    let text = place.read("run.jsonl");
    place.write("run.jsonl", &format!("{text}{{\"call\""));
    broken.store(false, Ordering::Relaxed);
    place.run("--resume --record run.jsonl").succeeds();

    // As recorded.
    replay(&place, &again, "").ends(4);
    replay(&place, &again, "--resume").succeeds();
    same_files(&place, &again);
}

#[test]
fn a_request_that_is_not_recorded_ends_the_run_and_names_what_differs() {
    let (place, again) = (Workplace::new(), Workplace::new());
    let server = FaultServer::start(scripted);
    record(&place, &server, "--n 2").succeeds();
    let ran = replay(&place, &again, "--temperature 0.7 -j 1");
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
    replay(&place, &part, "--n 1").succeeds();
    let more = replay(&place, &Workplace::new(), "--n 3");
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
    record(&place, &server, "--n 1").succeeds();
    let refused = |arguments: &str, words: &str| {
        let ran = replay(&place, &again, arguments);
        ran.fails(2, &["does not belong to this run", words]);
        assert!(!again.path("output/runs").exists());
    };
    refused("--model other", "--model was m, now other");
    let data = format!("--data-path {}", records_file(TEN).display());
    refused(&data, "the data were ");
    let play = format!(
        "env play --model m --data-path sample --replay {}",
        cassette(&place)
    );
    again.run(&play).fails(2, &["it was recorded by `run`"]);
    let ran = again.run(&format!("--resume --record {}", cassette(&place)));
    ran.fails(2, &["no unfinished run"]);
}

#[test]
fn a_recording_continues_its_own_run_only() {
    let (one, other) = (Workplace::new(), Workplace::new());
    let server = FaultServer::start(scripted);
    record(&one, &server, "--n 1").succeeds();
    let broken = FaultServer::start(|_| Reply::plain(503, "down"));
    other.chat(&broken, "--attempts 1 --n 1").ends(5);
    let ran = other.run(&format!("--resume --record {}", cassette(&one)));
    ran.fails(2, &["it is not the recording of run "]);
    let ran = other.run("--resume --record none.jsonl");
    ran.fails(2, &["cannot read the cassette none.jsonl"]);
}

#[rstest]
#[case::missing("--replay none.jsonl", 2, "cannot read the cassette none.jsonl")]
#[case::folder("--replay .", 2, "cannot read the cassette .")]
#[case::both("--replay a --record b", 2, "cannot be used with")]
#[case::offline("--record b", 2, "need a chat model")]
#[case::exists("--model m --record page.md", 2, "page.md exists")]
#[case::not_a_cassette("--replay page.md", 3, "page.md is not a cassette")]
#[case::newer("--replay newer.jsonl", 3, "version 9; this program reads version 1")]
#[case::unwritable("--model m --record none/b", 2, "cannot write the cassette none/b")]
fn a_file_that_cannot_be_used_is_one_line(
    #[case] arguments: &str,
    #[case] code: i32,
    #[case] words: &str,
) {
    let place = Workplace::new();
    place.write("page.md", "| | 2019 |\n|---|---|\n| Revenue | 1,250 |\n");
    place.write("newer.jsonl", "{\"cassette\":{\"version\":9}}\n");
    for command in ["", "ask page.md 'what was revenue in 2019?'"] {
        let ran = place.run(&format!("{command} {arguments}"));
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
    let ask = |more: &str| {
        let question = "'what was revenue in 2019?'";
        place.run(&format!("ask --model m --json page.md {question} {more}"))
    };
    let live = ask(&format!("--base-url {url} --record ask.jsonl"));
    live.succeeds();
    drop(server);
    let replayed = ask("--replay ask.jsonl");
    replayed.succeeds();
    assert_eq!(live.stdout, replayed.stdout);
    let run = place.run("--model m --data-path sample --replay ask.jsonl");
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
    let ran = command.given("--n 1 --attempts 1 --record run.jsonl").ran();
    assert!(matches!(ran.code, Some(0 | 4 | 5)), "{}", ran.stderr);
    let replayed = replay(&place, &Workplace::new(), "--model m --temperature 0.9");
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
    let ran = place.run(&format!("--replay {}", recorded.display()));
    assert!(matches!(ran.code, Some(0 | 4)), "{}", ran.stderr);
    // Without what the embedded analyst of this build says of them.
    let [rows, expected] = [
        place.path("output/output.csv"),
        folder.join(format!("{name}.csv")),
    ]
    .map(|file| rows_without(&file, |column| column.contains("opinion")));
    assert_eq!(rows, expected);
}
