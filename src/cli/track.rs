//! `convfinqa track sync`: sends runs to MLflow, if it does not have them completely.

use clap::ArgMatches;
use serde::Serialize;

use finqa_core::secrets::{HIDDEN, shown_address};
use finqa_journal::run::{Finish, Journal, RunFolder, RunLock};
use finqa_journal::settings::{Settings, Variables};
use finqa_report::output::mlflow::{
    DeliveredRun, DeliveryRecord, MlflowError, RunContent, TrackingServer, deliver,
};
use finqa_run::pipeline::{server, unused_variables, write_results};

use super::args::OutputFolder;
use super::{Exit, Failure, dotenv, mlflow_lines, runtime, settings, stdout};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum TrackCommand {
    /// Send runs, or their missing parts; safe to repeat.
    Sync(SyncArgs),
}

#[derive(clap::Args, Debug, Serialize)]
pub(crate) struct SyncArgs {
    /// Runs: folders, ids, prefixes of ids, or `last` [default: all that are missing or incomplete on the server]
    #[arg(value_name = "RUN")]
    #[serde(skip)]
    runs: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    output: OutputFolder,
    /// MLflow server [default: the run's, otherwise MLFLOW_TRACKING_URI]
    #[arg(long, value_name = "URI")]
    #[serde(skip)]
    mlflow: Option<String>,
}

pub(crate) fn execute(command: TrackCommand, matches: &ArgMatches) -> Result<Exit, Failure> {
    match command {
        TrackCommand::Sync(args) => {
            let settings = settings::load(&args, matches, args.output.file())?;
            let runtime = runtime()?;
            runtime.block_on(sync(&args, &settings))
        }
    }
}

/// Delivers the runs one after the other and prints the result of each. If a run fails, the others
/// are still delivered.
///
/// # Errors
/// A named run that does not exist. Otherwise the error of the last run that could not be
/// delivered.
async fn sync(args: &SyncArgs, settings: &Settings) -> Result<Exit, Failure> {
    for line in unused_variables(&dotenv::variables(), "MLFLOW") {
        super::note(line);
    }
    let output = &settings.run.output;
    let folders = if args.runs.is_empty() {
        RunFolder::all(output)
    } else {
        let found = args.runs.iter().map(|run| RunFolder::locate(output, run));
        found.collect::<Result<Vec<_>, _>>()?
    };
    let (mut missing, mut untracked) = (0, 0);
    let mut failed: Option<Failure> = None;
    // The servers that did not answer. Other runs do not wait for them again.
    let mut dead = Vec::new();
    for folder in &folders {
        let name = folder.id();
        let result = sync_run(args, folder, &mut dead).await;
        match &result {
            Ok(Synced::Arrived) => {}
            Ok(Synced::Untracked) => untracked += 1,
            _ => missing += 1,
        }
        match result {
            Ok(Synced::Arrived | Synced::Untracked) => {}
            Ok(Synced::Sent(delivered)) => {
                // An error is ignored: a closed standard output must not stop the deliveries.
                let _ = stdout::print_words(|out| writeln!(out, "{name}: {}", delivered.page));
                for line in mlflow_lines::shortfall_lines(&delivered) {
                    super::note(format_args!("{name}: {line}"));
                }
            }
            Err(error) => {
                if let Some(failure) = failed.replace(error.within(name)) {
                    super::note(super::line_of(&failure));
                }
            }
        }
    }
    if missing == 0 {
        let runs = RunFolder::runs(output);
        let runs = runs.display();
        let line = match folders.len() {
            0 => format!("no run yet in {runs}"),
            all if all == untracked => format!("every run in {runs} was started with --mlflow off"),
            _ => format!("every run in {runs} is complete on the server"),
        };
        stdout::print_words(|out| writeln!(out, "{line}"))?;
    }
    failed.map_or(Ok(Exit::Done), Err)
}

enum Synced {
    Sent(DeliveredRun),
    /// Skipped, because the user named no runs and the server has all of this one.
    Arrived,
    /// Skipped, because the user named no runs and this one was started with `--mlflow off`.
    Untracked,
}

/// Delivers a run, or skips it. `dead` has the servers that earlier runs could not reach; they are
/// not tried again.
async fn sync_run(
    args: &SyncArgs,
    folder: &RunFolder,
    dead: &mut Vec<String>,
) -> Result<Synced, Failure> {
    let journal = Journal::read(&folder.journal())?;
    let meta = journal.meta()?;
    let record = DeliveryRecord::read(folder.path());
    let own = meta.settings.get("mlflow").and_then(toml::Value::as_str);
    let variables = dotenv::variables();
    if args.runs.is_empty() {
        let answered = journal.answered()?;
        let arrived = record.as_ref().is_some_and(|record| {
            is_asked_place(record, args, &variables)
                && record.complete_at == answered
                && record.gold_at.as_ref() == meta.gold.as_ref().map(|gold| &gold.at)
        });
        if arrived {
            return Ok(Synced::Arrived);
        }
        if own == Some("off") {
            return Ok(Synced::Untracked);
        }
    }
    // Fails for a run that is in progress. Such a run delivers itself at its end.
    let _lock = RunLock::take(folder.path())?;
    let server = server_for(args, record, own, &variables)?;
    let shown = &server.target().shown;
    if dead.contains(shown) {
        return Err(Failure::new(
            Exit::Provider,
            format!("{shown} cannot be reached"),
        ));
    }
    let records = meta.records();
    super::notes(records.iter().flat_map(|records| &records.notes));
    let records = records.as_ref().map_err(String::as_str);
    // `None`, so that the delivery of an older run does not replace the CSV of the last one.
    let written = write_results(folder.path(), &journal, records, None)?;
    let summary = written.summary;
    if let Some(note) = written.note {
        super::note(format_args!("{}: {note}", folder.id()));
    }
    let finish = if summary.complete {
        Finish::Complete
    } else {
        Finish::Interrupted
    };
    let content = RunContent::of(&journal, &finish, &summary)?;
    let delivered = deliver(&server, folder.path(), &content).await;
    if let Err(MlflowError::Unreachable { uri, .. }) = &delivered {
        dead.push(uri.clone());
    }
    let delivered = delivered?;
    Ok(Synced::Sent(delivered))
}

/// True if this delivery was to the server and the experiment that the user names. A part that the
/// user does not name always fits.
fn is_asked_place(record: &DeliveryRecord, args: &SyncArgs, variables: &Variables) -> bool {
    let is = |asked: Option<String>, known: &str| {
        let asked = asked.as_deref().unwrap_or(known);
        asked.trim_end_matches('/') == known
    };
    let server = args.mlflow.as_deref().map(shown_address);
    let experiment = variables.get("MLFLOW_EXPERIMENT_NAME");
    is(server, &record.uri) && is(experiment, &record.experiment)
}

/// The server that the command line names, otherwise the one of the run's earlier delivery, of its
/// settings (`own`), or of the environment.
fn server_for(
    args: &SyncArgs,
    record: Option<DeliveryRecord>,
    own: Option<&str>,
    variables: &Variables,
) -> Result<TrackingServer, Failure> {
    let (delivered, experiment) = record.map(|it| (it.uri, it.experiment)).unzip();
    // `auto` and `off` are settings and not addresses.
    let own = own.filter(|uri| !["auto", "off", ""].contains(uri));
    // An address that was stored with its key hidden cannot be used.
    let known = delivered.or(own.map(str::to_owned));
    let known = known.filter(|uri| !uri.contains(HIDDEN));
    let uri = args.mlflow.clone().or(known);
    let uri = uri.or_else(|| variables.get("MLFLOW_TRACKING_URI"));
    let uri = uri.ok_or_else(|| {
        Failure::usage("no MLflow server is known; pass --mlflow URI or set MLFLOW_TRACKING_URI")
    })?;
    Ok(server(&uri, experiment, variables)?)
}
