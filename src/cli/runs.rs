//! `convfinqa runs`: the runs of an output folder, newest first.

use clap::ArgMatches;

use crate::output::terminal::runs_list;
use crate::run::RunFolder;

use super::args::OutputFolder;
use super::{Exit, stdout};

/// Arguments of `runs`.
#[derive(clap::Args, Debug)]
pub(crate) struct RunsArgs {
    #[command(flatten)]
    output: OutputFolder,
}

/// Lists the runs.
pub(crate) fn execute(args: &RunsArgs, matches: &ArgMatches) -> anyhow::Result<Exit> {
    let output = args.output.path(matches)?;
    let runs = RunFolder::all(&output).into_iter().rev();
    let runs: Vec<_> = runs
        .map(|run| (run.id(), run.state().map_err(|error| error.to_string())))
        .collect();
    stdout::print(|out| {
        if runs.is_empty() {
            writeln!(out, "no runs in {}", RunFolder::runs(&output).display())
        } else {
            writeln!(out, "{}", runs_list(&runs))
        }
    })?;
    Ok(Exit::Done)
}
