//! `convfinqa data`: downloads, checks or shows the dataset, or counts its records.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use serde::Serialize;

use finqa_agents::llm;
use finqa_core::text::{counted, one_line, single_spaced};
use finqa_fetch::{DownloadEvent, download, published};
use finqa_report::output::terminal::download_bar;
use finqa_score::dataset::{self, Dataset, DatasetError, Source};
use finqa_score::score::{PrintedDefect, UnreadGold, check_printed, unread_answers, unread_values};

use super::args::print_notes;
use super::stdout::print_text;
use super::{Exit, Failure, runtime, settings};

#[derive(clap::Subcommand, Debug)]
pub(crate) enum DataCommand {
    /// Download the published archive, verify it and unpack it; intact files are kept
    Download {
        /// Target folder
        #[arg(
            long,
            short = 'o',
            value_name = "DIR",
            default_value = dataset::DATA_FOLDER
        )]
        output: PathBuf,
    },
    /// Say what the records of a file lack, and compare gold programs, gold values (`exe_ans`) and
    /// printed answers; exit with code 3 if any differ
    Check {
        /// File of records, or `sample`; the same as --data-path
        #[arg(value_name = "FILE", conflicts_with_all = ["data_path", "programs"])]
        file: Option<String>,
        #[command(flatten)]
        data: DataPath,
        /// Only execute the gold programs of FILE and compare their results with the gold values
        #[arg(long, value_name = "FILE", conflicts_with = "data_path")]
        programs: Option<String>,
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
    /// Count records, questions and turns
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
    /// Use only the records of one split of a file such as {"train": […], "dev": […]}
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    split: Option<String>,
}

impl DataPath {
    /// Reads the file that the flag, the environment or the settings file names; otherwise the
    /// downloaded data or the sample.
    fn load(&self, matches: &ArgMatches) -> Result<Dataset, Failure> {
        let settings = settings::load(self, matches, None)?;
        let questions = &settings.questions;
        let source = questions.data_path.as_deref().map(Source::from_name);
        let source = source.or_else(Source::downloaded).unwrap_or(Source::Sample);
        load(&source, questions.split.as_deref())
    }
}

fn load(source: &Source, split: Option<&str>) -> Result<Dataset, Failure> {
    let dataset = dataset::load_split(source, split);
    let dataset = dataset.map_err(|error| all_errors(source, split, error))?;
    print_notes(&dataset);
    Ok(dataset)
}

/// The failure of a file that cannot be read because of `first`. If several of its records have an
/// error, these are printed before it, so that they can be corrected together.
fn all_errors(source: &Source, split: Option<&str>, first: DatasetError) -> Failure {
    let errors = dataset::record_errors(source, split).unwrap_or_default();
    if errors.len() < 2 {
        return first.into();
    }
    let count = errors.len();
    let lines = errors.iter().map(|error| single_spaced(&error.to_string()));
    for line in at_most_ten(lines.collect()) {
        super::note(line);
    }
    let line = format!("{source} has {count} errors (see above); correct or drop these records");
    Failure::new(Exit::Data, line)
}

pub(crate) fn execute(command: DataCommand, matches: &ArgMatches) -> Result<Exit, Failure> {
    match command {
        DataCommand::Download { output } => fetch(&output),
        DataCommand::Check {
            file,
            programs,
            data,
        } => {
            let is_of_programs = programs.is_some();
            let split = data.split.as_deref();
            let named = programs.or(file);
            let named = named.map(|name| load(&Source::from_name(&name), split));
            check(
                &named.unwrap_or_else(|| data.load(matches))?,
                is_of_programs,
            )
        }
        DataCommand::Show { id, data, gold } => show(&data.load(matches)?, &id, gold),
        DataCommand::Stats { data } => print_text(&dataset::stats_text(&data.load(matches)?)),
    }
}

/// Downloads the published files into the folder `to`, and prints their paths. Intact files are
/// kept.
fn fetch(to: &Path) -> Result<Exit, Failure> {
    let client = llm::http_client(false)?;
    let options = published();
    let (writer, bar) = download_bar("{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}");
    let mut on_event = |event: DownloadEvent| match event {
        DownloadEvent::Received { bytes, total } => {
            // Without a total, the bar is full from the start, and only the bytes show progress.
            bar.set_length(total.unwrap_or_default());
            bar.set_position(bytes);
        }
        DownloadEvent::Retrying { reason, pause } => {
            let seconds = pause.as_secs_f64();
            writer.line(&format!("{reason}; retrying in {seconds:.0} s"));
        }
    };
    let files = runtime()?.block_on(download(&client, to, &options, &mut on_event))?;
    bar.finish_and_clear();
    let paths = files.iter().map(|file| format!("{}\n", file.display()));
    print_text(&paths.collect::<String>())
}

/// Prints what the records lack, and lists the golds that contradict themselves. These are programs
/// whose result is not their `exe_ans`. Unless only `programs` are checked, they are also values
/// that are not read, and printed answers that differ from their value. If there are any, the exit
/// is [`Exit::Data`].
fn check(dataset: &Dataset, programs: bool) -> Result<Exit, Failure> {
    let (agree, defects) = dataset::check(dataset);
    let lines = defects.iter();
    let mut lines: String = lines
        .map(|(question, defect)| format!("{question}: {defect}\n"))
        .collect();
    let mut summary = format!(
        "{agree} of {} gold programs execute to their exe_ans exactly\n",
        agree + defects.len()
    );
    let mut holds = defects.is_empty();
    if !programs {
        lines.insert_str(0, &(dataset::stats_text(dataset) + &remarks(dataset)));
        for UnreadGold { key, text } in unread_values(dataset) {
            holds = false;
            let text = one_line(&text, LONGEST_GOLD);
            lines += &format!(
                "{key}: exe_ans `{text}` is not a number, yes or no; write a plain number such as \
                 1234.5\n"
            );
        }
        let (agree, defects) = check_printed(dataset);
        lines.extend(defects.iter().map(printed_line));
        summary += &printed_summary(agree, &defects);
        holds &= defects.is_empty();
    }
    print_text(&(lines + &summary))?;
    Ok(if holds { Exit::Done } else { Exit::Data })
}

/// Maximum number of characters of a gold in a line, set by hand.
const LONGEST_GOLD: usize = 60;

/// The lines about what the records lack, and about golds that are unusual but may be right.
fn remarks(dataset: &Dataset) -> String {
    let missing = dataset::missing_fields(dataset).into_iter();
    let missing = missing.map(|line| format!("missing    {line}\n"));
    let unread = unread_answers(dataset).into_iter();
    let unread = unread.map(|UnreadGold { key, text }| {
        let text = one_line(&text, LONGEST_GOLD);
        format!(
            "answer of {key}: `{text}` is not read as a number, yes or no, so only the same text \
             is right; write a number with a decimal point, and commas only between thousands"
        )
    });
    let off_page = dataset::figures_off_page(dataset).into_iter();
    let off_page = off_page.map(|(key, figure)| {
        let figure = one_line(&figure, LONGEST_GOLD);
        format!("program of {key}: {figure} is not on its page")
    });
    let notes = at_most_ten(unread.collect()).into_iter();
    let notes = notes.chain(at_most_ten(off_page.collect()));
    let notes = notes.map(|line| format!("note       {line}\n"));
    missing.chain(notes).collect()
}

/// The first ten lines. If there are more, a last line counts them.
fn at_most_ten(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(10);
    lines.truncate(10);
    lines.extend((more > 0).then(|| format!("… and {more} more")));
    lines
}

fn printed_line(defect: &PrintedDefect) -> String {
    let PrintedDefect {
        key,
        printed,
        value,
        kind,
        is_suspect,
    } = defect;
    let suspect = if *is_suspect { ", suspect" } else { "" };
    format!("{key}: printed answer `{printed}` is not its value {value}: {kind}{suspect}\n")
}

/// Counts the printed answers that agree with their values, and the others by their kind.
fn printed_summary(agree: usize, defects: &[PrintedDefect]) -> String {
    let differ = defects.len();
    let mut summary = format!(
        "printed answers checked: {}; agree with their values: {agree}; differ: {differ}",
        agree + differ
    );
    let kinds: BTreeSet<_> = defects.iter().map(|defect| defect.kind).collect();
    let counts = kinds.into_iter().map(|kind| {
        let count = defects.iter().filter(|defect| defect.kind == kind).count();
        format!("{kind} {count}")
    });
    let counts: Vec<String> = counts.collect();
    if !counts.is_empty() {
        summary += &format!(" ({})", counts.join(", "));
    }
    let suspects = defects.iter().filter(|defect| defect.is_suspect).count();
    if suspects > 0 {
        summary += &format!(
            "\nsuspect: {suspects} (another figure, not only another sign or scale); scores are also \
             given without these golds"
        );
    }
    summary.push('\n');
    summary
}

/// Prints the record with this id, or else the only record whose id contains it.
fn show(dataset: &Dataset, id: &str, gold: bool) -> Result<Exit, Failure> {
    let records = dataset.records.iter();
    let found: Vec<_> = records.filter(|it| it.id().contains(id)).collect();
    let record = match (dataset.record(id), found.as_slice()) {
        (Some(record), _) => record,
        (None, [record]) => *record,
        (None, found) => {
            let (source, count) = (&dataset.source, counted(found.len(), "record"));
            let ids: Vec<&str> = found.iter().take(5).map(|it| it.id()).collect();
            let such = match ids.as_slice() {
                [] => "name a record's id or a part of it".to_owned(),
                ids if ids.len() == found.len() => format!("name one of {}", ids.join(", ")),
                ids => format!("name one, such as {}", ids.join(", ")),
            };
            let line = format!("{source}: {count} with {id} in the id; {such}");
            return Err(Failure::usage(line));
        }
    };
    let mut text = dataset::record_text(record);
    if gold {
        text.push('\n');
        text.push_str(&dataset::gold_text(record));
    }
    print_text(&text)
}
