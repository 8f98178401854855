//! Measures the cost of a run without its models: `cargo bench --bench pipeline [-- FILE]`.
//!
//! The records are the built-in sample, or those of FILE, repeated up to 3,000 with new ids. The
//! bench prints the speed of loading, rendering, executing, scoring, of the embedded analyst, and
//! of whole runs, with n and the spread over repetitions. Rates are per second of CPU time, so that
//! other work on the machine does not show; its load is printed above them. Each whole run is a
//! separate process, so that its CPU time and peak memory can be measured; the model is in that
//! process and answers at once.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a measuring program ends at the first surprise"
)]

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use finqa_agents::llm::ChatModel;
use finqa_agents::pair::{Answer, Solution, StopReason};
use finqa_agents::prompt::Prompts;
use finqa_core::program::Program;
use finqa_core::program::official::{Evaluator, evaluate};
use finqa_embedded::EmbeddedAnalyst;
use finqa_journal::settings::LogFormat;
use finqa_report::telemetry::{self, Telemetry};
use finqa_score::dataset::{self, Mode, Source};
use finqa_score::score::{PredictionCells, Row, Scorecard, Scores, score};

use common::{Scripted, at_once, cpu_seconds, load_average, peak_megabytes, repeated, run};

const RECORDS: usize = 3_000;
const REPETITIONS: usize = 5;

/// The whole runs: the argument that selects one, and its name in the output.
const WHOLE: &[(&str, &str)] = &[
    ("whole-offline", "whole run, embedded analyst"),
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
        // This process was started for one whole run.
        [mode, file] if WHOLE.iter().any(|(known, _)| known == mode) => {
            whole_run(mode, Path::new(file))
        }
        [] => measure(None),
        [file] => measure(Some(Path::new(file))),
        _ => eprintln!("usage: cargo bench --bench pipeline [-- FILE]"),
    }
}

#[expect(
    clippy::too_many_lines,
    reason = "prints one measurement after the other"
)]
fn measure(file: Option<&Path>) {
    let folder = tempfile::tempdir().unwrap();
    let many = repeated(file, folder.path(), RECORDS);
    let megabytes = std::fs::metadata(&many).unwrap().len() as f64 / 1e6;
    let data = dataset::load(&Source::Path(many.clone())).unwrap();
    let cases: Vec<_> = data
        .records
        .iter()
        .flat_map(|record| &record.questions)
        .collect();
    println!("load {}, one core", load_average());
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
                prompts.analyst(&case.question).unwrap();
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
                std::hint::black_box(evaluate(program, table, Evaluator::ConvFinQa));
            }
        },
    );
    let all: Vec<_> = cases.iter().chain(&turns).map(|case| &***case).collect();
    let rows: Vec<Row> = all
        .iter()
        .enumerate()
        .map(|(at, case)| row(at, case, &all))
        .collect();
    report("score a row by every rule", rows.len(), "rows", || {
        for row in &rows {
            std::hint::black_box(score(row));
        }
    });
    let scored: Vec<Row> = rows.iter().cloned().map(Row::with_scores).collect();
    report("sum scored rows up", scored.len(), "rows", || {
        std::hint::black_box(Scorecard::of(&scored));
    });
    let analyst = EmbeddedAnalyst::new();
    report(
        "embedded analyst, stand-alone",
        cases.len(),
        "questions",
        || {
            for case in &cases {
                let page = analyst.index(&case.question.document);
                std::hint::black_box(analyst.answer(&page, &case.question));
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
            let started = Clock::now();
            let mut times = 0;
            // Repeat for long enough that the kernel's clock ticks do not show.
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

/// A row to score. Every second one is right; the others have the gold answer of the row after
/// them.
fn row(at: usize, case: &dataset::Case, all: &[&dataset::Case]) -> Row {
    let said = if at.is_multiple_of(2) {
        case
    } else {
        all[(at + 1) % all.len()]
    };
    let printed = |gold: &dataset::Gold| {
        let value = gold.exe_ans.as_ref().map(ToString::to_string);
        gold.answer.clone().or(value).unwrap_or_default()
    };
    Row {
        index: at,
        epoch: 0,
        turns: None,
        key: case.question.key.clone(),
        filename: case.question.document.filename.clone(),
        kind: None,
        question: case.question.text.clone(),
        gold: case.gold.clone(),
        mode: Mode::Questions,
        solution: Solution {
            answer: Some(Answer {
                printed: printed(&said.gold),
                value: said.gold.exe_ans.clone(),
                program: said.gold.program.clone(),
                ..Answer::default()
            }),
            ..Solution::new(dataset::Outcome::Answered, StopReason::Accepted)
        },
        scores: Scores::default(),
        latency: Some(1.0),
        cost: None,
        draft_cost: None,
        stamp: None,
        document: Some(Arc::clone(&case.question.document)),
        cells: Some(PredictionCells {
            ground_truth: Some(printed(&case.gold)),
            prediction: printed(&said.gold),
            rounds: None,
        }),
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
    let model = mode
        .starts_with("whole-model")
        .then(|| Arc::new(Scripted(at_once)) as Arc<dyn ChatModel>);
    runtime.block_on(async {
        let traces = traces(mode, folder.path());
        run(data, Mode::Questions, model, folder.path()).await;
        traces.finish().await;
    });
    let (wall, cpu) = (started.elapsed().as_secs_f64(), cpu_seconds() - before);
    println!("{wall} {cpu} {}", peak_megabytes());
}

/// Traces to a file, if the mode asks for them.
fn traces(mode: &str, folder: &Path) -> Telemetry {
    let content = mode.ends_with("-content");
    let options = telemetry::TelemetryOptions {
        log: LogFormat::Off,
        level: None,
        lines: Arc::new(|_| {}),
        redactor: Arc::new(telemetry::Redactor::new(vec![
            "a-key-that-is-in-no-prompt".into(),
        ])),
        service_name: None,
        file: content || mode.ends_with("-traced"),
        collector: None,
        content,
    };
    let telemetry = telemetry::install(options).unwrap();
    telemetry.write_to(&folder.join("traces.jsonl")).unwrap();
    telemetry
}

/// The CPU time of this thread, or wall time if the kernel does not report it.
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
