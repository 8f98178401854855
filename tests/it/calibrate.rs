//! `calibrate`, and `--max-error` in runs and in `score`.

use std::collections::HashMap;

use serde_json::{Value as Json, json};

use finqa_score::calibration::Calibration;
use finqa_score::dataset::sample;

use crate::support::agents::{analysis, is_critic, is_sent_back, question_of};
use crate::support::cli::Workplace;
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::json::has;
use crate::support::schema::Schema;

/// The embedded analyst's answers to the sample, three times, and their calibration.
fn calibrated() -> (Workplace, Json) {
    let place = Workplace::new();
    place.run("--quiet --epochs 3").succeeds();
    let made = place.run("calibrate last --to c.json");
    made.succeeds().prints("are wrong by financial equivalence");
    made.prints("Calibration: c.json");
    let widest = made.stdout.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{}", made.stdout);
    let calibration = place.json("c.json");
    (place, calibration)
}

/// The calibration with one bound that holds for every answer of at least this probability.
fn with_bound(place: &Workplace, calibration: &Json, least: f64) {
    let mut bounded = calibration.clone();
    let mut point = bounded["curve"]["points"][0].clone();
    point["probability"] = least.into();
    point["measured"]["bound"] = 0.04.into();
    bounded["curve"]["points"] = json!([point]);
    place.write("bounded.json", &bounded.to_string());
}

#[test]
fn a_calibration_says_what_it_is_of_and_withholds_what_it_does_not_vouch_for() {
    let (place, calibration) = calibrated();
    let run = place.summary();
    let identity = &run["run"]["identity"];
    has(
        &calibration,
        json!({"format": 2, "rule": "financial_equivalence", "n": run["answered"]["financial_equivalence_n"], "runs": [run["run"]["id"]],
            "scope": {"model": "offline", "prompts": identity["prompts"],
                "data": identity["data"], "questions": "stand-alone questions"}}),
    );
    assert_eq!(calibration["pages"], run["pages"]);
    assert_eq!(calibration["curve"]["answers"], calibration["n"]);
    let again = place.run("calibrate last --to again.json");
    again.succeeds();
    assert_eq!(place.json("again.json"), calibration, "the same answers");

    with_bound(&place, &calibration, 0.9);
    let given = "--calibration bounded.json --max-error 5%";
    let scored = place.run(&format!("score last --json {given}"));
    let outcomes = scored.succeeds().json()["outcomes"].clone();
    let ran = place.run(&format!("--quiet --json --epochs 3 -o other {given}"));
    let summary = ran.ends(4).json();
    assert_eq!(summary["outcomes"], outcomes, "score withholds the same");
    let rows = place.rows("other/output.csv");
    let withheld = |row: &&_| -> bool {
        let row: &HashMap<String, String> = row;
        row["outcome"] == "abstained"
    };
    assert!(rows.iter().any(|row| withheld(&row)));
    for row in &rows {
        let probability: f64 = row["probability"].parse().unwrap();
        assert_eq!(withheld(&row), probability < 0.9, "{row:?}");
        assert_eq!(
            row["withheld_answer"].is_empty(),
            !withheld(&row),
            "{row:?}"
        );
        assert_eq!(row["answer"].is_empty(), withheld(&row), "{row:?}");
    }
    let risk = &summary["risk"];
    assert_eq!(risk["answers"], calibration["n"], "with those withheld");
    assert!(risk["points"][0]["n"].as_u64() >= Some(100), "{risk}");
    let schema = serde_json::from_str(include_str!("../../docs/summary.schema.json")).unwrap();
    Schema::new(&schema).accepts(&summary);
    let id = summary["run"]["id"].as_str().unwrap();
    let report = place.read(&format!("other/runs/{id}/report.html"));
    for part in [
        "What can be acted on", "class=\"bound\"", "the calibration of ",
    ] {
        assert!(report.contains(part), "{part}");
    }
}

#[test]
fn a_withheld_answer_is_in_the_history_of_later_turns() {
    let place = Workplace::new();
    let turns = "--quiet --mode conversations";
    place.run(turns).succeeds();
    let answers = |name: &str, column: &str| -> Vec<String> {
        let rows = place.rows(name).into_iter();
        rows.map(|row| row[column].clone()).collect()
    };
    let given = answers("output/output.csv", "answer");
    place.run("calibrate last").succeeds();
    with_bound(&place, &place.json("calibration.json"), 1.0);
    place
        .run(&format!(
            "{turns} -o other --calibration bounded.json --max-error 5%"
        ))
        .ends(4);
    assert_eq!(answers("other/output.csv", "withheld_answer"), given);
}

#[test]
fn shards_and_replays_withhold_what_a_whole_run_withholds() {
    // Every other answer is right, and most of those have the opinion's agreement.
    let data = sample().unwrap();
    let cases = data.records.iter().flat_map(|record| &record.questions);
    let golds: HashMap<String, Option<String>> = cases
        .map(|case| (case.question.text.clone(), case.gold.program.clone()))
        .collect();
    let server = FaultServer::start(move |request| {
        let question = question_of(request);
        let gold = golds.get(&question).cloned().flatten();
        let gold = gold.filter(|_| is_sent_back(&question));
        if is_critic(request) {
            Reply::chat("ALL_OK")
        } else {
            analysis(gold.as_deref().unwrap_or("1"))
        }
    });
    let place = Workplace::new();
    place.chat(&server, "--quiet --cache replies").succeeds();
    place.run("calibrate last --to c.json").succeeds();
    with_bound(&place, &place.json("c.json"), 0.5);
    let replay = "--quiet --replay replies --calibration";
    let asked = server.count();
    place
        .run(&format!("{replay} bounded.json --max-error 5% -o again"))
        .ends(4);
    assert_eq!(server.count(), asked);

    let given = "--quiet --calibration bounded.json --max-error 5%";
    for shard in [1, 2] {
        let of = format!("{given} -o parts --run r --shard {shard}/2");
        place.chat(&server, &of).succeeds();
    }
    place.run("merge r -o parts").ends(4);
    let answers = |name: &str| -> Vec<[String; 3]> {
        let rows = place.rows(&format!("{name}/output.csv")).into_iter();
        rows.map(|row| ["id", "outcome", "withheld_answer"].map(|column| row[column].clone()))
            .collect()
    };
    let again = answers("again");
    let withheld = again
        .iter()
        .filter(|[_, outcome, _]| outcome == "abstained");
    let withheld = withheld.count();
    assert!(0 < withheld && withheld < again.len(), "{again:?}");
    assert_eq!(answers("parts"), again);
}

#[test]
fn what_a_calibration_cannot_vouch_for_is_refused_in_one_line() {
    let (place, calibration) = calibrated();
    with_bound(&place, &calibration, 0.5);
    let turns = "--mode conversations --calibration bounded.json";
    let other = [
        "its questions are stand-alone questions",
        "not turns with own history",
    ];
    let warned = place.run(&format!("{turns} -o turns"));
    warned.succeeds().tells("the probabilities may be wrong");
    warned.tells(other[1]);
    place
        .run(&format!("{turns} --max-error 5%"))
        .fails(2, &other);
    let withheld = ["--max-error 0.1%", "withholds everything"];
    for dry in ["", "--dry-run"] {
        let none = format!("{dry} --calibration c.json --max-error 0.1%");
        place.run(&none).fails(2, &withheld);
    }
    let nowhere = place.run("calibrate last turns/runs/x");
    nowhere.fails(2, &["no such run", "turns"]);
    let unwritten = place.run("calibrate last --to missing/c.json");
    unwritten.fails(2, &["missing", "--to FILE"]);
    std::fs::copy(place.path("output/output.csv"), place.path("mine.csv")).unwrap();
    place
        .run("score mine.csv --calibration c.json")
        .fails(2, &["need a run"]);
    let turns = place.path("turns/runs");
    let turns = std::fs::read_dir(turns).unwrap().next().unwrap().unwrap();
    place
        .run(&format!("calibrate last {}", turns.path().display()))
        .fails(
            2,
            &[
                "cannot be calibrated together",
                "its questions are turns with own history",
            ],
        );
    place.run("--quiet --only wrong:last").succeeds();
    place.run("calibrate last").fails(2, &["(--only)"]);
    let journal = rusqlite::Connection::open(turns.path().join("journal.sqlite")).unwrap();
    journal
        .execute("DELETE FROM answers WHERE question = 0", [])
        .unwrap();
    place
        .run(&format!("calibrate {}", turns.path().display()))
        .fails(2, &["is unfinished"]);
}

#[test]
fn without_another_the_built_in_calibration_is_used_and_named() {
    let server = FaultServer::start(|request| {
        if is_critic(request) {
            Reply::chat("ALL_OK")
        } else {
            analysis("1")
        }
    });
    let place = Workplace::new();
    let summary = place.chat(&server, "--n 3 --quiet --json").json();
    let name = summary["run"]["calibration"].as_str().unwrap_or_default();
    assert!(name.starts_with("the built-in calibration ("), "{summary}");
    assert!(summary["risk"]["points"][0]["measured"]["n"].as_u64() > Some(0));
    place
        .chat(&server, "--max-error 5%")
        .fails(2, &["--max-error needs a calibration"]);
    let plain = place.chat(&server, "--n 3 --quiet --json -o off --second-opinion off");
    assert_eq!(plain.json().get("risk"), None);

    place.write(
        "t.csv",
        "in millions,2019,2018\nRevenue,\"1,250\",\"1,000\"\n",
    );
    let url = server.base_url();
    let ask = format!("ask t.csv 'what was revenue in 2019?' --model m --base-url {url}");
    let told = place.run(&ask);
    let told: Vec<&str> = told.ends(4).stdout.split_whitespace().collect();
    let told = told.join(" ");
    assert!(told.contains("Trust of answers like this, "), "{told}");
    assert!(told.contains("the built-in calibration"), "{told}");
    place.write(
        "built.json",
        &serde_json::to_string(Calibration::built_in()).unwrap(),
    );
    let warned = place.run_with(
        &format!("{ask} --calibration built.json"),
        &[("CONVFINQA_MAX_ERROR", "5%")],
    );
    warned.ends(4).tells("it is of other models");
    warned.tells("CONVFINQA_MAX_ERROR has no effect on ask");
    let answer = place.run(&format!("{ask} --json")).json();
    let probability = answer["probability"].as_f64();
    assert!(
        probability > Some(0.0) && probability < Some(1.0),
        "{answer}"
    );
}
