//! `convfinqa merge`: merges the shards of a run into one run.

use clap::ArgMatches;

use finqa_report::output::terminal::{ProgressOptions, TerminalStyle, TerminalWriter};
use finqa_run::pipeline::{self, PipelineError};

use super::args::{OutputFolder, PrintArgs, RunDisplay};
use super::ci::CiArgs;
use super::run::{check_thresholds, notify, report_and_exit_code};
use super::{Exit, Failure, dotenv, runtime, settings};

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Nothing is written unless every question has an outcome (see --allow-missing) and all shards were started with the same settings. Merging again gives the same run unless a shard has changed. `runs` lists the merged run, and `report`, `compare`, `analyze`, `score` and `track sync` accept it."
)]
pub(crate) struct MergeArgs {
    /// Name of the run [default: CONVFINQA_RUN]
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// Merge even if questions are missing; the outputs say how many
    #[arg(long)]
    allow_missing: bool,
    #[command(flatten)]
    output: OutputFolder,
    #[command(flatten)]
    print: PrintArgs,
    #[command(flatten)]
    ci: CiArgs,
}

/// Merges the shards and shows the merged run.
pub(crate) fn execute(
    args: &MergeArgs,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> Result<Exit, Failure> {
    let settings = settings::load(&args.output, matches, args.output.file())?;
    let run = args.run.as_deref().or(settings.shards.run_name.as_deref());
    let run = run.filter(|run| !run.is_empty()).ok_or_else(|| {
        Failure::usage("which run? name it, as --run did for its shards, or set CONVFINQA_RUN")
    })?;
    let writer = TerminalWriter::new(ProgressOptions {
        quiet: args.print.quiet,
        ..ProgressOptions::default()
    });
    let runtime = runtime()?;
    let (variables, notify) = (dotenv::variables(), notify(writer.clone()));
    let merged = pipeline::merge(
        &settings.run.output, run, args.allow_missing, &variables, &notify,
    );
    let results = runtime.block_on(merged).map_err(|error| match error {
        error @ PipelineError::Unwritten(_) => {
            Failure::from(error).within("some files were not written; merge again")
        }
        error => error.into(),
    })?;
    let thresholds = check_thresholds(&results, &args.ci);
    let display = RunDisplay {
        verbose: false,
        print: args.print,
        style,
    };
    report_and_exit_code(&results, thresholds, &writer, display)
}
