//! Measures runs against a model server: `cargo bench --bench load [-- --quick] [FILE]`.
//!
//! It prints wall time compared with the ideal for several latencies and numbers of conversations,
//! calls per second without latency, the run's CPU time per call, and its peak memory, separately
//! for asking and for writing the outputs. The model server is a separate process that answers at
//! once or after a latency. Each run is a separate process, too, so that its CPU time and memory
//! can be measured. The records are the built-in sample, or those of FILE, repeated up to 3,000
//! with new ids and distinct pages; more questions come from epochs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    dead_code,
    reason = "a measuring program ends at the first surprise"
)]

mod common;
#[path = "common/process.rs"]
mod process;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::Path as UrlPath;
use axum::http::header::CONTENT_TYPE;
use axum::serve::ListenerExt;
use convfinqa::{Run, RunContext};
use finqa_agents::llm::{ModelSettings, Provider};
use finqa_journal::run::Event;
use finqa_journal::settings::{QuestionSettings, RunSettings, Settings};
use finqa_score::dataset::Mode;
use serde::{Deserialize, Serialize};
use serde_json::json;

use common::{cpu_seconds, load_average, peak_megabytes, repeated};
use process::{Process, first_line};

const RECORDS: usize = 3_000;

/// Analyst and critic in two rounds: the critic accepts each answer, but the checks object once.
const CALLS_A_QUESTION: usize = 4;

/// The parameters of a run, which its process gets as an argument.
#[derive(Serialize, Deserialize)]
struct RunPlan {
    file: PathBuf,
    url: String,
    concurrency: usize,
    /// Number of records of the file to use; each has one or two stand-alone questions.
    records: usize,
    epochs: u32,
}

/// What the process of a run measured.
#[derive(Serialize, Deserialize)]
struct RunFigures {
    questions: usize,
    calls: u64,
    /// From the first setting read to the last answer.
    asking_seconds: f64,
    asking_cpu: f64,
    asking_peak: f64,
    writing_seconds: f64,
    writing_cpu: f64,
    writing_peak: f64,
    journal_megabytes: f64,
}

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["serve"] => serve(),
        ["run", plan] => run(serde_json::from_str(plan).unwrap()),
        ["--quick"] => measure(true, None),
        ["--quick", file] => measure(true, Some(Path::new(file))),
        [] => measure(false, None),
        [file] if !file.starts_with('-') => measure(false, Some(Path::new(file))),
        _ => eprintln!("usage: cargo bench --bench load [-- --quick] [FILE]"),
    }
}

fn itself(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments).stdin(Stdio::null());
    command
}

#[expect(clippy::too_many_lines, reason = "prints one table after the other")]
fn measure(quick: bool, file: Option<&Path>) {
    let folder = tempfile::tempdir().unwrap();
    let many = repeated(file, folder.path(), RECORDS);
    let mut server = itself(&["serve"]).stdout(Stdio::piped()).spawn().unwrap();
    let address = first_line(server.stdout.take());
    let server = Process(server);
    let run = |latency: u64, concurrency, records, epochs| {
        let plan = RunPlan {
            file: many.clone(),
            url: format!("http://{}/{latency}/v1", address.trim()),
            concurrency,
            records,
            epochs,
        };
        let output = itself(&["run", &serde_json::to_string(&plan).unwrap()])
            .stderr(Stdio::inherit())
            .output()
            .unwrap();
        serde_json::from_slice::<RunFigures>(&output.stdout).unwrap()
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "load {}, {cores} cores, shared with the server; analyst and critic, second opinion included",
        load_average()
    );

    println!(
        "\nlatency  in flight  questions   calls     wall    ideal   ratio  with tail   ms CPU a call"
    );
    let latencies: &[u64] = if quick { &[200] } else { &[50, 200, 1000] };
    for &latency in latencies {
        for concurrency in [1, 16, 128, 512] {
            // Enough questions for about four seconds, in full rounds of concurrent questions. One
            // row uses all records.
            let waves = (4000 / (latency as usize * CALLS_A_QUESTION)).max(1);
            let records = match (latency, concurrency) {
                (200, 128) => RECORDS,
                _ => (waves * concurrency).min(RECORDS),
            };
            let ran = run(latency, concurrency, records, 1);
            let seconds = latency as f64 / 1e3;
            let ideal = ran.calls as f64 * seconds / concurrency as f64;
            // The last round is seldom full, but takes as long as a full one.
            let waves = ran.questions.div_ceil(concurrency);
            let calls_a_question = ran.calls as f64 / ran.questions as f64;
            let with_tail = waves as f64 * calls_a_question * seconds;
            println!(
                "{latency:>4} ms  {concurrency:>9}  {:>9}  {:>6}  {:>5.2} s  {ideal:>5.2} s  {:>6.3}  {:>9.3}  {:>14.3}",
                ran.questions,
                ran.calls,
                ran.asking_seconds,
                ran.asking_seconds / ideal,
                ran.asking_seconds / with_tail,
                1e3 * ran.asking_cpu / ran.calls as f64,
            );
        }
    }

    println!("\nwithout latency, 64 in flight");
    println!(
        "questions   calls  calls/s  ms CPU a call  MB asking  MB writing  writing  ms CPU a row  journal"
    );
    let epochs: &[u32] = if quick { &[1, 3] } else { &[1, 1, 1, 13] };
    for &epochs in epochs {
        let ran = run(0, 64, RECORDS, epochs);
        println!(
            "{:>9}  {:>6}  {:>7.0}  {:>13.3}  {:>9.1}  {:>10.1}  {:>5.1} s  {:>12.3}  {:>4.0} MB",
            ran.questions,
            ran.calls,
            ran.calls as f64 / ran.asking_seconds,
            1e3 * ran.asking_cpu / ran.calls as f64,
            ran.asking_peak,
            ran.writing_peak,
            ran.writing_seconds,
            1e3 * ran.writing_cpu / ran.questions as f64,
            ran.journal_megabytes,
        );
    }
    drop(server);
}

/// Makes a run as `convfinqa run` does, and prints what was measured.
fn run(plan: RunPlan) {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        model: ModelSettings {
            name: "bench".to_owned(),
            provider: Some(Provider::OpenAi),
            base_url: Some(plan.url),
            ..ModelSettings::default()
        },
        questions: QuestionSettings {
            data_path: Some(plan.file.display().to_string()),
            mode: Mode::Questions,
            n: Some(plan.records),
            epochs: plan.epochs,
            ..QuestionSettings::default()
        },
        run: RunSettings {
            concurrency: Some(plan.concurrency),
            output: folder.path().to_owned(),
            mlflow: "off".to_owned(),
            ..RunSettings::default()
        },
        ..Settings::default()
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let started = Instant::now();
        let mut run = Run::start(&settings, RunContext::default()).await.unwrap();
        let (mut questions, mut calls) = (0, 0);
        while let Some(event) = run.next().await {
            if let Event::Answered { row, .. } = event {
                questions += 1;
                let attempts = row
                    .solution
                    .calls
                    .iter()
                    .map(|call| u64::from(call.attempts));
                calls += attempts.sum::<u64>();
            }
        }
        let asked = (started.elapsed(), cpu_seconds(), peak_megabytes());
        // Reset the peak of the memory, so that the next one is that of writing the outputs.
        std::fs::write("/proc/self/clear_refs", "5").unwrap();
        let results = run.finish().await.unwrap();
        let journal = results.folder.file("journal.sqlite");
        let figures = RunFigures {
            questions,
            calls,
            asking_seconds: asked.0.as_secs_f64(),
            asking_cpu: asked.1,
            asking_peak: asked.2,
            writing_seconds: (started.elapsed() - asked.0).as_secs_f64(),
            writing_cpu: cpu_seconds() - asked.1,
            writing_peak: peak_megabytes(),
            journal_megabytes: std::fs::metadata(journal).unwrap().len() as f64 / 1e6,
        };
        println!("{}", serde_json::to_string(&figures).unwrap());
    });
}

/// Serves chat completions until the process is killed. The path has the latency in milliseconds.
fn serve() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("{}", listener.local_addr().unwrap());
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
        let routes = Router::new().route(
            "/{latency}/v1/chat/completions",
            axum::routing::post(|UrlPath(latency): UrlPath<u64>, body: Bytes| async move {
                let arrived = tokio::time::Instant::now();
                let content = reply(&body);
                tokio::time::sleep_until(arrived + Duration::from_millis(latency)).await;
                ([(CONTENT_TYPE, "application/json")], content)
            }),
        );
        axum::serve(listener, routes).await.unwrap();
    });
}

/// A chat completion. A request with the word "critic" near its beginning is the critic's, and is
/// answered with its approval; any other is the analyst's.
fn reply(request: &[u8]) -> String {
    let critic = request
        .windows(b"critic".len())
        .take(2000)
        .any(|word| word.eq_ignore_ascii_case(b"critic"));
    let content = if critic { "ALL_OK" } else { common::ANALYSIS };
    json!({
        "id": "x", "object": "chat.completion", "created": 1, "model": "bench",
        "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050},
    })
    .to_string()
}
