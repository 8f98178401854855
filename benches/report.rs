//! What a report of a large run costs: `cargo bench --bench report [-- FILE] [--rows N]`.
//!
//! Asks the turns of the records (the built-in sample, or FILE), repeated
//! under new ids and with pages of their own up to 20,000, by a scripted model
//! in this process that is wrong at times and sent back at times. Prints the
//! journal's size, the report's size, the time and memory that it takes to make
//! it (in a process of its own), and, where Chromium is installed, what a reader
//! waits for: `tests/browser/report_page.py --measure`.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a measuring program ends at the first surprise"
)]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use convfinqa::analysis::MissFinder;
use convfinqa::dataset::{self, Source};
use convfinqa::output::report::Report;
use convfinqa::run::SummaryBuilder;
use convfinqa::run::{Journal, Mode};
use finqa_agents::llm::{ChatModel, ChatRequest};

use common::{Scripted, cpu_seconds, peak_megabytes, repeated, run};

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|a| a != "--bench");
    let (mut rows, mut file) = (20_000, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rows" => rows = arguments.next().unwrap().parse().unwrap(),
            // A report, in a process of its own.
            "write" => return write(Path::new(&arguments.next().unwrap())),
            _ => file = Some(PathBuf::from(argument)),
        }
    }
    measure(file.as_deref(), rows);
}

fn measure(file: Option<&Path>, rows: usize) {
    let folder = tempfile::tempdir().unwrap();
    let few = dataset::load(&Source::Path(repeated(file, folder.path(), 40))).unwrap();
    let turns: usize = few.records.iter().map(|record| record.turns.len()).sum();
    let records = (rows * few.records.len()).div_ceil(turns.max(1));
    let many = repeated(file, folder.path(), records);
    let data = dataset::load(&Source::Path(many)).unwrap();
    let asked: usize = data.records.iter().map(|record| record.turns.len()).sum();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let model: Arc<dyn ChatModel> = Arc::new(Scripted(wrong_at_times));
    let journal = runtime.block_on(run(data, Mode::Conversations, Some(model), folder.path()));
    let megabytes = |path: &Path| std::fs::metadata(path).unwrap().len() as f64 / 1e6;
    println!(
        "{asked} turns of {records} records; journal {:.0} MB",
        megabytes(&journal)
    );
    let output = Command::new(std::env::current_exe().unwrap())
        .arg("write")
        .arg(folder.path())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let report = folder.path().join("report.html");
    let size = megabytes(&report);
    println!(
        "report.html {size:.1} MB, {:.2} KB a question; made in {}",
        1e3 * size / asked as f64,
        text.trim()
    );
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/report_page.py");
    let seen = Command::new("python3")
        .arg(script)
        .arg(&report)
        .arg("--measure")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .status();
    if let Err(error) = seen {
        println!("skipped: python3 cannot be started ({error})");
    }
}

/// Makes the report of the journal in `folder` as the end of a run does.
fn write(folder: &Path) {
    let started = Instant::now();
    let before = cpu_seconds();
    let journal = Journal::open(&folder.join("journal.sqlite")).unwrap();
    let meta = journal.meta().unwrap();
    let records = meta.records().unwrap();
    let loaded = started.elapsed().as_secs_f64();
    let mut tally = SummaryBuilder::default();
    let page = folder.join("report.html");
    let mut report = Report::new(&page, Ok(&records));
    let mut passing = MissFinder::new(meta.kind(), Some(&records));
    journal
        .try_for_each_row(|mut row| {
            let miss = passing.find(&mut row);
            tally.add(&row);
            report.add(&row, miss.as_ref())
        })
        .unwrap();
    let read = started.elapsed().as_secs_f64();
    let summary = tally.finish(&journal).unwrap();
    let summed = started.elapsed().as_secs_f64();
    report.write(&summary).unwrap();
    let all = started.elapsed().as_secs_f64();
    println!(
        "{all:.1} s ({:.1} s CPU): records {loaded:.1}, rows and causes {:.1}, scores {:.1}, page {:.1}; peak {:.0} MB",
        cpu_seconds() - before,
        read - loaded,
        summed - read,
        all - summed,
        peak_megabytes()
    );
}

/// Cites two numbers of the page, and as the critic sends some back.
fn wrong_at_times(request: &ChatRequest) -> String {
    let asked = &request.messages.last().unwrap().content;
    let chance = blake3::hash(asked.as_bytes()).as_bytes()[0];
    if request.node == "critic" {
        return if chance.is_multiple_of(3) {
            r#"{"findings": [{"where": "program, step 0", "problem": "The figure of the earlier year stands first; a change is later minus earlier, so r2c1 comes before r2c2.", "fix": "subtract the earlier year from the later one"}], "verdict": "REVISE"}"#.to_owned()
        } else {
            "ALL_OK".to_owned()
        };
    }
    let figures: Vec<String> = request
        .messages
        .iter()
        .flat_map(|message| message.content.split_whitespace())
        .filter(|word| word.len() > 2 && word.bytes().all(|b| b.is_ascii_digit()))
        .map(str::to_owned)
        .collect();
    let at = |n: usize| {
        figures
            .get(n % figures.len().max(1))
            .map_or("10", String::as_str)
    };
    let (a, b) = (at(usize::from(chance)), at(usize::from(chance) / 2 + 7));
    format!(
        r#"{{"steps": ["what is asked is the change from one year to the next", "{a} stands in the row that is asked for, {b} beside it", "take one from the other and divide by the earlier"], "evidence": [{{"id": "r1c1", "literal": "{a}"}}, {{"id": "r2c2", "literal": "{b}"}}], "program": "subtract({a}, {b}), divide(#0, {b})", "unit": "percent", "label": "the change of the figure that is asked for, in percent", "confidence": 0.8, "answer": "{chance}%"}}"#
    )
}
