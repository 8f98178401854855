//! Runs whose requests are sent in batches, against a local Batch API.

use std::process::Command;

use serde_json::json;

use crate::support::agents::scripted;
use crate::support::batch_server::{BatchServer, Blow, Ending};
use crate::support::cli::{CommandExt, Ran, Row, Workplace};
use crate::support::fault_server::{FaultServer, Reply, Request};

mod failures;
mod fetches;
mod kills;

const PRICES: &str =
    r#"{"version": 1, "models": {"m": {"input": 2, "cache_write": 2, "output": 8}}}"#;

/// A Batch API whose n-th batch ends as `endings` says.
fn server(endings: impl Fn(usize) -> Ending + Send + Sync + 'static) -> BatchServer {
    BatchServer::start(scripted, endings)
}

/// Asks model `m` of `server` about conversations of the sample in batches.
fn batched(place: &Workplace, server: &BatchServer, more: &str) -> Ran {
    of(place, &server.http, &format!("--engine batch {more}")).ran()
}

/// The same, by a process that submits the first wave and exits.
fn submit(place: &Workplace, server: &BatchServer, more: &str) -> Ran {
    of(place, &server.http, &format!("batch submit {more}")).ran()
}

fn of(place: &Workplace, server: &FaultServer, line: &str) -> Command {
    in_form(Form::OpenAi, place, server, line)
}

/// Whose Batch API is spoken.
#[derive(Clone, Copy, Debug)]
enum Form {
    OpenAi,
    Anthropic,
}

fn in_form(form: Form, place: &Workplace, server: &FaultServer, line: &str) -> Command {
    place.write("prices.json", PRICES);
    let at = match form {
        Form::OpenAi => server.base_url(),
        Form::Anthropic => format!("{} --provider anthropic", server.azure_endpoint()),
    };
    let settings = "--model m --data-path sample --mode conversations --prices prices.json";
    resume(place, &format!("{line} {settings} --base-url {at}"))
}

/// A command without settings of its own, with the keys.
fn resume(place: &Workplace, line: &str) -> Command {
    let mut command = place.command();
    command.envs([("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")]);
    command.given(line);
    command
}

fn later(place: &Workplace, line: &str) -> Ran {
    resume(place, line).ran()
}

/// `batch fetch` until no batch is at the provider, by its exit code: the last of them.
fn fetch_to_the_end(place: &Workplace) -> Ran {
    let fetched = || later(place, "batch fetch");
    let mut fetches = std::iter::repeat_with(fetched).take(200);
    fetches.find(|ran| ran.code != Some(4)).expect("no end")
}

/// The rows and the cost of a live run.
fn live(more: &str) -> (Vec<Row>, f64) {
    live_in(Form::OpenAi, more)
}

fn live_in(form: Form, more: &str) -> (Vec<Row>, f64) {
    let (place, server) = (Workplace::new(), FaultServer::start(scripted));
    in_form(form, &place, &server, more).ran().succeeds();
    (place.unmeasured_rows(), cost(&place))
}

/// The rows of a live run at a server that answers like this.
fn live_at(answer: fn(&Request) -> Reply, more: &str) -> Vec<Row> {
    let (place, server) = (Workplace::new(), FaultServer::start(answer));
    let ran = of(&place, &server, more).ran();
    assert!([Some(0), Some(4)].contains(&ran.code), "{}", ran.stderr);
    place.unmeasured_rows()
}

fn cost(place: &Workplace) -> f64 {
    let cost = &place.summary()["spent"]["cost_usd"];
    cost.as_str().unwrap().parse().unwrap()
}

/// Each request was submitted once.
#[track_caller]
fn nothing_twice(server: &BatchServer) {
    let twice = server
        .submissions()
        .into_values()
        .filter(|count| *count > 1);
    assert_eq!(twice.count(), 0);
}

#[test]
fn a_run_in_batches_gives_the_rows_of_a_live_run_at_half_the_cost() {
    let (rows_live, cost_live) = live("");
    let (place, server) = (Workplace::new(), server(|_| Ending::Complete));
    let ran = batched(&place, &server, "");
    ran.succeeds();
    assert_eq!(place.unmeasured_rows(), rows_live);
    assert!((cost(&place) * 2.0 - cost_live).abs() < 1e-9);
    nothing_twice(&server);
    // A wave holds a request of every conversation that needs one: each turn takes the
    // analyst, the critic, and both again for the half that is sent back.
    let turns = rows_live.iter().map(|row| &row["part"]).max().unwrap();
    let turns: usize = turns.trim_start_matches("turn_").parse().unwrap_or(9);
    let waves = server.batches().len();
    assert!(waves <= 4 * (turns + 1), "{waves} waves");
    ran.tells("wave 1: submitted batch batch_0");
    let path = |seen: &String| !seen.contains("/files") && !seen.contains("/batches");
    assert!(!server.seen().iter().any(path), "nothing is sent live");
}

#[test]
fn all_samples_of_a_question_are_in_one_wave() {
    let waves = |samples: u32| {
        let options = format!("--n 3 --critic off --seed 7 --samples {samples}");
        let (rows_live, _) = live(&options);
        let (place, server) = (Workplace::new(), server(|_| Ending::Complete));
        batched(&place, &server, &options).succeeds();
        assert_eq!(place.unmeasured_rows(), rows_live);
        server.batches().len()
    };
    assert_eq!(waves(4), waves(1));
}

#[test]
fn each_provider_and_api_is_spoken_to_in_its_own_form() {
    let (rows_live, _) = live("--n 3");
    for (form, path) in [
        ("--provider azure", "POST /openai/batches"),
        ("--provider anthropic", "POST /v1/messages/batches"),
        ("--api responses", "POST /v1/batches"),
    ] {
        let (place, server) = (Workplace::new(), server(|_| Ending::Complete));
        let at = match form.starts_with("--provider") {
            true => server.http.azure_endpoint(),
            false => server.http.base_url(),
        };
        let line = "--model m --data-path sample --mode conversations --n 3 --engine batch";
        let mut command = resume(&place, &format!("{line} {form} --base-url {at}"));
        command.env("AZURE_OPENAI_API_KEY", "k").ran().succeeds();
        assert_eq!(place.unmeasured_rows(), rows_live, "{path}");
        assert!(server.seen().iter().any(|seen| seen == path), "{path}");
        nothing_twice(&server);
    }
}

#[test]
fn a_run_is_submitted_shown_and_fetched_by_one_process_for_each_wave() {
    let (rows_live, cost_live) = live("--n 4");
    let (place, server) = (Workplace::new(), server(|_| Ending::After(1)));
    let submitted = submit(&place, &server, "--n 4");
    submitted.succeeds();
    assert_eq!(server.batches().len(), 1);
    let said = format!("{}{}", submitted.stdout, submitted.stderr);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let id = place.summary()["run"]["id"].as_str().unwrap().to_owned();
    let hint = format!("convfinqa batch fetch {id}");
    assert!(said.contains(&hint) && !said.contains("--resume"), "{said}");

    let status = later(&place, "batch status");
    status.succeeds();
    let expected = "wave 1.1  batch_0  requests: 4  at the provider, 0 of 4 done\n";
    assert_eq!(status.stdout, expected);

    // The live engine would send the same requests again.
    let other = later(&place, "--resume --engine live");
    other.fails(2, &["has batches at the provider", "batch fetch"]);

    fetch_to_the_end(&place).succeeds();
    assert_eq!(place.unmeasured_rows(), rows_live);
    assert!((cost(&place) * 2.0 - cost_live).abs() < 1e-9);
    nothing_twice(&server);
    let again = later(&place, "batch fetch");
    again.fails(
        2,
        &["no unfinished run; start one with `convfinqa batch submit`"],
    );
}

#[test]
fn the_estimate_of_a_dry_run_is_half_as_high() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    let dry = |more: &str| {
        let ran = of(&place, &server, &format!("--dry-run --json {more}")).ran();
        ran.succeeds().json()
    };
    let (live, batch) = (dry(""), dry("--engine batch"));
    for end in ["low", "high"] {
        let [live, batch] = [&live, &batch].map(|estimate| -> f64 {
            estimate["cost_usd"][end].as_str().unwrap().parse().unwrap()
        });
        assert!((batch * 2.0 - live).abs() < 1e-12, "{end}");
    }
    assert_eq!(live["calls"], batch["calls"]);
}

#[test]
fn a_limit_holds_because_a_wave_is_reserved_before_it_is_submitted() {
    let (place, server) = (Workplace::new(), server(|_| Ending::Complete));
    // Ten records' first wave fits in part; the bound of a request is far above its cost.
    batched(&place, &server, "--n 10 --max-cost 0.05").ends(7);
    assert!(server.batches()[0].requests.len() < 10);
    assert!(cost(&place) <= 0.05);
    later(&place, "--resume --max-cost 50").succeeds();
    assert_eq!(place.unmeasured_rows(), live("--n 10 --max-cost 50").0);
    nothing_twice(&server);
}

#[test]
fn a_reply_in_the_cache_joins_no_wave() {
    let (place, server) = (Workplace::new(), server(|_| Ending::Complete));
    let cached = "--n 3 --cache replies";
    batched(&place, &server, cached).succeeds();
    let before = server.batches().len();
    batched(&place, &server, cached).succeeds();
    assert_eq!(server.batches().len(), before);
}

#[test]
fn what_cannot_be_sent_in_batches_is_refused_in_one_line() {
    let place = Workplace::new();
    let model = "--model m --base-url http://127.0.0.1:9/v1 --data-path sample";
    for more in ["", "--dry-run"] {
        let ran = later(&place, &format!("--engine batch --model offline {more}"));
        ran.fails(2, &["a batch run needs a chat model"]);
        let ran = later(&place, &format!("--engine batch {model} --record x {more}"));
        ran.fails(2, &["a batch run cannot be recorded"]);
    }
    let mut play = resume(&place, &format!("env play {model}"));
    let ran = play.env("CONVFINQA_ENGINE", "batch").ran();
    ran.fails(2, &["a batch run is for questions"]);
}

/// It was accepted, and batches were sent.
#[test]
fn batch_submit_refuses_the_live_engine() {
    let place = Workplace::new();
    let ran = place.run("batch submit --engine live --dry-run --data-path sample");
    ran.fails(2, &["batch submit always sends batches"]);
    let help = place.run("batch submit --help");
    for option in ["--engine", "--concurrency", "--rpm", "--tpm", "--record"] {
        assert!(!help.stdout.contains(option), "{option}");
    }
}

/// They were accepted, and a file of no test cases was written; no later command checked the
/// threshold.
#[test]
fn batch_submit_refuses_options_about_answers() {
    let place = Workplace::new();
    let help = place.run("batch submit --help");
    let ran = place.run("batch submit --fail-under fe=50 --data-path sample");
    ran.fails(2, &["--fail-under", "convfinqa --resume"]);
    assert!(!help.stdout.contains("--fail-under"));
}

#[test]
fn without_a_run_status_and_fetch_say_so_in_one_line() {
    let place = Workplace::new();
    let status = place.run("batch status");
    status.fails(
        2,
        &["output: no run; start one with `convfinqa batch submit`"],
    );
    let fetch = place.run("batch fetch");
    fetch.fails(
        2,
        &["output: no unfinished run; start one with `convfinqa batch submit`"],
    );
    assert!(!place.path("output").exists());
}

#[test]
fn a_submission_that_fails_says_how_to_continue() {
    let (place, server) = (Workplace::new(), server(|_| Ending::Complete));
    server.intercept(|_| Some(Reply::error(401, "invalid_api_key", "Incorrect API key")));
    let ran = submit(&place, &server, "-q --n 3");
    let hint = "continue with `convfinqa batch fetch` or `convfinqa --resume`";
    ran.fails(5, &[hint, "the provider refused the key"]);
    server.intercept(|_| None);
    later(&place, "batch fetch -q").ends(4);
    nothing_twice(&server);
}

#[test]
fn the_row_says_that_a_request_may_be_at_the_provider_twice() {
    let (place, server) = (Workplace::new(), server(|_| Ending::Complete));
    let mut lost = false;
    server.intercept(move |request| {
        let is_submission = request.method == "POST" && request.path == "/v1/batches";
        let is_first = is_submission && !std::mem::replace(&mut lost, true);
        is_first.then(Reply::reset)
    });
    batched(&place, &server, "--n 3").succeeds();
    let rows = place.rows("output/output.csv");
    for row in &rows {
        let expected = match row["part"].as_str() {
            "0" => ("a request may be at the provider twice", ""),
            _ => ("", row["cost_usd"].as_str()),
        };
        assert_eq!((row["error"].as_str(), row["cost_usd"].as_str()), expected);
        assert_eq!(row["outcome"], "answered");
    }
    assert_eq!(place.summary()["batches"]["repeated"], json!([1]));
    assert_eq!(place.summary()["spent"]["cost"]["unpriced"], json!(3));
}

#[test]
fn a_batch_of_a_finished_run_has_ended_although_its_end_was_not_noted() {
    let (place, server) = (Workplace::new(), server(|_| Ending::Complete));
    batched(&place, &server, "--n 2").succeeds();
    // As a process leaves it that is killed after the last answer.
    let unnoted = r#"UPDATE batches SET json = json_set(json, '$.stage', 'submitted')"#;
    assert!(place.journal_tables().execute(unnoted, []).unwrap() > 1);
    let before = server.seen().len();
    let status = later(&place, "batch status");
    let shown = &status.succeeds().stdout;
    assert!(shown.lines().all(|line| line.ends_with("ended")), "{shown}");
    assert_eq!(server.seen().len(), before, "the provider is not asked");
}

#[test]
fn the_status_of_a_run_with_examples_needs_no_train_file() {
    let (place, server) = (Workplace::new(), server(|_| Ending::After(9)));
    let record = json!([{
        "id": "Single_ZED/2001/page_2.pdf-1", "filename": "ZED/2001/page_2.pdf",
        "pre_text": ["an invented company ."], "post_text": [],
        "table": [["", "2001", "2000"], ["sales", "40", "30"]],
        "qa": {"question": "what is the growth of sales?", "answer": "1",
            "program": "subtract(40, 30)", "exe_ans": 10.0},
    }]);
    std::fs::create_dir(place.path("data")).unwrap();
    let train = place.write("data/train.json", &record.to_string());
    submit(&place, &server, "--n 2 --examples 1").succeeds();
    std::fs::remove_file(train).unwrap();
    let status = later(&place, "batch status");
    status.succeeds().prints("at the provider, 0 of 2 done");
}

/// Runs a process: its exit code, and the most memory that it had, in KiB.
#[cfg(target_os = "linux")]
fn peak_memory(mut command: Command) -> (Option<i32>, u64) {
    let mut child = command.begin();
    let file = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(&file).unwrap_or_default();
        let mut lines = status.lines();
        let line = lines.find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        peak = now.unwrap_or_default().max(peak);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    (child.wait().unwrap().code(), peak)
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs minutes"]
fn needs_time_4400_conversations_in_flight_take_less_than_a_gigabyte() {
    let (place, server) = (Workplace::new(), server(|_| Ending::Complete));
    let (code, peak) = peak_memory(of(&place, &server.http, "batch submit --epochs 100"));
    assert_eq!(code, Some(0));
    let in_flight = server.batches()[0].requests.len();
    println!("{in_flight} conversations, {peak} KiB");
    assert!(peak > 0 && peak < 1 << 20, "{peak} KiB");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs minutes"]
fn needs_time_300_mb_of_results_are_fetched_in_less_than_150_mb() {
    const PADDING: usize = 1_000_000;
    let answer = |request: &Request| {
        let padding = "x".repeat(PADDING);
        scripted(request).with_usage(json!({
            "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110, "padding": padding,
        }))
    };
    let (place, server) = (
        Workplace::new(),
        BatchServer::start(answer, |_| Ending::Complete),
    );
    submit(&place, &server, "--n 30 --epochs 10").succeeds();
    let requests = server.batches()[0].requests.len();
    let (code, peak) = peak_memory(resume(&place, "batch fetch"));
    assert_eq!(code, Some(4));
    println!("results: {requests} of {PADDING} bytes, {peak} KiB");
    assert!(requests >= 300, "{requests}");
    assert!(peak > 0 && peak < 150 << 10, "{peak} KiB");
}
