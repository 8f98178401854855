//! `convfinqa analyze`: every miss with its cause, offline.

use std::path::{Path, PathBuf};

use clap::ArgMatches;

use crate::analysis::{Answers, analyze};
use crate::dataset::load_named;
use crate::output::terminal::{TerminalStyle, analysis_tables};
use crate::output::write_misses;
use crate::run::{RunFolder, command};
use crate::score::{Rule, ScoreError};

use super::args::OutputFolder;
use super::exit::with_output_hint;
use super::outputs::check_outputs;
use super::{Exit, Failure, stdout};

/// Arguments of `analyze`.
#[derive(clap::Args, Debug)]
pub(crate) struct AnalyzeArgs {
    /// CSV or JSONL file of answers, or a run: its folder, its id, a prefix of its id, or `last`
    /// [default: output.csv in the --output folder]
    file: Option<PathBuf>,
    #[command(flatten)]
    output: OutputFolder,
    /// Records with the gold programs and pages: a file, or `sample`
    #[arg(long, value_name = "FILE")]
    data_path: Option<String>,
    /// Rule that decides which answers are misses: fe, nm, em, ex, pe or pa
    #[arg(long, value_name = "RULE", default_value = "fe", value_parser = super::ci::rule)]
    rule: Rule,
    /// Number of misses to show per cause
    #[arg(long, value_name = "N", default_value_t = 3)]
    examples: usize,
    /// Write every miss with its cause to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Print the analysis as JSON
    #[arg(long)]
    json: bool,
}

/// Analyses the answers.
pub(crate) fn execute(
    args: &AnalyzeArgs,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> anyhow::Result<Exit> {
    let output = args.output.path(matches)?;
    let file = match &args.file {
        Some(file) => file.clone(),
        None => last_answers(&output)?,
    };
    let named = RunFolder::answers_at(&file, &output)?;
    let outputs = [("--csv FILE", args.csv.as_deref())];
    check_outputs(
        &outputs,
        &args.output.inputs(&[&named], args.data_path.as_deref()),
    )?;
    let dataset = load_named(args.data_path.as_deref())?;
    let answers = Answers::open(&named, dataset.as_ref())?;
    if let Some(reason) = &answers.no_records {
        without_records(reason);
    }
    let analysis = analyze(&answers, args.rule);
    if analysis.questions == 0 {
        let (path, rows) = (file, answers.rows.len());
        return Err(ScoreError::NothingScored { path, rows }.into());
    }
    if let Some(path) = &args.csv {
        write_misses(path, &analysis.misses).map_err(with_output_hint("--csv FILE"))?;
    }
    if args.json {
        stdout::print_json(&analysis)?;
    } else {
        let tables = analysis_tables(&analysis, args.examples, style);
        stdout::print(|out| writeln!(out, "{tables}"))?;
    }
    Ok(Exit::Done)
}

/// The CSV of the last run.
fn last_answers(output: &Path) -> Result<PathBuf, Failure> {
    let csv = output.join(RunFolder::CSV);
    if csv.exists() {
        return Ok(csv);
    }
    let line = format!(
        "{}: no such file; name the run or the file to analyze (`{}` lists the runs)",
        csv.display(),
        command("runs", output)
    );
    Err(Failure::new(Exit::Data, line))
}

/// Prints why a run's own records cannot be read, and how to fix it.
pub(super) fn without_records(reason: &str) {
    super::note(format_args!(
        "note: {reason}; pass --data-path FILE for its pages and gold programs"
    ));
}
