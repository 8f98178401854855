//! `convfinqa runs`: lists the runs in an output folder, newest first.

use clap::ArgMatches;
use serde_json::json;

use finqa_journal::run::{RunFolder, RunKind, RunState, short_id};
use finqa_report::output::terminal::{TerminalStyle, runs_list};

use super::args::OutputFolder;
use super::{Exit, Failure, stdout};

#[derive(clap::Args, Debug)]
pub(crate) struct RunsArgs {
    #[command(flatten)]
    output: OutputFolder,
    /// Print the runs as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn execute(
    args: &RunsArgs,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> Result<Exit, Failure> {
    let output = args.output.path(matches)?;
    let runs = RunFolder::all(&output).into_iter().rev();
    let runs: Vec<_> = runs
        .map(|run| (run.id(), run.state().map_err(|error| error.to_string())))
        .collect();
    if args.json {
        let runs: Vec<_> = runs.iter().map(|(id, state)| run_json(id, state)).collect();
        stdout::print_json(&runs)?;
        return Ok(Exit::Done);
    }
    stdout::print(|out| {
        if runs.is_empty() {
            writeln!(out, "no runs in {}", RunFolder::runs(&output).display())
        } else {
            writeln!(out, "{}", runs_list(&runs, style))
        }
    })?;
    Ok(Exit::Done)
}

/// A run in the list as JSON. If it cannot be read, only its id and the error.
fn run_json(id: &str, state: &Result<RunState, String>) -> serde_json::Value {
    match state {
        Ok(RunState {
            meta,
            answered,
            stage,
            results,
        }) => json!({
            "id": id,
            "short_id": short_id(id),
            "started": meta.started,
            "model": meta.model(),
            "critic": meta.critic(),
            "critic_model": meta.chat_setting("critic_model"),
            "second_opinion": meta.chat_setting("second_opinion"),
            "data": meta.data,
            "questions": meta.total,
            "answered": answered,
            "status": stage.name(),
            "mode": meta.settings.get("mode"),
            "history": meta.settings.get("history"),
            "episodes": meta.kind() == RunKind::Episodes,
            "results": results,
        }),
        Err(error) => json!({"id": id, "status": "unreadable", "error": error}),
    }
}
