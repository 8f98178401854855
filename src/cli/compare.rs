//! `convfinqa compare`: two runs, question by question, offline.

use std::io::Write;
use std::path::PathBuf;

use crate::analysis::{Answers, compare};
use crate::sinks::terminal::comparison_tables;

use super::Exit;
use super::analyze::{RuleName, records};

/// Arguments of `compare`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The first: a CSV or JSONL of answers, or a run's folder
    a: PathBuf,
    /// The second, over the same questions
    b: PathBuf,
    /// The rule by which questions flip
    #[arg(long, value_name = "RULE", default_value = "fe")]
    rule: RuleName,
    /// Compare the questions that both have, and say how many were left out
    #[arg(long)]
    common: bool,
    /// The records that were asked (a file, or `sample`): one gold for both
    #[arg(long, value_name = "FILE")]
    data_path: Option<String>,
    /// Print the comparison as JSON
    #[arg(long)]
    json: bool,
}

/// Compares the two.
///
/// # Errors
/// Answers that cannot be read, or that are not about the same questions.
pub fn execute(args: &Args) -> anyhow::Result<Exit> {
    let dataset = records(args.data_path.as_deref())?;
    let a = Answers::open(&args.a, dataset.as_ref())?;
    let b = Answers::open(&args.b, dataset.as_ref())?;
    let comparison = compare(&a, &b, args.rule.into(), args.common)?;
    let mut stdout = std::io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut stdout, &comparison)?;
        writeln!(stdout)?;
    } else {
        writeln!(stdout, "{}", comparison_tables(&comparison))?;
    }
    Ok(Exit::Done)
}
