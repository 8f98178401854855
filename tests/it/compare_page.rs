//! The page of two runs: `compare A B --html FILE`.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::report::{HOSTILE, rewrite, sample_run};
use crate::support::cli::Workplace;

/// Two runs over the sample: B gets a third of the questions right by gold's own
/// answer, and a third wrong.
fn two_runs(place: &Workplace, change: impl Fn(usize, &mut Value)) -> (PathBuf, PathBuf) {
    let a = sample_run(place);
    let rows = 58;
    rewrite(&a.join("journal.sqlite"), rows, &change);
    let b = a.with_file_name("second");
    std::fs::create_dir(&b).unwrap();
    std::fs::copy(a.join("journal.sqlite"), b.join("journal.sqlite")).unwrap();
    let connection = Connection::open(b.join("journal.sqlite")).unwrap();
    let renamed = "UPDATE meta SET value = json_set(value, '$.id', 'second') WHERE key = 'run'";
    connection.execute(renamed, []).unwrap();
    drop(connection);
    rewrite(&b.join("journal.sqlite"), rows, |index, row| {
        change(index, row);
        let gold = row["gold"].clone();
        let answer = &mut row["settled"]["answer"];
        if index % 3 == 0 {
            answer["printed"] = gold["answer"].clone();
            answer["value"] = gold["exe_ans"].clone();
            answer["program"] = gold["program"].clone();
        } else if index % 3 == 1 {
            answer["printed"] = json!("987654");
            answer["value"] = json!(987_654.0);
            answer["program"] = json!("add(987653, const_1)");
        }
    });
    (a, b)
}

fn page_of(place: &Workplace, a: &Path, b: &Path) -> PathBuf {
    let ran = place.run(&compare(a, b, "--html compare.html"));
    let shown = ran.succeeds().stdout.trim_end();
    assert!(shown.ends_with("Page: compare.html"), "{shown}");
    place.path("compare.html")
}

fn compare(a: &Path, b: &Path, options: &str) -> String {
    format!("compare {} {} {options}", a.display(), b.display())
}

#[test]
fn flips_of_two_runs_are_shown_side_by_side() {
    let place = Workplace::new();
    let (a, b) = two_runs(&place, |_, _| {});
    let html = std::fs::read_to_string(page_of(&place, &a, &b)).unwrap();
    assert!(!html.contains("http://") && !html.contains("https://"));
    assert!(html.contains("Gained by B") && html.contains("McNemar p"));
    let flips = place.run(&compare(&a, &b, "--json")).json()["flips"].clone();
    let flip = &flips[0];
    for part in ["part", "a", "b"] {
        assert!(html.contains(flip[part].as_str().unwrap()), "{flip}");
    }

    // JSON stays JSON, and what cannot be written is one line.
    let json = place.run(&compare(&a, &b, "--json --html compare.html"));
    json.succeeds().json();
    let refused = place.run(&compare(&a, &b, "--html no/where.html"));
    refused.fails(2, &["where.html"]);
    assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
}

#[test]
fn files_without_pages_or_programs_are_compared_too() {
    let place = Workplace::new();
    let file = |name: &str, answers: [&str; 3]| {
        let mut text =
            "id,question,ground_truth,prediction,latency,exact_match,numerical_match\n".to_owned();
        for (at, answer) in answers.iter().enumerate() {
            text.push_str(&format!(
                "P/2001/page_{at}.pdf-1,how much?,10{at},{answer},1.0,True,True\n"
            ));
        }
        place.write(name, &text);
    };
    file("a.csv", ["100", "101", "5"]);
    file("b.csv", ["100", "7", "102"]);
    place.run("compare a.csv b.csv --html page.html").succeeds();
    let html = place.read("page.html");
    assert!(html.contains("a.csv") && html.contains("right in A, wrong in B"));
}

/// The questions and answers of a run may be anybody's.
#[test]
fn hostile_texts_of_two_runs_stay_texts() {
    let place = Workplace::new();
    let (a, b) = two_runs(&place, |_, row| {
        row["question"] = json!(HOSTILE[0]);
        row["settled"]["answer"]["printed"] = json!(HOSTILE[1]);
    });
    let html = std::fs::read_to_string(page_of(&place, &a, &b)).unwrap();
    assert!(HOSTILE.iter().all(|text| !html.contains(text)));
    assert!(!html.contains("<script") && html.contains("&lt;"));
}
