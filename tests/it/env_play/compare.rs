//! The tool agent compared with the two agents, on the same questions.

use finqa_env::server::ServerOptions;
use finqa_run::env_build::build;

use super::{Serving, played};
use crate::support::cli::Workplace;

#[test]
fn an_environment_built_from_records_sets_the_two_agents_and_the_tool_agent_side_by_side() {
    let place = Workplace::new();
    let sample = finqa_score::dataset::sample().unwrap();
    let built = build(&sample, &place.path("env")).unwrap();
    let summary = played(&place, "--data-path env");
    assert_eq!(summary["played"], built.questions);
    let tool_csv = format!(
        "output/runs/{}/output.csv",
        summary["run"]["id"].as_str().unwrap()
    );
    place.run("--data-path sample --quiet").succeeds();

    let tool = place.rows(&tool_csv);
    let pair = place.rows("output/output.csv");
    assert_eq!(tool.len(), pair.len());
    assert_eq!(tool[0].keys().len(), pair[0].keys().len());
    for (tool, pair) in tool.iter().zip(&pair) {
        for same in [
            "id", "part", "question", "ground_truth", "gold_program", "exe_ans", "filename",
        ] {
            assert_eq!(tool[same], pair[same], "{same} of {}", pair["id"]);
        }
    }

    let compared = place.run(&format!("compare output/output.csv {tool_csv} --json"));
    let compared = compared.succeeds().json();
    assert_eq!(compared["questions"], built.questions);
    let rules: Vec<&str> = compared["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule["rule"].as_str().unwrap())
        .collect();
    assert!(rules.contains(&"financial_equivalence") && rules.contains(&"numerical_match"));
    // As a run it is named by its id.
    let id = summary["run"]["id"].as_str().unwrap();
    let shown = place.run(&format!("compare output/output.csv {id}"));
    shown.succeeds().prints("FE");
}

#[test]
fn with_a_server_the_gold_is_what_its_state_tells_once_the_episode_is_over() {
    let place = Workplace::new();
    let server = Serving::start(
        finqa_run::env_build::builtin().unwrap(),
        ServerOptions::default(),
    );
    let summary = played(&place, &format!("--url {}", server.url));
    let id = summary["run"]["id"].as_str().unwrap();
    let tool_csv = format!("output/runs/{id}/output.csv");
    place.run("--data-path sample --quiet").succeeds();
    for row in place.rows(&tool_csv) {
        assert!(row["ground_truth"].is_empty() && !row["exe_ans"].is_empty());
        assert!(!row["financial_equivalence"].is_empty());
    }
    let compared = place.run(&format!(
        "compare output/output.csv {tool_csv} --data-path sample --json"
    ));
    let compared = compared.succeeds().json();
    assert_eq!(
        compared["questions"],
        finqa_run::env_build::builtin().unwrap().questions().len()
    );
}
