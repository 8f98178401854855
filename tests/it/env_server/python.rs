//! The public Python clients against our server: both generations of OpenEnv's
//! client, its validator, the official MCP SDK's two lines, and a GRPO-style
//! rollout. `tests/python/setup.sh` makes the virtual environments.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use convfinqa::env::data::Catalog;
use convfinqa::env::episode::Rules;
use convfinqa::env::server::{RunningServer, spawn_in_process};
use convfinqa::env::tools::{ToolLimits, Tools};
use rstest::rstest;

use super::{options, start};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A program of a virtual environment, or `None` with the reason printed.
/// `CONVFINQA_REQUIRE_PYTHON` makes a missing one a failure.
pub(crate) fn program(venv: &str, name: &str) -> Option<PathBuf> {
    let path = root().join(".venv").join(venv).join("bin").join(name);
    if path.exists() {
        return Some(path);
    }
    let required = std::env::var_os("CONVFINQA_REQUIRE_PYTHON").is_some();
    assert!(
        !required,
        ".venv/{venv} is missing: run tests/python/setup.sh"
    );
    println!("skipped: .venv/{venv} is missing; tests/python/setup.sh makes it");
    None
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

async fn script(venv: &str, name: &str, server: &RunningServer) -> Option<String> {
    let python = program(venv, "python")?;
    Some(run(&python, &[name, &server.url()]).await)
}

#[rstest]
#[case("openenv-0.2.3", 6)]
#[case("openenv-0.10.0", 7)]
#[tokio::test(flavor = "multi_thread")]
async fn openenv_clients_play_episodes(#[case] venv: &str, #[case] checks: usize) {
    let server = start(options()).await;
    if let Some(out) = script(venv, "openenv_clients.py", &server).await {
        assert_eq!(out.matches("ok: ").count(), checks, "{out}");
    }
    server.stop().await.expect("a clean end");
}

#[rstest]
#[case("openenv-0.2.3")]
#[case("openenv-0.10.0")]
#[tokio::test(flavor = "multi_thread")]
async fn openenvs_validator_passes(#[case] venv: &str) {
    let server = start(options()).await;
    if let Some(openenv) = program(venv, "openenv") {
        let out = run(&openenv, &["validate", "--json", "--url", &server.url()]).await;
        let from = out.find('{').expect("a report");
        let report: serde_json::Value = serde_json::from_str(&out[from..]).expect("JSON");
        assert_eq!(report["passed"], true, "{out}");
    }
    server.stop().await.expect("a clean end");
}

#[rstest]
#[case("openenv-0.2.3")]
#[case("openenv-0.10.0")]
#[tokio::test(flavor = "multi_thread")]
async fn the_mcp_sdk_calls_tools_over_streamable_http(#[case] venv: &str) {
    let server = start(options()).await;
    if let Some(out) = script(venv, "mcp_sdk.py", &server).await {
        assert!(out.contains("ok: streamable HTTP"), "{out}");
    }
    server.stop().await.expect("a clean end");
}

#[rstest]
#[case("openenv-0.2.3")]
#[case("openenv-0.10.0")]
#[tokio::test(flavor = "multi_thread")]
async fn a_grpo_rollout_earns_what_its_policy_deserves(#[case] venv: &str) {
    let server = start(options()).await;
    if let Some(out) = script(venv, "rollout.py", &server).await {
        assert!(out.contains("mean reward 0.50"), "{out}");
    }
    server.stop().await.expect("a clean end");
}

/// A Python server of the same tools, on a port that was free a moment ago.
struct Framework(std::process::Child, String);

impl Framework {
    async fn start(python: &Path, data: &Path) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let child = Command::new(python)
            .arg("openenv_server.py")
            .arg(data)
            .args(["--port", &port.to_string()])
            .current_dir(root().join("tests/python"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .spawn()
            .expect("the server starts");
        let mut framework = Self(child, format!("http://127.0.0.1:{port}"));
        while tokio::net::TcpStream::connect(("127.0.0.1", port))
            .await
            .is_err()
        {
            let ended = framework.0.try_wait().expect("a process");
            assert!(ended.is_none(), "the Python server ended: {ended:?}");
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        framework
    }
}

impl Drop for Framework {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the load generator drives for want of the reference, and what a query
/// must answer: rows as pandas writes them.
#[tokio::test(flavor = "multi_thread")]
async fn queries_answer_as_pandas_does_behind_openenvs_own_framework() {
    let Some(python) = program("openenv-0.2.3", "python") else {
        return;
    };
    let data = root().join("tests/fixtures/finqa-env/data");
    let theirs = Framework::start(&python, &data).await;
    let catalog = Catalog::load(&data).expect("the fixture");
    let tools = Tools::new(Arc::new(catalog), ToolLimits::default());
    let ours = spawn_in_process(Arc::new(tools), Rules::default(), options())
        .await
        .expect("a free port");
    let out = run(&python, &["same_rows.py", &ours.url(), &theirs.1]).await;
    assert!(out.contains("ok: 48 queries"), "{out}");
    ours.stop().await.expect("a clean end");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_plays_an_episode_by_keyboard_in_a_browser() {
    let server = start(options()).await;
    if let Some(python) = program("openenv-0.10.0", "python") {
        match std::process::Command::new("chromium")
            .arg("--version")
            .output()
        {
            Ok(_) => {
                let out = run(&python, &["web_page.py", &server.url()]).await;
                assert!(out.contains("ok: an episode"), "{out}");
            }
            Err(error) => println!("skipped: no chromium ({error}); apt-get install chromium"),
        }
    }
    server.stop().await.expect("a clean end");
}

#[rstest]
#[case("openenv-0.2.3")]
#[case("openenv-0.10.0")]
#[tokio::test(flavor = "multi_thread")]
async fn the_mcp_sdk_calls_tools_over_standard_input_and_output(#[case] venv: &str) {
    if let Some(python) = program(venv, "python") {
        let ours = env!("CARGO_BIN_EXE_convfinqa");
        let arguments = ["mcp_sdk.py", "--stdio", ours, "env", "serve", "--stdio"];
        let out = run(&python, &arguments).await;
        assert!(out.contains("ok: stdio"), "{out}");
    }
}
