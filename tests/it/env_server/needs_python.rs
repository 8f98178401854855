//! The public Python clients against our server: both generations of OpenEnv's
//! client, its validator, the official MCP SDK's two lines. `tests/python/setup.sh` makes the virtual environments.

mod validator;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use finqa_env::data::Catalog;
use finqa_env::episode::EpisodeRules;
use finqa_env::tools::{ToolLimits, Tools};
use rstest::rstest;

use super::{options, start};
use crate::support::browser::browse_with;
use crate::support::python::{ScriptServer, program};
use crate::support::running::RunningServer;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

async fn run(program: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
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

/// Runs a script of `tests/python` with the address of a server.
async fn script(venv: &str, name: &str, server: &RunningServer) -> String {
    run(&program(venv, "python"), &[name, &server.url()]).await
}

/// The clients play episodes, the MCP SDK calls tools, and the validator passes.
#[rstest]
#[case("openenv-0.2.3", 7)]
#[case("openenv-0.10.0", 8)]
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs .venv, which tests/python/setup.sh makes"]
async fn the_public_clients_pass(#[case] venv: &str, #[case] checks: usize) {
    let server = start(options()).await;
    let out = script(venv, "openenv_clients.py", &server).await;
    assert_eq!(out.matches("ok: ").count(), checks, "{out}");

    let out = script(venv, "mcp_sdk.py", &server).await;
    assert!(out.contains("ok: streamable HTTP"), "{out}");

    let openenv = program(venv, "openenv");
    let out = run(&openenv, &["validate", "--json", "--url", &server.url()]).await;
    let from = out.find('{').expect("a report");
    let report: serde_json::Value = serde_json::from_str(&out[from..]).expect("JSON");
    assert_eq!(report["passed"], true, "{out}");
    server.stop().await;
}

/// The server that the load generator drives in place of OpenEnv's finqa_env, and
/// what a query must answer: rows as pandas writes them.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs .venv, which tests/python/setup.sh makes"]
async fn queries_answer_as_pandas_does_behind_openenvs_own_framework() {
    let venv = "openenv-0.2.3";
    let python = program(venv, "python");
    let data = root().join("crates/finqa-env/tests/fixtures/finqa-env/data");
    let theirs = ScriptServer::framework(venv, &data, 2);
    let catalog = Catalog::load(&data).expect("the fixture");
    let tools = Tools::new(Arc::new(catalog), ToolLimits::default());
    let ours = RunningServer::start(Arc::new(tools), EpisodeRules::default(), options()).await;
    let out = run(&python, &["same_rows.py", &ours.url(), &theirs.url]).await;
    assert!(out.contains("ok: 48 queries"), "{out}");
    ours.stop().await;
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

#[rstest]
#[case("openenv-0.2.3")]
#[case("openenv-0.10.0")]
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs .venv, which tests/python/setup.sh makes"]
async fn the_mcp_sdk_calls_tools_over_standard_input_and_output(#[case] venv: &str) {
    let ours = env!("CARGO_BIN_EXE_convfinqa");
    let arguments = ["mcp_sdk.py", "--stdio", ours, "env", "serve", "--stdio"];
    let out = run(&program(venv, "python"), &arguments).await;
    assert!(out.contains("ok: stdio"), "{out}");
}

/// As strictly as the `OpenMetrics` specification asks, which Prometheus does not.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs .venv, which tests/python/setup.sh makes"]
async fn prometheus_own_parser_reads_the_metrics() {
    let server = start(options()).await;
    script("openenv-0.10.0", "openenv_clients.py", &server).await;
    let out = script("deploy", "metrics.py", &server).await;
    assert_eq!(out.lines().count(), 8, "{out}");
    assert!(out.contains("finqa_tool_seconds histogram"), "{out}");
    server.stop().await;
}
