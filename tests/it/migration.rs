//! Files that earlier versions wrote are read, or refused in a line that names the version.
//! `README.md` in `tests/data/v0_1` and `tests/data/v0_2` says how they were made.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use finqa_agents::prompt::{Prompts, Rendering};
use serde_json::{Value, json};

use crate::support::agents::{is_critic, question_of};
use crate::support::cli::{Ran, Workplace, csv_rows};
use crate::support::fault_server::{FaultServer, Reply, Request};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

fn kept(name: &str) -> PathBuf {
    Path::new(DATA).join("v0_1").join(name)
}

/// A kept run in the output folder of a new working folder, and its id.
fn with_run(name: &str) -> (Workplace, String) {
    with_run_of(&kept(&format!("runs/{name}")))
}

fn with_run_of(kept: &Path) -> (Workplace, String) {
    let place = Workplace::new();
    let config = fs::read_to_string(kept.join("config.toml")).unwrap();
    let id = config.strip_prefix("# Run ").unwrap();
    let id = id[..id.find(',').unwrap()].to_owned();
    let folder = place.path(&format!("output/runs/{id}"));
    fs::create_dir_all(&folder).unwrap();
    for file in fs::read_dir(kept).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.join(file.file_name())).unwrap();
    }
    (place, id)
}

/// A copy of a kept file of episodes in a new working folder.
fn with_episodes(name: &str, servers: &str) -> (Workplace, String) {
    let place = Workplace::new();
    let text = fs::read_to_string(kept(&format!("plays/{name}.jsonl"))).unwrap();
    let text = text.replace("http://127.0.0.1:8001/v1", servers);
    place.write("episodes.jsonl", &text);
    (place, text)
}

fn json_of(ran: &Ran) -> Value {
    serde_json::from_str(&ran.succeeds().stdout).unwrap()
}

/// A server where every critic accepts, and every analyst answers 1.
fn accepting() -> FaultServer {
    FaultServer::start(|request| {
        if is_critic(request) {
            return Reply::chat("ALL_OK");
        }
        let analysis = json!({
            "evidence": [], "program": null, "steps": ["read it off"],
            "answer": "1", "unit": "number", "label": "it", "confidence": 0.9,
        });
        Reply::chat(&analysis.to_string())
    })
}

/// Rows without the last column, which files of 0.1 lack: it had no response cache.
fn as_of_0_1(csv: &str) -> String {
    let rows = csv.replacen(",cached_calls\n", "\n", 1);
    rows.replace(",0\n", "\n")
}

#[test]
fn a_run_of_0_1_is_resumed_and_reported() {
    let (place, id) = with_run("finished");
    let folder = format!("output/runs/{id}");
    let csv = fs::read_to_string(kept("runs/finished/output.csv")).unwrap();
    let summary: Value =
        serde_json::from_slice(&fs::read(kept("runs/finished/summary.json")).unwrap()).unwrap();

    // Everything but the journal is made again from it.
    for file in ["output.csv", "summary.json", "transcripts.jsonl"] {
        fs::remove_file(place.path(&format!("{folder}/{file}"))).unwrap();
    }
    place.run(&["report", &id]).succeeds();
    assert_eq!(as_of_0_1(&place.read(&format!("{folder}/output.csv"))), csv);
    let report = place.read(&format!("{folder}/report.html"));
    assert!(report.contains("<title>66.7 %") && report.contains(&id));
    let transcripts = place.read(&format!("{folder}/transcripts.jsonl"));
    let questions = transcripts
        .lines()
        .filter(|line| line.contains("\"index\":"));
    assert_eq!(questions.count(), 6);
    let again = place.summary();
    for key in [
        "complete", "questions", "exact_match_hits", "numerical_match_hits",
        "execution_accuracy_hits", "program_accuracy_hits", "financial_equivalence_hits",
        "outcomes", "reasons", "latency",
    ] {
        assert_eq!(again[key], summary[key], "{key}");
    }
    assert_eq!(again["run"]["version"], "0.1.0");

    let analysis = json_of(&place.run(&["analyze", &id, "--json"]));
    assert_eq!(analysis["questions"], 6, "{analysis:#}");
    let scored = json_of(&place.run(&["score", &format!("{folder}/output.csv"), "--json"]));
    assert_eq!(scored["financial_equivalence_hits"], 4, "{scored:#}");

    // Nothing is left to be answered: the run's files are written, and no other's.
    place
        .run(&["--resume", &id, "--allow-version", "--quiet"])
        .succeeds();
    assert_eq!(as_of_0_1(&place.read("output/output.csv")), csv);
    place.run_folder();

    place.run("--n 4 --output now --quiet").succeeds();
    let compared = json_of(&place.run(&["compare", &id, "now/output.csv", "--json"]));
    assert_eq!(compared["questions"], 6, "{compared:#}");
}

#[test]
fn an_interrupted_run_of_0_1_is_resumed_and_reported() {
    let (place, id) = with_run("interrupted");
    place.run(&["report", &id]).succeeds();
    assert_eq!(place.summary()["complete"], false);
    let before = csv_rows(&place.run_folder().join("output.csv"));
    assert_eq!(before.len(), 3);
    place.run("runs").succeeds().prints(&id[..13]);

    place
        .run(&["--resume", &id, "--allow-version", "--quiet"])
        .succeeds();
    let rows = place.rows("output/output.csv");
    assert_eq!(rows.len(), 37);
    assert_eq!(rows[..3], before, "answers that were there are kept");
    assert_eq!(place.summary()["complete"], true);
    json_of(&place.run(&["analyze", &id, "--json"]));
}

fn journal_of(place: &Workplace) -> rusqlite::Connection {
    rusqlite::Connection::open(place.run_folder().join("journal.sqlite")).unwrap()
}

/// Makes a kept run one of this server. All else in the journal stays as its version wrote it.
fn move_to(server: &FaultServer, place: &Workplace) {
    let sql = "UPDATE meta SET value = replace(value, 'http://127.0.0.1:8000/v1', ?1)
               WHERE key = 'run'";
    let moved = journal_of(place).execute(sql, [server.base_url()]);
    assert_eq!(moved.unwrap(), 1);
}

/// The models get the prompts in the run's journal, and not this version's.
fn asks_with_its_own_prompts(place: &Workplace, requests: &[Request]) {
    let sql = "SELECT value FROM meta WHERE key = 'prompts'";
    let texts: String = journal_of(place)
        .query_row(sql, [], |row| row.get(0))
        .unwrap();
    let texts: Value = serde_json::from_str(&texts).unwrap();
    let critic = texts["critic_system.txt"].as_str().unwrap();
    let rendering = Rendering::default();
    assert_ne!(
        Prompts::embedded().texts(&rendering).unwrap()["critic_system.txt"],
        critic
    );
    for request in requests.iter().filter(|request| is_critic(request)) {
        assert_eq!(request.body["messages"][0]["content"], critic);
    }
}

#[test]
fn calls_of_an_interrupted_run_of_0_1_are_not_paid_for_again() {
    let (place, id) = with_run("chat");
    let server = accepting();
    move_to(&server, &place);
    place
        .run(&["--resume", &id, "--allow-version", "--quiet"])
        .succeeds();
    let rows = place.rows("output/output.csv");
    assert_eq!(rows.len(), 10);
    let answers: Vec<_> = rows.iter().map(|row| row["prediction"].as_str()).collect();
    assert_eq!(answers[..3], ["62290", "62290", "1"]);
    // The second question has its analysis: only its critic is asked.
    let requests = server.requests();
    assert!(is_critic(&requests[0]));
    asks_with_its_own_prompts(&place, &requests);
    let analyses: Vec<_> = requests.iter().filter(|r| !is_critic(r)).collect();
    assert_eq!(question_of(analyses[0]), rows[2]["question"]);
    for answered in &rows[..2] {
        let again = |r: &&Request| question_of(r) == answered["question"];
        assert!(!analyses.iter().any(again), "{}", answered["question"]);
    }
    place.run(&["report", &id]).succeeds();
    assert_eq!(place.summary()["spent"]["calls"], 4 + 1 + requests.len());
}

/// Its entries are plain JSON, and so are those that are added.
#[test]
fn a_journal_of_format_1_is_read_and_continued() {
    let kept = Path::new(DATA).join("v0_2/runs/chat");
    let (place, id) = with_run_of(&kept);
    let server = accepting();
    move_to(&server, &place);
    place.run(&["report", &id]).succeeds();
    assert_eq!(place.summary()["spent"]["calls"], 4 + 3);
    let before = csv_rows(&place.run_folder().join("output.csv"));
    assert_eq!(before.len(), 1);
    place
        .run(&["--resume", &id, "--allow-version", "--quiet"])
        .succeeds();
    let rows = place.rows("output/output.csv");
    assert_eq!((rows.len(), &rows[0]), (4, &before[0]));
    // The second question has its revised analysis: only its critic is asked.
    let requests = server.requests();
    assert!(is_critic(&requests[0]));
    assert_eq!(question_of(&requests[0]), rows[1]["question"]);
    asks_with_its_own_prompts(&place, &requests);
    assert_eq!(place.summary()["spent"]["calls"], 4 + 3 + requests.len());
    let connection = journal_of(&place);
    let plain = |table: &str| -> bool {
        let sql = format!("SELECT min(typeof(json) = 'text') FROM {table}");
        connection.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    assert!(plain("calls") && plain("answers"));
}

/// Prompts that this version does not have, of which the journal holds only the hash.
#[test]
fn a_run_whose_prompts_are_lost_is_refused_in_a_line_that_names_its_version() {
    for (version, number) in [("v0_1", "0.1.0"), ("v0_2", "0.2.0")] {
        let (place, id) = with_run_of(&Path::new(DATA).join(version).join("runs/chat"));
        let server = accepting();
        move_to(&server, &place);
        let sql = "DELETE FROM meta WHERE key = 'prompts'";
        journal_of(&place).execute(sql, []).unwrap();
        let named = format!("resume it with convfinqa {number}, or start a new run");
        place
            .run(&["--resume", &id, "--allow-version"])
            .fails(2, &[&id, "the prompts have changed", &named]);
        assert_eq!(server.count(), 0);
        place.run(&["report", &id]).succeeds();
    }
}

#[test]
fn the_config_of_a_run_of_0_1_is_a_settings_file() {
    let place = Workplace::new();
    let config = kept("runs/finished/config.toml");
    place
        .run(&["--config", config.to_str().unwrap(), "--quiet"])
        .succeeds();
    // The questions of that run; the embedded analyst answers differently by now.
    let asked = |rows: Vec<HashMap<String, String>>| -> Vec<_> {
        let columns = ["id", "part", "epoch", "question", "ground_truth", "outcome"];
        let row = |row: HashMap<String, String>| columns.map(|column| row[column].clone());
        rows.into_iter().map(row).collect()
    };
    assert_eq!(
        asked(place.rows("output/output.csv")),
        asked(csv_rows(&kept("runs/finished/output.csv")))
    );
}

/// Every setting of 0.1 at once, most of them not at their default.
#[test]
fn a_settings_file_of_0_1_is_read() {
    let place = Workplace::new();
    let server = accepting();
    let text = fs::read_to_string(kept("convfinqa.toml")).unwrap();
    place.write(
        "convfinqa.toml",
        &text.replace("http://127.0.0.1:8000/v1", &server.base_url()),
    );
    fs::create_dir(place.path("prompts")).unwrap();
    place.run("--quiet").succeeds();
    let rows = place.rows("results/output.csv");
    assert!(!rows.is_empty());
    assert!(rows.iter().all(|row| row["id"].contains("NOVX")));
    assert!(rows.iter().all(|row| row["prediction"] == "1"));
    let requests = server.requests();
    assert_eq!(requests.len(), 2 * rows.len());
    let models = |critic: bool| {
        let of = requests.iter().filter(move |r| is_critic(r) == critic);
        of.map(|r| r.body["model"].as_str().unwrap())
            .collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(models(false), ["scripted"].into());
    assert_eq!(models(true), ["scripted-critic"].into());
    assert!(requests.iter().all(|r| r.body["temperature"] == 0.5));
}

#[test]
fn a_file_of_episodes_of_0_1_is_refused_in_a_line_that_names_the_version_and_kept() {
    for name in ["offline", "chat"] {
        let (place, before) = with_episodes(name, "");
        for more in [&[][..], &["--resume"]] {
            let arguments = ["env", "play", "--data", "sample", "--out", "episodes.jsonl"];
            let ran = place.run(&[&arguments[..], more].concat());
            if more.is_empty() {
                ran.fails(2, &["episodes.jsonl", "version 0.1", "--resume"]);
            } else {
                ran.fails(2, &["no unfinished run to resume"]);
            }
            assert_eq!(place.read("episodes.jsonl"), before);
        }
    }
    let (place, _) = with_episodes("offline", "");
    for command in [
        &["--resume"][..],
        &["env", "play", "--resume"],
        &["report"],
        &["score"],
        &["analyze"],
        &["track", "sync"],
    ] {
        place
            .run(&[command, &["episodes.jsonl"]].concat())
            .fails(2, &["episodes.jsonl", "version 0.1"]);
    }
    place
        .run("compare episodes.jsonl episodes.jsonl")
        .fails(2, &["episodes.jsonl", "version 0.1"]);
    // Its rows are scored as any.
    let (place, _) = with_episodes("offline", "");
    fs::copy(kept("plays/offline.csv"), place.path("episodes.csv")).unwrap();
    let scored = json_of(&place.run("score episodes.csv --json"));
    assert_eq!(scored["questions"], 3, "{scored:#}");
}
