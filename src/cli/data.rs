//! `convfinqa data`: download, check, show, statistics.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ArgMatches;
use serde::Serialize;

use crate::dataset::{self, Dataset, DatasetFinding, Source};
use crate::output::terminal::{ProgressOptions, TerminalStyle, TerminalWriter};
use finqa_agents::llm;
use finqa_core::fetch::{DownloadEvent, DownloadOptions, download};
use finqa_core::text::counted;

use super::{Exit, Failure, runtime, settings, stdout};

/// The subcommands.
#[derive(clap::Subcommand, Debug)]
pub(crate) enum DataCommand {
    /// Download the published archive, verify it and unpack it
    Download {
        /// Target folder
        #[arg(
            long,
            short = 'o',
            value_name = "DIR",
            default_value = dataset::DATA_FOLDER
        )]
        output: PathBuf,
        /// Download again even if the existing files are intact
        #[arg(long)]
        force: bool,
    },
    /// Execute every gold program and report gold that does not hold
    Check {
        #[command(flatten)]
        data: DataPath,
        /// Only execute the gold programs of FILE; exit with code 3 if any result differs from the gold value (`exe_ans`)
        #[arg(long, value_name = "FILE", conflicts_with = "data_path")]
        programs: Option<String>,
        /// Also list each problem
        #[arg(long)]
        all: bool,
    },
    /// Print one record: page, table and questions
    Show {
        /// Id of the record, or an unambiguous part of it
        id: String,
        #[command(flatten)]
        data: DataPath,
        /// Also print the gold answers and programs
        #[arg(long)]
        gold: bool,
    },
    /// Count records, questions, turns and operations
    Stats {
        #[command(flatten)]
        data: DataPath,
    },
}

/// The file of records. What is serialised is a layer of settings.
#[derive(clap::Args, Debug, Serialize)]
pub(crate) struct DataPath {
    /// File of records, or `sample` [default: data/train.json if it exists, otherwise the sample]
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    data_path: Option<String>,
}

impl DataPath {
    /// Reads the file that flag, environment or settings file name.
    fn load(&self, matches: &ArgMatches) -> anyhow::Result<Dataset> {
        let settings = settings::load(self, matches, None)?;
        load(settings.questions.data_path.as_deref())
    }
}

/// Runs one.
pub(crate) fn execute(
    command: DataCommand,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> anyhow::Result<Exit> {
    match command {
        DataCommand::Download { output, force } => fetch(&output, force),
        DataCommand::Check {
            programs: Some(path),
            ..
        } => check_programs(&load(Some(&path))?),
        DataCommand::Check { data, all, .. } => check(&data.load(matches)?, all),
        DataCommand::Show { id, data, gold } => show(&data.load(matches)?, &id, gold),
        DataCommand::Stats { data } => print_stats(&data.load(matches)?, style),
    }
}

fn load(data: Option<&str>) -> anyhow::Result<Dataset> {
    let source = data.map(Source::from_name).or_else(Source::downloaded);
    Ok(dataset::load(&source.unwrap_or(Source::Sample))?)
}

fn fetch(to: &Path, force: bool) -> anyhow::Result<Exit> {
    let client = llm::http_client(Duration::from_secs(10), false)?;
    let options = DownloadOptions {
        force,
        ..crate::dataset::published()
    };
    let writer = TerminalWriter::new(ProgressOptions {
        terminal: std::io::stderr().is_terminal(),
        ..ProgressOptions::default()
    });
    let bar = writer.styled_bar("{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}");
    let mut on_event = |event: DownloadEvent| match event {
        DownloadEvent::AlreadyThere => writer.line("all files are present and verified"),
        DownloadEvent::Received { bytes, total } => {
            if let Some(total) = total {
                bar.set_length(total);
            }
            bar.set_position(bytes);
        }
        DownloadEvent::Retrying { reason, pause } => {
            let seconds = pause.as_secs_f64();
            writer.line(&format!("{reason}; retrying in {seconds:.0} s"));
        }
        DownloadEvent::Unpacked { name, bytes } => {
            writer.line(&format!("unpacked {name} ({bytes} bytes)"));
        }
        DownloadEvent::NotInArchive { .. } => {}
    };
    let runtime = runtime()?;
    let files = runtime.block_on(download(&client, to, &options, &mut on_event))?;
    bar.finish_and_clear();
    stdout::print_words(|out| {
        files
            .iter()
            .try_for_each(|file| writeln!(out, "{}", file.display()))
    })?;
    Ok(Exit::Done)
}

fn check(dataset: &Dataset, all: bool) -> anyhow::Result<Exit> {
    let report = dataset::check(dataset);
    stdout::print_words(|out| {
        writeln!(
            out,
            "{}: {}, {}, {}",
            dataset.source,
            counted(dataset.records.len(), "record"),
            counted(dataset.question_count(), "stand-alone question"),
            counted(dataset.turn_count(), "turn")
        )?;
        let confirmed = report.programs_confirmed;
        writeln!(out, "{confirmed:>6}  gold programs execute to their value")?;
        for (defect, count) in report.counts() {
            writeln!(out, "{count:>6}  {}", defect.label())?;
        }
        let mut findings = report.findings.iter().filter(|_| all);
        findings.try_for_each(|finding| writeln!(out, "{}", finding_line(finding)))
    })?;
    Ok(Exit::Done)
}

fn finding_line(finding: &DatasetFinding) -> String {
    let (id, part, label) = (&finding.id, &finding.part, finding.defect.label());
    format!("{id} ({part}): {label}: {}", finding.detail)
}

/// Executes every gold program officially: those of turns in the ConvFinQA dialect,
/// those of stand-alone questions in FinQA's.
fn check_programs(dataset: &Dataset) -> anyhow::Result<Exit> {
    let report = dataset::check(dataset);
    let mut misses = report.findings;
    misses.retain(|finding| finding.defect.is_of_program());
    let agree = report.programs_confirmed;
    let all = agree + misses.len();
    stdout::print_words(|out| {
        for miss in &misses {
            writeln!(out, "{}", finding_line(miss))?;
        }
        writeln!(
            out,
            "{agree} of {all} gold programs execute to their exe_ans exactly"
        )
    })?;
    Ok(match misses.is_empty() {
        true => Exit::Done,
        false => Exit::Data,
    })
}

fn show(dataset: &Dataset, id: &str, gold: bool) -> anyhow::Result<Exit> {
    let mut found = dataset
        .records
        .iter()
        .filter(|record| record.id().contains(id));
    let refused = |what: String| Failure::usage(format!("{}: {what}", dataset.source));
    let record = match (dataset.record(id), found.next(), found.next()) {
        (Some(record), ..) | (None, Some(record), None) => record,
        (None, Some(_), Some(_)) => {
            return Err(refused(format!("several ids contain {id}; give the whole id")).into());
        }
        (None, None, _) => {
            let what = "`convfinqa data stats` describes the file";
            return Err(refused(format!("no id contains {id}; {what}")).into());
        }
    };
    stdout::print_words(|out| {
        write!(out, "{}", dataset::record_text(record))?;
        if gold {
            write!(out, "\n{}", dataset::gold_text(record))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn print_stats(dataset: &Dataset, style: TerminalStyle) -> anyhow::Result<Exit> {
    let stats = dataset::stats(dataset);
    let lengths = |counts: &BTreeMap<usize, usize>, noun: &str| {
        let lengths = counts.iter();
        items(lengths.map(|(length, count)| (counted(*length as u64, noun), count)))
    };
    let lines = [
        dataset.source.clone(),
        format!("blake3       {}", dataset.hash),
        format!(
            "records      {} ({} Single, {} Double) on {} pages",
            stats.records, stats.singles, stats.doubles, stats.pages
        ),
        format!(
            "questions    {} stand-alone, {} with program and value",
            stats.questions, stats.questions_executable
        ),
        format!(
            "turns        {}, {} with program and value",
            stats.turns, stats.turns_executable
        ),
        format!(
            "conversations by length: {}",
            lengths(&stats.turns_per_conversation, "turn")
        ),
        format!(
            "programs by length: {}",
            lengths(&stats.steps_per_program, "step")
        ),
        format!("operations: {}", items(stats.operations.iter())),
        format!("yes/no       {}", stats.yes_no),
    ];
    stdout::print_words(|out| {
        // The items of a list are not broken in two.
        let list = |text: &str| style.wrap(text).replace('\u{a0}', " ");
        lines
            .iter()
            .try_for_each(|line| writeln!(out, "{}", list(line)))
    })?;
    Ok(Exit::Done)
}

/// `1 step: 30, 2 steps: 12`, with no space in an item at which a line may be broken.
fn items<'a, K: Display>(counts: impl Iterator<Item = (K, &'a usize)>) -> String {
    let items = counts.map(|(key, count)| format!("{key}: {count}").replace(' ', "\u{a0}"));
    items.collect::<Vec<_>>().join(", ")
}
