//! A server on OpenEnv's own framework, of both generations.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use rstest::rstest;
use serde_json::json;

use super::{FIXTURE, episodes, fixture, knowing, play, truths};
use crate::env_server::python::program;
use crate::support::cli::Workplace;

/// The server's process; it is ended when dropped.
struct Python {
    child: Child,
    url: String,
}

impl Python {
    /// `tests/python/openenv_finqa.py` with so many sessions; `None` where the
    /// virtual environment is missing.
    fn start(venv: &str, sessions: &str) -> Option<Self> {
        let python = program(venv, "python")?;
        let mut child = Command::new(python)
            .args(["openenv_finqa.py", FIXTURE, sessions])
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let told = child.stdout.as_mut().unwrap();
        BufReader::new(told).read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        Some(Self { child, url })
    }

    /// Ends it; gives what it complained of.
    fn end(mut self) -> String {
        self.child.kill().unwrap();
        let mut text = String::new();
        let mut told = self.child.stderr.take().unwrap();
        std::io::Read::read_to_string(&mut told, &mut text).unwrap();
        text
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[rstest]
#[case("openenv-0.2.3")]
#[case("openenv-0.10.0")]
fn a_server_on_openenvs_own_framework_is_played_each_question_once(#[case] venv: &str) {
    let Some(server) = Python::start(venv, "2") else {
        return;
    };
    let place = Workplace::new();
    let model = knowing(truths(&fixture()));
    let base = model.base_url();
    let more = ["--url", &server.url, "-j", "3", "--out", "a.jsonl"];
    let fixed = ["--model", "scripted", "--base-url", &base];
    let (ran, summary) = play(&place, &[&fixed[..], &more[..]].concat());
    ran.succeeds();
    assert_eq!(summary["episodes"], 12);
    assert_eq!(summary["reward"]["mean"], 1.0, "{}", ran.stdout);
    // Its `state` holds the truth all the time; no model hears of it.
    for request in model.requests() {
        assert!(!String::from_utf8_lossy(&request.raw).contains("boxed"));
    }
    let lines = episodes(&place.path("a.jsonl"));
    assert!(lines.iter().all(|line| line["ground_truth"].is_string()));
    let baseline = ["--url", &server.url, "--out", "b.jsonl"];
    let (ran, summary) = play(&place, &baseline);
    ran.succeeds();
    assert_eq!(summary["outcomes"], json!({"submitted": 12}));
    assert_eq!(summary["invalid_calls"], 0);
    // Sessions were ended in order: it has nothing to complain of.
    assert_eq!(server.end(), "");
}
