//! Stored replies end to end: a run that is asked again sends nothing that is stored, and a
//! replay sends nothing at all and gives the recorded rows.

use std::path::Path;

use rstest::rstest;
use serde_json::Value;

use crate::support::agents::{repeating_the_key, scripted};
use crate::support::cli::{CommandExt, Ran, Row, Workplace, rows_without};
use crate::support::fault_server::{FaultServer, Reply, Request};

/// A run whose replies are stored in `replies`.
fn store(place: &Workplace, server: &FaultServer, more: &str) -> Ran {
    place.chat(server, &format!("--cache replies {more}"))
}

fn replay(stored: &Workplace, place: &Workplace, more: &str) -> Ran {
    let folder = stored.path("replies");
    place.run(&format!("--replay {} {more}", folder.display()))
}

/// The replayed rows are the recorded ones, but for the columns of time, for the number of calls
/// where a call failed, was not stored, and was made again later, and for the attempts of calls
/// that the recorded run reused.
#[track_caller]
fn same_rows(replayed: &Workplace, recorded: &Workplace) {
    let (now, was) = (rows(replayed), rows(recorded));
    assert_eq!(now.len(), was.len());
    for (now, was) in now.iter().zip(&was) {
        let mut differing: Vec<_> = now.keys().filter(|name| now[*name] != was[*name]).collect();
        // A stored failure that the run itself met again took no request there.
        let attempts = |row: &Row| row["attempts"].parse::<u32>().unwrap();
        if attempts(now) > attempts(was) {
            differing.retain(|name| *name != "attempts");
        }
        if now["calls"] != was["calls"] {
            differing.retain(|name| !["calls", "attempts"].contains(&name.as_str()));
        }
        assert!(differing.is_empty(), "{differing:?} {now:?} {was:?}");
    }
}

/// The rows without their latency, which a replay takes from the calls.
fn rows(place: &Workplace) -> Vec<Row> {
    rows_without(&place.path("output/output.csv"), |column| {
        column == "latency"
    })
}

#[rstest]
#[case::conversations("--mode conversations --n 4 -j 8", 1)]
#[case::epochs_and_samples("--n 3 --epochs 2 --samples 2 --temperature 0.5 -j 8", 2)]
fn a_replay_gives_the_rows_of_a_run_with_faults_at_any_concurrency(
    #[case] arguments: &str,
    #[case] concurrency: u32,
) {
    let (place, again) = (Workplace::new(), Workplace::new());
    let server = FaultServer::with_faults(0.3, 7, scripted);
    let ran = store(
        &place,
        &server,
        &format!("{arguments} --timeout 1 --attempts 20"),
    );
    assert!(matches!(ran.code, Some(0 | 4)), "{}", ran.stderr);
    drop(server);
    let replayed = replay(&place, &again, &format!("-j {concurrency}"));
    assert_eq!(replayed.code, ran.code, "{}", replayed.stderr);
    same_rows(&again, &place);
    let latency = |place: &Workplace| place.rows("output/output.csv")[0]["latency"].parse::<f64>();
    assert!(latency(&again).unwrap() > 0.0);
    let spent =
        |place: &Workplace| place.summary()["spent"]["nodes"]["analyst"]["input_tokens"].clone();
    assert_eq!(spent(&again), spent(&place));
}

/// Nothing in the run's files says that a replay names what its recording took by default.
#[rstest]
#[case::sample(false)]
#[case::downloaded(true)]
fn a_replay_of_the_default_data_needs_no_option(#[case] downloaded: bool) {
    let (place, again) = (Workplace::new(), Workplace::new());
    if downloaded {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/data/sample.json");
        std::fs::create_dir(place.path("data")).unwrap();
        std::fs::copy(sample, place.path("data/train.json")).unwrap();
    }
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    let line = format!("--model m -n 2 --base-url {url} --cache replies");
    place.run(&line).succeeds();
    replay(&place, &place, "-o again").succeeds();
    std::fs::rename(place.path("again"), again.path("output")).unwrap();
    same_rows(&again, &place);
}

const PRICES: &str = r#"{"version": 1, "models": {"m": {"input": 2, "output": 8}}}"#;

/// Own prices are a part of the run, like its settings.
#[test]
fn a_replay_and_its_dry_run_have_the_prices_of_the_recording() {
    let (place, again) = (Workplace::new(), Workplace::new());
    place.write("prices.json", PRICES);
    let server = FaultServer::start(scripted);
    store(&place, &server, "--n 2 --prices prices.json").succeeds();
    replay(&place, &again, "").succeeds();
    same_rows(&again, &place);
    let spent = &again.summary()["spent"];
    assert!(spent["cost_usd"].is_string(), "{spent}");
    let ran = replay(&place, &Workplace::new(), "--dry-run --json");
    let estimate = ran.succeeds().json();
    assert!(estimate["cost_usd"]["low"].is_string(), "{estimate}");
}

#[test]
fn a_request_that_is_not_stored_ends_the_replay_and_names_what_differs() {
    let (place, again) = (Workplace::new(), Workplace::new());
    let server = FaultServer::start(scripted);
    store(&place, &server, "--n 2").succeeds();
    let ran = replay(&place, &again, "--temperature 0.7 -j 1");
    ran.fails(
        5,
        &[
            "replies holds no reply to the request of analyst of ",
            "differs in /request/temperature (",
            " stored, 0.7 asked)",
        ],
    );
    // A part of the run is one too.
    replay(&place, &Workplace::new(), "--n 1").succeeds();
    let more = replay(&place, &Workplace::new(), "--n 3");
    more.fails(
        5,
        &[
            "holds no reply to the request of ", "/request/messages/1/content",
        ],
    );
    let play = format!(
        "env play --model m --data-path sample --replay {}",
        place.path("replies").display()
    );
    again.run(&play).fails(2, &["holds the replies of `run`"]);
}

#[test]
fn a_second_run_is_answered_from_the_folder_and_says_what_it_saved() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    store(&place, &server, "--n 2").succeeds();
    let sent = server.count();
    let first = place.rows("output/output.csv");
    assert!(first.iter().all(|row| row["cached_calls"] == "0"));

    let ran = store(&place, &server, "--n 2 -o second --json");
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
        // It was the time of reading the file: 0.001 s, which compares with no other run.
        assert_eq!(first["latency"], second["latency"]);
    }
}

#[test]
fn questions_about_a_document_are_stored_and_replayed() {
    let place = Workplace::new();
    place.write("page.md", "| | 2019 |\n|---|---|\n| Revenue | 1,250 |\n");
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    let ask = |more: &str| {
        let question = "'what was revenue in 2019?'";
        let line = format!("ask --model m --base-url {url} --json page.md {question} {more}");
        place.run(&line)
    };
    let live = ask("--cache replies");
    live.ends(4);
    let sent = server.count();
    let replayed = ask("--replay replies");
    replayed.ends(4);
    assert_eq!((live.stdout, sent), (replayed.stdout, server.count()));
    let offline = place.run("ask page.md 'what was revenue in 2019?' --replay replies");
    offline.fails(2, &["--replay needs a chat model"]);
}

const KEY: &str = "sk-planted-0123456789abcdef";

/// Servers that repeat the key they were sent, in the places that are stored.
#[rstest]
#[case::answer(|_: &Request, key: &str| Reply::chat(&format!("12 {key}")))]
#[case::header(|request: &Request, key: &str| scripted(request).header("x-request-id", key))]
#[case::refused(|_: &Request, key: &str| Reply::error(400, "invalid_prompt", &format!("{key} may not")))]
fn stored_replies_and_the_messages_of_a_replay_hold_no_key(
    #[case] reply: fn(&Request, &str) -> Reply,
) {
    let place = Workplace::new();
    let server = repeating_the_key(reply);
    let base = format!("http://{}/{KEY}/v1", server.address());
    let mut command = place.command_with_key(KEY, &base);
    let ran = command.given("--n 1 --attempts 1 --cache replies").ran();
    assert!(matches!(ran.code, Some(0 | 4 | 5)), "{}", ran.stderr);
    let replayed = replay(&place, &Workplace::new(), "--model m --temperature 0.9");
    let mut texts = vec![
        ran.stderr,
        replayed.stderr,
        place.read("replies/replies.json"),
    ];
    for folder in std::fs::read_dir(place.path("replies")).unwrap() {
        let files = std::fs::read_dir(folder.unwrap().path());
        for file in files.into_iter().flatten() {
            texts.push(std::fs::read_to_string(file.unwrap().path()).unwrap());
        }
    }
    assert!(texts.len() > 3, "{texts:?}");
    for text in texts {
        assert!(!text.contains("sk-planted"), "{text}");
    }
}

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

/// Runs of the built-in sample by a real model, whose server was asked for exactly these bytes
/// (`.ci/record-exchanges`).
#[rstest]
#[case::questions("questions", "--n 2 --max-tokens 600")]
#[case::conversations(
    "conversations",
    "--n 1 --max-tokens 600 --mode conversations --max-rounds 2"
)]
#[case::anthropic_messages(
    "messages",
    "--n 1 --critic rules --max-tokens 200 --provider anthropic"
)]
#[case::openai_responses("responses", "--n 1 --critic rules --max-tokens 400 --api responses")]
fn a_run_by_a_real_model_sends_the_same_bytes_and_gives_the_same_rows(
    #[case] name: &str,
    #[case] options: &str,
) {
    let folder = Path::new(KEPT).join("exchanges");
    let text = std::fs::read_to_string(folder.join(format!("{name}.jsonl"))).unwrap();
    let exchanges = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let exchanges: Vec<Value> = exchanges.collect();
    let count = exchanges.len();
    let server = FaultServer::start(move |request| {
        let is_sent = |exchange: &&Value| {
            let path = exchange["path"].as_str().unwrap();
            request.path.ends_with(path) && exchange["body"].to_string().as_bytes() == request.raw
        };
        match exchanges.iter().find(is_sent) {
            Some(exchange) => Reply::json(200, &exchange["reply"]),
            None => Reply::plain(400, "these bytes are new"),
        }
    });
    let (place, again) = (Workplace::new(), Workplace::new());
    let url = match name {
        "messages" => server.azure_endpoint(),
        _ => server.base_url(),
    };
    let ran = place.run(&format!(
        "--model qwen1.5b --data-path sample --seed 7 -j 1 --second-opinion off --base-url {url} \
         --cache replies {options}"
    ));
    assert!(matches!(ran.code, Some(0 | 4)), "{}", ran.stderr);
    assert_eq!(server.count(), count);
    // Without what the embedded analyst of this build says of them.
    let expected = folder.join(format!("{name}.csv"));
    let expected = rows_without(&expected, |column| {
        column == "latency" || column.contains("opinion")
    });
    // Columns that are newer than the recording are not compared.
    let columns: Vec<&String> = expected[0].keys().collect();
    for ran in [&place, &again] {
        if ran.path("output").exists() {
            replay(&place, &again, "");
        }
        let mut rows = rows(ran);
        for row in &mut rows {
            row.retain(|column, _| columns.contains(&column));
        }
        assert_eq!(rows, expected);
    }
}

/// A folder of replies that an earlier build has written.
#[test]
fn a_kept_folder_is_replayed_without_another_option() {
    let place = Workplace::new();
    let folder = Path::new(KEPT).join("replies/messages");
    let ran = place.run(&format!("--replay {}", folder.display()));
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    let row = &place.rows("output/output.csv")[0];
    assert_eq!(
        (&*row["input_tokens"], &*row["output_tokens"]),
        ("2390", "200")
    );
}

/// The journal of a run by an earlier build, which had answered from the kept folder of replies.
#[test]
fn a_kept_journal_is_reported_scored_and_compared() {
    let place = Workplace::new();
    let run = place.path("output/runs/01a2258f-507c-750f-af3b-e23f7bf0bf37");
    std::fs::create_dir_all(&run).unwrap();
    let journal = Path::new(KEPT).join("journal.sqlite");
    std::fs::copy(journal, run.join("journal.sqlite")).unwrap();
    place.run("report 01a2258f").succeeds();
    let row = &place.rows("output/runs/01a2258f-507c-750f-af3b-e23f7bf0bf37/output.csv")[0];
    assert_eq!(
        (&*row["outcome"], &*row["input_tokens"], &*row["calls"]),
        ("truncated", "2249", "1")
    );
    place.run("score 01a2258f").succeeds();
    place.run("compare 01a2258f 01a2258f").succeeds();
    place.run("analyze 01a2258f").succeeds();
}

/// A budget that one request would pass is enough for a run of stored replies.
#[test]
fn stored_replies_count_against_no_budget() {
    let place = Workplace::new();
    place.write("prices.json", PRICES);
    let server = FaultServer::start(scripted);
    store(&place, &server, "--n 2 --max-tokens 500").succeeds();
    let sent = server.count();
    let capped = "--n 2 --max-tokens 500 --prices prices.json --max-cost 0.000001";
    store(&place, &server, &format!("{capped} -o second")).succeeds();
    assert_eq!(server.count(), sent);
    store(&place, &server, &format!("{capped} -o third --seed 9")).ends(7);
    assert_eq!(server.count(), sent);
}
