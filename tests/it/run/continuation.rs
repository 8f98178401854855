//! `--resume`: with whose settings, by which version, by how many processes.

use finqa_journal::run::Finish;
use finqa_journal::settings::Variables;
use finqa_score::calibration::Calibration;
use finqa_score::score::Row;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::support::agents::scripted;
use crate::support::cli::{CommandExt, Workplace, rows_without, wait_until};
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::in_process::{asking, refused};

/// A server that answers `first` requests and leaves the next ones waiting
/// until it is released.
struct Waiting {
    server: FaultServer,
    released: Arc<AtomicBool>,
}

impl Waiting {
    fn after(first: usize) -> Self {
        let released = Arc::new(AtomicBool::new(false));
        let free = Arc::clone(&released);
        let server = FaultServer::start(move |request| {
            if request.index < first || free.load(Ordering::SeqCst) {
                scripted(request)
            } else {
                Reply::hang()
            }
        });
        Self { server, released }
    }

    fn release(&self) {
        self.released.store(true, Ordering::SeqCst);
    }

    /// A run with one question at a time that was left in the middle of asking.
    fn abandoned(&self, place: &Workplace, given: &str) {
        let started = "mode = 'conversations'\nconcurrency = 1";
        let settings = asking(&self.server, &format!("{started}\n{given}"));
        place.abandon(&settings, || self.server.count() > 7);
    }

    /// Starts a process with one question at a time, which is in the middle of
    /// asking when this returns.
    fn begin(&self, place: &Workplace, arguments: &str) -> Child {
        let start = format!("--model m --mode conversations -j 1 {arguments}");
        let mut command = place.command();
        command.env("OPENAI_BASE_URL", self.server.base_url());
        let child = command.given(&start).begin();
        wait_until(|| self.server.count() > 7);
        child
    }
}

fn killed(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn resume_alone_uses_the_runs_own_settings_and_address_after_a_kill() {
    let place = Workplace::new();
    let waiting = Waiting::after(7);
    killed(waiting.begin(&place, "--data-path sample --n 4 --temperature 0.2"));
    assert!(!place.journal().is_complete().unwrap());
    // Neither a settings file nor a variable of now takes part.
    let file = "model = 'other'\ntemperature = 0.9\nn = 1\nmax_rounds = 1\n";
    place.write("convfinqa.toml", file);
    waiting.release();
    let resume = "--resume -j 2 --timeout 30 --traces off --verbose --mlflow off";
    let variables = [
        ("CONVFINQA_MODEL", "another"),
        ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1"),
    ];
    place.run_with(resume, &variables).succeeds();
    let summary = place.summary();
    let rows = place.rows("output/output.csv").len();
    assert_eq!(summary["complete"], true);
    assert_eq!(summary["run"]["total"], rows);
    for request in waiting.server.requests() {
        assert_eq!(request.body["model"], "m");
        assert_eq!(request.body["temperature"], json!(0.2));
    }
    // The run's own file of settings is as good as nothing.
    let config = place.run_folder().join("config.toml");
    let named = place.run(&format!("--resume last --config {}", config.display()));
    named.fails(2, &["no unfinished run"]);
}

#[test]
fn a_changed_option_is_refused_by_its_name_and_one_that_changes_no_answer_is_not() {
    let place = Workplace::new();
    let waiting = Waiting::after(7);
    let records = concat!(env!("CARGO_MANIFEST_DIR"), "/data/sample.json");
    // Other bytes than the built-in sample, the same records.
    let records = format!("{}\n", std::fs::read_to_string(records).unwrap());
    let file = place.write("records.json", &records);
    let file = file.display();
    let calibration = serde_json::to_string(Calibration::built_in()).unwrap();
    let calibrated = place.write("c.json", &calibration);
    let calibrated = format!("calibration = '{}'", calibrated.display());
    let given = format!("data_path = '{file}'\nn = 4\ntemperature = 0.2\n{calibrated}");
    waiting.abandoned(&place, &given);
    let url = waiting.server.base_url();
    let address = format!("--base-url was {url}, now https://models.invalid/v1");
    let data = format!("--data-path was {file}, now sample");
    for (given, named) in [
        ("temperature = 0.7", "--temperature was 0.2, now 0.7"),
        ("n = 3", "--n was 4, now 3"),
        ("model = 'other'", "--model was m, now other"),
        ("max_rounds = 1", "--max-rounds was 3, now 1"),
        ("seed = 5", "--seed was not set, now 5"),
        ("data_path = 'sample'", data.as_str()),
        ("base_url = 'https://models.invalid/v1'", address.as_str()),
    ] {
        let line = place.resume("last", given).err().unwrap().to_string();
        let told = line.contains("cannot be resumed with changes: ") && line.contains(named);
        assert!(told && line.len() < 500, "{line}");
        assert!(!line.contains("opinion"), "{line}");
    }
    let asked = waiting.server.count();
    place.write("c.json", &format!("{calibration}\n"));
    let changed = "cannot be resumed with changes: the file of --calibration has changed since";
    refused(place.resume("last", ""), &[changed]);
    place.write("c.json", &calibration);
    place.write("records.json", &format!("{records}\n"));
    let changed = format!("cannot be resumed with changes: the data file {file} has changed since");
    refused(place.resume("last", ""), &[&changed]);
    assert_eq!(waiting.server.count(), asked, "nothing is asked");
    // The same records in another file are the same data.
    let copy = place.write("copy.json", &records);
    place.write("records.json", "[]");
    waiting.release();
    let copied = format!("data_path = '{}'", copy.display());
    let resumed = place.resume("last", &copied).unwrap();
    assert_eq!(resumed.finish, Finish::Complete);
}

#[test]
fn a_second_process_on_a_run_is_refused_and_told_who_has_it() {
    let place = Workplace::new();
    let waiting = Waiting::after(7);
    let first = waiting.begin(&place, "--data-path sample --n 4");
    let asked = waiting.server.count();
    let holder = format!("is in use by process {} on ", first.id());
    place
        .run("--resume")
        .fails(2, &[&holder, " since ", "wait until it ends"]);
    place.run("report").fails(2, &[&holder]);
    let listed = place.run("runs");
    let running = format!("running (process {} on ", first.id());
    listed.succeeds().prints(&running);
    assert_eq!(waiting.server.count(), asked, "nothing is asked");
    // The lock of a process that is dead blocks nobody.
    killed(first);
    assert!(place.run_folder().join("run.lock").is_file());
    waiting.release();
    place.run("--resume").succeeds();
}

#[test]
fn a_run_of_another_version_is_not_resumed() {
    let place = Workplace::new();
    let waiting = Waiting::after(7);
    waiting.abandoned(&place, "n = 4");
    waiting.release();
    // A newer version may have settings that this one does not know.
    let newer = "'$.version', '99.0.0', '$.settings.tomorrow', 1";
    let sql = format!("UPDATE meta SET value = json_set(value, {newer}) WHERE key = 'run'");
    place.journal_tables().execute(&sql, []).unwrap();
    refused(
        place.resume("last", ""),
        &["started by convfinqa 99.0.0", "start a new run"],
    );
}

#[test]
fn a_new_run_says_that_the_same_one_is_unfinished() {
    let place = Workplace::new();
    let hints = |given: &str| {
        let mut lines = place.notices(&place.settings(given), Variables::none());
        lines.retain(|line| line.contains("unfinished"));
        lines
    };
    place.answer("n = 3");
    let id = place.journal().meta().unwrap().id;
    assert_eq!(hints("n = 3"), [""; 0]);
    for folder in std::fs::read_dir(place.path("output/runs")).unwrap() {
        let folder = folder.unwrap().path();
        if !folder.ends_with(&id) {
            std::fs::remove_dir_all(folder).unwrap();
        }
    }
    let sql = "DELETE FROM answers WHERE question > 0";
    place.journal_tables().execute(sql, []).unwrap();
    assert_eq!(hints("n = 2"), [""; 0]);
    let hinted = hints("n = 3");
    let hint = format!("`convfinqa --resume {id} ");
    assert_eq!(hinted.len(), 1, "{hinted:?}");
    let continues = hinted[0].contains(&hint) && hinted[0].ends_with("` continues it");
    assert!(continues, "{hinted:?}");
}

/// The command of the README without any option, and `--resume` as it says.
#[test]
fn the_readmes_first_command_is_resumed_as_written() {
    let place = Workplace::new();
    place.run("").succeeds();
    let csv = place.path("output/output.csv");
    let rows = || rows_without(&csv, |column| column == "latency");
    let whole = rows();
    let odd = "WHERE question % 2 = 1";
    let sql = format!("DELETE FROM answers {odd}; DELETE FROM calls {odd}");
    place.journal_tables().execute_batch(&sql).unwrap();
    for file in "output.csv summary.json transcripts.jsonl report.html".split(' ') {
        std::fs::remove_file(place.run_folder().join(file)).unwrap();
    }
    std::fs::remove_file(&csv).unwrap();
    place.run("--resume").succeeds().tells("resuming: 29 of 58");
    assert_eq!(rows(), whole);
}

/// Seconds of a call that was given up are not the question's.
#[test]
fn latency_after_a_resume_leaves_out_calls_that_were_given_up() {
    let place = Workplace::new();
    let waiting = Waiting::after(7);
    waiting.abandoned(&place, "n = 4");
    let asked = place.journal().answered().unwrap();
    let given_up = json!({
        "node": "analyst", "round": 1, "request_hash": "", "messages": [], "reply": null,
        "error": "cancelled", "attempts": 1, "seconds": 1e6,
        "cost": {"known": "0", "priced": 0, "unpriced": 0},
    });
    let sql = "INSERT INTO calls VALUES (?1, 99, ?2)";
    let call = rusqlite::params![asked as i64, given_up.to_string()];
    place.journal_tables().execute(sql, call).unwrap();
    waiting.release();
    let resumed = place.resume("last", "").unwrap();
    assert_eq!(resumed.finish, Finish::Complete);
    let is_short = |row: Row| assert!(row.latency.is_some_and(|seconds| seconds < 1e6));
    place.journal().for_each_row(is_short).unwrap();
}

/// The same server at another port was a change that no run could be resumed with.
#[test]
fn a_run_is_resumed_at_a_local_server_that_has_moved() {
    let place = Workplace::new();
    let first = Waiting::after(7);
    let child = first.begin(&place, "--data-path sample --n 3");
    killed(child);
    let moved = FaultServer::start(scripted);
    let ran = place.run(&format!("--resume --base-url {}", moved.base_url()));
    let (was, now) = (first.server.base_url(), moved.base_url());
    ran.succeeds().prints(&format!("m at {was}"));
    assert!(moved.count() > 0);
    // Journal, summary and report name both addresses.
    let note = format!("answered in part at openai {now} m");
    assert!(ran.unwrapped().contains(&note), "{}", ran.stdout);
    let first_model = place.journal().meta().unwrap().identity.model;
    assert_eq!(first_model, format!("openai {was} m"));
    let moved = &place.summary()["run"]["moved"];
    assert_eq!(moved[0]["model"], format!("openai {now} m"));
    // The time had nanoseconds.
    let at = moved[0]["at"].as_str().unwrap();
    let since = format!("{note}, since {} {}Z.", &at[..10], &at[11..16]);
    assert!(ran.unwrapped().contains(&since), "{}", ran.stdout);
    let report = std::fs::read_to_string(place.run_folder().join("report.html")).unwrap();
    let report = report.replace("&#x2f;", "/");
    assert!(report.contains(&was) && report.contains(&note));
}

/// The first address had answered nothing.
#[test]
fn a_run_that_was_answered_at_its_second_address_alone_says_so() {
    let place = Workplace::new();
    let first = Waiting::after(0);
    let mut command = place.command();
    command.env("OPENAI_BASE_URL", first.server.base_url());
    let child = command.given("--model m --data-path sample --n 2").begin();
    wait_until(|| first.server.count() > 0);
    killed(child);
    let moved = FaultServer::start(scripted);
    let ran = place.run(&format!("--resume --base-url {}", moved.base_url()));
    let note = format!("answered at openai {} m", moved.base_url());
    ran.succeeds();
    assert!(ran.unwrapped().contains(&note), "{}", ran.stdout);
    assert_eq!(place.summary()["run"]["moved"][0]["first"], true);
}
