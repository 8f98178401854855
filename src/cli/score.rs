//! `convfinqa score`: any predictions by every rule, offline.

use std::io::Write;
use std::path::PathBuf;

use crate::dataset::{self, Source};
use crate::score::files::{read_predictions, rescore};
use crate::score::{Scorecard, ScoredRow};
use crate::sinks::terminal::{Look, scorecard_tables};

use super::Exit;

/// Arguments of `score`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Our output.csv, the reference system's CSV, or JSONL of predictions
    file: PathBuf,
    /// The records that were asked: gold programs and tables (a file, or `sample`)
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
    let rows = read_predictions(&args.file)?;
    let dataset = args
        .data_path
        .as_deref()
        .map(|path| match path {
            "sample" => dataset::sample(),
            path => dataset::load(&Source::Path(path.into())),
        })
        .transpose()?;
    let scored: Vec<ScoredRow> = rescore(rows, dataset.as_ref())?;
    let card = Scorecard::of(&scored);
    let mut stdout = std::io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut stdout, &card)?;
        writeln!(stdout)?;
    } else {
        writeln!(stdout, "{}", scorecard_tables(&card, look))?;
    }
    args.gate.write(&args.file.display().to_string(), &scored)?;
    args.gate.hold(&card.rates)?;
    Ok(Exit::Done)
}
