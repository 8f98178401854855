//! The public Python clients against our server: both generations of OpenEnv's client, its
//! validator, the official MCP SDK's two lines. `tests/python/setup.sh` makes the virtual
//! environments. An interpreter takes seconds to load them, so each test starts few.

use std::path::Path;
use std::process::Command;

use finqa_run::env_build::build;
use regex::Regex;
use rstest::rstest;

use super::{options, start};
use crate::support::browser::browse_with;
use crate::support::python::program;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a script of `tests/python`; gives what it printed.
async fn script(venv: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program(venv, "python"));
    command
        .args(arguments)
        .current_dir(root().join("tests/python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("NO_PROXY", "127.0.0.1,localhost");
    let output = tokio::task::spawn_blocking(move || command.output())
        .await
        .expect("joined")
        .expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(
        output.status.success(),
        "{arguments:?} failed\n{out}\n{err}"
    );
    out
}

/// The clients play episodes, the MCP SDK calls tools over HTTP, and over the standard input and
/// output of a server of its own, and the validator passes.
#[rstest]
#[case("openenv-0.2.3", 10)]
#[case("openenv-0.10.0", 11)]
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs .venv, which tests/python/setup.sh makes"]
async fn the_public_clients_pass(#[case] venv: &str, #[case] checks: usize) {
    let server = start(options()).await;
    let ours = env!("CARGO_BIN_EXE_convfinqa");
    let out = script(venv, &["openenv_clients.py", &server.url(), ours]).await;
    assert_eq!(out.matches("ok: ").count(), checks, "{out}");
    // Prometheus's own parser reads what was counted, as strictly as `OpenMetrics` asks.
    let out = script("deploy", &["metrics.py", &server.url()]).await;
    assert_eq!(out.lines().count(), 8, "{out}");
    assert!(out.contains("finqa_tool_seconds histogram"), "{out}");
    server.stop().await;
}

#[test]
#[ignore = "needs .venv, which tests/python/setup.sh makes"]
fn the_code_of_the_page_for_python_runs() {
    let place = tempfile::tempdir().expect("a folder");
    let page = root().join("docs/python.md");
    let script = root().join("tests/python/page.py");
    let programs = Path::new(env!("CARGO_BIN_EXE_convfinqa")).parent();
    let path = std::env::join_paths(programs.map(Path::to_owned).into_iter().chain(
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()),
    ));
    let ran = Command::new(program("openenv-0.10.0", "python"))
        .args([script, page])
        .current_dir(place.path())
        .env("PATH", path.expect("a path"))
        .env("NO_PROXY", "127.0.0.1,localhost")
        .output()
        .expect("the program starts");
    let text = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
    assert!(
        ran.status.success() && text.contains("ok: 3 blocks"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs .venv, which tests/python/setup.sh makes"]
async fn needs_browser_a_person_plays_an_episode_by_keyboard_in_a_browser() {
    let server = start(options()).await;
    let python = program("openenv-0.10.0", "python");
    let (script, url) = (root().join("tests/python/web_page.py"), server.url());
    let played = move || browse_with(&python, &script, &[&url]);
    let out = tokio::task::spawn_blocking(played).await.expect("joined");
    assert!(out.contains("ok: an episode"), "{out}");
    server.stop().await;
}

/// What `openenv_checks.py` checks, under the names of OpenEnv's validator: the manifest and the
/// server with the public client.
const CHECKS: [&str; 15] = [
    "runtime.episode_determinism", "runtime.episode_isolation", "runtime.observation_schema",
    "runtime.oracle_containment", "runtime.reward_well_formed", "runtime.seed_control",
    "runtime.startup", "runtime.state_contract", "runtime.task_declaration_accuracy",
    "runtime.tool_declaration_accuracy", "semantic.floor_gap", "semantic.no_solution_leakage",
    "semantic.oracle_max", "semantic.verifier_determinism", "static.manifest",
];

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs .venv, which tests/python/setup.sh makes"]
async fn the_checks_of_openenvs_validator_pass() {
    let server = start(options()).await;
    // What the validator reads of this repository.
    let package = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(package.path().join("crates/finqa-env/validation")).expect("created");
    for file in [
        "openenv.yaml",
        "crates/finqa-env/Dockerfile",
        "crates/finqa-env/validation/runtime.json",
        "crates/finqa-env/validation/oracle.py",
    ] {
        std::fs::copy(root().join(file), package.path().join(file)).expect("copied");
    }
    let data = tempfile::tempdir().expect("a folder");
    let sample = finqa_score::dataset::sample().expect("the sample");
    build(&sample, data.path()).expect("it is built");
    let arguments = [
        "openenv_checks.py",
        &server.url(),
        package.path().to_str().expect("a path"),
        data.path().to_str().expect("a path"),
    ];
    let out = script("openenv-0.10.0", &arguments).await;
    let passed = Regex::new(r"(?m)^ok: (\S+)").expect("a pattern");
    let passed = passed.captures_iter(&out).map(|found| found[1].to_owned());
    let mut passed: Vec<_> = passed.collect();
    passed.sort();
    assert_eq!(passed, CHECKS, "{out}");
    server.stop().await;
}
