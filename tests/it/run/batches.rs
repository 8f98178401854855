//! Runs whose requests are sent in batches, against a local Batch API.

use std::process::Command;

use crate::support::agents::scripted;
use crate::support::batch_server::{BatchServer, Blow, Ending};
use crate::support::cli::{CommandExt, Ran, Row, Workplace};
use crate::support::fault_server::FaultServer;

mod failures;
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

/// The rows and the cost of a live run.
fn live(more: &str) -> (Vec<Row>, f64) {
    live_in(Form::OpenAi, more)
}

fn live_in(form: Form, more: &str) -> (Vec<Row>, f64) {
    let (place, server) = (Workplace::new(), FaultServer::start(scripted));
    in_form(form, &place, &server, more).ran().succeeds();
    (place.unmeasured_rows(), cost(&place))
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
    ran.tells("submitted batch batch_0");
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
        let at = if form.starts_with("--provider") {
            server.http.azure_endpoint()
        } else {
            server.http.base_url()
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
fn a_run_whose_time_is_over_leaves_its_batch_to_a_later_one_that_looks_and_ends() {
    let (rows_live, cost_live) = live("--n 4");
    let (place, server) = (Workplace::new(), server(|_| Ending::Never));
    let ran = batched(&place, &server, "--n 4 --max-time 3s");
    ran.ends(7);
    ran.tells("batch batch_0 stays at the provider, requests: 4; --resume fetches its results");
    // The live engine would send the same requests again.
    let other = later(&place, "--resume --engine live");
    other.fails(2, &["may have batches at the provider", "--resume"]);
    // As cron calls it, before and after the batch has ended.
    let ran = later(&place, "--resume --max-time 3s");
    ran.ends(7);
    ran.tells("waiting for batch batch_0, requests: 4");
    assert_eq!(server.batches().len(), 1);
    server.end_as(Ending::Complete);
    later(&place, "--resume --max-time 1m").succeeds();
    assert_eq!(place.unmeasured_rows(), rows_live);
    assert!((cost(&place) * 2.0 - cost_live).abs() < 1e-9);
    nothing_twice(&server);
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
fn episodes_are_not_played_in_batches() {
    let place = Workplace::new();
    let play = "env play --model m --base-url http://127.0.0.1:9/v1 --data-path sample";
    let ran = place.run_with(play, &[("CONVFINQA_ENGINE", "batch")]);
    ran.fails(2, &["a batch run is for questions"]);
}
