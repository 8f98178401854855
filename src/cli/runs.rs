//! `convfinqa runs`: the runs of an output folder, newest first.

use std::io::IsTerminal;

use clap::ArgMatches;

use crate::output::terminal::{TerminalStyle, runs_list};
use crate::run::RunFolder;

use super::args::OutputFolder;
use super::{Exit, stdout};

/// Arguments of `runs`.
#[derive(clap::Args, Debug)]
pub(crate) struct RunsArgs {
    #[command(flatten)]
    output: OutputFolder,
}

/// Lists the runs, with their whole ids unless a terminal is too narrow.
///
/// # Errors
/// Standard output that cannot be written.
pub(crate) fn execute(
    args: &RunsArgs,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> anyhow::Result<Exit> {
    let output = args.output.path(matches)?;
    let folders = RunFolder::all(&output).into_iter().rev();
    let runs: Vec<_> = folders
        .map(|folder| (folder.id(), folder.state()))
        .collect();
    let width = std::io::stdout()
        .is_terminal()
        .then_some(style.width.into());
    stdout::print(|out| {
        if runs.is_empty() {
            writeln!(out, "no runs in {}", RunFolder::runs(&output).display())
        } else {
            writeln!(out, "{}", runs_list(&runs, width))
        }
    })?;
    Ok(Exit::Done)
}
