//! Runs over each provider's protocol: the answers, the bytes that requests share, a critic
//! at another provider, and where keys go.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::agents::{is_critic, scripted};
use crate::support::cli::{Ran, Workplace, words};
use crate::support::fault_server::{FaultServer, Reply};

mod needs_llm;

/// A run over four records of the sample.
const RUN: [&str; 8] = [
    "--data-path", "sample", "--n", "4", "--mlflow", "off", "--model", "scripted",
];

/// Keys that must be found nowhere.
const KEYS: [&str; 2] = ["sk-ant-planted-7f3a9c51d2", "sk-planted-0b64e8f77a"];

fn run_by(place: &Workplace, server: &FaultServer, provider: &str) -> Command {
    let mut command = place.command();
    command.args(RUN);
    match provider {
        "anthropic" => command
            .env("ANTHROPIC_BASE_URL", server.azure_endpoint())
            .env("ANTHROPIC_API_KEY", KEYS[0]),
        _ => command
            .env("OPENAI_BASE_URL", server.base_url())
            .env("OPENAI_API_KEY", KEYS[1]),
    };
    if provider == "responses" {
        command.args(["--api", "responses"]);
    }
    command
}

/// What is the same however a question was sent.
fn answers(place: &Workplace) -> Vec<[String; 4]> {
    let rows = place.rows("output/output.csv");
    let answer = |row: &HashMap<String, String>| {
        ["question", "prediction", "outcome", "rounds"].map(|name| row[name].clone())
    };
    rows.iter().map(answer).collect()
}

#[test]
fn each_protocol_gives_the_same_answers_and_the_summary_shows_the_cached_share() {
    let mut first = None;
    for (provider, path) in [
        ("openai", "/v1/chat/completions"),
        ("responses", "/v1/responses"),
        ("anthropic", "/v1/messages"),
    ] {
        let place = Workplace::new();
        let server = FaultServer::start(scripted);
        let ran = Ran::of(&mut run_by(&place, &server, provider));
        ran.succeeds();
        let requests = server.requests();
        assert!(requests.iter().all(|request| request.path == path));
        assert_eq!(
            *first.get_or_insert_with(|| answers(&place)),
            answers(&place)
        );
        let share = "40.0 % of the";
        ran.prints(share);
        let nodes = place.summary()["spent"]["nodes"].clone();
        let tokens = |name: &str| -> u64 {
            let nodes = nodes.as_object().unwrap().values();
            nodes.filter_map(|node| node[name].as_u64()).sum()
        };
        let sent = u64::try_from(requests.len()).unwrap();
        let written = if provider == "anthropic" {
            sent * 10
        } else {
            0
        };
        assert_eq!(tokens("cache_write_tokens"), written);
        assert_eq!(tokens("input_tokens"), sent * 100);
    }
}

/// A provider caches what requests begin with alike: instructions for each agent, the page
/// for every turn, and what was said before for every round.
#[test]
fn requests_begin_alike_over_turns_and_rounds() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    Ran::of(&mut run_by(&place, &server, "anthropic")).succeeds();
    let mut instructions: BTreeMap<bool, Value> = BTreeMap::new();
    let mut turns: HashMap<(bool, String), usize> = HashMap::new();
    let mut rounds = 0;
    let requests = server.requests();
    for request in &requests {
        let body = &request.body;
        let critic = is_critic(request);
        let system = instructions.entry(critic).or_insert(body["system"].clone());
        assert_eq!(*system, body["system"]);
        assert_eq!(body["system"][0]["cache_control"]["type"], "ephemeral");
        let asked = &body["messages"][0]["content"];
        assert_eq!(asked.as_array().unwrap().len(), 2);
        assert_eq!(asked[0]["cache_control"]["type"], "ephemeral");
        let page = asked[0]["text"].as_str().unwrap();
        assert!(page.ends_with("END OF THE PAGE"), "{page}");
        *turns.entry((critic, page.to_owned())).or_default() += 1;
        let said = body["messages"].as_array().unwrap();
        if said.len() > 1 {
            rounds += 1;
            let before = Value::Array(said[..said.len() - 2].to_vec());
            assert!(
                requests
                    .iter()
                    .any(|other| other.body["messages"] == before)
            );
        }
    }
    assert!(rounds > 0, "some answers are sent back");
    assert_eq!(instructions.len(), 2);
    // The four records are on three pages.
    assert_eq!(turns.len(), 2 * 3, "one text a page and agent");
    assert!(turns.values().any(|requests| *requests > 2));
}

#[test]
fn a_critic_at_another_provider_has_its_own_server_and_key() {
    let place = Workplace::new();
    let [analyst, critic] = [(); 2].map(|()| FaultServer::start(scripted));
    let command = || {
        let mut command = place.command();
        command
            .env("OPENAI_API_KEY", KEYS[1])
            .env("ANTHROPIC_API_KEY", KEYS[0]);
        command
    };
    let [analyst_at, critic_at] = [analyst.base_url(), critic.azure_endpoint()];
    let line = format!(
        "--base-url {analyst_at} --critic-model claude --critic-provider anthropic --critic-base-url {critic_at}"
    );
    let servers = words(&line);
    Ran::of(command().args(RUN).args(servers)).succeeds();
    for (server, path, key, of_critic) in [
        (&analyst, "/v1/chat/completions", KEYS[1], false),
        (&critic, "/v1/messages", KEYS[0], true),
    ] {
        let requests = server.requests();
        assert!(!requests.is_empty());
        for request in &requests {
            assert_eq!((request.path.as_str(), request.key()), (path, Some(key)));
            assert_eq!(is_critic(request), of_critic);
        }
    }
    let run = place.run_folder();
    let name = run.file_name().unwrap().to_str().unwrap().to_owned();
    let kept = std::fs::read_to_string(run.join("config.toml")).unwrap();
    for line in [
        "critic_provider = \"anthropic\"",
        &format!("critic_base_url = \"{critic_at}\""),
    ] {
        assert!(kept.contains(line), "{kept}");
    }
    let summary = place.summary();
    assert_eq!(
        summary["run"]["identity"]["critic"],
        format!("anthropic {critic_at} claude")
    );

    // Both belong to the run.
    Ran::of(command().args(["--resume", &name])).succeeds();
    let other = ["--resume", &name, "--critic-base-url", &analyst_at];
    Ran::of(command().args(other)).fails(2, &["--critic-base-url", &critic_at]);
    let other = ["--resume", &name, "--critic-provider", "openai"];
    Ran::of(command().args(other)).fails(2, &["--critic-provider"]);
}

#[test]
fn a_critics_server_needs_the_critics_model() {
    let place = Workplace::new();
    let ran = place.run(&[&RUN[..], &["--critic-provider", "anthropic"]].concat());
    ran.fails(2, &["--critic-provider", "name the critic's model"]);
    let api = ["--provider", "anthropic", "--api", "responses"];
    let ran = place.run(&[&RUN[..], &api].concat());
    ran.fails(2, &["--api responses", "leave it out"]);
}

#[test]
fn ask_and_episodes_work_over_each_protocol() {
    for provider in ["anthropic", "responses"] {
        let place = Workplace::new();
        place.write("page.md", "| | 2019 |\n|---|---|\n| Revenue | 1,250 |\n");
        let server = FaultServer::start(|request| {
            if request.body["tools"]
                .as_array()
                .is_some_and(|tools| tools.len() > 1)
            {
                let said = request.conversation();
                assert!(
                    said.iter()
                        .any(|(_, text)| text.contains("here is the question"))
                );
                return Reply::tool_calls(&[("submit_answer", "{\"answer\": \"42\"}".to_owned())]);
            }
            scripted(request)
        });
        let with = |command: &mut Command| {
            command
                .env("ANTHROPIC_API_KEY", KEYS[0])
                .env("ANTHROPIC_BASE_URL", server.azure_endpoint());
            command.args(["--model", "scripted"]);
            if provider == "responses" {
                command.args(["--api", "responses", "--base-url", &server.base_url()]);
            }
            Ran::of(command)
        };
        let ask = ["ask", "page.md", "what was revenue?", "--json"];
        let asked = with(place.command().args(ask));
        let answer = asked.succeeds().json();
        assert_eq!(answer["outcome"], "answered", "{answer}");
        let play = ["env", "play", "--data-path", "sample", "--n", "2", "--json"];
        let played = with(place.command().args(play).args(["--mlflow", "off"]));
        let summary = played.succeeds().json();
        assert_eq!(summary["episodes"]["played"], 2, "{summary}");
    }
}

/// Every file below a folder that holds one of the planted keys.
fn leaks(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            leaks(&path, found);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            let held = |key: &&str| bytes.windows(key.len()).any(|part| part == key.as_bytes());
            if KEYS.iter().any(held) {
                found.push(path.display().to_string());
            }
        }
    }
}

#[test]
fn a_key_of_anthropics_header_is_found_nowhere() {
    // A reply, an error and a header that repeat the key.
    for status in [200, 401, 500] {
        let place = Workplace::new();
        let server = FaultServer::start(move |request| {
            let key = request.key().unwrap_or_default().to_owned();
            let reply = match status {
                200 => Reply::json(
                    200,
                    &json!({"id": key, "model": key, "stop_reason": "refusal",
                        "content": [{"type": "text", "text": format!("by {key}")}]}),
                ),
                _ => Reply::error(status, "", &format!("x-api-key: invalid {key}")),
            };
            reply.header("request-id", &key)
        });
        let mut command = run_by(&place, &server, "anthropic");
        command.args(["--attempts", "2", "--traces", "on", "--log", "json"]);
        command.env("RUST_LOG", "trace");
        command.env("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true");
        let ran = Ran::of(&mut command);
        assert_eq!(server.requests()[0].key(), Some(KEYS[0]));
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(KEYS[0]));
        let mut found = Vec::new();
        leaks(place.folder.path(), &mut found);
        assert_eq!(found, Vec::<String>::new(), "{status}");
        assert!(place.run_folder().join("journal.sqlite").is_file());
    }
}

#[test]
fn the_price_that_is_missing_can_be_copied_from_the_error() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    let ran = place.chat(&server, "--n 1 --max-tokens 500 --max-cost 1");
    ran.fails(2, &["--max-cost needs the price of `m`"]);
    let (_, rest) = ran.stderr.split_once("such as ").unwrap();
    let (template, _) = rest.split_once(" (US dollars").unwrap();
    place.write("prices.json", template);
    let options = "--n 1 --max-tokens 500 --max-cost 1 --prices prices.json";
    place.chat(&server, options).succeeds();
}
