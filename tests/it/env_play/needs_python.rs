//! A server on OpenEnv's own framework, of both generations.

use std::path::Path;

use rstest::rstest;
use serde_json::json;

use super::{FIXTURE, episodes, fixture, knowing, play, truths};
use crate::support::cli::Workplace;
use crate::support::python::ScriptServer;

#[rstest]
#[case("openenv-0.2.3")]
#[case("openenv-0.10.0")]
#[ignore = "needs .venv, which tests/python/setup.sh makes"]
fn a_server_on_openenvs_own_framework_is_played(#[case] venv: &str) {
    let server = ScriptServer::framework(venv, Path::new(FIXTURE), 2);
    let place = Workplace::new();
    let model = knowing(truths(&fixture()));
    let base = model.base_url();
    let url = &server.url;
    let line = format!(
        "--model scripted --base-url {base} --url {url} -n 12 -j 2 --export-episodes a.jsonl"
    );
    let (ran, summary) = play(&place, &line);
    ran.succeeds();
    assert_eq!(summary["played"], 12);
    assert_eq!(summary["reward"]["mean"], 1.0, "{}", ran.stdout);
    // Its `state` holds the truth all the time; no model hears of it.
    for request in model.requests() {
        assert!(!String::from_utf8_lossy(&request.raw).contains("boxed"));
    }
    let lines = episodes(&place.path("a.jsonl"));
    assert!(lines.iter().all(|line| line["ground_truth"].is_string()));
    let (ran, summary) = play(
        &place,
        &format!("--url {url} -n 12 -j 2 --export-episodes b.jsonl"),
    );
    ran.succeeds();
    assert_eq!(summary["outcomes"], json!({"submitted": 12}));
    assert_eq!(summary["invalid_calls"], 0);
    // Sessions were ended in order: it has nothing to complain of.
    assert_eq!(server.end(), "");
}
