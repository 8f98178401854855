//! What a run costs beside its models: `cargo bench --bench pipeline [-- FILE]`.
//!
//! Prints, for the records at hand (the built-in sample, or FILE) repeated under
//! new ids up to 3,000: loading, rendering, executing, scoring, the offline
//! pair, and whole runs, with n and the spread over the repetitions. Whole runs
//! are made by processes of their own, so that CPU time and peak memory are
//! theirs alone; the model is in this process and answers at once.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "a measuring program ends at the first surprise"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use convfinqa::agents::{AnswerFrom, Backend, CriticMode, Pair, PairOptions, Sampling};
use convfinqa::dataset::{self, Dataset, Source};
use convfinqa::models::{
    self, ChatModel, ChatReply, ChatRequest, Feature, FinishReason, ModelError, Support,
};
use convfinqa::offline::Solver;
use convfinqa::program::Program;
use convfinqa::prompt::{Prompts, Rendering};
use convfinqa::run::{HistoryMode, Identity, Journal, Mode, Plan, RunMeta, Scheduler, Stop};
use convfinqa::score::{Item, score};
use convfinqa::telemetry::{self, LogFormat, LogOptions, Telemetry};
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

const RECORDS: usize = 3_000;
const REPETITIONS: usize = 5;

/// Whole runs, and how each is called.
const WHOLE: &[(&str, &str)] = &[
    ("whole-offline", "whole run, offline pair"),
    ("whole-offline-traced", "the same, traces to a file"),
    ("whole-model", "whole run, model in this process"),
    ("whole-model-traced", "the same, traces to a file"),
    ("whole-model-content", "the same, with prompts and replies"),
];

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with("--"))
        .collect();
    match arguments.as_slice() {
        // A whole run, in a process of its own.
        [mode, file] if WHOLE.iter().any(|(known, _)| known == mode) => {
            whole_run(mode, Path::new(file))
        }
        [] => measure(None),
        [file] => measure(Some(Path::new(file))),
        _ => eprintln!("usage: cargo bench --bench pipeline [-- FILE]"),
    }
}

fn measure(file: Option<&Path>) {
    let folder = tempfile::tempdir().unwrap();
    let many = repeated(file, folder.path());
    let megabytes = std::fs::metadata(&many).unwrap().len() as f64 / 1e6;
    let data = dataset::load(&Source::Path(many.clone())).unwrap();
    let cases: Vec<_> = data
        .records
        .iter()
        .flat_map(|record| &record.questions)
        .collect();
    println!(
        "{} records, {} stand-alone questions, {megabytes:.1} MB, {REPETITIONS} repetitions (median, min–max)",
        data.records.len(),
        cases.len()
    );

    let records = data.records.len();
    report("load", records, "records", || {
        dataset::load(&Source::Path(many.clone())).unwrap();
    });
    let prompts = Prompts::embedded();
    report(
        "render the analyst's prompt",
        cases.len(),
        "prompts",
        || {
            for case in &cases {
                prompts
                    .analyst(&case.question, &Rendering::default())
                    .unwrap();
            }
        },
    );
    let turns: Vec<_> = data
        .records
        .iter()
        .flat_map(|record| &record.turns)
        .collect();
    report(
        "parse and execute gold programs",
        turns.len(),
        "programs",
        || {
            for turn in &turns {
                let program = Program::parse(turn.gold.program.as_deref().unwrap_or("0")).unwrap();
                std::hint::black_box(program.execute(&turn.question.document.table).ok());
            }
        },
    );
    let items: Vec<Item> = cases.iter().map(|case| item(case)).collect();
    report("score a row by every rule", items.len(), "rows", || {
        for item in &items {
            std::hint::black_box(score(item));
        }
    });
    let solver = Solver::new();
    report(
        "offline pair, stand-alone",
        cases.len(),
        "questions",
        || {
            for case in &cases {
                let page = solver.index(&case.question.document);
                std::hint::black_box(solver.answer(&page, &case.question));
            }
        },
    );
    for (mode, name) in WHOLE {
        let mut seconds = Vec::new();
        let mut cpu = Vec::new();
        let mut peak = 0.0_f64;
        for _ in 0..3 {
            let output = Command::new(std::env::current_exe().unwrap())
                .args([*mode, many.to_str().unwrap()])
                .stderr(Stdio::inherit())
                .output()
                .unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let figures: Vec<f64> = text
                .split_whitespace()
                .map(|word| word.parse().unwrap())
                .collect();
            seconds.push(figures[0]);
            cpu.push(1e3 * figures[1] / cases.len() as f64);
            peak = peak.max(figures[2]);
        }
        seconds.sort_by(f64::total_cmp);
        cpu.sort_by(f64::total_cmp);
        println!(
            "{name:34} {:>9.0} questions/s · {:.3} ms CPU a question ({:.3}–{:.3}) · peak {peak:.0} MB (n {})",
            cases.len() as f64 / seconds[1],
            cpu[1],
            cpu[0],
            cpu[2],
            cases.len()
        );
    }
}

fn report(name: &str, n: usize, noun: &str, mut work: impl FnMut()) {
    let mut rates: Vec<f64> = (0..REPETITIONS)
        .map(|_| {
            let started = Instant::now();
            work();
            n as f64 / started.elapsed().as_secs_f64()
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    println!(
        "{name:34} {:>9.0} {noun}/s ({:.0}–{:.0}, n {n})",
        rates[REPETITIONS / 2],
        rates[0],
        rates[REPETITIONS - 1]
    );
}

/// The records at hand, repeated under new ids, as one file.
fn repeated(file: Option<&Path>, folder: &Path) -> PathBuf {
    let text = match file {
        Some(file) => std::fs::read_to_string(file).unwrap(),
        None => include_str!("../data/sample.json").to_owned(),
    };
    let records: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let many: Vec<serde_json::Value> = (0..RECORDS)
        .map(|index| {
            let mut record = records[index % records.len()].clone();
            let id = format!(
                "{}-copy{}",
                record["id"].as_str().unwrap(),
                index / records.len()
            );
            record["id"] = id.into();
            record
        })
        .collect();
    let path = folder.join("many.json");
    std::fs::write(&path, serde_json::to_vec(&many).unwrap()).unwrap();
    path
}

fn item(case: &dataset::Case) -> Item {
    Item {
        key: case.question.key.clone(),
        filename: case.question.document.filename.clone(),
        kind: None,
        question: case.question.text.clone(),
        ground_truth: case.gold.answer.clone(),
        gold: case.gold.clone(),
        prediction: "14.1%".to_owned(),
        answer: "14.1%".to_owned(),
        value: None,
        program: case.gold.program.clone(),
        document: Some(Arc::clone(&case.question.document)),
        outcome: dataset::Outcome::Answered,
        latency: Some(1.0),
    }
}

/// Prints wall seconds, CPU seconds and peak megabytes of one run.
fn whole_run(mode: &str, file: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let data = dataset::load(&Source::Path(file.to_owned())).unwrap();
    let started = Instant::now();
    let before = cpu_seconds();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let traces = traces(mode, folder.path());
        run(mode, data, folder.path()).await;
        traces.finish().await;
    });
    let (wall, cpu) = (started.elapsed().as_secs_f64(), cpu_seconds() - before);
    println!("{wall} {cpu} {}", peak_megabytes());
}

/// Traces to a file, if the mode asks for them.
fn traces(mode: &str, folder: &Path) -> Telemetry {
    let content = mode.ends_with("-content");
    let telemetry = telemetry::install(telemetry::Options {
        service_name: None,
        file: content || mode.ends_with("-traced"),
        collector: None,
        content,
        log: LogOptions {
            format: LogFormat::Off,
            level: "off".to_owned(),
            sink: Arc::new(|_| {}),
        },
        secrets: vec!["a-key-that-is-in-no-prompt".into()],
        notice: Arc::new(|line| eprintln!("{line}")),
    })
    .unwrap();
    telemetry.write_to(&folder.join("traces.jsonl")).unwrap();
    telemetry
}

async fn run(mode: &str, data: Dataset, folder: &Path) {
    let plan = Plan::new(&data, Mode::Questions, HistoryMode::Own, 1).unwrap();
    drop(data);
    let (backend, critic) = if mode.starts_with("whole-offline") {
        (Backend::Offline, CriticMode::Rules)
    } else {
        let model: Arc<dyn ChatModel> = Arc::new(AtOnce);
        (
            Backend::Llm {
                analyst: Arc::clone(&model),
                critic: model,
            },
            CriticMode::Llm,
        )
    };
    let pair = Pair::new(&PairOptions {
        backend,
        critic,
        verify: true,
        max_rounds: 3,
        answer_from: AnswerFrom::Program,
        min_confidence: 0.0,
        prompts: Arc::new(Prompts::embedded()),
        rendering: Rendering::default(),
        sampling: Sampling::default(),
    })
    .unwrap();
    let meta = RunMeta {
        id: "bench".to_owned(),
        started: String::new(),
        version: String::new(),
        commit: None,
        identity: Identity::default(),
        data: String::new(),
        invented: true,
        total: plan.total(),
        settings: toml::Table::new(),
    };
    let journal = Journal::create(&folder.join("journal.sqlite"), &meta).unwrap();
    let scheduler = Scheduler {
        plan,
        pair: Arc::new(pair),
        concurrency: 8,
        price: Arc::new(|_| None),
        stop: Stop::default(),
    };
    let (events, mut received) = tokio::sync::mpsc::channel(1024);
    let running = tokio::spawn(scheduler.run(journal, events));
    while received.recv().await.is_some() {}
    running.await.unwrap().unwrap();
}

/// A model that costs nothing, so that what is left is ours.
struct AtOnce;

impl ChatModel for AtOnce {
    fn name(&self) -> &str {
        "at-once"
    }

    fn supports(&self, _feature: Feature) -> Support {
        Support::Yes
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        _cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let content = if request.node == "critic" {
            "ALL_OK".to_owned()
        } else {
            r#"{"evidence": [{"id": "r1c1", "literal": "10"}], "program": "add(10, 2)", "steps": ["add"],
                "answer": "12", "unit": "number", "label": "sum", "confidence": 0.9}"#
                .to_owned()
        };
        // As a provider does.
        let span = models::trace::chat("at-once", request);
        Box::pin(async move {
            let reply = ChatReply {
                content,
                tool_calls: Vec::new(),
                finish: FinishReason::Stop,
                refusal: None,
                usage: None,
                model: "at-once".to_owned(),
                request_id: None,
                attempts: 1,
                latency: Duration::ZERO,
            };
            models::trace::replied(&span, &reply);
            Ok(reply)
        })
    }
}

/// User and system time of this process (Linux; 0 elsewhere).
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let ticks = |index: usize| {
        fields
            .get(index)
            .and_then(|field| field.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    // utime and stime are fields 14 and 15 of the line, in hundredths of a second.
    (ticks(11) + ticks(12)) / 100.0
}

fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap_or_default();
    line.split_whitespace()
        .nth(1)
        .and_then(|kb| kb.parse::<f64>().ok())
        .unwrap_or(0.0)
        / 1024.0
}
