//! OpenEnv's validator, and its checks that have no grader yet: on the manifest and
//! the server as they are, and with each of them broken on purpose.

use std::path::Path;
use std::process::{Command, Output};

use convfinqa::env_build::{BuildOptions, build};
use regex::Regex;
use rstest::rstest;
use tempfile::TempDir;

use super::{options, root, run, start};
use crate::support::python::{ScriptServer, program};

const VENV: &str = "openenv-0.10.0";

/// What `openenv validate` reads of this repository.
fn package() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let env = folder.path().join("crates/finqa-env");
    std::fs::create_dir_all(env.join("validation")).expect("created");
    for file in [
        "openenv.yaml",
        "crates/finqa-env/Dockerfile",
        "crates/finqa-env/validation/runtime.json",
        "crates/finqa-env/validation/oracle.py",
    ] {
        std::fs::copy(root().join(file), folder.path().join(file)).expect("copied");
    }
    folder
}

fn validate(arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, .. } = Command::new(program(VENV, "openenv"))
        .arg("validate")
        .args(arguments)
        .env("NO_PROXY", "127.0.0.1,localhost")
        .output()
        .expect("the validator starts");
    (status.code(), String::from_utf8_lossy(&stdout).into_owned())
}

fn static_level(package: &Path) -> (Option<i32>, String) {
    let package = package.to_str().expect("a path");
    validate(&[package, "--level", "static"])
}

#[test]
#[ignore = "needs .venv, which tests/python/setup.sh makes"]
fn the_manifest_passes() {
    let (code, out) = static_level(package().path());
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("Verdict: PASS"), "{out}");
}

#[rstest]
#[case(&[("\nvalidation:", "\nother:")], &["no `validation:` block"])]
#[case(
    &[("memory_mb: 512", "memory_mb: [512]"), ("task_api: true", "task_api: 7"),
      ("train: 47", "train: many"), ("kind: openenv_ws", "kind: http")],
    &["resources.memory_mb", "capabilities.task_api", "declared_task_count", "execution.kind"]
)]
#[case(&[("floor_margin: 0.5", "floor_margin: 0.01")], &["below the policy minimum"])]
#[case(&[("mode: public", "mode: [")], &["not valid YAML"])]
#[ignore = "needs .venv, which tests/python/setup.sh makes"]
fn a_broken_manifest_fails(#[case] changes: &[(&str, &str)], #[case] said: &[&str]) {
    let package = package();
    let path = package.path().join("openenv.yaml");
    let mut text = std::fs::read_to_string(&path).expect("the manifest");
    for (right, wrong) in changes {
        assert_eq!(text.matches(right).count(), 1, "{right}");
        text = text.replace(right, wrong);
    }
    std::fs::write(&path, text).expect("written");
    let (code, out) = static_level(package.path());
    assert_eq!(code, Some(1), "{out}");
    for said in said.iter().chain(&["Verdict: FAIL"]) {
        assert!(out.contains(said), "{said}: {out}");
    }
}

#[rstest]
#[case("/health", "health_endpoint")]
#[case("/schema", "schema_endpoint")]
#[case("/mcp", "mcp_endpoint")]
#[case("/none", "")]
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs .venv, which tests/python/setup.sh makes"]
async fn a_broken_route_fails(#[case] route: &str, #[case] criterion: &str) {
    let server = start(options()).await;
    let broken = ScriptServer::broken_route(VENV, &server.url(), route);
    let url = broken.url.clone();
    let (code, out) = tokio::task::spawn_blocking(move || validate(&["--url", &url]))
        .await
        .expect("joined");
    // The proxy breaks nothing but that route.
    let failed = out.lines().filter(|line| line.starts_with("  FAIL"));
    let failed: Vec<&str> = failed.map(|line| line["  FAIL".len()..].trim()).collect();
    let wanted: Vec<&str> = Some(criterion)
        .filter(|id| !id.is_empty())
        .into_iter()
        .collect();
    assert_eq!(
        (code, failed),
        (Some(i32::from(!criterion.is_empty())), wanted),
        "{out}"
    );
    server.stop().await.expect("a clean end");
}

/// What `openenv_checks.py` checks with the public client, under the names of OpenEnv's validator.
const CHECKS: [&str; 15] = [
    "runtime.episode_determinism", "runtime.episode_isolation", "runtime.observation_schema",
    "runtime.oracle_containment", "runtime.reward_well_formed", "runtime.seed_control",
    "runtime.startup", "runtime.state_contract", "runtime.task_declaration_accuracy",
    "runtime.tool_declaration_accuracy", "semantic.floor_gap", "semantic.no_solution_leakage",
    "semantic.oracle_max", "semantic.verifier_determinism", "static.manifest",
];

/// The table of checks in the documentation names those that run here.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs .venv, which tests/python/setup.sh makes"]
async fn the_checks_of_the_public_client_pass() {
    let (server, package) = (start(options()).await, package());
    let data = tempfile::tempdir().expect("a folder");
    let sample = convfinqa::dataset::sample().expect("the sample");
    build(&sample, data.path(), BuildOptions::default()).expect("it is built");
    let arguments = [
        "openenv_checks.py",
        &server.url(),
        package.path().to_str().expect("a path"),
        data.path().to_str().expect("a path"),
    ];
    let out = run(&program(VENV, "python"), &arguments).await;
    let passed = Regex::new(r"(?m)^ok: (\S+)").expect("a pattern");
    let mut passed: Vec<_> = passed
        .captures_iter(&out)
        .map(|found| found[1].to_owned())
        .collect();
    passed.sort();
    assert_eq!(passed, CHECKS, "{out}");
    server.stop().await.expect("a clean end");
}

/// A step that shows no reward, as a tool call does, is what the grader refuses:
/// the probe therefore submits at once.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs .venv, which tests/python/setup.sh makes"]
async fn a_broken_probe_fails() {
    let (server, package) = (start(options()).await, package());
    let probe = package
        .path()
        .join("crates/finqa-env/validation/runtime.json");
    let text = std::fs::read_to_string(&probe).expect("the probe");
    std::fs::write(&probe, text.replace("submit_answer", "get_descriptions")).expect("written");
    let python = program(VENV, "python");
    let path = package.path().to_str().expect("a path").to_owned();
    let url = server.url();
    let output = tokio::task::spawn_blocking(move || {
        Command::new(python)
            .args(["openenv_checks.py", &url, &path, "unused"])
            .current_dir(root().join("tests/python"))
            .output()
    });
    let output = output.await.expect("joined").expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("runtime.reward_well_formed"), "{said}");
    server.stop().await.expect("a clean end");
}
