//! `convfinqa runs`: the runs of an output folder, newest first.

use std::io::IsTerminal;
use std::path::PathBuf;

use crate::output::terminal::{TerminalStyle, runs_list};
use crate::run::RunFolder;

use super::{Exit, stdout};

/// Arguments of `runs`.
#[derive(clap::Args, Debug)]
pub struct RunsArgs {
    /// Folder with the runs
    #[arg(long, short = 'o', value_name = "DIR", default_value = "output")]
    output: PathBuf,
}

/// Lists the runs, with their whole ids unless a terminal is too narrow.
///
/// # Errors
/// Standard output that cannot be written.
pub fn execute(args: &RunsArgs, style: TerminalStyle) -> anyhow::Result<Exit> {
    let folders = RunFolder::all(&args.output).into_iter().rev();
    let runs: Vec<_> = folders
        .map(|folder| (folder.id(), folder.state()))
        .collect();
    let width = std::io::stdout()
        .is_terminal()
        .then_some(style.width.into());
    stdout::print(|out| {
        if runs.is_empty() {
            writeln!(
                out,
                "no runs in {}",
                RunFolder::runs(&args.output).display()
            )
        } else {
            writeln!(out, "{}", runs_list(&runs, width))
        }
    })?;
    Ok(Exit::Done)
}
