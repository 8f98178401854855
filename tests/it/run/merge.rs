//! `merge`: what it refuses, what it states, and that its result is a run.

use std::path::Path;

use finqa_journal::run::{Finish, RunLock};
use rusqlite::Connection;

use super::shards::copy;
use crate::support::agents::{is_critic, scripted};
use crate::support::cli::{Workplace, csv_rows};
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::in_process::{asking, refused};

#[test]
fn a_missing_shard_is_refused_by_name_and_what_is_missing_is_stated_everywhere() {
    let place = Workplace::new();
    place.shards(&["1/3", "3/3"], "");
    let words = ["all 27 of shard 2", "--allow-missing"];
    let missing = [&["run nightly is not complete"], &words[..]].concat();
    refused(place.merge(false), &missing);
    assert!(!place.merged("journal.sqlite").exists());
    assert!(!place.path("output/output.csv").exists());

    let merged = place.merge(true).unwrap();
    let line = "27 questions missing (all 27 of shard 2)";
    assert!(matches!(merged.finish, Finish::Partial { left: 27, .. }));
    drop(merged);
    for file in ["report.html", "config.toml"] {
        let text = std::fs::read_to_string(place.merged(file)).unwrap();
        assert!(text.contains(line), "{file}");
    }
    let summary = place.json("output/runs/nightly/summary.json");
    assert_eq!(summary["complete"], false);
    let missing = &summary["run"]["merged"]["missing"][0];
    assert_eq!(
        (&missing["shard"], &missing["questions"]),
        (&2.into(), &27.into())
    );
    let ran = place.run("merge nightly --allow-missing");
    ran.ends(4).prints(line);
    let runs = place.run("runs");
    let listed: Vec<_> = runs.stdout.lines().collect();
    let ids = listed.iter().filter(|line| !line.starts_with(' '));
    assert_eq!(ids.count(), 1, "{listed:?}");
    assert!(listed[0].contains("merged, questions missing"));
    // Nothing could be merged with what another process answered.
    place.run("--resume").fails(2, &["no unfinished run"]);
    let resumed = place.run("--resume nightly");
    resumed.fails(2, &["repeat the commands of its shards"]);

    place.shards(&["2/3"], "");
    assert_eq!(place.merge(false).unwrap().finish, Finish::Complete);
    assert_eq!(csv_rows(&place.path("output/output.csv")).len(), 58);
}

#[test]
fn a_merged_run_is_a_run_like_any_other_and_merging_again_changes_nothing() {
    let place = Workplace::new();
    place.run("--data-path sample --n 5 -q").succeeds();
    place.shards(&["1/2", "2/2"], "");
    place.merge(false).unwrap();
    let files =
        || ["output.csv", "summary.json"].map(|file| std::fs::read(place.merged(file)).unwrap());
    let before = files();
    place.merge(false).unwrap();
    assert_eq!(files(), before);
    for command in ["report", "analyze", "compare last", "score", "--resume"] {
        place.run(&format!("{command} nightly")).succeeds();
    }
    let runs = place.run("runs").stdout;
    let newest = runs.lines().next().unwrap();
    assert!(newest.starts_with("nightly"), "the newest first: {runs}");
}

#[test]
fn a_shard_in_use_is_refused_with_its_process_and_merging_is_for_one_process() {
    let place = Workplace::new();
    place.shards(&["1/2", "2/2"], "");
    let pid = format!("process {} on ", std::process::id());
    {
        let _working = RunLock::take(&place.shard_folder(2)).unwrap();
        let in_use = "shard 2 of run nightly is in use by";
        refused(place.merge(false), &[in_use, &pid]);
        refused(place.shard("2/2", ""), &["is in use by", &pid]);
        place.run("merge nightly -q").fails(2, &[in_use, &pid]);
    }
    {
        let folder = place.path("output/runs/nightly.shards");
        let _merging = RunLock::take(&folder).unwrap();
        refused(place.merge(false), &["nightly.shards is in use by", &pid]);
    }
    place.merge(false).unwrap();
}

#[test]
fn a_question_in_the_wrong_shard_is_named() {
    let place = Workplace::new();
    place.shards(&["1/2", "2/2"], "");
    let [first, second] = [1, 2].map(|index| place.shard_folder(index).join("journal.sqlite"));
    let open = |journal: &Path| Connection::open(journal).unwrap();
    let sql = "SELECT id FROM answers ORDER BY question";
    let key: String = open(&first).query_row(sql, [], |row| row.get(0)).unwrap();
    let connection = open(&second);
    let attach = format!("ATTACH '{}' AS first;", first.display());
    let copy_one = "INSERT INTO answers SELECT * FROM first.answers ORDER BY question LIMIT 1;
         DETACH first;";
    connection.execute_batch(&(attach + copy_one)).unwrap();
    drop(connection);
    let words = [
        "shard 2 of run nightly", "a question of another shard", &key,
    ];
    refused(place.merge(true), &words);

    let place = Workplace::new();
    place.shards(&["1/2"], "");
    copy(&place.shard_folder(1), &place.shard_folder(2));
    let words = "shard 2 of run nightly is not in its folder, which holds shard 1/2";
    refused(place.merge(false), &[words]);
}

#[test]
fn the_name_of_another_run_is_refused() {
    let place = Workplace::new();
    let id = place.answer("").summary.run.id;
    let start = || place.start(&format!("shard = '1/2'\nrun = '{id}'"));
    refused(start(), &["exists and has no shards", "--run"]);
    // Also one of another format, whose answers `merge` would replace.
    let tables = place.journal_tables();
    tables.pragma_update(None, "user_version", 2).unwrap();
    drop(tables);
    refused(start(), &["exists and has no shards"]);
}

/// The critic's key runs out, so that a shard has calls without an answer, and more of them each
/// time that it is continued.
#[test]
fn a_merge_counts_the_calls_of_shards_that_continued_without_a_new_row() {
    let server = FaultServer::start(|request| {
        if is_critic(request) {
            Reply::error(401, "invalid_api_key", "the key has run out")
        } else {
            scripted(request)
        }
    });
    let place = Workplace::new();
    let model = asking(&server, "concurrency = 1");
    let mut counted = Vec::new();
    for _ in 0..2 {
        let stopped = place.shard("1/2", &model).unwrap();
        assert!(matches!(stopped.finish, Finish::Fatal(_)));
        drop(stopped);
        let merged = place.merge(true).unwrap();
        let requests = usize::try_from(merged.summary.spent.requests).unwrap();
        assert_eq!(requests, server.count());
        counted.push(requests);
    }
    assert!(counted[0] < counted[1], "{counted:?}");
}

#[test]
fn a_request_that_a_killed_shard_had_in_flight_makes_the_cost_of_the_merged_run_at_least() {
    let server = FaultServer::start(scripted);
    let place = Workplace::new();
    let prices = place.write("prices.json", super::budget::PRICES);
    let given = format!("prices = '{}'\nmax_cost = 5\nn = 4", prices.display());
    let model = asking(&server, &given);
    place.shards(&["1/2", "2/2"], &model);
    let merged = place.merge(false).unwrap();
    assert_eq!(merged.summary.spent.cost.unpriced, 0);
    assert!(merged.summary.spent.cost_usd.is_some());
    drop(merged);
    // A reservation whose reply was never recorded.
    let journal = Connection::open(place.shard_folder(2).join("journal.sqlite")).unwrap();
    let reserved = "INSERT INTO spending VALUES (1000, '0.01')";
    journal.execute(reserved, []).unwrap();
    drop(journal);
    for _ in 0..2 {
        let merged = place.merge(false).unwrap();
        assert_eq!(merged.summary.spent.cost.unpriced, 1);
        assert_eq!(merged.summary.spent.cost_usd, None);
    }
}

#[test]
fn commands_that_read_runs_say_that_shards_are_not_merged() {
    let place = Workplace::new();
    place.shards(&["1/1"], "");
    for command in ["report", "score", "analyze", "compare nightly"] {
        let ran = place.run(&format!("{command} nightly"));
        ran.fails(2, &["run nightly is in shards", "convfinqa merge nightly"]);
    }
    place.run("merge nightly.shards -q").succeeds();
    place.run("score nightly").succeeds();
}

/// The advice is what to do about the shard, and not to resume what cannot be read.
#[test]
fn a_shard_or_plan_that_cannot_be_read_is_a_data_error_of_its_own_command() {
    let place = Workplace::new();
    place.shards(&["1/2", "2/2"], "");
    let again = "--data-path sample --run nightly --shard 2/2 -q";
    let unreadable = |path: &Path, lengths: &[usize], words: &[&str]| {
        let whole = std::fs::read(path).unwrap();
        for length in lengths {
            std::fs::write(path, &whole[..*length]).unwrap();
            for command in [again, "merge nightly -q"] {
                let ran = place.run(command);
                ran.fails(3, words);
                assert!(!ran.stderr.contains("Error code"), "{}", ran.stderr);
            }
            assert_eq!(std::fs::read(path).unwrap(), &whole[..*length]);
        }
        std::fs::write(path, &whole).unwrap();
    };
    let journal = place.shard_folder(2).join("journal.sqlite");
    unreadable(
        &journal,
        &[4096, 0],
        &["shard 2 of run nightly cannot be read", "remove its folder"],
    );
    let plan = place.path("output/runs/nightly.shards/plan.json");
    let words = ["plan.json: not a plan of shards", "remove this file"];
    unreadable(&plan, &[200, 0], &words);
    // What is advised: a shard writes the plan again, and the others belong to it.
    std::fs::remove_file(&plan).unwrap();
    let words = ["(it is missing)", "repeat the command of a shard"];
    place.run("merge nightly").fails(3, &words);
    place.run(again).succeeds();
    place.run("merge nightly -q").succeeds();
}

#[test]
fn a_merged_journal_that_is_damaged_is_made_again() {
    let place = Workplace::new();
    place.shards(&["1/1"], "");
    place.merge(false).unwrap();
    let journal = place.merged("journal.sqlite");
    let whole = std::fs::read(&journal).unwrap();
    for length in [4096, 0] {
        std::fs::write(&journal, &whole[..length]).unwrap();
        assert_eq!(place.merge(false).unwrap().finish, Finish::Complete);
    }
    assert_eq!(csv_rows(&place.merged("output.csv")).len(), 58);
}
