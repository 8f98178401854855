//! Limits of money, tokens and time: how a run pauses, continues and is refused.

use convfinqa::run::Finish;
use finqa_agents::models::BudgetLimit;
use rstest::rstest;

use crate::support::agents::{answer_to, scripted};
use crate::support::cli::{Ran, Workplace, words};
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::in_process::{refused, run};

const PRICES: &str = r#"{"version": 1, "models": {"scripted":
    {"input": "1", "output": "2", "anywhere": true}}}"#;

/// The printed command is run as it is, but for the amount.
#[test]
fn the_printed_command_resumes_a_run_in_another_output_folder() {
    let place = Workplace::new();
    place.write("prices.json", PRICES);
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    let line = format!("--model scripted --data-path sample --base-url {url} --n 20 -o c3");
    let capped = words("--prices prices.json --max-cost 0.02 -j 1");
    let ran = place.run(&[words(&line), capped].concat());
    ran.ends(7);
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let printed = text.split("convfinqa --resume").nth(1).unwrap();
    let printed = printed.split(" MORE asks").next().unwrap();
    assert!(printed.contains(" -o c3 "), "{printed}");
    let report = std::fs::read_dir(place.path("c3/runs")).unwrap().next();
    let report = report.unwrap().unwrap().path().join("report.html");
    let report = std::fs::read_to_string(report).unwrap();
    assert!(report.contains(" -o c3 --max-cost MORE</code>"), "{text}");
    place.run(&format!("--resume {printed} 5")).succeeds();

    let ran = place.run("--resume zz -o 'c 3'");
    ran.fails(
        2,
        &[
            "c 3/runs",
            "`convfinqa runs -o 'c 3'`",
            "-o names another folder",
        ],
    );
}

#[test]
fn a_run_that_reaches_its_limit_ends_with_code_7_and_says_how_to_continue() {
    let place = Workplace::new();
    place.write("prices.json", PRICES);
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    let line = format!("--model scripted --data-path sample --base-url {url} --n 20");
    let arguments = words(&line);
    let capped = ["--prices", "prices.json", "--max-cost", "0.02", "-j", "1"];
    let ran = place.run(&[&arguments[..], &capped].concat());
    ran.ends(7);
    let last = ran.stderr.lines().last().unwrap();
    for words in [
        "paused at --max-cost: $0.0",
        "questions left to ask",
        "--resume --max-cost MORE",
    ] {
        assert!(last.contains(words), "{last}");
    }
    let report = std::fs::read_to_string(place.run_folder().join("report.html")).unwrap();
    for words in [
        "<strong>Paused at --max-cost.</strong>",
        " --max-cost MORE</code>",
    ] {
        assert!(report.contains(words), "no {words:?} in the report");
    }
    let summary = place.summary();
    assert_eq!(summary["run"]["paused"], "cost");
    let answered = place.rows("output/output.csv").len();
    assert!(answered > 0 && answered < 27, "{answered}");
    assert!(place.run("runs").stdout.contains("paused at --max-cost"));
    assert!(
        server
            .requests()
            .iter()
            .all(|sent| sent.body["max_tokens"] == 4096)
    );
    // The limit is the run's, and not that of a process.
    let asked = server.count();
    assert_eq!(place.run("--resume").code, Some(7));
    assert_eq!(server.count(), asked);
    // The prices are the run's too, wherever their file has gone.
    std::fs::remove_file(place.path("prices.json")).unwrap();
    place.run("--resume --max-cost 5").succeeds();
    let rows = place.rows("output/output.csv");
    assert_eq!(Some(rows.len() as u64), summary["run"]["total"].as_u64());
    assert!(
        rows.iter()
            .all(|row| row["prediction"] == answer_to(&row["question"]).to_string())
    );
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
    let url = server.base_url();
    let line = format!(
        "--model scripted --data-path sample --base-url {url} --n 3 -j 1 --prices prices.json --max-cost 5"
    );
    let mut command = place.command();
    command
        .args(words(&line))
        .stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    while server.count() < 5 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let address = server.address();
    drop(server);
    let _server = FaultServer::at(address, scripted);
    let resumed = place.run("--resume");
    resumed.succeeds();
    let spent = &place.summary()["spent"];
    assert_eq!(
        (&spent["cost"]["unpriced"], &spent["cost_usd"]),
        (&1.into(), &().into())
    );
    assert!(resumed.stdout.contains("at least $"), "{}", resumed.stdout);
}

#[test]
fn tokens_and_time_have_limits_too() {
    let place = Workplace::new();
    let server =
        FaultServer::start(|request| scripted(request).after(std::time::Duration::from_millis(5)));
    let given = format!(
        "model = 'scripted'\nbase_url = '{}'\nconcurrency = 1",
        server.base_url()
    );
    let tokens = run(
        &place.settings(&format!("{given}\nmax_tokens_total = 20000")),
        Default::default(),
    );
    let tokens = tokens.unwrap();
    let Finish::BudgetReached { limit, spent, left } = &tokens.finish else {
        panic!("{:?}", tokens.finish);
    };
    assert_eq!(*limit, BudgetLimit::Tokens);
    let spent = spent.as_deref().unwrap_or_default();
    assert!(
        spent.contains(" tokens spent, the next request needs up to "),
        "{spent}"
    );
    assert!(left.is_some_and(|left| left > 0 && left < 58), "{left:?}");
    drop(tokens);

    let counted = server.count();
    let place = Workplace::new();
    let time = run(
        &place.settings(&format!("{given}\nmax_time = '50ms'")),
        Default::default(),
    );
    let time = time.unwrap();
    assert!(
        matches!(
            time.finish,
            Finish::BudgetReached {
                limit: BudgetLimit::Time,
                spent: None,
                ..
            }
        ),
        "{:?}",
        time.finish
    );
    let sent = server.requests().split_off(counted);
    assert!(sent.iter().all(|sent| sent.body["max_tokens"].is_null()));
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
    let line = format!("--model scripted --data-path sample --base-url {url} --n 6");
    let arguments = words(&line);
    let with = |more: &[&str]| place.run(&[&arguments[..], more].concat());
    with(&["--max-cost", "1"]).fails(
        2,
        &[
            "needs the price of `scripted`",
            "--prices",
            "\"version\": 1",
        ],
    );
    place.write(
        "elsewhere.json",
        &PRICES.replace(
            "\"anywhere\": true",
            "\"address\": \"https://gateway.example/v1\"",
        ),
    );
    with(&["--prices", "elsewhere.json", "--max-cost", "1"]).fails(
        2,
        &[&url, "(--prices lists it for https://gateway.example/v1)"],
    );
    with(&["--prices", "broken.json"])
        .fails(2, &["broken.json", "models.m.input", "not be negative"]);
    with(&["--prices", "none.json"]).fails(2, &["none.json"]);
    assert_eq!(server.count(), 0, "nothing was sent");
    assert!(!place.path("output/runs").exists());
    let capped = with(&["--prices", "prices.json", "--max-cost", "0.02", "-j", "1"]);
    capped.ends(7);
    place
        .run("--resume --prices others.json --max-cost 1")
        .fails(2, &["other prices"]);
    place
        .run("--resume --prices prices.json --max-cost 1")
        .succeeds();
}

#[test]
fn a_wrong_limit_is_refused_in_one_line() {
    let place = Workplace::new();
    for option in ["--max-cost", "--max-tokens-total", "--max-time"] {
        for value in ["-1", "0", "NaN", "1e400", "abc", ""] {
            let ran = place.run(&["--data-path", "sample", option, value]);
            assert_eq!(ran.code, Some(2), "{option} {value:?}: {}", ran.stderr);
            let errors: Vec<_> = ran
                .stderr
                .lines()
                .filter(|line| line.starts_with("error: "))
                .collect();
            assert_eq!(errors.len(), 1, "{}", ran.stderr);
            let name = option.trim_start_matches("--");
            assert!(errors[0].contains(name), "{}", errors[0]);
        }
    }
    for (variable, value) in [
        ("CONVFINQA_MAX_COST", "-1"),
        ("CONVFINQA_MAX_COST", "NaN"),
        ("CONVFINQA_MAX_TIME", "90"),
    ] {
        let mut command = place.command();
        command.args(["--data-path", "sample"]).env(variable, value);
        crate::support::cli::Ran::of(&mut command).fails(2, &[variable]);
    }
}

/// A run without a limit whose lost requests nobody counted cannot get one later.
#[test]
fn a_limit_is_refused_for_a_run_with_requests_that_nobody_counted() {
    let place = Workplace::new();
    let prices = place.write("prices.json", PRICES);
    let lost = |lose: bool| {
        FaultServer::start(move |request| match request.index {
            20.. => Reply::error(401, "x", "revoked"),
            3 if lose => Reply::error(500, "x", "sorry"),
            _ => scripted(request),
        })
    };
    for lose in [false, true] {
        let server = lost(lose);
        let given = format!(
            "model = 'scripted'\nbase_url = '{}'\nprices = '{}'\nmax_tokens = 100\nconcurrency = 1",
            server.base_url(),
            prices.display()
        );
        let first = run(&place.settings(&given), Default::default()).unwrap();
        assert!(
            matches!(first.finish, Finish::Fatal(_)),
            "{:?}",
            first.finish
        );
        drop(first);
        let capped = place.resume("last", "max_cost = '0.000001'");
        match lose {
            true => refused(capped, &["--max-cost", "is unknown"]),
            // What the replies say is counted, and is more than this.
            false => assert!(matches!(
                capped.unwrap().finish,
                Finish::BudgetReached { .. }
            )),
        }
    }
}

#[test]
fn a_dry_run_sends_nothing_and_says_what_a_run_would_take() {
    let place = Workplace::new();
    place.write("prices.json", PRICES);
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    let line = format!("--model scripted --data-path sample --base-url {url} --dry-run --json");
    let arguments = words(&line);
    let estimate = |more: &[&str]| {
        let ran = place.run(&[&arguments[..], more].concat());
        serde_json::from_str::<serde_json::Value>(&ran.succeeds().stdout).unwrap()
    };
    let priced = estimate(&["--prices", "prices.json"]);
    let unpriced = estimate(&["--mode", "conversations"]);
    assert_eq!(server.count(), 0);
    assert!(!place.path("output").exists());
    let questions = priced["questions"].as_u64().unwrap();
    // The analyst and the critic once, and three times.
    assert_eq!(priced["calls"]["low"], 2 * questions);
    assert_eq!(priced["calls"]["high"], 6 * questions);
    assert!(unpriced["questions"].as_u64().unwrap() > 0 && unpriced["cost_usd"].is_null());

    let number = |of: &serde_json::Value| of.as_str().unwrap().parse::<f64>().unwrap();
    let cost = |end: &str| number(&priced["cost_usd"][end]);
    let place = Workplace::new();
    let prices = place.write("prices.json", PRICES);
    place.answer(&format!(
        "model = 'scripted'\nbase_url = '{url}'\nprices = '{}'",
        prices.display()
    ));
    assert_eq!(
        usize::try_from(priced["calls"]["low"].as_u64().unwrap()).unwrap() / 2,
        place.rows("output/output.csv").len()
    );
    assert!(cost("low") > 0.0 && cost("low") < cost("high"));
    // The real run sent some back, and none thrice.
    let calls = server.count() as u64;
    let between = |of: &str| priced["calls"][of].as_u64().unwrap();
    assert!(
        (between("low")..=between("high")).contains(&calls),
        "{calls}"
    );

    let shown = place.run(&format!(
        "--model scripted --base-url {url} --data-path sample --dry-run"
    ));
    shown.succeeds().prints("Cost       unknown");
    let played = place.run("env play --model scripted --dry-run");
    played.fails(2, &["--dry-run", "--max-cost"]);
    let offline = place.run("--data-path sample --dry-run");
    offline.succeeds().prints("$0.0000 to $0.0000");
}

#[rstest]
#[case::openai(&[], &[], "OPENAI_API_KEY", "openai https://api.openai.com/v1 gpt-4o")]
#[case::anthropic(&[("ANTHROPIC_BASE_URL", "https://api.anthropic.com")], &[], "ANTHROPIC_API_KEY",
    "anthropic https://api.anthropic.com claude-sonnet-4-5")]
#[case::azure(&[("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com")], &[], "AZURE_OPENAI_API_KEY",
    "azure https://r.openai.azure.com gpt-4o")]
#[case::critic(&[("OPENAI_API_KEY", "k")], &["--critic-model", "claude-sonnet-4-5", "--critic-provider", "anthropic"],
    "ANTHROPIC_API_KEY", "openai https://api.openai.com/v1 gpt-4o")]
fn a_dry_run_needs_no_key_and_says_that_the_run_does(
    #[case] variables: &[(&str, &str)],
    #[case] more: &[&str],
    #[case] key: &str,
    #[case] name: &str,
) {
    let place = Workplace::new();
    let mut command = place.command();
    let model = name.rsplit(' ').next().unwrap();
    command.args(["--data-path", "sample", "--model", model]);
    command.args(more).envs(variables.iter().copied());
    Ran::of(&mut command).fails(2, &[key]);
    let ran = Ran::of(command.args(["--dry-run", "--json"]));
    let estimate = ran.succeeds().json();
    assert_eq!(estimate["model"], name);
    assert!(estimate["cost_usd"]["low"].is_string(), "{estimate}");
    ran.tells(key);
}
