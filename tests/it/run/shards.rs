//! `--shard`: the shards of a run make the same run as one process.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use finqa_journal::run::{Finish, Journal, RunFolder};
use finqa_journal::settings::Variables;
use finqa_run::pipeline::{PipelineError, RunContext, RunResults, merge};
use rstest::rstest;

use crate::support::agents::{answer_to, question_of, scripted};
use crate::support::cli::{CommandExt, MEASURED, Row, Workplace, csv_rows, rows_without};
#[cfg(unix)]
use crate::support::cli::{signal, wait_until};
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::in_process::{asking, refused, runtime};

impl Workplace {
    pub(super) fn shard(&self, part: &str, given: &str) -> Result<RunResults, PipelineError> {
        self.start(&format!("shard = '{part}'\nrun = 'nightly'\n{given}"))
    }

    pub(super) fn shards(&self, parts: &[&str], given: &str) {
        for part in parts {
            let results = self.shard(part, given).unwrap();
            assert_eq!(results.finish, Finish::Complete, "{part}");
        }
    }

    pub(super) fn merge(&self, allow_missing: bool) -> Result<RunResults, PipelineError> {
        let (output, variables) = (self.path("output"), Variables::none());
        let notify = RunContext::default().notify;
        runtime().block_on(merge(
            &output, "nightly", allow_missing, &variables, &notify,
        ))
    }

    pub(super) fn shard_folder(&self, index: u32) -> PathBuf {
        self.path(&format!("output/runs/nightly.shards/{index}"))
    }

    pub(super) fn merged(&self, file: &str) -> PathBuf {
        self.path(&format!("output/runs/nightly/{file}"))
    }
}

/// A run's rows in the order of its CSV, without what is measured.
fn rows(csv: &Path) -> Vec<Row> {
    rows_without(csv, |column| MEASURED.contains(&column))
}

#[rstest]
#[case::conversations("mode = 'conversations'\nn = 12", true)]
#[case::epochs("epochs = 2\nn = 9", true)]
#[case::a_selection("shuffle = true\nseed = 5\nn = 7\nfilter = 'a'", false)]
fn merged_shards_have_the_rows_of_one_process(#[case] given: &str, #[case] by_model: bool) {
    let server = FaultServer::start(scripted);
    let given = if by_model {
        asking(&server, given)
    } else {
        given.to_owned()
    };
    let (one, split) = (Workplace::new(), Workplace::new());
    let whole = one.answer(&given);
    split.shards(&["2/4", "4/4", "1/4", "3/4"], &given);
    assert!(!split.path("output/output.csv").exists(), "it is for merge");
    let merged = split.merge(false).unwrap();
    assert_eq!(merged.finish, Finish::Complete);
    assert_eq!(merged.summary.run.id, "nightly");
    let expected = rows(&one.path("output/output.csv"));
    assert_eq!(rows(&split.path("output/output.csv")), expected);
    assert_eq!(rows(&split.merged("output.csv")), expected);
    for file in RunFolder::RESULTS {
        assert!(split.merged(file).is_file(), "{file}");
    }
    let rates = |of: &RunResults| serde_json::to_value(&of.summary.scores.rates).unwrap();
    assert_eq!(rates(&merged), rates(&whole));
    assert_eq!(merged.summary.run.identity, whole.summary.run.identity);
    let mut ordinals = Vec::new();
    let number = |row: finqa_score::score::Row| ordinals.push(row.stamp.unwrap().ordinal);
    merged.journal.for_each_row(number).unwrap();
    ordinals.sort_unstable();
    let all: Vec<_> = (1..=ordinals.len() as u64).collect();
    assert_eq!(ordinals, all, "the rows are numbered anew");
}

#[test]
fn a_killed_shard_is_continued_by_the_same_command_and_repeats_no_call() {
    let place = Workplace::new();
    let server = FaultServer::start(|request| scripted(request).after(Duration::from_millis(10)));
    let model = asking(&server, "concurrency = 1");
    let shard = format!("shard = '1/2'\nrun = 'nightly'\n{model}");
    place.abandon(&shard, || server.count() > 9);
    let journal = Journal::read(&place.shard_folder(1).join("journal.sqlite")).unwrap();
    assert!(journal.answered().unwrap() > 0);
    drop(journal);
    place.shards(&["1/2", "2/2"], &model);
    let merged = place.merge(false).unwrap();
    // The one request that was in flight may have been sent twice.
    let calls = usize::try_from(merged.summary.spent.calls).unwrap();
    assert!(server.count() <= calls + 1, "{} of {calls}", server.count());
    for row in csv_rows(&place.merged("output.csv")) {
        assert_eq!(row["answer"], answer_to(&row["question"]).to_string());
    }
}

/// Every later start of the shard failed on what a process had left that was killed while it
/// made the journal.
#[test]
fn a_shard_that_was_killed_before_it_began_is_started_again() {
    let place = Workplace::new();
    place.shards(&["2/2"], "n = 3");
    std::fs::create_dir(place.shard_folder(1)).unwrap();
    let journal = place.shard_folder(2).join("journal.sqlite");
    std::fs::copy(journal, place.shard_folder(1).join("journal.sqlite.new")).unwrap();
    place.shards(&["1/2"], "n = 3");
    assert_eq!(place.merge(false).unwrap().finish, Finish::Complete);
}

/// Each is refused before a question is asked.
#[rstest]
#[case::other_settings("max_rounds = 7", "--max-rounds was 3, now 7")]
#[case::other_questions("n = 5", "--n was not set, now 5")]
#[case::other_critic("critic = 'off'", "--critic was not set, now off")]
#[case::other_mode("mode = 'conversations'", "--mode was questions, now conversations")]
fn a_shard_of_another_run_is_refused_by_what_differs(#[case] given: &str, #[case] words: &str) {
    let place = Workplace::new();
    place.shards(&["1/3"], "");
    let named = ["shard 2/3 of run nightly", words, "--run"];
    refused(place.shard("2/3", given), &named);
    assert!(!place.shard_folder(2).exists());
    refused(
        place.shard("2/4", ""),
        &["the number of shards was 3, now 4"],
    );
    // The shard itself is refused in the same way.
    refused(place.shard("1/3", given), &[words]);
}

#[test]
fn a_shard_of_another_model_other_prompts_or_another_version_is_refused_and_so_is_its_merge() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    let own = place.path("own");
    let given = asking(&server, &format!("prompts = '{}'", own.display()));
    std::fs::create_dir(&own).unwrap();
    let text = include_str!("../../../prompts/analyst_system.j2");
    let prompt = place.write("own/analyst_system.j2", text);
    place.shards(&["1/2"], &given);
    let words = ["shard 2/2 of run nightly", "--model was m, now other"];
    let other = given.replace("'m'", "'other'");
    refused(place.shard("2/2", &other), &words);

    std::fs::write(&prompt, format!("{text}\nBe brief.")).unwrap();
    let words = ["shard 2/2 of run nightly", "the prompts have changed"];
    refused(place.shard("2/2", &given), &words);
    std::fs::write(&prompt, text).unwrap();

    let plan = place.path("output/runs/nightly.shards/plan.json");
    let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    let text = std::fs::read_to_string(&plan).unwrap();
    let older = text.replacen(&version, "\"version\":\"0.0.1\"", 1);
    assert_ne!(older, text);
    std::fs::write(&plan, older).unwrap();
    let words = "convfinqa's version was 0.0.1, now";
    refused(place.shard("2/2", &given), &[words]);
    refused(place.merge(true), &["shard 1 of run nightly", words]);
}

#[test]
fn a_shard_of_other_data_is_refused_and_so_is_its_merge() {
    let place = Workplace::new();
    let sample = include_str!("../../../data/sample.json");
    let file = place.write("records.json", sample);
    let data = format!("data_path = '{}'", file.display());
    place.shards(&["1/2"], &data);
    place.write("records.json", &sample.replacen("million", "billion", 1));
    refused(place.shard("2/2", &data), &["the data file", "changed"]);

    // A shard that was started elsewhere and copied here.
    let other = Workplace::new();
    other.shards(&["2/2"], "max_rounds = 7");
    let same = Workplace::new();
    same.shards(&["1/2"], "");
    copy(&other.shard_folder(2), &same.shard_folder(2));
    let words = ["shard 2 of run nightly", "--max-rounds was 3, now 7"];
    refused(same.merge(false), &words);
}

pub(super) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// What answers are worth is judged by `merge`.
#[test]
fn to_an_engine_a_shard_that_asked_its_questions_has_succeeded() {
    let place = Workplace::new();
    let filtered = FaultServer::start(|request| {
        if question_of(request).contains("minimum lease") {
            Reply::content_filter()
        } else {
            scripted(request)
        }
    });
    for part in ["1/2", "2/2"] {
        let shard = format!("-q --fail-under fe=100 --run nightly --shard {part}");
        place.chat(&filtered, &shard).ends(0);
    }
    place.run("merge nightly -q").ends(4);
    let judged = place.run("merge nightly -q --fail-under fe=100");
    judged.fails(6, &["--fail-under"]);
}

/// An engine that reads 0 would not start it again.
#[test]
fn a_shard_whose_provider_failed_a_question_ends_with_5_and_is_continued() {
    let place = Workplace::new();
    let recovered = Arc::new(AtomicBool::new(false));
    let is_back = Arc::clone(&recovered);
    let server = FaultServer::start(move |request| {
        if question_of(request).contains("minimum lease") && !is_back.load(Ordering::Relaxed) {
            Reply::error(500, "server_error", "try again later")
        } else {
            scripted(request)
        }
    });
    let shard = "--attempts 1 -q --run nightly --shard 1/1";
    place.chat(&server, shard).ends(5);
    let merged = place.run("merge nightly");
    merged.fails(3, &["run nightly is not complete"]);
    recovered.store(true, Ordering::Relaxed);
    place.chat(&server, shard).ends(0);
    place.run("merge nightly -q").succeeds();
}

#[test]
fn the_engine_names_the_shard() {
    let place = Workplace::new();
    let run = ("CONVFINQA_RUN", "nightly");
    for task in ["0", "1"] {
        let slurm = [
            ("SLURM_ARRAY_TASK_ID", task),
            ("SLURM_ARRAY_TASK_MIN", "0"),
            ("SLURM_ARRAY_TASK_COUNT", "2"),
            run,
        ];
        let shard = "--data-path sample --shard auto -q";
        place.run_with(shard, &slurm).succeeds();
        let shard = "--data-path sample --shard auto/2 --run indexed -q";
        let indexed = ("JOB_COMPLETION_INDEX", task);
        place.run_with(shard, &[indexed]).succeeds();
    }
    place.run_with("merge -q", &[run]).succeeds();
    place.run("merge indexed -q").succeeds();
    assert!(place.path("output/runs/indexed/report.html").is_file());
    place.run("merge").fails(2, &["which run?"]);
}

#[test]
fn episodes_are_split_and_merged_too() {
    let (one, split) = (Workplace::new(), Workplace::new());
    let play = "env play --data-path sample -q";
    one.run(play).succeeds();
    for part in ["1/2", "2/2"] {
        let shard = format!("{play} --run nightly --shard {part}");
        split.run(&shard).succeeds();
    }
    split.run("merge nightly -q").succeeds();
    let whole = one.run_folder().join("output.csv");
    assert_eq!(rows(&split.merged("output.csv")), rows(&whole));
    let export = split.run(&format!("{play} --run x --shard 1/2 --export-episodes x"));
    export.fails(2, &["merge the shards, then", "--resume RUN"]);
    let export = "env play --resume nightly -q --export-episodes x";
    split.run(export).succeeds();
    let lines = split.read("x").lines().count();
    assert!(lines >= rows(&whole).len(), "{lines}");
}

#[cfg(unix)]
#[test]
fn a_shard_that_is_asked_to_end_is_continued_by_the_same_command() {
    let place = Workplace::new();
    let server = FaultServer::start(|request| scripted(request).after(Duration::from_millis(20)));
    let shard = "-q -j 1 --shard 1/1 --run nightly";
    let mut child = place.chat_command(&server, shard).begin();
    wait_until(|| server.count() >= 9);
    assert_eq!(signal(&mut child, "-TERM"), Some(130));
    place.chat(&server, shard).succeeds();
    place.run("merge nightly -q").succeeds();
    let requests = &place.json("output/runs/nightly/summary.json")["spent"]["requests"];
    assert_eq!(*requests, server.count(), "no request is repeated");
}
