//! `convfinqa batch`: a run in batches, one process for each wave.

use std::path::Path;

use clap::ArgMatches;
use clap::parser::ValueSource;
use serde::Serialize;

use crate::output::terminal::TerminalStyle;
use crate::pipeline::{BatchStatusRow, batch_status};
use crate::run::{FolderError, RunFolder, RunKind};
use crate::settings::{BudgetSettings, ExecutionEngine};
use finqa_agents::llm::BatchStage;

use super::args::{ControlArgs, OutputFolder, PrintArgs, RunArgs};
use super::ci::CiArgs;
use super::run::RunProcess;
use super::{Exit, Failure, dotenv, run, runtime, stdout};

/// Commands of `batch`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum BatchCommand {
    /// Start a run, or continue one (--resume), submit its next batches, and exit.
    // Its requests are always batches, which are not recorded; the limits are those of live requests.
    // The embedded analyst sends none. There are no answers yet that could be checked or exported.
    #[command(
        mut_arg("model", |arg| arg.hide_default_value(true).help(
            "Chat model (on Azure, the deployment); required unless a settings file or an environment variable names one"
        )),
        mut_arg("record", |arg| arg.hide(true)),
        mut_arg("replay", |arg| arg.hide(true)),
        mut_arg("engine", |arg| arg.hide(true)),
        mut_arg("concurrency", |arg| arg.hide(true)),
        mut_arg("rpm", |arg| arg.hide(true)),
        mut_arg("tpm", |arg| arg.hide(true)),
        mut_arg("min_confidence", |arg| arg.hide(true)),
        mut_arg("fail_under", |arg| arg.hide(true))
    )]
    Submit(Box<RunArgs>),
    /// Show the batches of a run, and ask the provider about those that have not ended.
    Status(StatusArgs),
    /// Fetch the results of a run's batches, submit the next ones, and exit.
    ///
    /// Nothing is fetched unless all of the batches have ended. The exit code is 4 while any batch is pending,
    /// including those just submitted.
    Fetch(Box<FetchArgs>),
}

/// Arguments of `batch status`.
#[derive(clap::Args, Debug)]
pub(crate) struct StatusArgs {
    /// Run: its folder, its id, a prefix of its id, or `last`
    #[arg(value_name = "RUN", default_value = "last")]
    run: String,
    /// Print the batches as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    output: OutputFolder,
}

/// Arguments of `batch fetch`.
#[derive(clap::Args, Debug, Serialize)]
pub(crate) struct FetchArgs {
    /// Run: its folder, its id, a prefix of its id, or `last` for the newest unfinished one
    #[arg(value_name = "RUN", default_value = "last")]
    #[serde(skip)]
    run: String,
    #[command(flatten)]
    #[serde(flatten)]
    budget: BudgetSettings,
    #[command(flatten)]
    #[serde(flatten)]
    output: OutputFolder,
    #[command(flatten)]
    #[serde(skip)]
    print: PrintArgs,
    #[command(flatten)]
    #[serde(skip)]
    ci: CiArgs,
}

/// Runs a command of `batch`.
pub(crate) fn execute(
    command: BatchCommand,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> anyhow::Result<Exit> {
    match command {
        BatchCommand::Submit(args) => {
            let given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
            if given("engine") && args.settings.batch.engine == ExecutionEngine::Live {
                let line = "batch submit always sends batches; leave out --engine live, or use `convfinqa run`";
                return Err(Failure::usage(line).into());
            }
            if given("fail_under") {
                let line = "batch submit exits before there are answers: pass --fail-under to `convfinqa --resume` when the batches have ended";
                return Err(Failure::usage(line).into());
            }
            let process = RunProcess::UntilSubmitted(Exit::Done);
            run::execute_as(process, &args.settings, &args, matches, style)
        }
        BatchCommand::Fetch(args) => {
            let output = args.output.path(matches)?;
            let found = RunFolder::find_resumable(&output, &args.run, Some(RunKind::Questions));
            if matches!(found, Err(FolderError::NothingToResume { .. })) {
                return Err(no_run(&output, "no unfinished run"));
            }
            let run_args = RunArgs {
                control: ControlArgs {
                    config: args.output.config(),
                    resume: Some(args.run.clone()),
                    print: args.print,
                    ..ControlArgs::default()
                },
                ci: args.ci.clone(),
                ..RunArgs::default()
            };
            let process = RunProcess::UntilSubmitted(Exit::Unanswered);
            run::execute_as(process, &*args, &run_args, matches, style)
        }
        BatchCommand::Status(args) => status(&args, matches),
    }
}

fn status(args: &StatusArgs, matches: &ArgMatches) -> anyhow::Result<Exit> {
    let output = args.output.path(matches)?;
    if args.run == "last" && RunFolder::all(&output).is_empty() {
        return Err(no_run(&output, "no run"));
    }
    let folder = RunFolder::locate(&output, &args.run)?;
    let runtime = runtime()?;
    let rows = runtime.block_on(batch_status(&folder, &dotenv::variables()))?;
    if args.json {
        stdout::print_json(&rows)?;
        return Ok(Exit::Done);
    }
    stdout::print(|out| {
        if rows.is_empty() {
            return writeln!(out, "run {} has no batches", folder.id());
        }
        rows.iter()
            .try_for_each(|row| writeln!(out, "{}", line(row)))
    })?;
    Ok(Exit::Done)
}

fn no_run(output: &Path, what: &str) -> anyhow::Error {
    let line = format!(
        "{}: {what}; start one with `convfinqa batch submit`",
        output.display()
    );
    Failure::usage(line).into()
}

/// A batch in one line.
fn line(row: &BatchStatusRow) -> String {
    let id = row.batch.as_deref().unwrap_or("-");
    let state = match (row.stage, row.done, &row.outcome) {
        (BatchStage::Planned | BatchStage::Sending, ..) => "not submitted".to_owned(),
        (BatchStage::Submitted, Some(done), _) => {
            format!("at the provider, {done} of {} done", row.requests)
        }
        (BatchStage::Submitted, None, _) => "at the provider".to_owned(),
        (BatchStage::Ended, _, Some(outcome)) => outcome.clone(),
        (BatchStage::Ended, _, None) => "ended".to_owned(),
    };
    let twice = match row.repeated {
        true => ", may be at the provider twice",
        false => "",
    };
    let guessed = match row.guessed {
        true => ", found by its time and size: may belong to another run",
        false => "",
    };
    format!(
        "wave {}.{}  {id}  requests: {}  {state}{twice}{guessed}",
        row.wave, row.part, row.requests
    )
}
