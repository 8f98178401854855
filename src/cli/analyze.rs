//! `convfinqa analyze`: finds the cause of each wrong answer, offline.

use std::path::PathBuf;

use clap::ArgMatches;

use finqa_journal::answers::open_answers;
use finqa_journal::run::RunFolder;
use finqa_report::output::terminal::{TerminalStyle, analysis_tables};
use finqa_report::output::write_misses;
use finqa_score::analysis::{Answers, analyze};
use finqa_score::score::{Rule, ScoreError};

use super::args::{OutputFolder, RecordsFile};
use super::exit::with_output_hint;
use super::outputs::check_outputs;
use super::{Exit, Failure, stdout};

#[derive(clap::Args, Debug)]
pub(crate) struct AnalyzeArgs {
    /// CSV or JSONL file of answers, or a run: its folder, its id, a prefix of its id, or `last`
    #[arg(default_value = "last")]
    file: PathBuf,
    #[command(flatten)]
    output: OutputFolder,
    #[command(flatten)]
    records: RecordsFile,
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

pub(crate) fn execute(
    args: &AnalyzeArgs,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> Result<Exit, Failure> {
    let output = args.output.path(matches)?;
    let named = RunFolder::answers_at(&args.file, &output)?;
    let outputs = [("--csv FILE", args.csv.as_deref())];
    check_outputs(&outputs, &[&named, &output, args.records.path()])?;
    let dataset = args.records.load()?;
    let answers = open_answers(&named, dataset.as_ref())?;
    print_notes(&answers);
    let missing = answers.missing_line();
    super::notes(missing.map(|line| format!("not complete: {line}")));
    let analysis = analyze(&answers, args.rule);
    if analysis.questions == 0 {
        let (path, rows) = (named, answers.rows.len());
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

/// Prints notes about answers: why a run's own records cannot be read, which golds were replaced,
/// and which are missing.
pub(super) fn print_notes(answers: &Answers) {
    super::notes(answers.no_records.iter().chain(&answers.gold_notes));
}
