//! The embedded analyst plays episodes without a network.

use std::collections::{BTreeMap, BTreeSet};

use finqa_env::server::ServerOptions;
use serde_json::{Value, json};

use super::{FIXTURE, Serving, episodes, fixture, played};
use crate::support::cli::{Workplace, csv_rows};
use crate::support::json::has;

fn by_question(episodes: &[Value]) -> BTreeMap<String, (String, String)> {
    let row = |line: &Value| {
        (
            line["question_id"].as_str().unwrap().to_owned(),
            (line["answer"].to_string(), line["reward"].to_string()),
        )
    };
    episodes.iter().map(row).collect()
}

#[test]
fn the_embedded_analyst_plays_the_built_in_data_by_the_four_tools() {
    let place = Workplace::new();
    let summary = played(&place, "--export-episodes a.jsonl");
    let catalog = finqa_run::env_build::builtin().unwrap();
    let questions = catalog.questions().len();
    assert_eq!(summary["played"], questions);
    assert_eq!(summary["reward"]["n"], questions);
    has(
        &summary,
        json!({"failed": 0, "invalid_calls": 0, "complete": true}),
    );
    let mean = summary["reward"]["mean"].as_f64().unwrap();
    let low = summary["reward"]["low"].as_f64().unwrap();
    assert!(mean > 0.2 && low < mean, "{}", summary["reward"]);

    let lines = episodes(&place.path("a.jsonl"));
    assert_eq!(lines.len(), questions);
    let rewards: f64 = lines.iter().map(|l| l["reward"].as_f64().unwrap()).sum();
    assert!((rewards / questions as f64 - mean).abs() < 1e-9);
    for line in &lines {
        let steps = line["steps"].as_array().unwrap();
        let tools: Vec<&str> = steps.iter().map(|s| s["tool"].as_str().unwrap()).collect();
        assert_eq!(tools.first(), Some(&"get_descriptions"));
        assert_eq!(tools.last(), Some(&"submit_answer"));
        assert!(tools.contains(&"get_table_info") && tools.contains(&"sql_query"));
        let last = steps.last().unwrap();
        assert_eq!(
            (&last["done"], &last["reward"]),
            (&Value::Bool(true), &line["reward"])
        );
        let roles: Vec<&str> = line["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["role"].as_str().unwrap())
            .collect();
        assert_eq!(roles[..3], ["system", "user", "assistant"]);
        let results = roles.iter().filter(|role| **role == "tool").count();
        assert_eq!(results, steps.len(), "each call has its result");
        assert_eq!(line["tools"].as_array().unwrap().len(), 4);
    }
    let folder = place.run_folder();
    assert_eq!(csv_rows(&folder.join("output.csv")).len(), questions);
    for file in [
        "report.html", "transcripts.jsonl", "summary.json", "config.toml",
    ] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    assert!(
        !place.path("output/output.csv").exists(),
        "that is the questions' place"
    );
}

#[test]
fn the_embedded_analyst_plays_the_same_on_a_server() {
    let here = Workplace::new();
    played(
        &here,
        &format!("--data-path {FIXTURE} --export-episodes a.jsonl"),
    );
    let server = Serving::start(fixture(), ServerOptions::default());
    let there = Workplace::new();
    played(
        &there,
        &format!("--url {} --export-episodes a.jsonl -j 4", server.url),
    );
    assert_eq!(
        by_question(&episodes(&here.path("a.jsonl"))),
        by_question(&episodes(&there.path("a.jsonl")))
    );
}

#[test]
fn some_episodes_are_the_first_of_the_seeds_order() {
    let server = Serving::start(fixture(), ServerOptions::default());
    let first_five = |arguments: &str| -> BTreeSet<String> {
        let place = Workplace::new();
        played(
            &place,
            &format!("--n 5 --export-episodes a.jsonl {arguments}"),
        );
        let found = by_question(&episodes(&place.path("a.jsonl")));
        found.into_keys().collect()
    };
    let here = |more: &str| first_five(&format!("--data-path {FIXTURE} {more}"));
    let first = here("--seed 7 -j 1");
    assert_eq!((first.len(), &first), (5, &here("--seed 7 -j 3")));
    assert_ne!(first, here("--seed 8 -j 1"));
    // A server's tasks have an order of their own.
    let on_server = |more: &str| first_five(&format!("--url {} {more}", server.url));
    assert_ne!(on_server("--seed 7 -j 3"), on_server("--seed 8"));
    // Without a seed, the first of the file.
    let filed: BTreeSet<String> = (1..=5).map(|id| id.to_string()).collect();
    assert_eq!(filed, here("-j 3"));
}

#[test]
fn the_headline_is_the_reward_and_the_score_follows() {
    let place = Workplace::new();
    let played = place.run("env play --n 4");
    let words = played.unwrapped();
    let [reward, score] = ["mean reward 0.", "financial equivalence (FE)"].map(|part| {
        words
            .find(part)
            .unwrap_or_else(|| panic!("no {part:?} in {words}"))
    });
    assert!(
        reward < score && words.contains("Episodes: 4 with a reward; "),
        "{words}"
    );
}
