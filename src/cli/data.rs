//! `convfinqa data`: download, check, show, statistics.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use serde::Serialize;

use crate::dataset::{self, Dataset, DatasetFinding, RecordDefect, Source};
use crate::output::terminal::download_bar;
use finqa_agents::llm;
use finqa_core::fetch::{DownloadEvent, DownloadOptions, download};
use finqa_core::text::counted;

use super::stdout::print_text;
use super::{Exit, Failure, runtime, settings};

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
pub(crate) fn execute(command: DataCommand, matches: &ArgMatches) -> anyhow::Result<Exit> {
    match command {
        DataCommand::Download { output, force } => fetch(&output, force),
        DataCommand::Check {
            programs: Some(path),
            ..
        } => check_programs(&load(Some(&path))?),
        DataCommand::Check { data, all, .. } => check(&data.load(matches)?, all),
        DataCommand::Show { id, data, gold } => show(&data.load(matches)?, &id, gold),
        DataCommand::Stats { data } => print_text(&dataset::stats_text(&data.load(matches)?)),
    }
}

fn load(data: Option<&str>) -> anyhow::Result<Dataset> {
    let source = data.map(Source::from_name).or_else(Source::downloaded);
    Ok(dataset::load(&source.unwrap_or(Source::Sample))?)
}

fn fetch(to: &Path, force: bool) -> anyhow::Result<Exit> {
    let client = llm::http_client(false)?;
    let options = DownloadOptions {
        force,
        ..crate::dataset::published()
    };
    let (writer, bar) = download_bar("{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}");
    let mut on_event = |event: DownloadEvent| match event {
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
    };
    let runtime = runtime()?;
    let files = runtime.block_on(download(&client, to, &options, &mut on_event))?;
    bar.finish_and_clear();
    let paths = files.iter().map(|file| format!("{}\n", file.display()));
    print_text(&paths.collect::<String>())
}

fn check(dataset: &Dataset, all: bool) -> anyhow::Result<Exit> {
    let (confirmed, findings) = dataset::check(dataset);
    let mut counts: BTreeMap<RecordDefect, usize> = BTreeMap::new();
    for finding in &findings {
        *counts.entry(finding.defect).or_default() += 1;
    }
    let counts = counts.iter();
    let listed = findings.iter().filter(|_| all);
    let head = format!(
        "{}: {}, {}, {}\n{confirmed:>6}  gold programs execute to their value\n",
        dataset.source,
        counted(dataset.records.len(), "record"),
        counted(dataset.question_count(), "stand-alone question"),
        counted(dataset.turn_count(), "turn")
    );
    let counts = counts.map(|(defect, count)| format!("{count:>6}  {defect}\n"));
    let lines = std::iter::once(head).chain(counts);
    print_text(&lines.chain(listed.map(finding_line)).collect::<String>())
}

fn finding_line(finding: &DatasetFinding) -> String {
    let DatasetFinding {
        defect,
        id,
        part,
        detail,
    } = finding;
    format!("{id} ({part}): {defect}: {detail}\n")
}

/// Executes every gold program officially: those of turns in the ConvFinQA dialect,
/// those of stand-alone questions in FinQA's.
fn check_programs(dataset: &Dataset) -> anyhow::Result<Exit> {
    let (agree, mut misses) = dataset::check(dataset);
    let of_program = [RecordDefect::ProgramFails, RecordDefect::ValueDiffers];
    misses.retain(|finding| of_program.contains(&finding.defect));
    let lines: String = misses.iter().map(finding_line).collect();
    let all = agree + misses.len();
    print_text(&format!(
        "{lines}{agree} of {all} gold programs execute to their exe_ans exactly\n"
    ))?;
    Ok(match misses.is_empty() {
        true => Exit::Done,
        false => Exit::Data,
    })
}

fn show(dataset: &Dataset, id: &str, gold: bool) -> anyhow::Result<Exit> {
    let records = dataset.records.iter();
    let mut found = records.filter(|record| record.id().contains(id));
    let record = match (dataset.record(id), found.next(), found.next()) {
        (Some(record), ..) | (None, Some(record), None) => record,
        (None, first, _) => {
            let what = match first {
                Some(_) => format!("several ids contain {id}; give the whole id"),
                None => format!("no id contains {id}"),
            };
            return Err(Failure::usage(format!("{}: {what}", dataset.source)).into());
        }
    };
    let mut text = dataset::record_text(record);
    if gold {
        text.push('\n');
        text.push_str(&dataset::gold_text(record));
    }
    print_text(&text)
}
