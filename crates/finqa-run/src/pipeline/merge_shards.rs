//! Merges the shards of a run into one run with all its files.

use std::path::Path;

use finqa_journal::run::{Finish, RunFolder, RunLock, ShardSurvey, ShardsError, ShardsFolder};
use finqa_journal::settings::{Layers, Origin, Variables};
use finqa_report::output::mlflow::{self, RunContent};

use super::files::write_run;
use super::locked_run::stored_settings;
use super::run_context::{Notify, RunNotice};
use super::start_shard::differences_of_shards;
use super::tracking::tracking_server;
use super::{PipelineError, RunResults};

/// Merges the shards of the run with this name. Merging again results in the same run unless a
/// shard has changed.
///
/// # Errors
/// The run does not exist; shards are in use, cannot be read or do not belong together; questions
/// are missing, unless `allow_missing`; files cannot be written. Only the last kind of error leaves
/// changes behind.
pub async fn merge(
    output: &Path,
    run: &str,
    allow_missing: bool,
    variables: &Variables,
    notify: &Notify,
) -> Result<RunResults, PipelineError> {
    let folder = ShardsFolder::locate(output, run)?;
    let plan = folder.plan()?;
    // No other process may merge this run at the same time.
    let _merger = RunLock::take(&folder.path())?;
    let survey = ShardSurvey::take(&folder, &plan, |meta| {
        differences_of_shards(&plan.run, meta)
    })?;
    if !allow_missing {
        survey.refuse_missing()?;
    }
    let merged = folder.merged();
    let lock = install_journal(&folder, &survey, &merged)?;
    let records = plan.run.records();
    let written = write_run(&merged, records.as_ref().map_err(String::as_str));
    let (journal, written) = written.map_err(PipelineError::Unwritten)?;
    let summary = written.summary;
    let missing = summary.missing_line();
    let finish = match missing {
        None => Finish::Complete,
        Some(reason) => Finish::Partial {
            left: summary.left(),
            reason,
        },
    };
    // Use the server that the shards were started with.
    let own = Layers::default().table(stored_settings(&summary.run), Origin::Run);
    let own = own
        .and_then(|own| own.settings())
        .map_err(PipelineError::from);
    let server = own.and_then(|own| tracking_server(&own, variables, notify));
    // The merged run is complete without a server, so an unusable address is only a warning.
    let server = server.unwrap_or_else(|error| {
        let line = format!("MLflow: {error}; the merged run was not sent");
        notify(RunNotice::Warning(line));
        None
    });
    let tracked = match server {
        None => None,
        Some(server) => Some(match RunContent::of(&journal, &finish, &summary) {
            Ok(content) => mlflow::deliver(&server, merged.path(), &content).await,
            Err(error) => Err(error),
        }),
    };
    Ok(RunResults {
        finish,
        summary,
        journal,
        folder: merged,
        note: written.note,
        tracked,
        _lock: lock,
    })
}

/// Writes the merged journal in a work folder, and moves it into place when it is complete. Returns
/// the lock of the merged run.
fn install_journal(
    folder: &ShardsFolder,
    survey: &ShardSurvey<'_>,
    merged: &RunFolder,
) -> Result<RunLock, PipelineError> {
    let io = ShardsError::io;
    // A killed process may have left its work folder behind.
    let work = folder.merging();
    if work.is_dir() {
        std::fs::remove_dir_all(&work).map_err(io(&work))?;
    }
    merged.create().map_err(io(merged.path()))?;
    let lock = RunLock::take(merged.path())?;
    folder.refuse_taken()?;
    std::fs::create_dir(&work).map_err(io(&work))?;
    let journal = work.join(RunFolder::JOURNAL);
    let written = survey
        .write(&journal)
        .and_then(|()| std::fs::rename(&journal, merged.journal()).map_err(io(&merged.journal())));
    // Also after a failure, so that nothing is left behind.
    std::fs::remove_dir_all(&work).map_err(io(&work))?;
    written?;
    Ok(lock)
}
