//! `convfinqa calibrate`: from answers that gold has judged to the probability that an answer is
//! right.

use std::collections::HashSet;
use std::path::PathBuf;

use clap::ArgMatches;

use crate::calibration::{Calibration, Fitted, GivenWithin, JudgedAnswer, Scope};
use crate::output::terminal::{TerminalStyle, calibration_text};
use crate::output::write_json_pretty;
use crate::run::{FolderError, Journal, RunFolder, RunKind, RunMeta};
use crate::settings::Settings;

use super::args::ConfigFile;
use super::exit::with_output_hint;
use super::outputs::{check_outputs, inputs};
use super::{Exit, Failure, settings, stdout};

/// Arguments of `calibrate`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Runs are looked up in the folder that the settings name (CONVFINQA_OUTPUT; default: output). `run --calibration FILE` gives each answer its probability, and `--max-error 5%` withholds answers. docs/scoring.md says what the bounds mean."
)]
pub(crate) struct CalibrateArgs {
    /// Run whose questions have gold: its folder, its id, a prefix of its id, or `last`; several must differ only in their questions
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    /// File to write
    #[arg(
        long = "output",
        short = 'o',
        value_name = "FILE",
        default_value = "calibration.json"
    )]
    to: PathBuf,
    #[command(flatten)]
    config: ConfigFile,
}

const OUTPUT: &str = "--output FILE";

/// The judged answers of all runs, and what they are of.
struct Gathered {
    judged: Vec<JudgedAnswer>,
    scope: Scope,
    runs: Vec<String>,
    /// The model and the data, for people.
    of: String,
}

/// Fits the calibration, writes it, and prints what it allows.
pub(crate) fn execute(
    args: &CalibrateArgs,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> anyhow::Result<Exit> {
    let file = args.config.config.as_deref();
    let no_flags = toml::Table::new();
    let settings = settings::load(&no_flags, matches, file)?;
    check_outputs(&[(OUTPUT, Some(&args.to))], &inputs(file, None))?;
    let Gathered {
        judged,
        scope,
        runs,
        of,
    } = gather(&args.runs, &settings)?;
    let pages: HashSet<u64> = judged.iter().map(|answer| answer.group.0).collect();
    let errors = judged.iter().filter(|answer| !answer.right).count();
    let calibration = Calibration {
        fitted_on: format!("{} answers of {of}", judged.len()),
        date: jiff::Timestamp::now().strftime("%F").to_string(),
        scope: Some(scope),
        runs,
        ..Calibration::of(Fitted::to(&judged), judged.len(), pages.len(), errors)
    };
    write_json_pretty(&args.to, &calibration).map_err(with_output_hint(OUTPUT))?;
    let within = GivenWithin::all(&calibration.curve);
    stdout::print(|out| {
        writeln!(out, "{}", calibration_text(&calibration, &within, style))?;
        writeln!(out, "Calibration: {}", args.to.display())
    })?;
    Ok(Exit::Done)
}

fn gather(runs: &[String], settings: &Settings) -> anyhow::Result<Gathered> {
    let mut judged = Vec::new();
    let mut first: Option<(String, RunMeta)> = None;
    let mut ids = Vec::new();
    for run in runs {
        let folder = locate(run, settings)?;
        let journal = Journal::read(&folder.journal())?;
        let meta = journal.meta()?;
        let id = folder.id();
        if meta.kind() == RunKind::Episodes {
            let line = format!("run {id} played episodes, whose answers have no probability");
            return Err(Failure::usage(line).into());
        }
        if !journal.is_complete()? {
            let command = meta.resume_command(folder.output());
            let line = format!("run {id} is unfinished; `{command}` continues it");
            return Err(Failure::usage(line).into());
        }
        if meta.settings.contains_key("only") {
            let line = format!(
                "run {id} asked only some of another run's questions (--only), which are harder \
                 than others"
            );
            return Err(Failure::usage(line).into());
        }
        if let Some((other, earlier)) = &first
            && let Some(difference) = meta.scope().difference(&earlier.scope())
        {
            let line = format!(
                "run {id} cannot be calibrated together with run {other}, because {difference}"
            );
            return Err(Failure::usage(line).into());
        }
        let before = judged.len();
        journal.for_each_row(|row| judged.extend(row.judged()))?;
        if judged.len() == before {
            let line = format!("run {id} has no answer with gold, so nothing can be calibrated");
            return Err(Failure::new(Exit::Data, line).into());
        }
        ids.push(id.clone());
        first.get_or_insert((id, meta));
    }
    let meta = first.map(|(_, meta)| meta).unwrap_or_default();
    Ok(Gathered {
        judged,
        scope: meta.scope(),
        runs: ids,
        of: format!("{} on {}", meta.model(), meta.data),
    })
}

/// The run's folder. `-o` names a file here, so the error cannot suggest it for the folder.
fn locate(run: &str, settings: &Settings) -> anyhow::Result<RunFolder> {
    RunFolder::locate(&settings.run.output, run).map_err(|error| match error {
        FolderError::NoSuchRun { run, folder } => {
            let folder = folder.display();
            Failure::usage(format!(
                "{run}: no such run in {folder}; name its folder, or set CONVFINQA_OUTPUT"
            ))
            .into()
        }
        error => error.into(),
    })
}
