//! The report of a run: what is in the file, and how it behaves in a browser.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use finqa_journal::run::Journal;
use flate2::read::GzDecoder;
use rusqlite::{Connection, params};
use serde_json::{Value, json};

use crate::support::browser::browse;
use crate::support::cli::Workplace;

/// Texts that would run, break or turn the page round if they were markup.
pub const HOSTILE: [&str; 3] = [
    "</script><script>window.hacked = 1; alert(1)</script><img src=x onerror=window.hacked=1>",
    "\"quotes' &amp; <!-- <b>\u{2028}\u{2029} </SCRIPT > {{ 7 * 7 }}",
    "\u{202e}مرحبا بالعالم abc",
];

/// A run over the built-in sample; its folder.
pub fn sample_run(place: &Workplace) -> PathBuf {
    place.answer("").folder.path().to_owned()
}

/// Changes every answered row of a journal, and repeats them until there are `total`.
pub fn rewrite(journal: &Path, total: usize, change: impl Fn(usize, &mut Value)) {
    let mut rows = Vec::new();
    let read = Journal::read(journal).unwrap();
    read.for_each_row(|row| rows.push(serde_json::to_value(row).unwrap()))
        .unwrap();
    drop(read);
    let connection = Connection::open(journal).unwrap();
    connection
        .execute_batch("BEGIN; DELETE FROM answers")
        .unwrap();
    for index in 0..total {
        let mut row = rows[index % rows.len()].clone();
        row["index"] = json!(index);
        row["epoch"] = json!(index / rows.len());
        change(index, &mut row);
        connection
            .execute(
                "INSERT INTO answers VALUES (?1, ?2, ?3, ?4, 'answered', ?5)",
                params![
                    index as i64,
                    row["key"]["id"].as_str(),
                    row["key"]["part"].as_str(),
                    (index / rows.len()) as i64,
                    row.to_string()
                ],
            )
            .unwrap();
    }
    let sql = "UPDATE meta SET value = json_set(value, '$.total', ?1) WHERE key = 'run'";
    connection.execute(sql, [total]).unwrap();
    connection.execute_batch("COMMIT").unwrap();
}

/// Repeats a journal's rows until there are `total`, with times and costs of their own.
fn repeat(journal: &Path, total: usize) {
    rewrite(journal, total, |index, row| {
        row["latency"] = json!((index * 7919 % 20011) as f64 / 911.0);
        row["cost"] = json!(format!("0.00{}", 1 + index % 97));
    });
}

/// The entries of one of the page's stores, in their order.
fn entries(html: &str, store: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for block in 0.. {
        let start = format!("<script type=\"text/plain\" id=\"{store}-{block}\">");
        let Some(at) = html.find(&start) else {
            break;
        };
        let packed = html[at + start.len()..].split("</script>").next().unwrap();
        let packed = STANDARD.decode(packed).unwrap();
        let found: Vec<Value> = serde_json::from_reader(GzDecoder::new(&packed[..])).unwrap();
        all.extend(found);
    }
    all
}

/// The list that the page shows.
fn index(html: &str) -> Value {
    entries(html, "index").remove(0)
}

#[test]
fn a_run_leaves_a_report_and_the_command_makes_the_same_again() {
    let place = Workplace::new();
    let run = sample_run(&place);
    let html = std::fs::read_to_string(run.join("report.html")).unwrap();
    place.run("report --to again").succeeds();
    assert_eq!(html, place.read("again/report.html"));
    assert!(!html.contains("http://") && !html.contains("https://"));
    for words in [
        "<bdi>Embedded analyst</bdi>",
        "The embedded analyst does not revise; the checks doubt ",
        ">first question</button>",
        " ms</p>",
    ] {
        assert!(html.contains(words), "{words}");
    }
    let index = index(&html);
    let questions = entries(&html, "q");
    let rows = index["rows"].as_array().unwrap();
    assert!(rows.len() > 20 && rows.len() == questions.len());
    // Pages are stored once, however many questions are asked about them.
    assert!(entries(&html, "p").len() < rows.len());
    let question = &questions[0];
    assert_eq!(question["page"], 0);
    let facets = index["facets"].as_array().unwrap();
    let cause = facets
        .iter()
        .position(|facet| facet["key"] == "cause")
        .unwrap();
    let wrong = questions
        .iter()
        .zip(rows)
        .filter(|(q, _)| q["scores"]["financial_equivalence"]["accepted"] == false);
    let causes: Vec<&Value> = wrong.map(|(_, row)| &row[11][cause]).collect();
    assert!(!causes.is_empty());
    let single = |found: &&Value| found.as_array().unwrap().len() == 1;
    assert!(causes.iter().all(single), "{causes:?}");
    let steps = question["gold_program"]["steps"].as_array().unwrap();
    let have_results = steps.iter().all(|step| step["result"].is_string());
    assert!(have_results, "{steps:?}");
    let cited = question["answer"]["evidence"][0]["id"].as_str().unwrap();
    let gold = question["gold_program"]["places"].as_object().unwrap();
    let mut ids = gold.values().flat_map(|ids| ids.as_array().unwrap());
    assert!(ids.any(|id| id == cited), "{cited} is not among {gold:?}");
}

#[test]
#[ignore = "needs Chromium"]
fn needs_browser_the_page_works() {
    let place = Workplace::new();
    let run = sample_run(&place);
    browse("report_page.py", &run.join("report.html"), &[]);
}

/// A report whose questions, replies and file names are hostile.
fn hostile_report(place: &Workplace) -> PathBuf {
    let run = sample_run(place);
    let long = "long ".repeat(200_000);
    rewrite(&run.join("journal.sqlite"), 58, |index, row| {
        let text = HOSTILE.get(index).copied().unwrap_or(&long);
        if index < 4 {
            row["question"] = json!(text);
            row["settled"]["rounds"][0]["reply"] = json!(text);
            row["filename"] = json!(HOSTILE[0]);
        }
    });
    place.run("report").succeeds();
    run.join("report.html")
}

#[test]
fn hostile_texts_stay_texts() {
    let place = Workplace::new();
    let report = hostile_report(&place);
    let html = std::fs::read_to_string(report).unwrap();
    assert!(!html.contains("window.hacked = 1; alert(1)</script>"));
    assert!(!html.contains(['\u{2028}', '\u{2029}']));
    assert_eq!(entries(&html, "q")[0]["question"], HOSTILE[0]);
}

#[test]
#[ignore = "needs Chromium"]
fn needs_browser_hostile_texts_stay_texts() {
    let place = Workplace::new();
    let report = hostile_report(&place);
    browse("report_page.py", &report, &["--hostile"]);
}

#[test]
#[ignore = "needs Chromium"]
fn needs_time_twenty_thousand_questions_are_usable() {
    let place = Workplace::new();
    let run = sample_run(&place);
    let journal = run.join("journal.sqlite");
    repeat(&journal, 20_000);
    place.run("report").succeeds();
    browse(
        "report_page.py",
        &run.join("report.html"),
        &["--rows", "20000"],
    );
}

#[test]
fn an_unfinished_run_says_so_and_a_missing_page_too() {
    let place = Workplace::new();
    let copy = place.write("records.json", include_str!("../../data/sample.json"));
    place.answer(&format!("data_path = '{}'", copy.display()));
    let run = place.run_folder();
    let unanswered = "DELETE FROM answers WHERE question > 9";
    place.journal_tables().execute(unanswered, []).unwrap();
    std::fs::write(&copy, "[]").unwrap();
    place.run("report last").succeeds();
    let html = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(html.contains("<strong>Not complete.</strong> 10 of "));
    assert!(html.contains("The report pages are not available:"));
    assert_eq!(entries(&html, "q")[0]["page"], Value::Null);
}

#[test]
fn a_run_that_is_not_there_or_newer_is_one_clear_line() {
    let place = Workplace::new();
    let unknown = place.run("report 0000");
    unknown.fails(2, &["no such run"]);
    assert_eq!(unknown.stderr.lines().count(), 1, "{}", unknown.stderr);
    let run = sample_run(&place);
    let before = std::fs::read(run.join("report.html")).unwrap();
    let journal = place.journal_tables();
    journal.pragma_update(None, "user_version", 99).unwrap();
    drop(journal);
    place.run("report").fails(2, &["journal format 99"]);
    assert_eq!(before, std::fs::read(run.join("report.html")).unwrap());
}

#[test]
fn ci_gets_a_failing_exit_code() {
    let place = Workplace::new();
    let run = |gate: &str| place.run(&format!("run --data-path sample -n 5 --quiet {gate}"));
    let quiet = run("--fail-under nm=0,fe=0");
    let told = (&*quiet.succeeds().stdout, &*quiet.stderr);
    assert_eq!(told, ("", ""), "quiet says nothing but errors");
    let below = run("--fail-under em=0,fe=100");
    below.fails(6, &["financial_equivalence is ", "below 100 %"]);
    assert_eq!(
        (below.stdout.as_str(), below.stderr.lines().count()),
        ("", 1)
    );
    // Without an answer, and below the threshold: the threshold is what was asked for.
    run("--min-confidence 1").ends(4);
    run("--min-confidence 1 --fail-under fe=1").ends(6);
    run("--fail-under f1=80").fails(2, &["no rule is called `f1`"]);

    let score = |gate: &str| place.run(&format!("score output/output.csv {gate}"));
    score("--fail-under nm=100").fails(6, &["numerical_match is "]);
    score("--fail-under nm=0").succeeds();
}
