//! The response cache end to end: a second run asks for nothing that a first one has, and
//! says so.

use rstest::rstest;

use crate::support::agents::{repeating_the_key, scripted};
use crate::support::cli::{CommandExt, Ran, Workplace};
use crate::support::fault_server::{FaultServer, Reply};

fn run(place: &Workplace, server: &FaultServer, more: &str) -> Ran {
    place.chat(server, &format!("--cache cache --n 2 {more}"))
}

fn sum(place: &Workplace, column: &str) -> u64 {
    let rows = place.rows("output/output.csv");
    rows.iter()
        .map(|row| row[column].parse::<u64>().unwrap())
        .sum()
}

#[test]
fn a_second_run_is_answered_from_the_cache_and_says_what_it_saved() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    run(&place, &server, "").succeeds();
    let sent = server.count();
    let first = place.rows("output/output.csv");
    assert_eq!(sum(&place, "cached_calls"), 0);

    let ran = run(&place, &server, "-o second --json");
    ran.succeeds();
    assert_eq!(server.count(), sent);
    let summary = ran.json();
    let analyst = &summary["spent"]["nodes"]["analyst"];
    assert_eq!(summary["spent"]["requests"], 0);
    assert_eq!(analyst["cached_calls"], analyst["calls"]);
    assert_eq!(analyst["input_tokens"], 0);
    assert!(analyst["saved_tokens"].as_u64().unwrap() > 0);
    assert_eq!(summary["spent"]["cost"]["unpriced"], 0);
    let second = place.rows("second/output.csv");
    assert_eq!(first.len(), second.len());
    for (first, second) in first.iter().zip(&second) {
        assert_eq!(first["answer"], second["answer"]);
        assert_eq!(first["calls"], second["cached_calls"]);
        assert_eq!(second["attempts"], "0");
    }

    let stats = place.run("cache stats --cache cache");
    stats.succeeds().prints(&format!("{sent} entries, "));
    let cleared = place.run("cache clear --cache cache");
    assert_eq!(
        cleared.succeeds().stdout,
        format!("deleted {sent} entries\n")
    );
    assert!(place.path("cache/convfinqa-cache.json").exists());
}

/// A budget that one request would pass is enough for a run from the cache.
#[test]
fn cached_calls_count_against_no_budget() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    run(&place, &server, "--max-tokens 500").succeeds();
    let sent = server.count();
    let capped = "--max-tokens 500 --max-tokens-total 1";
    run(&place, &server, &format!("{capped} -o second")).succeeds();
    assert_eq!(server.count(), sent);
    run(&place, &server, &format!("{capped} -o third --seed 9")).ends(7);
    assert_eq!(server.count(), sent);
}

#[test]
fn a_miss_is_explained_by_question() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    run(&place, &server, "--seed 1").succeeds();
    let id = place.rows("output/output.csv")[0]["id"].clone();
    let explain =
        |run: &str, id: &str| place.run(&format!("cache explain --cache cache {run} {id}"));
    let ran = explain("last", &id);
    let lines: Vec<&str> = ran.succeeds().stdout.lines().collect();
    let cached = lines.iter().filter(|line| line.contains(": cached in "));
    assert!(
        !lines.is_empty() && cached.count() == lines.len(),
        "{lines:?}"
    );
    place.run("cache clear --cache cache").succeeds();
    run(&place, &server, "--seed 2 -o second").succeeds();
    let ran = explain("last", &id);
    let start = "analyst: not cached; the nearest entry, ";
    assert!(ran.stdout.starts_with(start), "{}", ran.stdout);
    ran.succeeds().prints("  /request/seed (2 stored, 1 asked)");
    explain("last", "none").fails(2, &["it has not answered none"]);
    explain("none", &id).fails(2, &["none"]);
}

#[rstest]
#[case::a_file("--cache page.md", "cannot use page.md as a cache")]
#[case::a_folder_of_other_files("--cache .", ". is not a cache and not empty")]
#[case::below_a_file("--cache page.md/cache", "cannot use page.md/cache as a cache")]
fn a_place_that_cannot_be_a_cache_is_one_line(#[case] cache: &str, #[case] words: &str) {
    let place = Workplace::new();
    place.write("page.md", "| | 2019 |\n|---|---|\n| Revenue | 1,250 |\n");
    let base = "--model m --base-url http://127.0.0.1:9/v1";
    for command in [
        "--data-path sample", "ask page.md 'what was revenue?'", "env play --data-path sample",
    ] {
        let ran = place.run(&format!("{command} {base} {cache}"));
        ran.fails(2, &[words]);
    }
    for command in ["stats", "clear"] {
        let ran = place.run(&format!("cache {command} {cache}"));
        ran.fails(2, &["is not a cache"]);
    }
    assert!(place.path("page.md").exists());
    let nameless = place.run("cache stats");
    nameless.fails(2, &["pass --cache DIR"]);
}

#[test]
fn a_cassette_holds_every_call_whatever_is_cached() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    run(&place, &server, "").succeeds();
    let ran = run(&place, &server, "--record run.jsonl -o recorded");
    let words = "is not used, because a cassette holds every call";
    ran.succeeds().tells(words);
    drop(server);
    place.run("--replay run.jsonl -o replayed").succeeds();
    assert_eq!(
        place.read("recorded/output.csv"),
        place.read("replayed/output.csv")
    );
}

#[test]
fn a_cache_and_its_messages_hold_no_key() {
    const KEY: &str = "sk-planted-0123456789abcdef";
    let place = Workplace::new();
    let server =
        repeating_the_key(|_, key| Reply::chat(&format!("12 {key}")).header("x-request-id", key));
    let base = format!("http://{}/{KEY}/v1", server.address());
    let mut command = place.command_with_key(KEY, &base);
    let ran = command.given("--n 1 --cache cache").ran();
    let stats = place.run("cache stats --cache cache");
    assert!(!stats.succeeds().stdout.starts_with("0 entries"));
    let mut texts = vec![ran.stderr, stats.stdout];
    for folder in std::fs::read_dir(place.path("cache")).unwrap() {
        for entry in std::fs::read_dir(folder.unwrap().path())
            .into_iter()
            .flatten()
        {
            texts.push(std::fs::read_to_string(entry.unwrap().path()).unwrap());
        }
    }
    for text in texts {
        assert!(!text.contains("sk-planted"), "{text}");
    }
}
