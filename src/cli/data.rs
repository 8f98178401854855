//! `convfinqa data`: download, check, show, statistics.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ArgMatches;
use serde::Serialize;

use crate::dataset::{self, Dataset, DatasetReport, RecordDefect, Source, Stats};
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
    /// Read every record, execute every gold program, and report problems
    Check {
        #[command(flatten)]
        data: DataFile,
        /// Only execute the gold programs of FILE; exit with code 3 if any result differs from the gold value (`exe_ans`)
        #[arg(long, value_name = "FILE", conflicts_with_all = ["data_path", "file"])]
        programs: Option<String>,
        /// Also list the problems of each record
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
    /// Count records, questions, turns, operations and cells
    Stats {
        #[command(flatten)]
        data: DataFile,
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

/// The file of records, also as version 0.1 named it.
#[derive(clap::Args, Debug)]
pub(crate) struct DataFile {
    #[command(flatten)]
    path: DataPath,
    /// The positional form of version 0.1.
    #[arg(hide = true, conflicts_with = "data_path")]
    file: Option<String>,
}

impl DataFile {
    fn load(&self, matches: &ArgMatches) -> anyhow::Result<Dataset> {
        match &self.file {
            Some(file) => load(Some(file)),
            None => self.path.load(matches),
        }
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
    let mut on_event = |event: DownloadEvent| {
        let line = match event {
            DownloadEvent::AlreadyThere => "all files are present and verified".to_owned(),
            DownloadEvent::Received { bytes, total } => {
                if let Some(total) = total {
                    bar.set_length(total);
                }
                bar.set_position(bytes);
                return;
            }
            DownloadEvent::Retrying { reason, pause } => {
                format!("{reason}; retrying in {:.0} s", pause.as_secs_f64())
            }
            DownloadEvent::Unpacked { name, bytes } => format!("unpacked {name} ({bytes} bytes)"),
            DownloadEvent::NotInArchive { name } => format!("{name} is not in the archive"),
        };
        writer.line(&line);
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
    let DatasetReport {
        records,
        questions,
        turns,
        programs_confirmed,
        findings,
    } = &report;
    stdout::print_words(|out| {
        writeln!(
            out,
            "{}: {}, {}, {}",
            dataset.source,
            counted(*records, "record"),
            counted(*questions, "stand-alone question"),
            counted(*turns, "turn")
        )?;
        writeln!(
            out,
            "{programs_confirmed:>6}  gold programs execute to their value"
        )?;
        for (defect, count) in report.counts() {
            writeln!(out, "{count:>6}  {}", defect.label())?;
        }
        if all {
            for finding in findings {
                let part = finding
                    .part
                    .as_deref()
                    .map(|part| format!(" ({part})"))
                    .unwrap_or_default();
                writeln!(
                    out,
                    "{}{part}: {} {}",
                    finding.id,
                    finding.defect.label(),
                    finding.detail
                )?;
            }
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// Executes every gold program officially: those of turns in the ConvFinQA dialect,
/// those of stand-alone questions in FinQA's.
fn check_programs(dataset: &Dataset) -> anyhow::Result<Exit> {
    let report = dataset::check(dataset);
    let fails = |defect| {
        matches!(
            defect,
            RecordDefect::ProgramUnreadable
                | RecordDefect::ProgramFails
                | RecordDefect::ValueDiffers
        )
    };
    let misses: Vec<_> = report
        .findings
        .iter()
        .filter(|finding| fails(finding.defect))
        .collect();
    let agree = report.programs_confirmed;
    stdout::print_words(|out| {
        for miss in &misses {
            let part = miss.part.as_deref().unwrap_or_default();
            writeln!(
                out,
                "{} ({part}): {}: {}",
                miss.id,
                miss.defect.label(),
                miss.detail
            )?;
        }
        writeln!(
            out,
            "{agree} of {} gold programs execute to their exe_ans exactly",
            agree + misses.len()
        )
    })?;
    Ok(if misses.is_empty() {
        Exit::Done
    } else {
        Exit::Data
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
    let Stats {
        records,
        singles,
        doubles,
        pages,
        questions,
        turns,
        ..
    } = &stats;
    stdout::print_words(|out| {
        // The items of a list are not broken in two.
        let list = |text: &str| style.wrap(text).replace('\u{a0}', " ");
        writeln!(out, "{}", dataset.source)?;
        writeln!(out, "blake3       {}", dataset.hash)?;
        writeln!(
            out,
            "records      {records} ({singles} Single, {doubles} Double) on {pages} pages"
        )?;
        writeln!(
            out,
            "questions    {questions} stand-alone, {} with program and value",
            stats.questions_executable
        )?;
        writeln!(
            out,
            "turns        {turns}, {} with program and value",
            stats.turns_executable
        )?;
        let lengths = |counts: &BTreeMap<usize, usize>, noun: &str| {
            let lengths = counts.iter();
            items(lengths.map(|(length, count)| (counted(*length as u64, noun), count)))
        };
        let turns = lengths(&stats.turns_per_conversation, "turn");
        let steps = lengths(&stats.steps_per_program, "step");
        let operations = items(stats.operations.iter());
        writeln!(
            out,
            "{}",
            list(&format!("conversations by length: {turns}"))
        )?;
        writeln!(out, "{}", list(&format!("programs by length: {steps}")))?;
        writeln!(out, "{}", list(&format!("operations: {operations}")))?;
        writeln!(out, "yes/no       {}", stats.yes_no)?;
        writeln!(out, "sentences    {}", stats.sentences)?;
        let (rows, columns) = (stats.rows, stats.columns);
        writeln!(
            out,
            "tables       rows {}–{} (mean {:.1}), columns {}–{} (mean {:.1})",
            rows.min, rows.max, rows.mean, columns.min, columns.max, columns.mean
        )?;
        let cells = stats.cells;
        writeln!(
            out,
            "cells        {} numbers, {} dashes, {} text, {} empty\n             \
             (of the numbers {} written twice, {} negative, {} percent)",
            cells.numbers,
            cells.dashes,
            cells.text,
            cells.empty,
            cells.doubled,
            cells.negative,
            cells.percent
        )?;
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// `1 step: 30, 2 steps: 12`, with no space in an item at which a line may be broken.
fn items<'a, K: Display>(counts: impl Iterator<Item = (K, &'a usize)>) -> String {
    let items = counts.map(|(key, count)| format!("{key}: {count}").replace(' ', "\u{a0}"));
    items.collect::<Vec<_>>().join(", ")
}
