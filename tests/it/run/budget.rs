//! Limits of money, tokens and time: how a run pauses, continues and is refused.

use std::time::Duration;

use finqa_agents::llm::BudgetLimit;
use finqa_journal::run::Finish;
use rstest::rstest;

use crate::support::agents::{answer_to, scripted};
use crate::support::cli::{CommandExt, Workplace, wait_until};
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::in_process::{asking, refused};

pub(super) const PRICES: &str = r#"{"version": 1, "models": {"m":
    {"input": "1", "output": "2"}}}"#;

/// Too little for a run of the sample.
const CAPPED: &str = "--prices prices.json --max-cost 0.02 -j 1";

#[test]
fn a_run_that_reaches_its_limit_ends_with_code_7_and_says_how_to_continue() {
    let place = Workplace::new();
    place.write("prices.json", PRICES);
    let server = FaultServer::start(scripted);
    let ran = place.chat(&server, &format!("--n 20 {CAPPED}"));
    ran.ends(7);
    let last = ran.stderr.lines().last().unwrap();
    for words in [
        "paused at --max-cost: $0.0",
        " spent, the next request needs up to $0.0",
        "questions left to ask",
        "--resume --max-cost MORE",
    ] {
        assert!(last.contains(words), "{last}");
    }
    let report = std::fs::read_to_string(place.run_folder().join("report.html")).unwrap();
    assert!(report.contains("<strong>Paused at --max-cost.</strong>"));
    assert!(report.contains(" --max-cost MORE</code>"));
    let summary = place.summary();
    assert_eq!(summary["run"]["paused"], "cost");
    let answered = place.rows("output/output.csv").len();
    assert!(answered > 0 && answered < 27, "{answered}");
    place.run("runs").prints("paused at --max-cost");
    let sent = server.requests();
    assert!(sent.iter().all(|sent| sent.body["max_tokens"] == 4096));
    // The limit is the run's, and not that of a process.
    place.run("--resume").ends(7);
    assert_eq!(server.count(), sent.len());
    // The prices are the run's too, wherever their file has gone.
    std::fs::remove_file(place.path("prices.json")).unwrap();
    place.run("--resume --max-cost 5").succeeds();
    let rows = place.rows("output/output.csv");
    assert_eq!(Some(rows.len() as u64), summary["run"]["total"].as_u64());
    for row in rows {
        assert_eq!(row["prediction"], answer_to(&row["question"]).to_string());
    }
    assert!(place.summary()["run"]["paused"].is_null());
    assert!(!place.run("runs").stdout.contains("paused"));
}

/// A process that is killed records no reply of its request in flight, but the reservation.
#[test]
fn a_request_that_a_killed_process_had_in_flight_makes_the_cost_at_least() {
    let place = Workplace::new();
    place.write("prices.json", PRICES);
    let server = FaultServer::start(|request| match request.index {
        0..4 => scripted(request),
        _ => Reply::hang(),
    });
    let line = "--n 3 -j 1 --prices prices.json --max-cost 5";
    let mut child = place.chat_command(&server, line).begin();
    wait_until(|| server.count() >= 5);
    child.kill().unwrap();
    child.wait().unwrap();
    let address = server.address();
    drop(server);
    let _server = FaultServer::at(address, scripted);
    place.run("--resume").succeeds().prints("at least $");
    let spent = &place.summary()["spent"];
    assert_eq!(spent["cost"]["unpriced"], 1);
    assert!(spent["cost_usd"].is_null(), "{spent}");
}

#[test]
fn time_has_a_limit_too() {
    let place = Workplace::new();
    let server = FaultServer::start(|request| scripted(request).after(Duration::from_millis(5)));
    let given = asking(&server, "concurrency = 1");
    let time = place.start(&format!("{given}\nmax_time = '50ms'")).unwrap();
    let Finish::BudgetReached { limit, spent, .. } = &time.finish else {
        panic!("{:?}", time.finish);
    };
    assert_eq!((limit, spent), (&BudgetLimit::Time, &None));
}

#[test]
fn a_limit_of_money_needs_a_price_and_a_run_keeps_its_own() {
    let place = Workplace::new();
    place.write("prices.json", PRICES);
    place.write("others.json", &PRICES.replace("\"2\"", "\"3\""));
    place.write(
        "broken.json",
        "{\"version\": 1, \"models\": {\"m\": {\"input\": -1, \"output\": 1}}}",
    );
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    let with = |more: &str| place.chat(&server, &format!("--n 6 {more}"));
    let words = ["needs the price of `m`", &url, "--prices", "\"version\": 1"];
    with("--max-cost 1").fails(2, &words);
    let words = ["broken.json", "models.m.input", "not be negative"];
    with("--prices broken.json").fails(2, &words);
    with("--prices none.json").fails(2, &["none.json"]);
    assert_eq!(server.count(), 0, "nothing was sent");
    assert!(!place.path("output/runs").exists());
    with(CAPPED).ends(7);
    let others = place.run("--resume --prices others.json --max-cost 1");
    others.fails(2, &["other prices"]);
    let own = place.run("--resume --prices prices.json --max-cost 1");
    own.succeeds();
}

/// What was sent without a limit, nobody has counted.
#[test]
fn a_run_that_was_started_without_a_limit_gets_none_later() {
    let place = Workplace::new();
    let server = FaultServer::start(|request| match request.index {
        20.. => Reply::error(401, "x", "revoked"),
        _ => scripted(request),
    });
    let prices = place.write("prices.json", PRICES).display().to_string();
    let more = format!("max_tokens = 100\nconcurrency = 1\nprices = '{prices}'");
    let given = asking(&server, &more);
    let finish = place.start(&given).unwrap().finish;
    assert!(matches!(finish, Finish::Fatal(_)), "{finish:?}");
    let capped = place.resume("last", "max_cost = 5");
    refused(
        capped,
        &["was started without --max-cost", "leave the limit out"],
    );
}

#[test]
fn a_dry_run_sends_nothing_and_says_what_a_run_would_take() {
    let place = Workplace::new();
    place.write("prices.json", PRICES);
    let server = FaultServer::start(scripted);
    let estimate = |more: &str| {
        let ran = place.chat(&server, &format!("--dry-run --json {more}"));
        ran.succeeds().json()
    };
    let priced = estimate("--prices prices.json");
    let unpriced = estimate("--mode conversations");
    assert_eq!(server.count(), 0);
    assert!(!place.path("output").exists());
    let questions = priced["questions"].as_u64().unwrap();
    // The analyst and the critic once, and three times.
    assert_eq!(priced["calls"]["low"], 2 * questions);
    assert_eq!(priced["calls"]["high"], 6 * questions);
    assert!(unpriced["questions"].as_u64().unwrap() > 0 && unpriced["cost_usd"].is_null());
    // Checks send answers back too, without a call of their own.
    let checked = estimate("--critic rules");
    assert_eq!(checked["calls"]["low"], questions);
    assert_eq!(checked["calls"]["high"], 3 * questions);

    let cost = |end: &str| -> f64 {
        let cost = priced["cost_usd"][end].as_str().unwrap();
        cost.parse().unwrap()
    };
    assert!(cost("low") > 0.0 && cost("low") < cost("high"));
    let place = Workplace::new();
    place.answer(&asking(&server, ""));
    assert_eq!(questions, place.rows("output/output.csv").len() as u64);
    // The real run sent some back, and none thrice.
    let calls = server.count() as u64;
    let [low, high] = ["low", "high"].map(|end| priced["calls"][end].as_u64().unwrap());
    assert!((low..=high).contains(&calls), "{calls}");

    let shown = place.chat(&server, "--dry-run");
    shown
        .succeeds()
        .prints("Cost       unknown")
        .prints("prompts at 3 to 5 bytes per token");
    let offline = place.run("--data-path sample --dry-run");
    offline
        .succeeds()
        .prints("$0.0000 to $0.0000")
        .prints("no chat model is asked");
    assert!(!offline.stdout.contains("oken"), "{}", offline.stdout);
}

/// Its estimate lacked the questions whose prompt could not be rendered.
#[test]
fn a_dry_run_fails_with_the_same_line_as_the_run_at_a_template_that_cannot_be_rendered() {
    let place = Workplace::new();
    std::fs::create_dir(place.path("mine")).unwrap();
    // Templates are tested with the question `q` when they are loaded.
    let template = "{% if question != 'q' %}{{ gone }}{% endif %}";
    place.write("mine/analyst_user.j2", template);
    let server = FaultServer::start(scripted);
    let [run, dry_run] = ["", "--dry-run"].map(|more| {
        let ran = place.chat(&server, &format!("--prompts mine {more}"));
        ran.fails(2, &["analyst_user.j2"]);
        let mut lines = ran.stderr.lines().map(str::to_owned);
        lines.find(|line| line.starts_with("error: "))
    });
    assert_eq!(run, dry_run);
    assert_eq!(server.count(), 0);
}

#[rstest]
#[case::anthropic(&[("ANTHROPIC_BASE_URL", "https://api.anthropic.com")], "", "ANTHROPIC_API_KEY",
    "anthropic https://api.anthropic.com claude-sonnet-4-5")]
#[case::azure(&[("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com")], "", "AZURE_OPENAI_API_KEY",
    "azure https://r.openai.azure.com gpt-4o")]
#[case::critic(&[("OPENAI_API_KEY", "k")], "--critic-model claude-sonnet-4-5 --critic-provider anthropic",
    "ANTHROPIC_API_KEY", "openai https://api.openai.com/v1 gpt-4o")]
fn a_dry_run_needs_no_key(
    #[case] variables: &[(&str, &str)],
    #[case] more: &str,
    #[case] key: &str,
    #[case] name: &str,
) {
    let place = Workplace::new();
    let model = name.rsplit(' ').next().unwrap();
    let line = format!("--data-path sample --model {model} {more}");
    place.run_with(&line, variables).fails(2, &[key]);
    let ran = place.run_with(&format!("{line} --dry-run --json"), variables);
    let estimate = ran.succeeds().json();
    assert_eq!(estimate["model"], name);
    assert!(estimate["cost_usd"]["low"].is_string(), "{estimate}");
}
