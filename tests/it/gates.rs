//! Scores of which a part is missing: it is named, and no gate passes on the rest.

use serde_json::{Value as Json, json};

use crate::support::agents::{scripted, scripted_as};
use crate::support::cli::Workplace;
use crate::support::fault_server::FaultServer;

/// A record whose page says what were sales in 2001.
fn record(number: usize, qa: Json) -> Json {
    json!({
        "id": format!("Single_ZED/2001/page_{number}.pdf-1"),
        "filename": format!("ZED/2001/page_{number}.pdf"),
        "pre_text": [format!("this is sheet {number} of zed .")],
        "post_text": [],
        "table": [["", "2001", "2000"], ["sales", "40", "30"]],
        "qa": qa
    })
}

fn with_gold(number: usize) -> Json {
    let qa = json!({
        "question": "what were sales in 2001?", "answer": "40",
        "program": "add(40, const_0)", "exe_ans": 40.0
    });
    record(number, qa)
}

/// Nine records, of which this many have a gold.
fn nine(place: &Workplace, gold: usize) {
    let records = (1..=9).map(|number| {
        if number <= gold {
            with_gold(number)
        } else {
            record(number, json!({"question": "what were sales in 2001?"}))
        }
    });
    place.write("own.json", &json!(records.collect::<Vec<_>>()).to_string());
}

/// A file with predictions for the first questions.
fn predictions(place: &Workplace, name: &str, count: usize, answer: &str) {
    let rows =
        (1..=count).map(|number| format!("Single_ZED/2001/page_{number}.pdf-1,qa,{answer}\n"));
    let text = format!("id,part,prediction\n{}", rows.collect::<String>());
    place.write(name, &text);
}

/// Removes the answers to all but the first questions, as if the run had died.
fn died_after(place: &Workplace, count: usize) {
    let sql = format!("DELETE FROM answers WHERE question >= {count}");
    place.journal_tables().execute(&sql, []).unwrap();
}

#[test]
fn a_gate_refuses_a_run_that_died_and_the_files_that_it_left() {
    let place = Workplace::new();
    nine(&place, 9);
    place.run("--data-path own.json").succeeds();
    place.run("score last --fail-under fe=80").succeeds();
    died_after(&place, 4);
    place.run("report").succeeds();
    let run = place.run_folder();
    let csv = run.join("output.csv").display().to_string();
    std::fs::copy(&csv, place.path("output/output.csv")).unwrap();
    let missing = "5 questions not answered yet, of 9";
    for named in ["last", &csv, "output/output.csv"] {
        let scored = place.run(&format!("score {named}"));
        scored
            .succeeds()
            .prints(&format!("Not complete: {missing}"));
        let json = place.run(&format!("score {named} --json")).json();
        assert_eq!(json["complete"], false);
        assert_eq!(
            (&json["not_asked"], &json["questions"]),
            (&json!(5), &json!(4))
        );
        assert_eq!(json["missing"], json!([missing]));
        let gate = place.run(&format!("score {named} --fail-under fe=80"));
        gate.fails(6, &["--fail-under: ", missing]);
        gate.prints("financial equiv.");
    }
}

#[test]
fn a_gate_refuses_a_file_that_lacks_questions_of_the_records() {
    let place = Workplace::new();
    nine(&place, 9);
    predictions(&place, "two.csv", 2, "40");
    predictions(&place, "all.csv", 9, "40");
    let score = |given: &str| place.run(&format!("score {given} --data-path own.json"));
    score("two.csv --fail-under fe=50")
        .fails(6, &["7 questions not answered yet, of 9 in own.json"]);
    score("two.csv")
        .succeeds()
        .prints("7 questions not answered yet");
    score("all.csv --fail-under fe=100,ex=100").succeeds();
    let json = score("all.csv --json").json();
    assert_eq!(
        (&json["complete"], &json["missing"]),
        (&json!(true), &json!([]))
    );
    place
        .run("analyze two.csv --data-path own.json")
        .succeeds()
        .tells("not complete: 7 questions");
}

#[test]
fn a_gate_refuses_scores_of_the_questions_that_have_a_gold() {
    let place = Workplace::new();
    nine(&place, 1);
    let run = place.run("--data-path own.json --fail-under fe=80");
    run.fails(6, &["financial_equivalence could score 1 of 9 questions"]);
    run.prints("1 question scored (1 of 9 has a gold):");
    let report = std::fs::read_to_string(place.run_folder().join("report.html")).unwrap();
    assert!(report.contains("1 of 9 has a gold"));
    assert_eq!(place.summary()["without_gold"], 8);
    place
        .run("score last")
        .succeeds()
        .prints("Scored: 1 of 9 has a gold");
    let json = place.run("score last --json").json();
    assert_eq!(json["complete"], false);
    assert_eq!(
        (&json["without_gold"], &json["missing"][0]),
        (&json!(8), &json!("1 of 9 has a gold"))
    );
    for rule in ["fe", "em", "ex", "pa"] {
        let gate = place.run(&format!("score last --fail-under {rule}=0"));
        gate.fails(
            6,
            &["could score 1 of 9 questions, the others lack its gold"],
        );
    }
}

/// The dataset has no program for these questions, so their absence says nothing.
#[test]
fn the_program_rules_do_not_lack_the_golds_that_no_double_record_has() {
    let place = Workplace::new();
    let mut double = with_gold(1);
    double["id"] = json!("Double_ZED/2001/page_1.pdf");
    let qa = double["qa"].take();
    double["qa_0"] = json!({"question": "and what were sales in 2000?", "answer": "30"});
    double["qa_1"] = json!({"question": qa["question"], "answer": "40"});
    double.as_object_mut().unwrap().remove("qa");
    place.write("own.json", &json!([double, with_gold(2)]).to_string());
    place
        .run("--data-path own.json --fail-under fe=50,ex=50,pe=50")
        .succeeds();
}

#[test]
fn a_comparison_names_what_is_missing_and_its_gate_refuses_it() {
    let place = Workplace::new();
    nine(&place, 9);
    predictions(&place, "a.csv", 2, "7");
    predictions(&place, "b.csv", 2, "40");
    let compare = |given: &str| place.run(&format!("compare {given} --gate=0.9"));
    let missing = "B: 7 questions not answered yet, of 9 in own.json";
    compare("a.csv b.csv --data-path own.json").fails(6, &["--gate: not complete: A: 7", missing]);
    // The user asks for the part that both have.
    compare("a.csv b.csv --data-path own.json --common").succeeds();
    let compared = place.run("compare a.csv b.csv --data-path own.json --json --html page.html");
    let json = compared.succeeds().json();
    assert_eq!(
        (&json["complete"], &json["missing"][1]),
        (&json!(false), &json!(missing))
    );
    assert!(place.read("page.html").contains(missing));

    place.run("--data-path own.json").succeeds();
    died_after(&place, 2);
    let missing = "B: 7 questions not answered yet, of 9";
    for common in ["", " --common"] {
        compare(&format!("a.csv last --data-path own.json{common}")).fails(6, &[missing]);
    }
    place
        .run("compare a.csv last --data-path own.json")
        .succeeds()
        .prints("Not complete: B: 7");

    nine(&place, 1);
    predictions(&place, "a.csv", 9, "7");
    predictions(&place, "b.csv", 9, "40");
    let lacks = "8 of 9 pairs without a gold for financial_equivalence";
    compare("a.csv b.csv --data-path own.json").fails(6, &[lacks]);
}

/// Any answers are better than none.
#[test]
fn a_gate_refuses_a_side_without_an_answer() {
    let place = Workplace::new();
    let file = |name: &str, answers: [&str; 2]| {
        let [a, b] = answers;
        let rows = format!("Single_A/1/page_1.pdf-1,qa,5,{a}\nSingle_A/2/page_1.pdf-1,qa,6,{b}\n");
        place.write(name, &format!("id,part,ground_truth,prediction\n{rows}"));
    };
    file("none.csv", ["", ""]);
    file("one.csv", ["", "6"]);
    file("all.csv", ["5", "6"]);
    for gate in [
        "--gate=0.9", "--gate=0.9 --margin 5", "--gate=0.9 --gain 1", "--gate=0.9 --common",
    ] {
        let compared = place.run(&format!("compare none.csv all.csv {gate}"));
        compared.fails(6, &["not complete: A: no question has an answer"]);
    }
    let json = place
        .run("compare all.csv none.csv --json")
        .succeeds()
        .json();
    assert_eq!(
        (&json["complete"], &json["missing"]),
        (&json!(false), &json!(["B: no question has an answer"]))
    );
    // A question without an answer is a wrong one.
    place.run("compare one.csv all.csv --gate=0.9").succeeds();
}

#[test]
fn a_share_as_a_threshold_is_asked_about() {
    let place = Workplace::new();
    let asked = place.run("score mine.csv --fail-under fe=0.75");
    asked.ends(2).tells("write fe=75 if 75 % is meant");
}

#[test]
fn a_server_that_has_no_run_is_not_said_to_have_every_run() {
    let place = Workplace::new();
    let sync = || place.run("track sync --mlflow http://127.0.0.1:9");
    sync().succeeds().prints("no run yet in output/runs");
    place
        .run("--data-path sample --n 1 --mlflow off")
        .succeeds();
    sync().succeeds().prints("was started with --mlflow off");
}

/// An evaluation set as a table scored its golds as predictions: 100 % without a word.
#[test]
fn golds_that_are_read_as_answers_are_told() {
    let place = Workplace::new();
    let told = "`answer` is read as the model's answers";
    place.write("own.csv", "id,part,answer,exe_ans\nr,qa,5,5\n");
    place.run("score own.csv").succeeds().tells(told);
    // A row without one of the two golds silenced the note.
    place.write("own.csv", "id,part,answer,exe_ans\nr,qa,5,5\ns,qa,6,\n");
    place.run("score own.csv").succeeds().tells(told);
    place.write("mine.csv", "id,part,ground_truth,answer\nr,qa,5,5\n");
    let scored = place.run("score mine.csv");
    assert!(!scored.succeeds().stderr.contains(told));
}

/// Only a line of settings named the models, far above the verdict.
#[test]
fn a_comparison_of_two_models_names_them_in_its_verdict() {
    let place = Workplace::new();
    nine(&place, 9);
    let right = FaultServer::start(|request| scripted_as(request, |_| "40".to_owned()));
    let wrong = FaultServer::start(|request| scripted_as(request, |_| "41".to_owned()));
    let run = |model: &str, server: &FaultServer| {
        let line = format!(
            "--model {model} --base-url {} --data-path own.json --critic off --json",
            server.base_url()
        );
        let json = place.run(&line).json();
        json["run"]["id"].as_str().unwrap().to_owned()
    };
    let (a, b) = (run("alder", &right), run("birch", &wrong));
    place
        .run(&format!("compare {a} {b}"))
        .prints("A: alder; ")
        .prints("B: birch; ")
        .prints("Verdict: B (birch) is worse than A (alder): -100.0 points by FE.");
}

#[test]
fn a_comparison_names_other_settings_and_intervals_of_few_pages() {
    let place = Workplace::new();
    nine(&place, 9);
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    let run = |more: &str| {
        let line = format!("--model m --base-url {url} --data-path own.json {more} --json");
        let json = place.run(&line).json();
        json["run"]["id"].as_str().unwrap().to_owned()
    };
    let a = run("--temperature 0.2");
    let b = run("--critic off --max-rounds 1");
    let page = format!("compare {a} {b} --html page.html");
    let shown = place.run(&page);
    shown
        .succeeds()
        .prints("Differs: --temperature: 0.2 in A, not set in B");
    shown
        .prints("Differs: --max-rounds: 3 in A, 1 in B")
        .prints("Differs: critic: ");
    shown.prints("Do not trust the intervals of B - A: they are from 9 pages");
    let json = place.run(&format!("compare {a} {b} --json")).json();
    let difference = json!({"name": "--temperature", "a": "0.2", "b": "not set"});
    assert!(
        json["settings"].as_array().unwrap().contains(&difference),
        "{json}"
    );
    assert_eq!(json["rules"][0]["interval_is_reliable"], false);
    let html = place.read("page.html");
    assert!(html.contains("--temperature") && html.contains("Do not trust the interval"));
    let other = place.run(&format!("compare {a} {a} --json")).json();
    assert_eq!(other["settings"], json!([]));
    // Other data under the same ids.
    place.write("own.json", &format!("{}\n", place.read("own.json")));
    let c = run("--temperature 0.2");
    let json = place.run(&format!("compare {a} {c} --json")).json();
    let names = json["settings"].as_array().unwrap().iter();
    assert_eq!(
        names.map(|it| it["name"].clone()).collect::<Vec<_>>(),
        ["data"]
    );
    // Of a file nothing is known, and ten pages are enough.
    predictions(&place, "a.csv", 9, "40");
    let json = place
        .run(&format!("compare {a} a.csv --data-path own.json --json"))
        .json();
    assert!(json.get("settings").is_none());
    let rows = |answer: &str| {
        let rows = (0..10).map(|at| format!("Single_A/{at}/page_1.pdf-1,qa,7,{answer}\n"));
        format!(
            "id,part,ground_truth,prediction\n{}",
            rows.collect::<String>()
        )
    };
    place.write("a.csv", &rows("7"));
    place.write("b.csv", &rows("8"));
    let json = place.run("compare a.csv b.csv --json").json();
    assert_eq!(json["rules"][0]["interval_is_reliable"], true);
}

#[test]
fn an_unknown_cost_names_the_model_without_a_price() {
    let place = Workplace::new();
    nine(&place, 9);
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    place.write(
        "prices.json",
        r#"{"version": 1, "models": {"m": {"input": 1, "output": 2}}}"#,
    );
    let line = format!("--model m --base-url {url} --data-path own.json --n 1");
    // The server's name of it, which a price list may have as well.
    let missing = "no price of `served-model`; --prices FILE adds one";
    let shown = place.run(&line).unwrapped();
    assert!(
        shown.contains(&format!("cost unknown: {missing}")),
        "{shown}"
    );
    assert_eq!(place.summary()["unpriced_models"], json!(["served-model"]));
    let report = std::fs::read_to_string(place.run_folder().join("report.html")).unwrap();
    assert!(report.contains("no price of `served-model`"));
    let critic =
        format!("{line} --critic-model other --critic-base-url {url} --prices prices.json");
    let shown = place.run(&critic).unwrapped();
    assert!(shown.contains("no price of `served-model`"), "{shown}");
    place
        .run(&format!("{critic} --dry-run"))
        .prints("no listed price of other");
}

/// A CI system shows the conditions of a gate, not a line of a log.
#[test]
fn thresholds_are_test_cases_for_junit() {
    let place = Workplace::new();
    nine(&place, 9);
    let gated = "--data-path own.json --fail-under fe=50,em=100 --junit gate.xml";
    let run = place.run(gated);
    let junit = place.read("gate.xml");
    let count = |text: &str| junit.matches(text).count();
    assert_eq!(count("<testcase classname=\"convfinqa.fail-under\""), 2);
    assert!(
        junit.contains("name=\"financial_equivalence of at least 50 %\"/>"),
        "{junit}"
    );
    assert_eq!(
        count("<failure message="),
        usize::from(run.code == Some(6)),
        "{junit}"
    );
    // A run that stopped is not judged, and the file of an earlier run does not pass for its own.
    let stopped = place.run(&format!("{gated} --max-time 0s"));
    assert_ne!(stopped.code, Some(0));
    let scored = "score last --fail-under fe=101";
    place.run(scored).ends(2);
    let needs = "score last --junit gate.xml";
    place.run(needs).ends(2);
    predictions(&place, "few.csv", 2, "40");
    let few = "score few.csv --data-path own.json --fail-under fe=10 --junit few.xml";
    place.run(few).ends(6);
    let junit = place.read("few.xml");
    assert!(junit.contains("7 questions not answered yet"), "{junit}");
}
