//! Episode runs that are continued, reported and tracked, as runs of questions are.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};

use super::{
    FIXTURE, Serving, asked, episodes, fixture, knowing, knows, play, played, results, truths,
};
use crate::mlflow::fake::Fake;
use crate::support::cli::{CommandExt, Workplace, wait_until};
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::json::has;
use finqa_env::server::ServerOptions;

fn slow() -> FaultServer {
    let truths = truths(&fixture());
    FaultServer::start(move |request| knows(&truths, request).after(Duration::from_millis(40)))
}

/// The options of a run of the fixture by a model.
fn by(model: &FaultServer) -> String {
    let url = model.base_url();
    format!("--model scripted --base-url {url} --data-path {FIXTURE} -j 2")
}

/// How often each question is in the file.
fn counts(lines: &[Value]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in lines {
        let id = line["question_id"].as_str().unwrap().to_owned();
        *counts.entry(id).or_default() += 1;
    }
    counts
}

/// Answered model calls that the journal of the only run holds, and its episodes.
fn journaled(place: &Workplace) -> (usize, usize) {
    let journal = place.journal();
    let answered = |calls: &[finqa_agents::pair::Call]| {
        calls.iter().filter(|call| call.reply.is_some()).count()
    };
    let open = journal.open_calls().unwrap();
    let (mut calls, mut rows) = (open.values().map(|calls| answered(calls)).sum(), 0);
    let count = |row: finqa_score::score::Row| {
        calls += answered(&row.solution.calls);
        rows += 1;
    };
    journal.for_each_row(count).unwrap();
    (calls, rows)
}

/// Starts a play and kills the process once `ready`.
fn killed(place: &Workplace, arguments: &str, ready: impl Fn() -> bool) {
    let mut command = place.command();
    let mut child = command.given("env play --json").given(arguments).begin();
    wait_until(ready);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_run_is_continued_and_no_journaled_call_is_repeated() {
    let place = Workplace::new();
    let model = slow();
    killed(&place, &by(&model), || model.count() >= 4);
    killed(&place, "--resume", || model.count() >= 9);
    killed(&place, "--resume", || model.count() >= 15);
    let (calls, rows) = journaled(&place);
    let is_between = rows > 0 && rows < 12 && calls > 2 * rows - 1;
    assert!(is_between, "{calls} {rows}");
    let asked = model.count();
    let summary = played(&place, "--resume --export-episodes a.jsonl");
    assert_eq!(model.count() - asked, 24 - calls, "each call is paid once");
    has(
        &summary,
        json!({"played": 12, "complete": true, "spent": {"requests": 24}}),
    );
    assert_eq!(summary["reward"]["mean"], 1.0);
    let lines = episodes(&place.path("a.jsonl"));
    assert_eq!(lines.len(), 12);
    assert!(counts(&lines).values().all(|n| *n == 1), "{lines:?}");
    for line in &lines {
        let messages = line["messages"].as_array().unwrap().iter();
        let roles: Vec<&Value> = messages.map(|message| &message["role"]).collect();
        let played = ["system", "user", "assistant", "tool", "assistant", "tool"];
        assert_eq!(roles, played, "each message once, recalled or not");
    }

    // A run that is complete asks nothing, and writes its files again.
    let id = summary["run"]["id"].as_str().unwrap();
    let asked = model.count();
    played(&place, &format!("--resume {id} --export-episodes a.jsonl"));
    assert_eq!(model.count(), asked);
    assert_eq!(episodes(&place.path("a.jsonl")), lines);
}

#[rstest]
#[case::in_this_process(false)]
#[case::on_a_server(true)]
fn a_resumed_episode_continues_after_the_replies_that_the_journal_holds(#[case] remote: bool) {
    let place = Workplace::new();
    let server = Serving::start(fixture(), ServerOptions::default());
    let truths = truths(&fixture());
    let model = FaultServer::start(move |request| {
        let reply = knows(&truths, request);
        // The process is killed while it waits for this one.
        match request.index {
            1 => reply.after(Duration::from_secs(600)),
            _ => reply,
        }
    });
    let environment = if remote {
        format!("--url {}", server.url)
    } else {
        format!("--data-path {FIXTURE}")
    };
    let url = model.base_url();
    let first = format!("--model scripted --base-url {url} -n 1 {environment}");
    let waits = || model.count() == 2 && journaled(&place) == (1, 0);
    killed(&place, &first, waits);
    let summary = played(&place, "--resume");
    let requests = model.requests();
    assert_eq!(requests.len(), 3, "one reply was lost, and one recalled");
    assert_eq!(asked(&requests[2]), asked(&requests[0]));
    assert_eq!(results(&requests[2]), results(&requests[1]));
    has(&summary, json!({"played": 1, "spent": {"requests": 2}}));
    assert_eq!(summary["reward"]["mean"], 1.0);
}

#[test]
fn a_run_is_not_continued_with_other_options_and_they_are_named() {
    let place = Workplace::new();
    let model = knowing(truths(&fixture()));
    played(&place, &format!("{} -n 2", by(&model)));
    let csv = place.run_folder().join("output.csv");
    let before = std::fs::read(&csv).unwrap();
    let id = place.summary()["run"]["id"].as_str().unwrap().to_owned();
    for (more, said) in [
        ("--model cleverer", "--model was scripted, now cleverer"),
        ("--seed 9", "--seed was not set, now 9"),
        ("--temperature 0.5", "--temperature was not set, now 0.5"),
        ("--n 3", "--n was 2, now 3"),
    ] {
        let (refused, _) = play(&place, &format!("--resume {id} {more}"));
        refused.fails(2, &[&id, said]);
        assert!(!refused.stderr.contains("playing "), "{}", refused.stderr);
    }
    assert_eq!(std::fs::read(csv).unwrap(), before);
    assert_eq!(model.count(), 4);
}

/// Of the options of `env play`, only those that are settings were in it.
#[test]
fn the_config_of_an_episode_run_holds_what_plays_it_again() {
    let place = Workplace::new();
    let options = format!("-n 2 --max-steps 3 --data-path {FIXTURE}");
    let first = played(&place, &options);
    let config = std::fs::read_to_string(place.run_folder().join("config.toml")).unwrap();
    let folder = std::fs::canonicalize(FIXTURE).unwrap();
    let expected = format!(
        "env play --config config.toml --data-path {} --max-steps 3",
        folder.display()
    );
    // It has no critic, and no questions of the main job.
    for key in [
        "critic", "max_rounds", "second_opinion", "samples", "mode", "epochs",
    ] {
        assert!(!config.contains(&format!("{key} = ")), "{key}: {config}");
    }
    assert!(config.contains("\nn = 2\n"), "{config}");
    place.write("config.toml", &config);
    let again = place.run(&format!("{expected} --json -o again"));
    let again = again.succeeds().json();
    assert_eq!(again["run"]["identity"], first["run"]["identity"]);
    assert_eq!(again["questions"], 2);
}

#[test]
fn a_command_for_one_kind_of_run_names_the_command_that_resumes_the_other() {
    let place = Workplace::new();
    let dead = "--model m --base-url http://127.0.0.1:9/v1 --attempts 1";
    let ran = place.run(&format!("--n 1 --traces on {dead}"));
    ran.fails(5, &["127.0.0.1:9"]);
    let resume = ["`convfinqa --resume 0"];
    place.run("env play --resume").fails(2, &resume);
    let id = place.run_folder();
    let id = id.file_name().unwrap().to_str().unwrap();
    let named = place.run(&format!("env play --resume {id}"));
    named.fails(2, &[&format!("`convfinqa --resume {id}`")]);

    let place = Workplace::new();
    let ran = place.run(&format!("env play -n 1 --data-path {FIXTURE} {dead}"));
    ran.fails(5, &["127.0.0.1:9"]);
    let other = ["must be resumed with `convfinqa env play --resume 0"];
    place.run("--resume").fails(2, &other);
    let changed = place.run("env play --resume --max-steps 9");
    changed.fails(2, &["--max-steps was 20, now 9"]);
}

#[test]
fn an_episode_that_the_provider_failed_is_played_again_and_its_cost_stays_counted() {
    let place = Workplace::new();
    let truths = truths(&fixture());
    let model = FaultServer::start(move |request| match request.index {
        4 => Reply::error(500, "server_error", "no luck"),
        _ => knows(&truths, request),
    });
    let line = format!("{} --attempts 1 -v --export-episodes a.jsonl", by(&model));
    let (ran, summary) = play(&place, &line);
    ran.succeeds().tells("no luck");
    has(&summary, json!({"failed": 0, "reward": {"n": 12}}));
    assert_eq!(model.count(), 25, "one call was repeated, and nothing else");
    assert_eq!(summary["spent"]["requests"], model.count());
    assert_eq!(episodes(&place.path("a.jsonl")).len(), 12);
}

#[test]
fn an_episode_run_is_listed_reported_and_tracked_with_the_commands_of_any_run() {
    let place = Workplace::new();
    let server = Fake::start(|_| None);
    let uri = server.uri();
    let tracked = |line: &str| place.run_with(line, &[("MLFLOW_TRACKING_URI", &uri)]);
    let ran = tracked(&format!("env play --data-path {FIXTURE} --json"));
    let summary = ran.succeeds().json();
    let id = summary["run"]["id"].as_str().unwrap();
    {
        let told = server.told();
        assert_eq!(told.status, "FINISHED");
        let keys: BTreeSet<&str> = told.points.iter().map(|(key, ..)| key.as_str()).collect();
        for key in ["reward", "reward_low", "reward_high", "mean_steps"] {
            assert!(keys.contains(key), "{key} in {keys:?}");
        }
        let steps = told.points.iter().filter(|(key, ..)| key == "reward");
        assert_eq!(steps.count(), 1, "one for the delivery");
        let drawn = told.files.keys().filter(|name| name.starts_with("graph"));
        assert_eq!(drawn.count(), 0, "the tool-using agent is no graph");
    }
    place.run("runs").succeeds().prints("12/12");
    let analyzed = place.run("analyze --json");
    // Three truths are lists, which are not one gold.
    assert_eq!(analyzed.succeeds().json()["questions"], 9);

    let folder = place.run_folder();
    let report = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(report.contains("Mean reward"));
    assert!(!report.contains("id=\"critic\""), "episodes have no critic");
    let csv = std::fs::read_to_string(folder.join("output.csv")).unwrap();
    for file in ["report.html", "output.csv", "summary.json"] {
        std::fs::remove_file(folder.join(file)).unwrap();
    }
    place.run(&format!("report {id}")).succeeds();
    assert_eq!(
        std::fs::read_to_string(folder.join("output.csv")).unwrap(),
        csv
    );
    assert_eq!(place.summary()["episodes"], summary["episodes"]);

    tracked(&format!("track sync {id}")).succeeds().prints(id);
    let compared = place.run(&format!("compare {id} {id} --json"));
    let compared = compared.succeeds().json();
    assert_eq!(compared["questions"], 12);
}

#[test]
fn stored_episodes_are_replayed_without_a_server() {
    let (place, again) = (Workplace::new(), Workplace::new());
    let model = knowing(truths(&fixture()));
    let replies = place.path("episodes").display().to_string();
    played(&place, &format!("{} --cache {replies}", by(&model)));
    drop(model);
    let figures = played(&again, &format!("--replay {replies} -j 1"));
    has(&figures, json!({"complete": true, "played": 12}));
    let [live, replayed] = [&place, &again].map(|it| it.summary()["spent"]["nodes"].clone());
    assert_eq!(replayed, live);

    // Another setting asks for what was not recorded.
    let (ran, _) = play(&again, &format!("--replay {replies} --temperature 0.5"));
    ran.fails(5, &["episodes holds no reply", "temperature"]);
}
