//! `convfinqa score`: scores a file of predictions, or a run, by every rule, offline.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use serde::Serialize;

use finqa_core::text::counted;
use finqa_journal::answers::open_answers;
use finqa_journal::run::{Journal, RunFolder, RunKind, RunLock, RunMeta, StoredFile, command};
use finqa_journal::settings::{CalibrationSettings, Settings};
use finqa_report::output::terminal::{TerminalStyle, scorecard_tables};
use finqa_report::output::write_leaderboard;
use finqa_run::pipeline::{judge, write_results};
use finqa_score::dataset::{Dataset, Document};
use finqa_score::score::{Row, ScoreError, Scorecard, contradicting_value, score};

use super::args::{OutputFolder, RecordsFile};
use super::exit::with_output_hint;
use super::outputs::check_outputs;
use super::{Exit, Failure, stdout};

#[derive(clap::Args, Debug)]
pub(crate) struct ScoreArgs {
    /// File of predictions (CSV or JSONL; docs/scoring.md lists its columns), or a run: its
    /// folder, its id, a prefix of its id, or `last`
    file: PathBuf,
    #[command(flatten)]
    output: OutputFolder,
    #[command(flatten)]
    records: RecordsFile,
    /// Score a run by the gold of --data-path from now on, and write its rows, summary and report
    /// again; no model is asked, and the journal keeps the earlier gold
    #[arg(long, requires = "data_path", conflicts_with_all = ["calibration", "max_error"])]
    save: bool,
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

pub(crate) fn execute(
    args: &ScoreArgs,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> Result<Exit, Failure> {
    let output = args.output.path(matches)?;
    let named = RunFolder::answers_at(&args.file, &output)?;
    let export = args.export_predictions.as_deref();
    let inputs = [&*named, &output, args.records.path()];
    check_outputs(&[(EXPORT_PREDICTIONS, export)], &inputs)?;
    let given = args.records.load()?;
    let saved = match (&given, args.save) {
        (Some(data), true) => {
            let gold = StoredFile::of(data, args.records.split());
            Some(save(&named, &output, data, gold)?)
        }
        _ => None,
    };
    let answers = open_answers(&named, given.as_ref())?;
    super::analyze::print_notes(&answers);
    let missing = answers.missing_line();
    let not_asked = answers.not_asked;
    let mut scored = answers.rows;
    if args.calibration != CalibrationSettings::default() {
        if answers.run.is_none() {
            let line = "--calibration and --max-error need a run: a file of predictions does not say \
                        how its answers were made";
            return Err(Failure::usage(line));
        }
        judge_again(&mut scored, &named, &args.calibration)?;
    }
    let notes = [unscored_reason(&scored), contradicted_golds(&scored)];
    notes.into_iter().flatten().for_each(super::note);
    let card = Scorecard::of(&scored);
    if let Some(path) = export {
        write_leaderboard(path, &scored).map_err(with_output_hint(EXPORT_PREDICTIONS))?;
    }
    // Writes the JUnit file now. A failed threshold ends the command only after the scores are
    // printed.
    let held = args.ci.check_thresholds(&card, missing.as_deref());
    if card.rates.iter().next().is_none() {
        // A failed threshold takes precedence over the error below.
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
            let missing = missing.iter().map(|line| format!("Not complete: {line}"));
            let mut lines = missing.chain(saved);
            lines.try_for_each(|line| writeln!(out, "{}", style.wrap(&line)))
        })
    };
    held?;
    printed?;
    Ok(Exit::Done)
}

/// Makes the gold of `data` the gold of a run, and writes the run's files again. Returns a line for
/// the user. The journal is changed first, so that `report` can write the files after a kill.
///
/// # Errors
/// A file of predictions, a shard, episodes, an unfinished run, and data without gold for any of
/// the run's questions.
fn save(named: &Path, output: &Path, data: &Dataset, gold: StoredFile) -> Result<String, Failure> {
    if !named.join(RunFolder::JOURNAL).is_file() {
        let line = "--save is for runs: a file of predictions is scored by --data-path each time";
        return Err(Failure::usage(line));
    }
    let folder = RunFolder::locate(output, &named.to_string_lossy())?;
    let _lock = RunLock::take(folder.path())?;
    let mut journal = Journal::open(&folder.journal())?;
    let meta = journal.meta()?;
    let refused = match (&meta.shard, meta.kind()) {
        (Some(_), _) => Some("is a shard; merge it first".to_owned()),
        (_, RunKind::Episodes) => {
            Some("was played in an environment, which has its gold".to_owned())
        }
        _ if journal.is_complete()? => None,
        _ => Some(format!(
            "has questions left; {} first",
            meta.resume_command(output)
        )),
    };
    if let Some(reason) = refused {
        return Err(Failure::usage(format!("--save: run {} {reason}", meta.id)));
    }
    let rows = open_answers(folder.path(), Some(data))?.rows;
    if rows.iter().all(|row| row.gold.is_empty()) {
        let line = format!(
            "--save: {} has no gold for any question of run {}",
            data.source, meta.id
        );
        return Err(Failure::usage(line));
    }
    if let Some(line) = other_pages(&meta, &data.source, &rows) {
        super::note(format_args!("note: {line}"));
    }
    journal.renew_gold(gold, &rows)?;
    let is_last = folder.is_last();
    write_results(
        folder.path(),
        &journal,
        Ok(data),
        Some(&folder).filter(|_| is_last),
    )?;
    if folder.file(RunFolder::TRACKING).is_file() {
        let command = command(&format!("track sync {}", meta.id), output);
        super::note(format_args!(
            "note: `{command}` sends the new scores to MLflow"
        ));
    }
    Ok(format!(
        "Saved: run {} is scored by the gold of {}",
        meta.id, data.source
    ))
}

/// A line about rows whose page has another text or table in the file `source` than in the run's
/// own data, or about why that cannot be known. `None` if all pages are the same.
fn other_pages(meta: &RunMeta, source: &str, rows: &[Row]) -> Option<String> {
    // The run's own data. Without this, an earlier `--save` would replace it by the records of its
    // gold.
    let asked = RunMeta {
        gold: None,
        ..meta.clone()
    };
    let shown = match asked.records() {
        Ok(shown) => shown,
        Err(reason) => {
            return Some(format!(
                "{reason}, so whether {source} has the same pages is not known"
            ));
        }
    };
    let records = shown.records.iter();
    let records: HashMap<&str, &Document> = records.map(|it| (it.id(), &*it.document)).collect();
    let is_other = |row: &&Row| {
        let shown = records.get(row.key.id.as_str()).copied();
        let pages = row.document.as_deref().zip(shown);
        pages.is_some_and(|(a, b)| {
            (&a.pre_text, &a.post_text, &a.table) != (&b.pre_text, &b.post_text, &b.table)
        })
    };
    let others = rows.iter().filter(is_other).map(|row| &*row.key.id);
    let others: BTreeSet<&str> = others.collect();
    let first = others.first()?;
    let records = counted(others.len(), "record");
    Some(format!(
        "the pages of {records} in {source} are not those that the run was asked about, such as \
         {first}; only the gold is renewed, the answers are for the earlier pages"
    ))
}

/// A line about golds that their own program or `exe_ans` contradicts; `None` if there are none.
fn contradicted_golds(rows: &[Row]) -> Option<String> {
    let found = rows
        .iter()
        .filter_map(|row| Some((row, contradicting_value(row)?)));
    let found: Vec<_> = found.collect();
    let (row, value) = found.first()?;
    let keys: HashSet<_> = found.iter().map(|(row, _)| &row.key).collect();
    let recorded = row
        .gold
        .exe_ans
        .as_ref()
        .map(|value| format!("`exe_ans` {value}"));
    let printed = row
        .gold
        .answer
        .as_ref()
        .map(|answer| format!("answer `{answer}`"));
    let stated: Vec<_> = printed.into_iter().chain(recorded).collect();
    let by_program = match row.gold.program {
        Some(_) => format!(", program {value}"),
        None => String::new(),
    };
    Some(format!(
        "note: golds that their own program or `exe_ans` contradicts: {}, such as {}: {}{by_program}; \
         `convfinqa data check` lists those of a file of records",
        keys.len(),
        row.key,
        stated.join(", ")
    ))
}

/// The scores of a file or a run, as `--json` prints them.
#[derive(Serialize)]
struct ScoredAnswers<'c> {
    /// True if every question has an outcome and a gold.
    complete: bool,
    /// How many questions are not answered yet, and how many have a gold; at most one line each.
    missing: Vec<String>,
    /// Number of questions without a row.
    not_asked: usize,
    #[serde(flatten)]
    card: &'c Scorecard,
}

/// Computes the probabilities of a run's answers by another calibration, and withholds the answers
/// that `--max-error` excludes.
fn judge_again(rows: &mut [Row], run: &Path, given: &CalibrationSettings) -> Result<(), Failure> {
    let journal = Journal::read(&run.join(RunFolder::JOURNAL))?;
    let settings = Settings {
        calibration: given.clone(),
        ..Settings::default()
    };
    let (judge, warning) = judge(&settings, &journal.meta()?.scope())?;
    warning.into_iter().for_each(super::note);
    let Some(judge) = judge else { return Ok(()) };
    // Computed from the journal's rows, because probabilities depend on the exchange, which `rows`
    // lack.
    let mut probabilities = Vec::new();
    journal.for_each_row(|row| probabilities.push(judge.probability(&row.solution)))?;
    // `open_answers` read the rows from the journal too, so they are in the same order.
    for (row, probability) in rows.iter_mut().zip(probabilities) {
        row.solution = judge.apply(row.solution.clone(), probability);
        row.scores = score(row);
    }
    Ok(())
}

/// A line about programs that are not executed because they read the table of a page that is not
/// available; `None` if there are none.
fn unscored_reason(rows: &[Row]) -> Option<String> {
    let reads_table = |row: &&Row| {
        let program = row.program().unwrap_or_default();
        row.document.is_none() && program.contains("table_")
    };
    let count = rows.iter().filter(reads_table).count();
    (count > 0).then(|| {
        let programs = rows.iter().filter(|row| row.program().is_some()).count();
        format!(
            "note: {count} of {} not executed, because the page's table is not available; name the \
             records with --data-path",
            counted(programs, "program")
        )
    })
}
