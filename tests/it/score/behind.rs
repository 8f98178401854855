//! `score` finds the records of a run, and reads its CSV as any other file.

use std::path::PathBuf;

use finqa_score::dataset::{Source, load};
use finqa_score::score::Scorecard;
use finqa_score::score::files::{read_predictions, rescore};

use crate::support::cli::Workplace;

/// A record whose question the embedded analyst answers, with a program over a row.
const RECORDS: &str = r#"[{"id": "Single_ZED/2001/page_1.pdf-1", "filename": "ZED/2001/page_1.pdf",
    "pre_text": ["zed is an invented company ."], "post_text": [],
    "table": [["", "2001", "2000"], ["sales", "40", "30"]],
    "qa": {"question": "what is the percentage change in sales from 2000 to 2001?", "answer": "33.3%",
        "program": "subtract(40, 30), divide(#0, 30)", "exe_ans": 0.33333}}]"#;

fn answered(records: &str) -> (Workplace, PathBuf) {
    let place = Workplace::new();
    let data = place.write("data.json", records);
    place.answer(&format!("data_path = '{}'", data.display()));
    (place, data)
}

#[test]
fn programs_that_read_a_table_are_executed_over_the_records_that_are_named() {
    let (place, data) = answered(RECORDS);
    let text = place.read("output/output.csv");
    let edited = text.replacen(
        "\"subtract(40, 30), divide(#0, 30)\"",
        "\"table_max(sales, none), subtract(#0, 30), divide(#1, 30)\"",
        1,
    );
    assert_ne!(text, edited);
    place.write("output/output.csv", &edited);
    let executed = |more: &str| {
        let ran = place.run(&format!("score output/output.csv --json {more}"));
        let card = ran.succeeds().json();
        (card["program_execution"].clone(), ran.stderr)
    };
    let named = executed(&format!("--data-path {}", data.display()));
    assert_eq!(named, (1.0.into(), String::new()));
    let (rate, told) = executed("");
    assert_eq!(rate, serde_json::Value::Null);
    let words = "1 of 1 program not executed";
    assert!(
        told.contains(words) && told.contains("--data-path"),
        "{told}"
    );
}

/// Floats that did not survive the journal gave `score` another breakdown of
/// FE's reasons than the run's own.
#[test]
fn a_runs_csv_has_the_runs_own_reasons() {
    // 3.5967000000000002, which is 359.67 % exactly and 3.5967 is not.
    let records = RECORDS
        .replace("\"40\", \"30\"", "\"459.67\", \"100\"")
        .replace("33.3%", "359.67%")
        .replace("0.33333", "3.5967");
    let (place, data) = answered(&records);
    let reasons = place.summary()["reasons"].clone();
    assert_eq!(reasons[0]["name"], "exact");
    let records = load(&Source::Path(data)).unwrap();
    let rows = read_predictions(&place.path("output/output.csv")).unwrap();
    let card = Scorecard::of(&rescore(rows, Some(&records)).unwrap());
    let card = serde_json::to_value(card).unwrap();
    assert_eq!(card["reasons"], reasons);
}

/// Data were looked for by the path that the run was given, from whatever
/// folder the command is started in.
#[test]
fn a_runs_records_are_found_from_any_folder_and_missed_aloud() {
    let (place, data) = answered(RECORDS);
    let run = place.run_folder();
    let elsewhere = Workplace::new();
    for command in ["score", "analyze", "report --to made"] {
        let ran = elsewhere.run(&format!("{command} {}", run.display()));
        assert_eq!(ran.succeeds().stderr, "", "{command}");
    }
    let missed = |words: &str| {
        for command in ["score last", "analyze"] {
            let ran = place.run(command);
            ran.succeeds().tells(words).tells("--data-path");
        }
        place.run("report").succeeds().tells(words);
    };
    place.write("data.json", &RECORDS.replace("\"40\"", "\"41\""));
    missed("has changed since the questions were asked");
    std::fs::rename(data, place.path("moved.json")).unwrap();
    place.write("moved.json", RECORDS);
    missed("data.json: the run's data file no longer exists");
    let named = place.run("analyze --data-path moved.json");
    assert_eq!(named.succeeds().stderr, "");
}
