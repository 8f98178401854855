//! What a run costs beside its models: `cargo bench --bench pipeline [-- FILE]`.
//!
//! Prints, for the records at hand (the built-in sample, or FILE) repeated under
//! new ids up to 3,000: loading, rendering, executing, scoring, the offline
//! pair, and whole runs, with n and the spread over the repetitions. Rates are
//! per second of CPU time, so that other work on the machine does not show; the
//! load is printed above them. Whole runs are made by processes of their own,
//! so that CPU time and peak memory are theirs alone; the model is in this
//! process and answers at once.

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

use convfinqa::agents::{Backend, Pair, PairOptions};
use convfinqa::dataset::{self, Dataset, Source};
use convfinqa::models::{
    ChatModel, ChatReply, ChatRequest, Feature, FinishReason, ModelError, Support,
};
use convfinqa::offline::Solver;
use convfinqa::program::Program;
use convfinqa::program::official::{Dialect, evaluate};
use convfinqa::prompt::{Prompts, Rendering};
use convfinqa::run::{HistoryMode, Identity, Journal, Mode, Plan, RunMeta, Scheduler, Stop};
use convfinqa::score::{Item, Scorecard, ScoredRow, score};
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

const RECORDS: usize = 3_000;
const REPETITIONS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with("--"))
        .collect();
    match arguments.as_slice() {
        // A whole run, in a process of its own.
        [mode, file] if mode == "whole-offline" || mode == "whole-model" => {
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
    println!("load {}, one core", load());
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
    report(
        "execute any text officially",
        turns.len(),
        "programs",
        || {
            for turn in &turns {
                let program = turn.gold.program.as_deref().unwrap_or("0");
                let table = &turn.question.document.table;
                std::hint::black_box(evaluate(program, table, Dialect::ConvFinQa));
            }
        },
    );
    let all: Vec<_> = cases.iter().chain(&turns).copied().collect();
    let items: Vec<Item> = all
        .iter()
        .enumerate()
        .map(|(at, case)| item(at, case, &all))
        .collect();
    report("score a row by every rule", items.len(), "rows", || {
        for item in &items {
            std::hint::black_box(score(item));
        }
    });
    let scored: Vec<ScoredRow> = items.iter().cloned().map(ScoredRow::score).collect();
    report("sum scored rows up", scored.len(), "rows", || {
        std::hint::black_box(Scorecard::of(&scored));
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
    for mode in ["whole-offline", "whole-model"] {
        let mut seconds = Vec::new();
        let mut cpu = Vec::new();
        let mut peak = 0.0_f64;
        for _ in 0..3 {
            let output = Command::new(std::env::current_exe().unwrap())
                .args([mode, many.to_str().unwrap()])
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
            "{:34} {:>9.0} questions/s · {:.3} ms CPU a question ({:.3}–{:.3}) · peak {peak:.0} MB (n {})",
            if mode == "whole-offline" {
                "whole run, offline pair"
            } else {
                "whole run, model in this process"
            },
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
            let started = Clock::now();
            let mut times = 0;
            // Long enough that the kernel's ticks do not show.
            while started.seconds() < 0.2 {
                work();
                times += 1;
            }
            (n * times) as f64 / started.seconds()
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

/// Every second row is right, the others say what the row after them should.
fn item(at: usize, case: &dataset::Case, all: &[&dataset::Case]) -> Item {
    let said = if at.is_multiple_of(2) {
        case
    } else {
        all[(at + 1) % all.len()]
    };
    let prediction = |gold: &dataset::Gold| {
        let value = gold.exe_ans.as_ref().map(ToString::to_string);
        gold.answer.clone().or(value).unwrap_or_default()
    };
    Item {
        key: case.question.key.clone(),
        filename: case.question.document.filename.clone(),
        kind: None,
        question: case.question.text.clone(),
        ground_truth: Some(prediction(&case.gold)),
        gold: case.gold.clone(),
        prediction: prediction(&said.gold),
        answer: prediction(&said.gold),
        value: said.gold.exe_ans.clone(),
        program: said.gold.program.clone(),
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
    runtime.block_on(run(mode, data, folder.path()));
    let (wall, cpu) = (started.elapsed().as_secs_f64(), cpu_seconds() - before);
    println!("{wall} {cpu} {}", peak_megabytes());
}

async fn run(mode: &str, data: Dataset, folder: &Path) {
    let plan = Plan::new(&data, Mode::Questions, HistoryMode::Own, 1).unwrap();
    drop(data);
    let backend = if mode == "whole-offline" {
        Backend::Offline
    } else {
        let model: Arc<dyn ChatModel> = Arc::new(AtOnce);
        Backend::Llm {
            analyst: Arc::clone(&model),
            critic: model,
        }
    };
    let pair = Pair::new(&PairOptions::new(backend)).unwrap();
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
        Box::pin(async move {
            Ok(ChatReply {
                content,
                tool_calls: Vec::new(),
                finish: FinishReason::Stop,
                refusal: None,
                usage: None,
                model: "at-once".to_owned(),
                request_id: None,
                attempts: 1,
                latency: Duration::ZERO,
            })
        })
    }
}

/// CPU time of this thread, or the wall's where the kernel does not tell.
struct Clock {
    cpu: Option<f64>,
    wall: Instant,
}

impl Clock {
    fn now() -> Self {
        Self {
            cpu: thread_nanoseconds(),
            wall: Instant::now(),
        }
    }

    fn seconds(&self) -> f64 {
        match (self.cpu, thread_nanoseconds()) {
            (Some(before), Some(after)) => (after - before) / 1e9,
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }
}

/// CPU time of this thread so far (Linux).
fn thread_nanoseconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Processes that wanted a core, on average over the last minute.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
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
