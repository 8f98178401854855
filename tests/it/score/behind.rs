//! `score` finds the records behind a run's own CSV.

use std::path::Path;

use convfinqa::analysis::{Answers, analyze, records_behind};
use convfinqa::score::files::{read_predictions, rescore};
use convfinqa::score::{Rule, Scorecard};

use crate::support::cli::Workplace;

/// A record whose question the embedded analyst answers, with a program over a row.
const RECORDS: &str = r#"[{"id": "Single_ZED/2001/page_1.pdf-1", "filename": "ZED/2001/page_1.pdf",
    "pre_text": ["zed is an invented company ."], "post_text": [],
    "table": [["", "2001", "2000"], ["sales", "40", "30"]],
    "qa": {"question": "what is the percentage change in sales from 2000 to 2001?", "answer": "33.3%",
        "program": "subtract(40, 30), divide(#0, 30)", "exe_ans": 0.33333}}]"#;

/// A run's folder whose CSV says that the program reads the table.
fn with_table_program() -> Workplace {
    let place = Workplace::new();
    let data = place.write("data.json", RECORDS);
    place.answer(&format!("data_path = '{}'", data.display()));
    let csv = place.run_folder().join("output.csv");
    let text = std::fs::read_to_string(&csv).unwrap();
    let edited = text.replacen(
        "\"subtract(40, 30), divide(#0, 30)\"",
        "\"table_max(sales, none), subtract(#0, 30), divide(#1, 30)\"",
        1,
    );
    assert_ne!(text, edited);
    std::fs::write(&csv, edited).unwrap();
    place
}

/// The rate of programs that execute to gold, of a file or a run, and what was said.
fn executed(place: &Workplace, of: &Path) -> (serde_json::Value, String) {
    let ran = place.run(&format!("score {} --json", of.display()));
    let card = ran.succeeds().json();
    (card["program_execution"].clone(), ran.stderr)
}

#[test]
fn programs_that_read_a_table_are_executed_over_the_records_of_their_run() {
    let place = with_table_program();
    let folder = place.run_folder();
    for path in [folder.clone(), folder.join("output.csv")] {
        let (rate, told) = executed(&place, &path);
        assert_eq!((rate, told.as_str()), (1.0.into(), ""), "{path:?}");
    }
}

#[test]
fn records_that_have_changed_since_are_refused_with_a_warning() {
    let place = with_table_program();
    place.write("data.json", &RECORDS.replace("\"40\"", "\"41\""));
    let csv = place.run_folder().join("output.csv");
    let (rate, told) = executed(&place, &csv);
    assert_eq!(rate, serde_json::Value::Null);
    assert!(
        told.contains("1 of 1 programs read their page's table"),
        "{told}"
    );
    assert!(told.contains("--data-path"), "{told}");
}

#[test]
fn an_edited_csv_is_analysed_as_it_is_not_as_its_journal() {
    let place = with_table_program();
    let csv = place.run_folder().join("output.csv");
    let text = std::fs::read_to_string(&csv).unwrap();
    let misses = || {
        let answers = Answers::open(&csv, None).unwrap();
        analyze(&answers, Rule::FinancialEquivalence).misses.len()
    };
    assert_eq!(misses(), 0);
    std::fs::write(
        &csv,
        text.replace("33.3%,33.3%,", "33.3%,77.7%,")
            .replace("0.3333333333333333", "0.777"),
    )
    .unwrap();
    assert_eq!(misses(), 1, "{text}");
}

/// Floats that did not survive the journal gave `score` another breakdown of
/// FE's reasons than the run's own.
#[test]
fn a_runs_csv_has_the_runs_own_reasons() {
    let place = Workplace::new();
    // 3.5967000000000002, which is 359.67 % exactly and 3.5967 is not.
    let records = RECORDS
        .replace("\"40\", \"30\"", "\"459.67\", \"100\"")
        .replace("33.3%", "359.67%")
        .replace("0.33333", "3.5967");
    let data = place.write("data.json", &records);
    place.answer(&format!("data_path = '{}'", data.display()));
    let reasons = place.summary()["reasons"].clone();
    assert_eq!(reasons[0]["name"], "exact");
    let csv = place.path("output/output.csv");
    let records = records_behind(&csv).unwrap().unwrap();
    let rows = rescore(read_predictions(&csv).unwrap(), Some(&records)).unwrap();
    let card = serde_json::to_value(Scorecard::of(&rows)).unwrap();
    assert_eq!(card["reasons"], reasons);
}

/// Data were looked for by the path that the run was given, from whatever
/// folder the command is started in.
#[test]
fn a_runs_records_are_found_from_any_folder_and_missed_aloud() {
    let place = with_table_program();
    let csv = place.run_folder().join("output.csv");
    let elsewhere = Workplace::new();
    let (rate, told) = executed(&elsewhere, &csv);
    assert_eq!((rate, told.as_str()), (1.0.into(), ""));
    let run = place.run_folder();
    let report = elsewhere.run(&format!("report {} --to report.html", run.display()));
    assert_eq!(report.succeeds().stderr, "");

    std::fs::rename(place.path("data.json"), place.path("moved.json")).unwrap();
    let missing = "data.json: the run's data file no longer exists";
    for command in ["score", "analyze"] {
        let ran = place.run(&format!("{command} {}", csv.display()));
        ran.succeeds().tells(missing).tells("--data-path");
    }
    let report = place.run("report");
    assert!(report.succeeds().stderr.contains(missing));
    let named = format!("analyze {} --data-path moved.json", csv.display());
    assert_eq!(place.run(&named).succeeds().stderr, "");
}
