//! `convfinqa score`: any predictions by every rule, offline.

use std::path::PathBuf;

use crate::analysis::records_behind;
use crate::score::files::{read_predictions, rescore};
use crate::score::{ScoreError, Scorecard, ScoredRow};
use crate::sinks::terminal::{Look, scorecard_tables};

use super::{Exit, stdout};

/// Arguments of `score`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Our output.csv, the reference system's CSV, or JSONL of predictions; a run's folder
    file: PathBuf,
    /// The records that were asked: gold programs and tables (a file, or `sample`); of a run's
    /// own CSV they are found
    #[arg(long, value_name = "FILE")]
    data_path: Option<String>,
    /// Print the scores as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    gate: super::gate::GateArgs,
}

/// Scores the file.
///
/// # Errors
/// A file that cannot be read, in one line with its line and column; a score
/// below `--fail-under`.
pub fn execute(args: &Args, look: Look) -> anyhow::Result<Exit> {
    let file = if args.file.is_dir() {
        args.file.join("output.csv")
    } else {
        args.file.clone()
    };
    let rows = read_predictions(&file)?;
    let mut dataset = super::analyze::records(args.data_path.as_deref())?;
    if dataset.is_none() {
        match records_behind(&file) {
            Some(Ok(own)) => dataset = Some(own),
            Some(Err(reason)) => super::analyze::without_records(&reason),
            None => {}
        }
    }
    let scored: Vec<ScoredRow> = rescore(rows, dataset.as_ref())?;
    if let Some(note) = unjudged(&scored) {
        super::note(note);
    }
    let card = Scorecard::of(&scored);
    let held = args
        .gate
        .write(&args.file.display().to_string(), &scored)
        .and_then(|()| args.gate.hold(&card.rates));
    if card.rates.iter().next().is_none() {
        held?;
        let (path, rows) = (args.file.clone(), scored.len());
        return Err(ScoreError::NothingScored { path, rows }.into());
    }
    let printed = if args.json {
        stdout::print_json(&card)
    } else {
        stdout::print(|out| writeln!(out, "{}", scorecard_tables(&card, look)))
    };
    held?;
    printed?;
    Ok(Exit::Done)
}

/// Programs that read a table cannot be executed without it.
fn unjudged(rows: &[ScoredRow]) -> Option<String> {
    let reads_table = |row: &&ScoredRow| {
        let program = row.item.program.as_deref().unwrap_or_default();
        row.item.document.is_none() && program.contains("table_")
    };
    let count = rows.iter().filter(reads_table).count();
    (count > 0).then(|| {
        format!(
            "note: {count} of {} programs read their page's table, which is not at hand, and are not \
             executed; name the records that were asked with --data-path",
            rows.iter().filter(|row| row.item.program.is_some()).count()
        )
    })
}
