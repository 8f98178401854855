//! `convfinqa runs`: the runs of an output folder, newest first.

use clap::ArgMatches;

use crate::output::terminal::runs_list;
use crate::run::{RunFolder, ShardsFolder};

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
    let mut runs: Vec<_> = RunFolder::all(&output)
        .into_iter()
        .map(|folder| {
            let state = folder.state().map_err(|error| error.to_string());
            (folder.started_at(), folder.id(), state)
        })
        .collect();
    for shards in ShardsFolder::all(&output) {
        let state = shards.state().map_err(|error| error.to_string());
        if let Some(state) = state.transpose() {
            // Its merged run, if questions of it are missing, has the name that other commands take.
            let listed = runs.len();
            runs.retain(|(_, id, _)| *id != shards.name());
            let id = match runs.len() == listed {
                true => shards.id(),
                false => shards.name().to_owned(),
            };
            runs.push((shards.started_at(), id, state));
        }
    }
    runs.sort_by_key(|(started, ..)| *started);
    let runs: Vec<_> = runs
        .into_iter()
        .rev()
        .map(|(_, id, state)| (id, state))
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
