//! `convfinqa score`: any predictions by every rule, offline.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use serde::Serialize;

use crate::analysis::Answers;
use crate::output::terminal::{TerminalStyle, scorecard_tables};
use crate::output::write_leaderboard;
use crate::pipeline::judge;
use crate::run::{Journal, RunFolder};
use crate::score::{Row, ScoreError, Scorecard, score};
use crate::settings::{CalibrationSettings, Settings};

use super::args::{OutputFolder, RecordsFile};
use super::exit::with_output_hint;
use super::outputs::check_outputs;
use super::{Exit, Failure, stdout};

/// Arguments of `score`.
#[derive(clap::Args, Debug)]
pub(crate) struct ScoreArgs {
    /// File of predictions (CSV or JSONL; docs/scoring.md lists its columns), or a run: its
    /// folder, its id, a prefix of its id, or `last`
    file: PathBuf,
    #[command(flatten)]
    output: OutputFolder,
    #[command(flatten)]
    records: RecordsFile,
    /// Print the scores as JSON
    #[arg(long)]
    json: bool,
    /// Write the predicted programs in the ConvFinQA leaderboard's format
    #[arg(long, value_name = "FILE")]
    export_predictions: Option<PathBuf>,
    #[command(flatten)]
    calibration: CalibrationSettings,
    #[command(flatten)]
    ci: super::ci::CiArgs,
}

const EXPORT_PREDICTIONS: &str = "--export-predictions FILE";

/// Scores the file.
pub(crate) fn execute(
    args: &ScoreArgs,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> anyhow::Result<Exit> {
    let output = args.output.path(matches)?;
    let named = RunFolder::answers_at(&args.file, &output)?;
    let export = args.export_predictions.as_deref();
    let inputs = [&*named, &output, args.records.path()];
    check_outputs(&[(EXPORT_PREDICTIONS, export)], &inputs)?;
    let given = args.records.load()?;
    let answers = Answers::open(&named, given.as_ref())?;
    if let Some(reason) = &answers.no_records {
        super::analyze::without_records(reason);
    }
    let missing = answers.missing_line();
    let not_asked = answers.not_asked;
    let mut scored = answers.rows;
    if args.calibration != CalibrationSettings::default() {
        if answers.run.is_none() {
            let line = "--calibration and --max-error need a run: a file of predictions does not say \
                        how its answers were made";
            return Err(Failure::usage(line).into());
        }
        judge_again(&mut scored, &named, &args.calibration)?;
    }
    if let Some(note) = unscored_reason(&scored) {
        super::note(note);
    }
    let card = Scorecard::of(&scored);
    if let Some(path) = export {
        write_leaderboard(path, &scored).map_err(with_output_hint(EXPORT_PREDICTIONS))?;
    }
    let held = args.ci.check_thresholds(&card, missing.as_deref());
    if card.rates.iter().next().is_none() {
        held?;
        let (path, rows) = (args.file.clone(), scored.len());
        return Err(ScoreError::NothingScored { path, rows }.into());
    }
    let printed = if args.json {
        let missing: Vec<String> = missing.into_iter().chain(card.gold_line()).collect();
        stdout::print_json(&ScoredAnswers {
            complete: missing.is_empty() && card.without_gold == 0,
            missing,
            not_asked,
            card: &card,
        })
    } else {
        stdout::print(|out| {
            writeln!(out, "{}", scorecard_tables(&card, style))?;
            match &missing {
                Some(line) => writeln!(out, "{}", style.wrap(&format!("Not complete: {line}"))),
                None => Ok(()),
            }
        })
    };
    held?;
    printed?;
    Ok(Exit::Done)
}

/// The scores of a file or a run, as `--json` prints them.
#[derive(Serialize)]
struct ScoredAnswers<'c> {
    /// True if every question has an answer or an outcome, and a gold.
    complete: bool,
    /// What is missing, one line each.
    missing: Vec<String>,
    /// Questions without a row.
    not_asked: usize,
    #[serde(flatten)]
    card: &'c Scorecard,
}

/// Gives the answers of a run the probabilities of another calibration, and withholds those that
/// `--max-error` excludes.
fn judge_again(rows: &mut [Row], run: &Path, given: &CalibrationSettings) -> anyhow::Result<()> {
    let journal = Journal::read(&run.join(RunFolder::JOURNAL))?;
    let settings = Settings {
        calibration: given.clone(),
        ..Settings::default()
    };
    let (judge, warning) = judge(&settings, &journal.meta()?.scope())?;
    warning.into_iter().for_each(super::note);
    let Some(judge) = judge else { return Ok(()) };
    // The rows to score lack the exchange that a probability is made from.
    let mut probabilities = Vec::new();
    journal.for_each_row(|row| probabilities.push(judge.probability(&row.solution)))?;
    for (row, probability) in rows.iter_mut().zip(probabilities) {
        row.solution = judge.apply(row.solution.clone(), probability);
        row.scores = score(row);
    }
    Ok(())
}

/// Programs that read a table cannot be executed without it.
fn unscored_reason(rows: &[Row]) -> Option<String> {
    let reads_table = |row: &&Row| {
        let program = row.program().unwrap_or_default();
        row.document.is_none() && program.contains("table_")
    };
    let count = rows.iter().filter(reads_table).count();
    (count > 0).then(|| {
        format!(
            "note: {count} of {} programs read their page's table, which is not available, and are not \
             executed; name the records with --data-path",
            rows.iter().filter(|row| row.program().is_some()).count()
        )
    })
}
