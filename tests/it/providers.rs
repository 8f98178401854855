//! Runs over each provider's protocol: the answers, the bytes that requests share, a critic
//! at another provider, and where keys go.

use std::collections::{BTreeMap, HashMap};
use std::process::Command;

use serde_json::Value;

use crate::support::agents::{is_critic, scripted};
use crate::support::cli::{CommandExt, Workplace};
use crate::support::fault_server::FaultServer;

/// A run over four records of the sample.
const RUN: &str = "--data-path sample --n 4 --mlflow off --model scripted";

const KEYS: [&str; 2] = ["sk-ant-planted-7f3a9c51d2", "sk-planted-0b64e8f77a"];

fn run_by(place: &Workplace, server: &FaultServer, provider: &str) -> Command {
    let mut command = place.command();
    command.given(RUN);
    match provider {
        "anthropic" => command
            .env("ANTHROPIC_BASE_URL", server.azure_endpoint())
            .env("ANTHROPIC_API_KEY", KEYS[0]),
        _ => command
            .env("OPENAI_BASE_URL", server.base_url())
            .env("OPENAI_API_KEY", KEYS[1]),
    };
    if provider == "responses" {
        command.given("--api responses");
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
fn each_protocol_gives_the_same_answers_and_counts_what_is_cached() {
    let mut first = None;
    for (provider, path) in [
        ("openai", "/v1/chat/completions"),
        ("responses", "/v1/responses"),
        ("anthropic", "/v1/messages"),
    ] {
        let place = Workplace::new();
        let server = FaultServer::start(scripted);
        run_by(&place, &server, provider).ran().succeeds();
        let requests = server.requests();
        assert!(requests.iter().all(|request| request.path == path));
        assert_eq!(
            *first.get_or_insert_with(|| answers(&place)),
            answers(&place)
        );
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
    run_by(&place, &server, "anthropic").ran().succeeds();
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
    let keys = [("OPENAI_API_KEY", KEYS[1]), ("ANTHROPIC_API_KEY", KEYS[0])];
    let [analyst_at, critic_at] = [analyst.base_url(), critic.azure_endpoint()];
    let critics = format!("--critic-provider anthropic --critic-base-url {critic_at}");
    let line = format!("{RUN} --base-url {analyst_at} --critic-model claude {critics}");
    place.run_with(&line, &keys).succeeds();
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
    let resume = |more: &str| place.run_with(&format!("--resume {name} {more}"), &keys);
    resume("").succeeds();
    let other = resume(&format!("--critic-base-url {analyst_at}"));
    other.fails(2, &["--critic-base-url", &critic_at]);
    resume("--critic-provider openai").fails(2, &["--critic-provider"]);
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
