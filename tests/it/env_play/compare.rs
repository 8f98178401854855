//! The tool agent beside the two agents, on the same questions.

use convfinqa::env_data::{BuildOptions, build};
use finqa_env::server::ServerOptions;
use serde_json::Value;

use super::{Serving, play};
use crate::support::cli::Workplace;

#[test]
fn an_environment_built_from_records_sets_the_two_agents_and_the_tool_agent_side_by_side() {
    let place = Workplace::new();
    let sample = convfinqa::dataset::sample().unwrap();
    let built = build(&sample, &place.path("env"), BuildOptions::default()).unwrap();
    let (ran, summary) = play(&place, &["--data", "env", "--out", "tool.jsonl"]);
    ran.succeeds();
    assert_eq!(summary["episodes"], built.questions);
    assert_eq!(summary["csv"], "tool.csv");
    place.run(&["--data-path", "sample", "--quiet"]).succeeds();

    let tool = place.rows("tool.csv");
    let pair = place.rows("output/output.csv");
    assert_eq!(tool.len(), pair.len());
    assert_eq!(tool[0].keys().len(), pair[0].keys().len());
    for (tool, pair) in tool.iter().zip(&pair) {
        for same in [
            "id",
            "part",
            "question",
            "ground_truth",
            "gold_program",
            "exe_ans",
            "filename",
        ] {
            assert_eq!(tool[same], pair[same], "{same} of {}", pair["id"]);
        }
    }

    let compared = place.run(&["compare", "output/output.csv", "tool.csv", "--json"]);
    let compared: Value = serde_json::from_str(&compared.succeeds().stdout).unwrap();
    assert_eq!(compared["questions"], built.questions);
    let rules: Vec<&str> = compared["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule["rule"].as_str().unwrap())
        .collect();
    assert!(rules.contains(&"financial_equivalence") && rules.contains(&"numerical_match"));
    let shown = place.run(&["compare", "output/output.csv", "tool.csv"]);
    assert!(shown.succeeds().stdout.contains("FE"), "{}", shown.stdout);
}

#[test]
fn with_a_server_the_gold_is_what_its_state_tells_once_the_episode_is_over() {
    let place = Workplace::new();
    let server = Serving::start(
        convfinqa::env_data::builtin().unwrap(),
        ServerOptions::default(),
    );
    play(&place, &["--url", &server.url, "--out", "tool.jsonl"])
        .0
        .succeeds();
    place.run(&["--data-path", "sample", "--quiet"]).succeeds();
    for row in place.rows("tool.csv") {
        assert!(row["ground_truth"].is_empty() && !row["exe_ans"].is_empty());
        assert!(!row["financial_equivalence"].is_empty());
    }
    let compared = place.run(&[
        "compare",
        "output/output.csv",
        "tool.csv",
        "--data-path",
        "sample",
        "--json",
    ]);
    let compared: Value = serde_json::from_str(&compared.succeeds().stdout).unwrap();
    assert_eq!(
        compared["questions"],
        convfinqa::env_data::builtin().unwrap().questions().len()
    );
}
