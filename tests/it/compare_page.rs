//! The page of two runs: `compare A B --html FILE`.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::report::{HOSTILE, convfinqa, rewrite, sample_run};
use crate::support::browser::browse;

/// Two runs over the sample: B gets a third of the questions right by gold's own
/// answer, and a third wrong.
fn two_runs(folder: &Path, change: impl Fn(usize, &mut Value)) -> (PathBuf, PathBuf) {
    let a = sample_run(folder);
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

fn page_of(folder: &Path, a: &Path, b: &Path) -> PathBuf {
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let (code, text) = convfinqa(folder, &["compare", a, b, "--html", "compare.html"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.trim_end().ends_with("Page: compare.html"), "{text}");
    folder.join("compare.html")
}

#[test]
fn flips_of_two_runs_are_shown_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = two_runs(folder.path(), |_, _| {});
    let (code, text) = convfinqa(folder.path(), &["report", b.to_str().unwrap()]);
    assert_eq!(code, 0, "{text}");
    let html = std::fs::read_to_string(page_of(folder.path(), &a, &b)).unwrap();
    assert!(!html.contains("http://") && !html.contains("https://"));
    assert!(html.contains("Gained by B") && html.contains("McNemar p"));

    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    // JSON stays JSON, and what cannot be written is one line.
    let json = ["compare", a, b, "--json", "--html", "compare.html"];
    let (code, text) = convfinqa(folder.path(), &json);
    assert_eq!(code, 0);
    serde_json::from_str::<Value>(&text).unwrap();
    let (code, text) = convfinqa(folder.path(), &["compare", a, b, "--html", "no/where.html"]);
    assert_eq!((code, text.lines().count()), (2, 1), "{text}");
    assert!(text.contains("where.html"), "{text}");
}

#[test]
fn files_without_pages_or_programs_are_compared_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, answers: [&str; 3]| {
        let mut text =
            "id,question,ground_truth,prediction,latency,exact_match,numerical_match\n".to_owned();
        for (at, answer) in answers.iter().enumerate() {
            text.push_str(&format!(
                "P/2001/page_{at}.pdf-1,how much?,10{at},{answer},1.0,True,True\n"
            ));
        }
        std::fs::write(folder.path().join(name), text).unwrap();
    };
    file("a.csv", ["100", "101", "5"]);
    file("b.csv", ["100", "7", "102"]);
    let arguments = ["compare", "a.csv", "b.csv", "--html", "page.html"];
    let (code, text) = convfinqa(folder.path(), &arguments);
    assert_eq!(code, 0, "{text}");
    let html = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(html.contains("a.csv") && html.contains("right in A alone"));
}

#[test]
#[ignore = "needs Chromium"]
fn needs_browser_the_page_of_two_runs_works() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = two_runs(folder.path(), |_, _| {});
    let page = page_of(folder.path(), &a, &b);
    browse("compare_page.py", &page, &[]);
}

/// A page of two runs whose questions and labels are hostile.
fn hostile_page(folder: &Path) -> PathBuf {
    let (a, b) = two_runs(folder, |_, row| {
        row["question"] = json!(HOSTILE[0]);
        row["settled"]["answer"]["label"] = json!(HOSTILE[1]);
    });
    page_of(folder, &a, &b)
}

#[test]
fn hostile_texts_of_two_runs_stay_texts() {
    let folder = tempfile::tempdir().unwrap();
    let page = hostile_page(folder.path());
    let html = std::fs::read_to_string(page).unwrap();
    assert!(!html.contains("window.hacked = 1; alert(1)</script>"));
}

#[test]
#[ignore = "needs Chromium"]
fn needs_browser_hostile_texts_of_two_runs_stay_texts() {
    let folder = tempfile::tempdir().unwrap();
    let page = hostile_page(folder.path());
    browse("compare_page.py", &page, &["--hostile"]);
}
