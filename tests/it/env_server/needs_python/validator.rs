//! OpenEnv's validator, and its checks that have no grader yet, on the manifest and the server.

use std::path::Path;
use std::process::{Command, Output};

use convfinqa::env_build::build;
use regex::Regex;
use tempfile::TempDir;

use super::{options, root, run, start};
use crate::support::python::program;

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
    build(&sample, data.path()).expect("it is built");
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
    server.stop().await;
}
