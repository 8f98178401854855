//! What tracking costs a run: the same run with and without an MLflow server,
//! in turns, so that whatever else the machine does falls on both.
//!
//! `cargo bench --bench tracking [-- MILLISECONDS_A_CALL [PAIRS]]`, after
//! `tests/python/setup.sh`. The server runs on the same machine: its own work
//! is counted too.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    dead_code,
    reason = "a bench, with a helper of the tests"
)]

#[path = "../tests/it/mlflow/server.rs"]
mod server;

/// Where the helper finds the tests' helpers.
#[path = "../tests/it/support"]
mod support {
    pub mod python;
}

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use axum::Json;
use serde_json::{Value, json};

fn main() {
    let numbers: Vec<u64> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let pause = Duration::from_millis(numbers.first().copied().unwrap_or(300));
    let pairs = numbers.get(1).copied().unwrap_or(5);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = runtime
        .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
        .unwrap();
    let model = format!("http://{}/v1", listener.local_addr().unwrap());
    let answers = axum::Router::new().route(
        "/v1/chat/completions",
        axum::routing::post(move |Json(request): Json<Value>| reply(request, pause)),
    );
    runtime.spawn(async move { axum::serve(listener, answers).await });
    let mlflow = server::Mlflow::start();

    let place = tempfile::tempdir().unwrap();
    let run = |target: &str| {
        let begun = Instant::now();
        let status = Command::new(env!("CARGO_BIN_EXE_convfinqa"))
            .current_dir(place.path())
            .env_clear()
            .args(["--model", "bench", "--base-url", &model, "--mlflow", target])
            .args(["--data-path", "sample", "--epochs", "2", "-j", "8"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
        begun.elapsed().as_secs_f64()
    };
    // The first run of each makes files, experiment and caches.
    run("off");
    run(&mlflow.uri());
    let mut shares = Vec::new();
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        // Which goes first changes, so that neither gains by it.
        let (off, on) = if pair % 2 == 0 {
            let off = run("off");
            (off, run(&mlflow.uri()))
        } else {
            let on = run(&mlflow.uri());
            (run("off"), on)
        };
        shares.push(100.0 * (on / off - 1.0));
        without.push(off);
        with.push(on);
    }
    let questions = mlflow.runs("financial_qa")[0]["data"]["metrics"]
        .as_array()
        .unwrap()
        .iter()
        .find(|metric| metric["key"] == "questions")
        .map_or(0.0, |metric| metric["value"].as_f64().unwrap());
    println!(
        "{questions} questions, {} ms a model call, 8 side by side, {pairs} pairs of runs (median, min–max)",
        pause.as_millis()
    );
    println!("untracked {}", spread(without, "s"));
    println!("tracked   {}", spread(with, "s"));
    println!("cost      {}", spread(shares, "%"));
}

fn spread(mut values: Vec<f64>, unit: &str) -> String {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values[0], values[values.len() - 1]);
    format!(
        "{:6.2} {unit} ({low:.2}–{high:.2})",
        values[values.len() / 2]
    )
}

/// A model that thinks, then answers; its critic agrees.
async fn reply(request: Value, pause: Duration) -> Json<Value> {
    tokio::time::sleep(pause).await;
    let critic = request["messages"][0]["content"]
        .as_str()
        .is_some_and(|text| text.to_lowercase().contains("critic"));
    let analysis = json!({
        "evidence": [], "program": null, "steps": ["read it off"], "answer": "1", "unit": "number",
        "label": "it", "confidence": 0.9,
    });
    let content = if critic {
        "ALL_OK".to_owned()
    } else {
        analysis.to_string()
    };
    Json(json!({
        "id": "x", "object": "chat.completion", "created": 1, "model": "bench",
        "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150},
    }))
}
