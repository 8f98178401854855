//! The files of a run: whole after a kill, made again from the journal, and
//! nobody's loss where something is in the way.

use std::path::{Path, PathBuf};
use std::process::Command;

use finqa_journal::run::{Journal, RunStage};
use rusqlite::Connection;
use serde_json::Value;

use crate::support::agents::scripted;
use crate::support::cli::{CommandExt, Workplace, sample_records};
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::in_process::{asking, refused};

const FILES: [&str; 5] = [
    "config.toml", "output.csv", "report.html", "summary.json", "transcripts.jsonl",
];

fn bytes(folder: &Path) -> Vec<Vec<u8>> {
    let files = FILES.iter().map(|name| folder.join(name));
    files.map(|file| std::fs::read(file).unwrap()).collect()
}

/// A finished run of five records.
fn finished() -> (Workplace, PathBuf) {
    let place = Workplace::new();
    let folder = place.answer("n = 5").folder.path().to_owned();
    (place, folder)
}

#[test]
fn resume_of_an_answered_run_writes_what_is_missing() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    let started = place.answer(&asking(&server, "n = 5"));
    let run = started.folder.clone();
    drop(started);
    // What is written takes no server.
    drop(server);
    let folder = place.run_folder();
    let whole = bytes(&folder);
    let last = place.read("output/output.csv");
    for missing in FILES {
        std::fs::remove_file(folder.join(missing)).unwrap();
        std::fs::write(place.path("output/output.csv"), "of an earlier run").unwrap();
        assert_eq!(run.state().unwrap().stage, RunStage::Unwritten);
        place.resume("last", "").unwrap();
        assert!(bytes(&folder) == whole, "without {missing}");
        assert_eq!(place.read("output/output.csv"), last);
    }
    // Files of the time when it was interrupted are not those of the whole run.
    let summary = place.summary().to_string();
    let partial = summary.replacen("\"complete\":true", "\"complete\":false", 1);
    std::fs::write(folder.join("summary.json"), partial).unwrap();
    place.resume("last", "").unwrap();
    assert!(bytes(&folder) == whole);
    let changed = place.resume(&folder.to_string_lossy(), "model = 'b'");
    refused(changed, &["cannot be resumed", "--model was m, now b"]);
    refused(place.resume("last", ""), &["no unfinished run"]);
}

#[test]
fn report_makes_every_file_again() {
    let (place, folder) = finished();
    let whole = bytes(&folder);
    for file in FILES {
        std::fs::remove_file(folder.join(file)).unwrap();
    }
    place.run("report").succeeds();
    assert!(bytes(&folder) == whole);
    place.run("report --to elsewhere").succeeds();
    assert!(bytes(&place.path("elsewhere")) == whole);
    std::fs::write(place.path("file"), "").unwrap();
    place.run("report --to file").fails(2, &["file"]);
}

/// The binary as a user who may read everything and write nothing but `into`.
#[cfg(unix)]
fn as_reader(place: &Workplace, into: &Path) -> Command {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    chmod(place, "a=rX");
    std::fs::set_permissions(into, std::fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = place.command();
    command.env("TMPDIR", into);
    // Permissions bind everybody but root, who becomes somebody else. The
    // program may lie where that user cannot reach it.
    if std::fs::metadata(into).unwrap().uid() == 0 {
        let program = into.join("convfinqa");
        if !program.exists() {
            std::fs::copy(env!("CARGO_BIN_EXE_convfinqa"), &program).unwrap();
        }
        command = Command::new(program);
        command
            .current_dir(place.path(""))
            .env_clear()
            .env("TMPDIR", into)
            .uid(65_534)
            .gid(65_534);
    }
    command
}

#[cfg(unix)]
fn chmod(place: &Workplace, mode: &str) {
    let mut chmod = Command::new("chmod");
    let done = chmod.args(["-R", mode]).arg(place.path("")).status();
    assert!(done.unwrap().success());
}

#[cfg(unix)]
#[test]
fn a_read_only_run_is_read_and_its_files_are_made_elsewhere() {
    let (place, folder) = finished();
    let whole = bytes(&folder);
    let into = tempfile::tempdir().unwrap();
    let out = into.path().join("made");
    let reader = |line: &str| as_reader(&place, into.path()).given(line).ran();
    let refused = reader("report last");
    refused.fails(2, &["run", "Permission denied", "--to DIR"]);
    // `--output` says where the runs are.
    assert!(!refused.stderr.contains("--output"), "{}", refused.stderr);
    reader(&format!("report last --to {}", out.display())).succeeds();
    for command in ["score last", "analyze last", "compare last last", "runs"] {
        reader(command).succeeds();
    }
    assert!(bytes(&out) == whole);
    reader("--resume last").fails(2, &["no unfinished run"]);
    let locked = reader(&format!("--resume {}", folder.display()));
    locked.fails(2, &["cannot lock", "Permission denied"]);
    chmod(&place, "u+w");
}

/// There is neither a log nor shared memory next to it, and it does not ask for them.
#[test]
fn the_journal_of_a_run_that_ended_is_one_file_that_any_reader_can_open() {
    let (_place, folder) = finished();
    let beside: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("journal.sqlite"))
        .collect();
    assert_eq!(beside, ["journal.sqlite"]);
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let path = folder.join("journal.sqlite");
    let connection = Connection::open_with_flags(path, flags).unwrap();
    let mode = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    let mode = connection.query_row("PRAGMA journal_mode", [], mode);
    assert_eq!(mode.unwrap(), "delete");
}

/// Read as docs/runs.md says.
#[test]
fn transcripts_hold_every_request_to_the_byte_and_repeat_no_text() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    let ended = place.answer(&asking(&server, "n = 8\nmode = 'conversations'"));
    let path = ended.folder.file("transcripts.jsonl");
    // From 1.
    let mut shared: Vec<Value> = vec![Value::Null];
    let whole = |parts: &Value, shared: &[Value]| match parts {
        Value::Array(parts) => {
            let parts = parts.iter().map(|part| match part.as_u64() {
                Some(number) => shared[usize::try_from(number).unwrap()].as_str().unwrap(),
                None => part.as_str().unwrap(),
            });
            parts.collect::<String>()
        }
        text => text.as_str().unwrap().to_owned(),
    };
    let mut sent = Vec::new();
    let mut turns = 0;
    for line in std::fs::read_to_string(&path).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        for entry in line["shared"].as_array().into_iter().flatten() {
            assert!(!shared.contains(entry), "{entry}");
            shared.push(entry.clone());
        }
        turns += usize::from(line["index"].is_u64());
        for call in line["calls"].as_array().into_iter().flatten() {
            let messages = call["messages"].as_array().unwrap().iter();
            let messages = messages.map(|message| {
                let mut message = message.clone();
                message["content"] = whole(&message["content"], &shared).into();
                message
            });
            sent.push(Value::from_iter(messages).to_string());
        }
    }
    let requests = server.requests().into_iter();
    let mut received: Vec<_> = requests.map(|r| r.body["messages"].to_string()).collect();
    received.sort();
    sent.sort();
    assert_eq!(sent, received);
    drop(ended);
    for (file, most) in [("journal.sqlite", 12_000), ("transcripts.jsonl", 6_000)] {
        let bytes = std::fs::metadata(path.with_file_name(file)).unwrap().len();
        assert!(bytes < most * turns as u64, "{file}: {bytes} for {turns}");
    }
}

#[test]
fn a_journal_that_another_process_has_to_itself_is_said_to_be_in_use() {
    let (place, folder) = finished();
    let alone = Connection::open(folder.join("journal.sqlite")).unwrap();
    alone.execute_batch("BEGIN EXCLUSIVE").unwrap();
    place
        .run("report --to elsewhere")
        .fails(2, &["journal.sqlite is in use by another process"]);
}

#[test]
fn a_journal_that_is_cut_off_or_of_another_format_is_named_in_one_line() {
    let (place, folder) = finished();
    let path = folder.join("journal.sqlite");
    let run = folder.file_name().unwrap().to_str().unwrap();
    let whole = std::fs::read(&path).unwrap();
    for length in [whole.len() / 2, 100] {
        std::fs::write(&path, &whole[..length]).unwrap();
        place
            .run(&format!("report {run}"))
            .fails(3, &["journal.sqlite"]);
        place
            .run(&format!("--resume {run}"))
            .fails(3, &["journal.sqlite"]);
    }
    std::fs::write(&path, &whole).unwrap();
    for format in [2, 99] {
        let connection = Connection::open(&path).unwrap();
        connection
            .pragma_update(None, "user_version", format)
            .unwrap();
        drop(connection);
        for command in ["report", "--resume"] {
            let refused = format!("has journal format {format}, and this program reads");
            let ran = place.run(&format!("{command} {run}"));
            ran.fails(2, &[&refused]);
        }
    }
}

#[test]
fn a_wrong_key_takes_no_earlier_result_away() {
    let (place, _) = finished();
    let before = place.read("output/output.csv");
    let server = FaultServer::start(|_| Reply::error(401, "invalid_api_key", "wrong key"));
    let refused = place.chat(&server, "");
    refused.fails(5, &["wrong key"]);
    assert_eq!(place.read("output/output.csv"), before);
    let shown = &refused.stdout;
    assert!(!shown.contains("Answers: output/output.csv"), "{shown}");
}

#[test]
fn a_deleted_output_folder_is_noticed_at_the_next_answer() {
    let place = Workplace::new();
    let output = place.path("output");
    let server = FaultServer::start(move |request| {
        if request.index == 9 {
            std::fs::remove_dir_all(&output).unwrap();
        }
        scripted(request)
    });
    let stopped = place.chat(&server, "-j 1");
    stopped.fails(2, &["journal.sqlite was deleted or replaced"]);
    assert!(!stopped.stderr.contains("--resume"), "{}", stopped.stderr);
    // The question in flight is finished, at most three rounds of two calls.
    assert!(server.count() <= 10 + 6, "{} requests", server.count());
}

#[test]
fn runs_are_named_by_id_or_last_and_listed() {
    let (place, folder) = finished();
    place.answer("n = 5\nmax_rounds = 1");
    let first = folder.file_name().unwrap().to_string_lossy().into_owned();
    let score = |name: &str| place.run(&format!("score {name} --json")).succeeds().json();
    let csv = folder.join("output.csv").to_string_lossy().into_owned();
    assert_eq!(score(&first)["questions"], score(&csv)["questions"]);
    place.run(&format!("analyze {first}")).succeeds();
    let compared = place.run(&format!("compare {first} last --json"));
    compared.succeeds().prints(&first);
    // What a run's journal holds counts, whatever happened to its files.
    std::fs::remove_file(&csv).unwrap();
    score(&first);
    // Two runs within a minute share the start of their ids.
    for command in ["score", "analyze", "compare last", "report", "--resume"] {
        let ran = place.run(&format!("{command} {}", &first[..6]));
        ran.fails(2, &["is a prefix of 2 runs", &first]);
    }

    let ran = place.run("runs");
    let journal = Journal::read(&folder.join("journal.sqlite")).unwrap();
    let total = journal.meta().unwrap().total;
    let embedded = "    embedded analyst · critic rules · stand-alone questions · built-in sample";
    ran.succeeds()
        .prints(&first[..13])
        .prints(embedded)
        .prints("FE ");
    let listed = &ran.prints(&format!("{total}/{total}")).stdout;
    let newest = listed.find("finished").unwrap();
    assert!(newest < listed.find("files missing").unwrap(), "{listed}");
    std::fs::write(folder.join("journal.sqlite"), "no database").unwrap();
    place.run("runs").succeeds().prints("unreadable");
    let empty = Workplace::new().run("runs");
    assert_eq!(empty.succeeds().stdout, "no runs in output/runs\n");
}

#[test]
fn a_finished_run_keeps_the_pages_of_its_report_when_the_data_have_moved() {
    let place = Workplace::new();
    place.write("records.json", include_str!("../../../data/sample.json"));
    place.run("--data-path records.json -n 2 -q").succeeds();
    let folder = place.run_folder();
    let report = std::fs::read(folder.join("report.html")).unwrap();
    std::fs::rename(place.path("records.json"), place.path("moved.json")).unwrap();
    let id = folder.file_name().unwrap().to_str().unwrap();
    let kept = "the run's data file no longer exists; the report is kept as it is";
    for (line, told) in [
        (format!("--resume {id}"), kept),
        (format!("--resume {id} --data-path moved.json"), ""),
        (format!("report {id}"), kept),
    ] {
        place.run(&line).succeeds().tells(told);
        assert_eq!(std::fs::read(folder.join("report.html")).unwrap(), report);
    }
    std::fs::remove_file(folder.join("report.html")).unwrap();
    let told = "the run's data file no longer exists; the report has no pages";
    // One without pages is written again, too.
    for _ in 0..2 {
        place.run(&format!("report {id}")).succeeds().tells(told);
    }
}

/// Three runs of one model differed only in calls and cost, and the whole path of the data was
/// shown.
#[test]
fn the_list_of_runs_shows_the_critic_and_names_the_data_by_its_file() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    let opinion = "llm --critic-model c --second-opinion record";
    for critic in ["off", "rules", opinion] {
        let ran = place.chat(&server, &format!("-q -n 1 --critic {critic}"));
        ran.succeeds();
    }
    let listed = place.run("runs").unwrapped();
    for agents in [
        "m · critic off · stand-alone",
        "m · critic rules · stand-alone",
        "m · critic llm (c) · second opinion record · stand-alone",
    ] {
        assert!(listed.contains(agents), "{agents}: {listed}");
    }
    let newest = &place.run("runs --json").json()[0];
    for (field, value) in [
        ("critic", "llm"),
        ("critic_model", "c"),
        ("second_opinion", "record"),
    ] {
        assert_eq!(newest[field], value);
    }

    for folder in ["a", "b"] {
        std::fs::create_dir(place.path(folder)).unwrap();
        let file = format!("{folder}/own.json");
        place.write(&file, &Value::from(sample_records()).to_string());
        place.run(&format!("--data-path {file} -n 1 -q")).succeeds();
        let listed = place.run("runs").unwrapped();
        let is_short = listed.contains(" · own.json · ");
        assert_eq!(is_short, folder == "a", "{listed}");
    }
    let listed = place.run("runs").unwrapped();
    for path in ["/a/own.json · ", "/b/own.json · "] {
        assert!(listed.contains(path), "{path}: {listed}");
    }
}
