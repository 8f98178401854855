//! `merge`: what it refuses, what it states, and that its result is a run.

use convfinqa::pipeline::RunContext;
use convfinqa::run::{Finish, RunLock};
use rusqlite::Connection;

use super::shards::copy;
use crate::support::cli::{Workplace, csv_rows};
use crate::support::in_process::{refused, run};

#[test]
fn a_missing_shard_is_refused_by_name_and_what_is_missing_is_stated_everywhere() {
    let place = Workplace::new();
    place.shards(&["1/3", "3/3"], "");
    refused(
        place.merge(false),
        &[
            "run nightly is not complete",
            "all 27 of shard 2",
            "and 22 more",
            "--allow-missing",
        ],
    );
    assert!(!place.merged("journal.sqlite").exists());
    assert!(!place.path("output/output.csv").exists());

    let merged = place.merge(true).unwrap();
    let line = "27 questions are missing (all 27 of shard 2)";
    assert!(matches!(merged.finish, Finish::Partial { left: 27, .. }));
    drop(merged);
    for file in ["report.html", "config.toml"] {
        let text = std::fs::read_to_string(place.merged(file)).unwrap();
        assert!(text.contains(line), "{file}");
    }
    let summary: serde_json::Value =
        serde_json::from_slice(&std::fs::read(place.merged("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["complete"], false);
    assert_eq!(summary["run"]["merged"]["missing"][0]["shard"], 2);
    assert_eq!(summary["run"]["merged"]["missing"][0]["questions"], 27);
    let ran = place.run(&["merge", "--allow-missing"]);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    let listed = place.run(&["runs"]);
    assert!(
        listed.stdout.contains("merged, questions missing"),
        "{}",
        listed.stdout
    );
    // Nothing could be merged with what another process answered.
    place.run(&["--resume"]).fails(2, &["no unfinished run"]);
    place
        .run(&["--resume", "nightly"])
        .fails(2, &["repeat the commands of its shards"]);

    place.shards(&["2/3"], "");
    assert_eq!(place.merge(false).unwrap().finish, Finish::Complete);
    assert_eq!(csv_rows(&place.path("output/output.csv")).len(), 58);
}

#[test]
fn a_merged_run_is_a_run_like_any_other_and_merging_again_changes_nothing() {
    let place = Workplace::new();
    place
        .run(&["--data-path", "sample", "--n", "5", "-q"])
        .succeeds();
    place.shards(&["1/2", "2/2"], "");
    place.merge(false).unwrap();
    let read = |file| std::fs::read(place.merged(file)).unwrap();
    let before = ["journal.sqlite", "output.csv", "summary.json"].map(read);
    place.merge(false).unwrap();
    assert_eq!(
        ["journal.sqlite", "output.csv", "summary.json"].map(read),
        before
    );
    place.run(&["report", "nightly"]).succeeds();
    place.run(&["analyze", "nightly"]).succeeds();
    place.run(&["compare", "nightly", "last"]).succeeds();
    place.run(&["score", "nightly"]).succeeds();
    let runs = place.run(&["runs"]).stdout;
    assert!(
        runs.lines().nth(1).unwrap().starts_with("nightly"),
        "the newest first: {runs}"
    );
    place.run(&["--resume", "nightly"]).succeeds();
}

#[test]
fn a_shard_in_use_is_refused_with_its_process_and_merging_is_for_one_process() {
    let place = Workplace::new();
    place.shards(&["1/2", "2/2"], "");
    let pid = format!("process {} on ", std::process::id());
    {
        let _working = RunLock::take(&place.shard_folder(2)).unwrap();
        refused(
            place.merge(false),
            &["shard 2 of run nightly is in use by", &pid],
        );
        refused(place.shard("2/2", ""), &["is in use by", &pid]);
        place
            .run(&["merge", "-q"])
            .fails(2, &["shard 2 of run nightly"]);
    }
    {
        let folder = place.path("output/runs/nightly.shards");
        let _merging = RunLock::take(&folder).unwrap();
        refused(place.merge(false), &["nightly.shards is in use by", &pid]);
    }
    place.merge(false).unwrap();
}

#[test]
fn a_truncated_shard_is_refused_and_left_as_it_is() {
    let place = Workplace::new();
    place.shards(&["1/2", "2/2"], "");
    let path = place.shard_folder(2).join("journal.sqlite");
    let whole = std::fs::read(&path).unwrap();
    for length in [whole.len() / 2, 4096, 100, 0] {
        std::fs::write(&path, &whole[..length]).unwrap();
        refused(
            place.merge(false),
            &["shard 2 of run nightly cannot be read", "journal.sqlite"],
        );
        assert_eq!(std::fs::read(&path).unwrap(), &whole[..length]);
        let ran = place.run(&["merge", "-q"]);
        ran.fails(3, &["shard 2 of run nightly cannot be read"]);
    }
    assert!(!place.merged("journal.sqlite").exists());
    std::fs::write(&path, &whole).unwrap();
    place.merge(false).unwrap();
}

#[test]
fn a_question_in_two_shards_or_in_the_wrong_one_is_named() {
    let place = Workplace::new();
    place.shards(&["1/2", "2/2"], "");
    let [first, second] = [1, 2].map(|index| place.shard_folder(index).join("journal.sqlite"));
    let key: String = Connection::open(&first)
        .unwrap()
        .query_row("SELECT id FROM answers ORDER BY question", [], |row| {
            row.get(0)
        })
        .unwrap();
    let connection = Connection::open(&second).unwrap();
    connection
        .execute("ATTACH ?1 AS first", [first.to_string_lossy()])
        .unwrap();
    connection
        .execute_batch(
            "INSERT INTO answers SELECT * FROM first.answers ORDER BY question LIMIT 1;
             DETACH first;",
        )
        .unwrap();
    drop(connection);
    refused(
        place.merge(false),
        &["more than once", &key, "in shards 1 and 2"],
    );
    Connection::open(&first)
        .unwrap()
        .execute_batch("DELETE FROM answers WHERE question = (SELECT min(question) FROM answers)")
        .unwrap();
    refused(
        place.merge(true),
        &["shard 2 of run nightly", "not one of its own", &key],
    );

    let place = Workplace::new();
    place.shards(&["1/2"], "");
    copy(&place.shard_folder(1), &place.shard_folder(2));
    refused(
        place.merge(false),
        &["holds shard 1/2 of run nightly instead of shard 2/2"],
    );
}

#[test]
fn the_name_of_another_run_is_refused_and_no_run_is_merged() {
    let place = Workplace::new();
    place
        .run(&["merge"])
        .fails(2, &["no run was started with --shard"]);
    place
        .run(&["merge", "x"])
        .fails(2, &["x: no run of this name was started with --shard"]);
    let id = place.answer("").summary.run.id;
    let settings = format!("shard = '1/2'\nrun = '{id}'");
    let taken = run(&place.settings(&settings), RunContext::default());
    refused(taken, &["exists and has no shards", "--run"]);
}
