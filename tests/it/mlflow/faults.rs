//! A server that answers wrongly, late or never: the run is the same run.

use std::collections::HashSet;

use rstest::rstest;
use serde_json::json;

use super::fake::Fake;
use crate::support::cli::{CommandExt, Ran, Workplace};
use crate::support::fault_server::{FaultServer, Reply, Request};

fn tracked(place: &Workplace, uri: &str) -> Ran {
    tracked_with(place, uri, "")
}

fn tracked_with(place: &Workplace, uri: &str, more: &str) -> Ran {
    let line = format!("--data-path sample --n 5 {more}");
    place.run_with(&line, &[("MLFLOW_TRACKING_URI", uri)])
}

fn sync(place: &Workplace, uri: &str) -> Ran {
    place.run_with("track sync", &[("MLFLOW_TRACKING_URI", uri)])
}

fn mlflow_error(status: u16, code: &str, message: &str) -> Reply {
    Reply::json(status, &json!({"error_code": code, "message": message}))
}

#[rstest]
#[case::not_found(|| Reply::plain(404, "nope"), "answers 404")]
#[case::broken(|| mlflow_error(500, "INTERNAL_ERROR", "database or disk is full"), "disk is full")]
#[case::a_web_page(|| Reply::new(200, "text/html", "<!doctype html><p>hello"), "a web page")]
#[case::nothing(|| Reply::plain(200, ""), "an empty body")]
#[case::half(|| Reply::plain(200, "{\"experiment\": {").cut_off(), "cannot be reached")]
#[case::closed(Reply::reset, "cannot be reached")]
#[case::refused(|| Reply::plain(403, "Invalid Host header"), "Invalid Host header")]
#[case::not_logged_in(|| Reply::plain(401, ""), "MLFLOW_TRACKING_TOKEN")]
fn a_run_is_the_same_and_says_once_why_it_is_not_tracked(
    #[case] reply: fn() -> Reply,
    #[case] reason: &str,
) {
    let server = FaultServer::start(move |_| reply());
    let place = Workplace::new();
    let ran = tracked(&place, &server.azure_endpoint());
    ran.succeeds();
    assert!(place.rows("output/output.csv").len() >= 5);
    assert_eq!(ran.stderr.matches(reason).count(), 1, "{}", ran.stderr);
    ran.tells("`convfinqa track sync ");
    sync(&place, &server.azure_endpoint()).fails(5, &[reason]);
}

/// What the flag says is for us, and refused.
#[test]
fn what_the_variable_says_may_be_for_others() {
    let place = Workplace::new();
    for uri in ["databricks", "http://me:s3cr@h:1"] {
        let ran = tracked(&place, uri);
        ran.succeeds().tells("this run is not tracked");
        assert!(!ran.stderr.contains("s3cr"), "{}", ran.stderr);
    }
    let synced = place.run("track sync last");
    synced.fails(2, &["--mlflow", "MLFLOW_TRACKING_URI"]);
}

#[test]
fn off_is_off() {
    let server = FaultServer::start(|_| Reply::plain(500, ""));
    let place = Workplace::new();
    let ran = tracked_with(&place, &server.azure_endpoint(), "--mlflow off");
    assert!(!ran.succeeds().stderr.contains("MLflow"), "{}", ran.stderr);
    let told = sync(&place, &server.azure_endpoint());
    told.succeeds().prints("every run");
    assert_eq!(server.count(), 0);
}

#[test]
fn an_answer_that_was_lost_makes_no_second_run_and_no_second_point() {
    // Every call is done and its first answer lost.
    let lost = |request: &Request| (request.repeat == 0).then(Reply::reset);
    let server = Fake::start(lost);
    let place = Workplace::new();
    tracked(&place, &server.uri())
        .succeeds()
        .tells("track sync");
    for _ in 0..40 {
        if sync(&place, &server.uri()).code == Some(0) {
            break;
        }
    }
    let told = server.told();
    assert_eq!((told.runs, told.status.as_str()), (1, "FINISHED"));
    let points = told.points.iter().filter(|(key, ..)| key == "exact_match");
    let points: HashSet<_> = points.collect();
    assert_eq!(
        points.len(),
        1,
        "one step, and the same time: a server keeps one"
    );
    assert!(told.files.contains_key("output.csv"));
}

#[test]
fn files_that_are_not_passed_on_are_said_and_the_rest_arrives() {
    let server = Fake::start(|request| {
        let created = json!({"run": {"info": {
            "run_id": "r1", "experiment_id": "7", "status": "RUNNING",
            "lifecycle_stage": "active", "artifact_uri": "s3://bucket/7/r1"}}});
        let elsewhere = request.path.ends_with("runs/create");
        elsewhere.then(|| Reply::json(200, &created))
    });
    let place = Workplace::new();
    let ran = tracked(&place, &server.uri());
    ran.succeeds();
    let line =
        "MLflow: not delivered: files: this server does not pass them on to s3://bucket/7/r1";
    assert_eq!(ran.stderr.matches(line).count(), 1, "{}", ran.stderr);
    let told = server.told();
    assert_eq!(told.status, "FINISHED");
    assert!(told.files.is_empty() && !told.points.is_empty());
}

fn invalid(message: &str) -> Reply {
    mlflow_error(400, "INVALID_PARAMETER_VALUE", message)
}

/// One refused parameter, and nothing at all was delivered, now and by every `track sync`.
#[rstest]
#[case::mlflow_2_0(500, |value: &str| invalid(&format!("Param value '{value}' had length {}, which exceeded length limit of 500", value.len())))]
#[case::mlflow_1_0(250, |value: &str| invalid(&format!("Param value '{}' had length {}, which exceeded length limit of 250", &value[..200], value.len())))]
#[case::mlflow_3(500, |_: &str| invalid("'params[7].value' exceeds the maximum length of 500 characters"))]
#[case::a_database(500, |value: &str| mlflow_error(500, "INTERNAL_ERROR", &format!("(psycopg2.errors.StringDataRightTruncation) value too long for type character varying(500)\n\n[SQL: INSERT INTO params]\n[parameters: {value}]")))]
#[case::no_limit(250, |_: &str| mlflow_error(400, "BAD_REQUEST", "Data too long for column 'value' at row 1"))]
#[case::too_large(250, |_: &str| Reply::new(413, "text/html", "<html>Request Entity Too Large"))]
fn a_value_that_is_too_long_is_cut_and_the_rest_arrives(
    #[case] limit: usize,
    #[case] refusal: fn(&str) -> Reply,
) {
    let fault = move |request: &Request| {
        let params = request.body["params"].as_array()?;
        let mut values = params.iter().map(|param| param["value"].as_str().unwrap());
        values.find(|value| value.len() > limit).map(refusal)
    };
    let server = Fake::start(fault);
    let place = Workplace::new();
    // Its words are not those of the refusal.
    let filter = format!("(limit of 12 characters|{}|.)", "x".repeat(700));
    let mut command = place.command();
    command
        .given("--data-path sample --n 5 --filter")
        .arg(&filter);
    let ran = command.env("MLFLOW_TRACKING_URI", server.uri()).ran();
    let line =
        "MLflow: not delivered: params: the end of filter, which config.toml or prompts/ has";
    ran.succeeds().tells(line);
    let taken = || {
        let requests = server.requests();
        let taken = requests.iter().filter(|request| fault(request).is_none());
        let params = taken.flat_map(|it| it.body["params"].as_array().cloned().unwrap_or_default());
        let pair = |param: serde_json::Value| {
            let text = |name: &str| param[name].as_str().unwrap().to_owned();
            (text("key"), text("value"))
        };
        params.map(pair).collect::<Vec<_>>()
    };
    let params: std::collections::BTreeMap<_, _> = taken().into_iter().collect();
    assert_eq!(params.len(), taken().len(), "each is taken once");
    assert_eq!(params["filter"], filter[..limit]);
    assert_eq!(params["n"], "5");
    assert!(params.contains_key("analyst_prompt"));
    let requests = server.requests();
    let mut files = requests
        .iter()
        .filter(|it| it.path.ends_with("/config.toml"));
    let config = String::from_utf8_lossy(&files.next().unwrap().raw).into_owned();
    assert!(config.contains(&filter), "whole: {config}");
    {
        let told = server.told();
        assert_eq!(told.status, "FINISHED");
        assert!(told.points.iter().any(|(key, ..)| key == "exact_match"));
        assert!(told.files.contains_key("output.csv"));
    }
    sync(&place, &server.uri()).succeeds().prints("every run");
}

#[test]
fn a_value_that_is_refused_for_another_reason_is_said_and_the_rest_arrives() {
    let refused = |kind: &str, key: &str, request: &Request| {
        let values = request.body[kind].as_array().cloned().unwrap_or_default();
        values.iter().any(|value| value["key"] == key)
    };
    let server = Fake::start(move |request| {
        let too_many = request.body["params"]
            .as_array()
            .is_some_and(|it| it.len() > 10);
        let message = format!("Invalid value '{}' in my own words", "x".repeat(400));
        if request.path.ends_with("/log-inputs") {
            return Some(Reply::json(404, &json!({"detail": "Not Found"})));
        }
        if too_many {
            return Some(invalid(
                "A batch logging request can contain at most 10 params. Got more.",
            ));
        }
        let is_bad = refused("params", "history", request)
            || refused("tags", "convfinqa.plan_hash", request)
            || refused("metrics", "p99", request);
        is_bad.then(|| invalid(&message))
    });
    let place = Workplace::new();
    let ran = tracked(&place, &server.uri());
    for (kind, key) in [
        ("params", "history"),
        ("tags", "convfinqa.plan_hash"),
        ("metrics", "p99"),
    ] {
        let line = format!("MLflow: not delivered: {kind}: {key}: http");
        assert_eq!(ran.stderr.matches(&line).count(), 1, "{}", ran.stderr);
    }
    // The end of a long message is kept.
    ran.succeeds()
        .tells("in my own words")
        .tells("not delivered: dataset: ");
    let told = server.told();
    assert_eq!(
        (told.status.as_str(), &*told.params["mode"]),
        ("FINISHED", "questions")
    );
    assert!(told.files.contains_key("output.csv"));
    drop(told);
    sync(&place, &server.uri()).succeeds().prints("every run");
}

/// The line said neither that it was about tags nor which.
#[test]
fn a_tag_that_is_refused_or_cut_is_named() {
    let long = "a value longer than 250 characters";
    for (only, status, words) in [
        (
            "",
            400,
            "answers 400 to runs/log-batch (tags: mlflow.loggedArtifacts): ",
        ),
        ("", 500, "answers 500 to runs/log-batch (tags): "),
        (
            "convfinqa.data_hash", 400, "tags: convfinqa.data_hash: http",
        ),
        (long, 400, "tags: the end of convfinqa.data_hash, "),
    ] {
        let server = Fake::start(move |request| {
            let tags = request.body["tags"].as_array()?;
            let is_bad = |tag: &serde_json::Value| match only {
                "" => true,
                _ if only == long => tag["value"].as_str().unwrap().len() > 60,
                key => tag["key"] == key,
            };
            let is_bad = request.path.ends_with("log-batch") && tags.iter().any(is_bad);
            let words = if only == long {
                "longer than 060"
            } else {
                "no"
            };
            is_bad.then(|| mlflow_error(status, "INVALID_PARAMETER_VALUE", words))
        });
        let place = Workplace::new();
        tracked(&place, &server.uri()).succeeds().tells(words);
    }
}

/// A server that fails at the parameters gets the rest, and is asked again by `track sync`.
#[test]
fn a_failure_at_the_parameters_holds_up_neither_metrics_nor_files() {
    let failing = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let is_failing = std::sync::Arc::clone(&failing);
    let server = Fake::start(move |request| {
        let fails = is_failing.load(std::sync::atomic::Ordering::Relaxed);
        (fails && request.body["params"].is_array())
            .then(|| mlflow_error(500, "INTERNAL_ERROR", "disk is full"))
    });
    let place = Workplace::new();
    tracked(&place, &server.uri())
        .succeeds()
        .tells("disk is full");
    let points = server.told().points.len();
    assert!(points > 0 && server.told().files.contains_key("output.csv"));
    failing.store(false, std::sync::atomic::Ordering::Relaxed);
    sync(&place, &server.uri()).succeeds();
    sync(&place, &server.uri()).succeeds().prints("every run");
}

#[test]
fn traces_that_a_server_cannot_take_hold_up_nothing_and_are_kept() {
    // An older server knows no such path.
    let server = Fake::start(|request| {
        (request.path == "/v1/traces").then(|| Reply::json(404, &json!({"detail": "Not Found"})))
    });
    let place = Workplace::new();
    let ran = tracked(&place, &server.uri());
    let told = ran
        .succeeds()
        .stderr
        .matches("MLflow: not delivered: traces: ");
    assert_eq!(told.count(), 1, "{}", ran.stderr);
    assert!(server.told().files.contains_key("output.csv"));
    sync(&place, &server.uri()).succeeds().prints("every run");
}

#[test]
fn traces_that_are_refused_are_said_and_a_cut_one_is_passed_over() {
    let bad = |request: &Request| {
        let spans = request.path == "/v1/traces";
        let text = String::from_utf8_lossy(&request.raw).into_owned();
        (spans && text.contains("q-bad")).then(|| Reply::json(422, &json!({"detail": "cannot"})))
    };
    let server = Fake::start(bad);
    let place = Workplace::new();
    tracked_with(&place, &server.uri(), "--traces off").succeeds();
    let line = |id: &str, trace: char| {
        let trace = trace.to_string();
        json!({"resourceSpans": [{"scopeSpans": [{"spans": [{
            "traceId": trace.repeat(32), "spanId": trace.repeat(16), "name": "q", "kind": 1,
            "startTimeUnixNano": "1", "endTimeUnixNano": "2",
            "attributes": [{"key": "convfinqa.question.id", "value": {"stringValue": id}}]}]}]}]})
        .to_string()
    };
    let text = [
        &line("q-one", 'a'),
        "nonsense",
        &line("q-bad", 'b'),
        &line("q-two", 'c'),
        "{\"cut",
    ];
    std::fs::write(place.run_folder().join("traces.jsonl"), text.join("\n")).unwrap();
    let uri = server.uri();
    let ran = place.run_with("track sync last", &[("MLFLOW_TRACKING_URI", &*uri)]);
    ran.succeeds();
    ran.tells("traces: 3 of traces.jsonl refused");
    sync(&place, &server.uri()).succeeds().prints("every run");
}

#[test]
fn a_record_that_cannot_be_read_costs_only_requests() {
    let server = Fake::start(|_| None);
    let place = Workplace::new();
    tracked(&place, &server.uri()).succeeds();
    let path = place.run_folder().join("mlflow.json");
    for unreadable in ["", "{\"format\": 99}"] {
        std::fs::write(&path, unreadable).unwrap();
        sync(&place, &server.uri()).succeeds();
    }
    assert_eq!(server.told().runs, 1);
}

/// Servers that repeat the secret they were sent, where that is shown or stored.
#[rstest]
#[case::nothing("none", |said: &str| Reply::plain(200, said))]
#[case::refused("runs/create", |said: &str| Reply::json(403, &json!({"error_code": "PERMISSION_DENIED", "message": said})))]
#[case::refused_in_plain_text("experiments/get-by-name", |said: &str| Reply::plain(401, said))]
#[case::failed("runs/log-batch", |said: &str| Reply::json(400, &json!({"error_code": "INVALID_PARAMETER_VALUE", "message": said})))]
#[case::as_an_id("experiments/get-by-name", |said: &str| Reply::json(200, &json!({"experiment": {"experiment_id": said, "lifecycle_stage": "active"}})))]
fn a_secret_is_sent_and_kept_nowhere_whoever_repeats_it(
    #[case] call: &'static str,
    #[case] reply: fn(&str) -> Reply,
) {
    const SECRET: &str = "planted-0123456789";
    // `me:planted-0123456789` as a header has it.
    const PACKED: &str = "bWU6cGxhbnRlZC0wMTIzNDU2Nzg5";
    for (variable, expected) in [
        ("MLFLOW_TRACKING_TOKEN", format!("Bearer {SECRET}")),
        ("MLFLOW_TRACKING_PASSWORD", format!("Basic {PACKED}")),
    ] {
        let server = Fake::start(move |request| {
            let authorization = request.header("authorization").unwrap_or_default();
            let said = format!("{authorization} is {SECRET}");
            request.path.contains(call).then(|| reply(&said))
        });
        let place = Workplace::new();
        let variables = [
            ("MLFLOW_TRACKING_USERNAME", "me"),
            (variable, SECRET),
            ("RUST_LOG", "trace"),
        ];
        let uri = server.uri();
        let line = format!("--data-path sample --n 2 --log text --mlflow {uri}");
        let ran = place.run_with(&line, &variables);
        ran.succeeds();
        for request in server.requests() {
            let sent = request.header("authorization");
            assert_eq!(sent, Some(&*expected), "{}", request.path);
        }
        let mut all = vec![ran.stdout, ran.stderr];
        for file in std::fs::read_dir(place.run_folder()).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            all.push(String::from_utf8_lossy(&bytes).into_owned());
        }
        for text in all {
            assert!(!text.contains(SECRET) && !text.contains(PACKED), "{text}");
        }
    }
}

/// Each process would otherwise be a run of its own there.
#[test]
fn shards_are_delivered_as_one_run_by_merge() {
    let mlflow = Fake::start(|_| None);
    let place = Workplace::new();
    for part in ["1/2", "2/2"] {
        let shard = format!("--shard {part} --run nightly");
        let ran = tracked_with(&place, &mlflow.uri(), &shard);
        ran.succeeds().tells("`convfinqa merge nightly` delivers");
    }
    assert_eq!(mlflow.requests().len(), 0);
    let merge = || place.run_with("merge nightly", &[("MLFLOW_TRACKING_URI", &mlflow.uri())]);
    merge().succeeds().tells("MLflow: http://");
    let questions = place.rows("output/output.csv").len();
    {
        let told = mlflow.told();
        assert_eq!((told.runs, told.status.as_str()), (1, "FINISHED"));
        let last = told.points.iter().map(|(_, step, _)| *step).max();
        assert_eq!(last, i64::try_from(questions).ok());
        assert!(told.files.contains_key("output.csv"), "{:?}", told.files);
    }
    merge().succeeds();
    assert_eq!(mlflow.told().runs, 1);
}

/// The first one ended it, and the others stayed where they were.
#[test]
fn a_run_that_cannot_be_sent_stops_no_other() {
    let server = Fake::start(|_| None);
    let place = Workplace::new();
    let run = |more: &str| place.run(&format!("--data-path sample --n 1 {more}"));
    run("").succeeds();
    let broken = place.run_folder().join("journal.sqlite");
    std::fs::write(broken, "not a journal").unwrap();
    run("--mlflow http://127.0.0.1:9").succeeds();
    run("").succeeds();
    let ran = sync(&place, &server.uri());
    assert_ne!(ran.code, Some(0));
    ran.tells("cannot be reached").tells("journal");
    assert_eq!(server.told().runs, 1);
}

/// It was made again, from the journal alone.
#[test]
fn a_report_keeps_its_pages_when_a_run_is_sent_after_its_data_have_moved() {
    let server = Fake::start(|_| None);
    let place = Workplace::new();
    place.write("records.json", include_str!("../../../data/sample.json"));
    place.run("--data-path records.json -n 2").succeeds();
    let report = place.run_folder().join("report.html");
    let pages = std::fs::read(&report).unwrap();
    std::fs::remove_file(place.path("records.json")).unwrap();
    let ran = sync(&place, &server.uri());
    ran.succeeds().tells("the report is kept as it is");
    assert_eq!(std::fs::read(&report).unwrap(), pages);
    assert_eq!(server.told().files["report.html"], pages.len());
}

/// All was merged, and then an address that was stored made it an error.
#[test]
fn a_stored_address_that_cannot_be_used_does_not_fail_a_merge() {
    let place = Workplace::new();
    for part in ["1/2", "2/2"] {
        let shard = format!("--shard {part} --run nightly --mlflow http://mlflow.invalid:5000");
        tracked_with(&place, "", &shard).succeeds();
    }
    let ran = place.run_with("merge nightly", &[("MLFLOW_TRACKING_TOKEN", "t0ken")]);
    ran.succeeds().tells("the merged run was not sent");
}
