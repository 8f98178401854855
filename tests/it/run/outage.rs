//! A provider that fails: what is given up, what is asked again, what is lost
//! (nothing), and what the user hears of it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use finqa_journal::run::{Event, Finish};
use finqa_run::pipeline::RunResults;
use rstest::rstest;

use crate::support::agents::{is_critic, question_of, scripted};
use crate::support::cli::{Row, Workplace, rows_without};
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::in_process;

/// Settings of a run of the sample's questions, one request a call.
fn asking(server: &FaultServer, more: &str) -> String {
    in_process::asking(server, &format!("attempts = 1\n{more}"))
}

#[track_caller]
fn is_given_up(results: &RunResults) {
    let Finish::Fatal(reason) = &results.finish else {
        panic!("{:?}", results.finish);
    };
    let line = reason.to_string();
    assert!(line.contains("20 calls in a row failed"), "{line}");
}

fn rows(place: &Workplace) -> Vec<Row> {
    // What failed on the way is counted.
    let counted = ["latency", "calls", "attempts", "cost_usd"];
    let csv = place.path("output/output.csv");
    rows_without(&csv, |column| counted.contains(&column))
}

/// The rows are those of a run that nothing disturbed.
#[track_caller]
fn is_as_undisturbed(disturbed: &Workplace, more: &str) {
    let place = Workplace::new();
    place.answer(&asking(&FaultServer::start(scripted), more));
    let (expected, rows) = (rows(&place), rows(disturbed));
    assert_eq!(rows.len(), expected.len());
    for (row, expected) in rows.iter().zip(&expected) {
        assert_eq!(row, expected);
    }
}

#[rstest]
#[case::rate_limit(|| Reply::error(429, "x", "slow down"))]
#[case::drop(Reply::reset)]
#[case::empty(|| Reply::json(200, &serde_json::json!({"choices": []})))]
fn a_provider_that_answers_only_errors_is_given_up_after_20_calls(#[case] broken: fn() -> Reply) {
    let place = Workplace::new();
    let server = FaultServer::start(move |_| broken());
    match place.start(&asking(&server, "concurrency = 1")) {
        Ok(results) => {
            is_given_up(&results);
            assert_eq!(place.journal().answered().unwrap(), 0, "nothing is settled");
        }
        // Nothing was paid.
        Err(error) => assert!(error.to_string().contains("20 calls in a row failed")),
    }
    assert_eq!(server.count(), 20);
}

#[test]
fn a_run_that_gave_the_provider_up_is_finished_by_resume() {
    let place = Workplace::new();
    let broken = FaultServer::start(|_| Reply::error(500, "x", "sorry"));
    let address = broken.address();
    // With several calls at the same time, one more may have failed when it stops.
    is_given_up(&place.start(&asking(&broken, "concurrency = 1")).unwrap());
    drop(broken);
    let _server = FaultServer::at(address, scripted);
    let resumed = place.resume("last", "").unwrap();
    assert_eq!(resumed.finish, Finish::Complete);
    is_as_undisturbed(&place, "");
}

#[rstest]
#[case("concurrency = 8")]
#[case("concurrency = 3\nmode = 'conversations'")]
fn an_outage_loses_no_question(#[case] more: &str) {
    let place = Workplace::new();
    let server = FaultServer::start(|request| match request.index {
        20..26 => Reply::error(503, "x", "maintenance"),
        _ => scripted(request),
    });
    let results = place.answer(&asking(&server, more));
    assert_eq!(results.summary.unanswered(), 0);
    is_as_undisturbed(&place, more);
}

/// 64 calls in flight once failed 20 times in one wave of retries.
#[test]
fn a_server_that_has_answered_is_given_time_and_asked_by_one_request_at_a_time() {
    let (place, more) = (Workplace::new(), "concurrency = 30");
    let (begun, refused) = (OnceLock::new(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&refused);
    let server = FaultServer::start(move |request| {
        let is_back = || begun.get_or_init(Instant::now).elapsed() > Duration::from_secs(1);
        if request.index < 12 || is_back() {
            return scripted(request);
        }
        counted.fetch_add(1, Ordering::Relaxed);
        Reply::error(503, "x", "maintenance")
    });
    place.answer(&asking(&server, more));
    // Those in flight, those begun before it was down, and the probes: not all of them again.
    let refused = refused.load(Ordering::Relaxed);
    assert!(refused < 50, "{refused}");
    is_as_undisturbed(&place, more);
}

#[test]
fn a_server_that_stays_down_ends_the_run_once_its_time_is_over() {
    let server = FaultServer::start(|request| match request.index {
        0..12 => scripted(request),
        _ => Reply::error(503, "x", "maintenance"),
    });
    let results = Workplace::new().start(&asking(&server, "give_up_after = '1s'"));
    let finish = results.unwrap().finish;
    let told = matches!(&finish, Finish::Fatal(reason)
        if reason.to_string().contains("no answer for 1s (give_up_after)"));
    assert!(told, "{finish:?}");
}

#[test]
fn a_resumed_run_waits_for_a_server_that_answered_an_earlier_process() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    let address = server.address();
    let given = asking(&server, "concurrency = 1");
    place.abandon(&given, || server.count() > 12);
    drop(server);
    let mut restarted = None;
    let resumed = place.resume_watched("last", |event| {
        // Three calls, after which a new run ends, and the first probe could not connect.
        if matches!(event, Event::Retry { .. }) {
            restarted.get_or_insert_with(|| FaultServer::at(address, scripted));
        }
    });
    assert_eq!(resumed.unwrap().finish, Finish::Complete);
    assert!(restarted.is_some());
}

/// The first question that is begun after others were answered.
#[test]
fn a_refusal_of_one_question_is_its_outcome_and_stops_nothing() {
    let place = Workplace::new();
    let refused = Arc::new(OnceLock::new());
    let server = FaultServer::start({
        let refused = Arc::clone(&refused);
        move |request| {
            let question = question_of(request);
            let begins = request.body["messages"].as_array().unwrap().len() == 2;
            if request.index >= 9 && begins && !is_critic(request) {
                let _ = refused.set(question.clone());
            }
            if refused.get() == Some(&question) {
                Reply::unsupported("messages", "not this one")
            } else {
                scripted(request)
            }
        }
    });
    place.answer(&asking(&server, "concurrency = 1"));
    let refused = refused.get().unwrap();
    for row in rows(&place) {
        let is_refused = row["question"] == *refused;
        assert_eq!(row["outcome"] == "provider_error", is_refused, "{row:?}");
    }
    assert!(place.journal().is_complete().unwrap());
}

/// A model that repeats itself until the timeout did so six times, twice.
#[test]
fn a_request_that_times_out_is_sent_twice_in_a_run_and_left_for_resume() {
    let place = Workplace::new();
    let hung = Arc::new(AtomicUsize::new(0));
    let server = FaultServer::start({
        let hung = Arc::clone(&hung);
        move |request| {
            if blake3::hash(question_of(request).as_bytes()).as_bytes()[6] < 16 {
                hung.fetch_add(1, Ordering::Relaxed);
                Reply::hang()
            } else {
                scripted(request)
            }
        }
    });
    let given = in_process::asking(&server, "timeout = 1\nconcurrency = 8");
    let finish = place.start(&given).unwrap().finish;
    let Finish::Partial { left, .. } = finish else {
        panic!("{finish:?}");
    };
    assert_eq!(hung.load(Ordering::Relaxed), 2 * left);
}

/// Azure bills a prompt that it filters.
#[test]
fn a_filtered_call_is_not_sent_again_after_a_kill() {
    let place = Workplace::new();
    let down = Arc::new(AtomicBool::new(true));
    let server = FaultServer::start({
        let down = Arc::clone(&down);
        move |request| match request.index {
            // The second sample of the first question, then its critic.
            1 => Reply::content_filter(),
            2.. if down.load(Ordering::Relaxed) => Reply::hang(),
            _ => scripted(request),
        }
    });
    let given = asking(&server, "concurrency = 1\nsamples = 2");
    place.abandon(&given, || server.count() > 2);
    down.store(false, Ordering::Relaxed);
    place.resume("last", "").unwrap();
    let sent = server.requests();
    assert!(is_critic(&sent[3]), "{}", sent[3].body);
    assert_eq!(sent[3].body, sent[2].body);
}

#[test]
fn a_question_that_fails_again_is_left_for_resume() {
    let place = Workplace::new();
    let down = Arc::new(AtomicBool::new(true));
    let failed = Arc::new(AtomicUsize::new(0));
    let server = FaultServer::start({
        let (down, failed) = (Arc::clone(&down), Arc::clone(&failed));
        move |request| {
            let unlucky = blake3::hash(question_of(request).as_bytes()).as_bytes()[5] < 32;
            if unlucky && down.load(Ordering::Relaxed) {
                failed.fetch_add(1, Ordering::Relaxed);
                return Reply::error(500, "x", "not this one");
            }
            scripted(request)
        }
    });
    let ran = place.chat(&server, "--attempts 1");
    ran.ends(4);
    let left = failed.load(Ordering::Relaxed) / 2;
    assert!(left > 0, "each is asked twice");
    let told = format!("{left} questions without an outcome because the provider failed");
    ran.tells(&told).tells("--resume asks again");
    ran.prints("Not complete");
    assert!(!place.journal().is_complete().unwrap());
    assert_eq!(place.summary()["complete"], false);
    assert_eq!(rows(&place).len(), 58 - left);

    down.store(false, Ordering::Relaxed);
    let resumed = place.resume("last", "").unwrap();
    assert_eq!(resumed.finish, Finish::Complete);
    is_as_undisturbed(&place, "");
}

#[test]
fn a_setting_that_the_model_does_not_take_is_said_once_and_recorded() {
    let place = Workplace::new();
    let server = FaultServer::start(|request| match request.body.get("temperature") {
        Some(_) => Reply::unsupported("temperature", "'temperature' is not supported"),
        None => scripted(request),
    });
    let ran = place.chat(&server, "--n 6 --temperature 0.3");
    ran.succeeds();
    let line = "temperature not sent: the model does not support it";
    assert_eq!(ran.stdout.matches(line).count(), 1, "{}", ran.stdout);
    let left_out = &place.summary()["left_out"];
    assert_eq!(*left_out, serde_json::json!(["temperature"]));
    let config = std::fs::read_to_string(place.run_folder().join("config.toml")).unwrap();
    assert!(config.contains(&format!("# note    {line}")), "{config}");
    place
        .journal()
        .for_each_row(|row| {
            for call in row.solution.calls {
                assert_eq!(call.reply.unwrap().left_out, ["temperature"]);
            }
        })
        .unwrap();
}

/// A folder without an answer stayed, and a command that continues nothing was named.
#[test]
fn a_run_that_asked_nothing_leaves_no_folder() {
    let place = Workplace::new();
    let refuses = FaultServer::start(|_| Reply::error(401, "invalid_api_key", "wrong key"));
    for url in [refuses.base_url(), "http://127.0.0.1:9/v1".to_owned()] {
        let line = format!("--model m --data-path sample --n 1 --attempts 1 --base-url {url}");
        let ran = place.run(&line);
        ran.fails(5, &[]);
        assert_eq!(ran.stdout, "");
        assert!(!ran.stderr.contains("--resume"), "{}", ran.stderr);
        let left = std::fs::read_dir(place.path("output/runs")).unwrap();
        assert_eq!(left.count(), 0);
    }
    assert_eq!(refuses.count(), 1, "a run that cannot succeed asks once");
}
