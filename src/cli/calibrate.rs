//! `convfinqa calibrate`: fits the probability that an answer is right to runs with gold.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::ArgMatches;

use finqa_core::text::counted;
use finqa_journal::run::{Journal, RunFolder, RunKind, RunMeta};
use finqa_report::output::terminal::{TerminalStyle, calibration_text};
use finqa_report::output::write_json_pretty;
use finqa_score::calibration::{Calibration, Fitted, GivenWithin};

use super::args::OutputFolder;
use super::exit::with_output_hint;
use super::outputs::check_outputs;
use super::{Exit, Failure, stdout};

#[derive(clap::Args, Debug)]
#[command(
    after_help = "`run --calibration FILE` gives each answer its probability, and `--max-error 5%` withholds answers. docs/scoring.md says what the bounds mean."
)]
pub(crate) struct CalibrateArgs {
    /// Run whose questions have gold: its folder, its id, a prefix of its id, or `last`; several must differ only in their questions
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    #[command(flatten)]
    output: OutputFolder,
    /// File to write
    #[arg(long, value_name = "FILE", default_value = "calibration.json")]
    to: PathBuf,
}

const TO: &str = "--to FILE";

/// Fits the calibration, writes it, and prints how many answers a run would give with each
/// `--max-error`.
pub(crate) fn execute(
    args: &CalibrateArgs,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> Result<Exit, Failure> {
    let folder = args.output.path(matches)?;
    check_outputs(&[(TO, Some(&args.to))], &[&folder])?;
    let calibration = fitted_to(&args.runs, &folder)?;
    write_json_pretty(&args.to, &calibration).map_err(with_output_hint(TO))?;
    let within = GivenWithin::all(&calibration.curve);
    stdout::print(|out| {
        writeln!(out, "{}", calibration_text(&calibration, &within, style))?;
        writeln!(out, "Calibration: {}", args.to.display())
    })?;
    Ok(Exit::Done)
}

/// Fits a calibration to the answers of these runs in the folder `output`.
fn fitted_to(runs: &[String], output: &Path) -> Result<Calibration, Failure> {
    let mut judged = Vec::new();
    let mut metas: Vec<RunMeta> = Vec::new();
    for run in runs {
        let folder = RunFolder::locate(output, run)?;
        let journal = Journal::read(&folder.journal())?;
        let meta = RunMeta {
            // The folder's name, by which commands find the run.
            id: folder.id(),
            ..journal.meta()?
        };
        if let Some(reason) = unusable(&meta, &folder, metas.first(), journal.is_complete()?) {
            return Err(Failure::usage(format!("run {} {reason}", meta.id)));
        }
        let before = judged.len();
        journal.for_each_row(|row| judged.extend(row.as_example()))?;
        if judged.len() == before {
            let line = format!(
                "run {} has no answer with gold, so nothing can be calibrated",
                meta.id
            );
            return Err(Failure::new(Exit::Data, line));
        }
        metas.push(meta);
    }
    // There always is a first run, because clap requires one.
    let of = metas.first().cloned().unwrap_or_default();
    let pages: HashSet<u64> = judged.iter().map(|answer| answer.group.0).collect();
    let errors = judged.iter().filter(|answer| !answer.right).count();
    Ok(Calibration {
        fitted_on: format!(
            "{} of {} on {}",
            counted(judged.len(), "answer"),
            of.model(),
            of.data
        ),
        date: jiff::Timestamp::now().strftime("%F").to_string(),
        scope: Some(of.scope()),
        runs: metas.into_iter().map(|meta| meta.id).collect(),
        ..Calibration::of(Fitted::to(&judged), judged.len(), pages.len(), errors)
    })
}

/// The reason why a run's answers cannot be used for a calibration, or not together with those of
/// the `first` run; `None` if they can be used.
fn unusable(
    meta: &RunMeta,
    folder: &RunFolder,
    first: Option<&RunMeta>,
    is_complete: bool,
) -> Option<String> {
    if meta.kind() == RunKind::Episodes {
        return Some("played episodes, whose answers have no probability".to_owned());
    }
    // The questions that are still open would be missing from the calibration.
    if !is_complete {
        let command = meta.resume_command(folder.output());
        return Some(format!("is unfinished; `{command}` continues it"));
    }
    if meta.settings.contains_key("only") {
        let reason =
            "asked only some of another run's questions (--only), which are harder than others";
        return Some(reason.to_owned());
    }
    let first = first?;
    let difference = meta.scope().difference(&first.scope())?;
    let other = &first.id;
    Some(format!(
        "cannot be calibrated together with run {other}, because {difference}"
    ))
}
