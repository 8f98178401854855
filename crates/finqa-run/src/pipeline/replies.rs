//! The stored replies of a run: the folder that is used, and the description of the run in it.

use std::sync::Arc;

use serde::Deserialize;

use finqa_agents::llm::StoredReplies;
use finqa_journal::run::{RunKind, RunMeta};
use finqa_journal::settings::{Settings, with_effects_of};

use super::PipelineError;
use super::locked_run::stored_settings;
use super::run_context::{Notify, RunNotice};

/// The stored replies to use: those that are replayed, otherwise those in the folder that the
/// settings name. `None` if no folder is named, and for the embedded analyst, which has no replies.
pub fn stored_replies(
    settings: &Settings,
    replay: Option<&Arc<StoredReplies>>,
    notify: &Notify,
) -> Result<Option<Arc<StoredReplies>>, PipelineError> {
    let folder = settings.model.cache.as_deref();
    match (replay, folder) {
        (Some(replay), _) => Ok(Some(Arc::clone(replay))),
        (None, Some(folder)) if !settings.model.is_offline() => {
            let notify = Arc::clone(notify);
            let warn = move |line: &str| notify(RunNotice::Warning(format!("warning: {line}")));
            Ok(Some(Arc::new(StoredReplies::reuse(
                folder,
                Arc::new(warn),
            )?)))
        }
        (None, _) => Ok(None),
    }
}

/// The run that a folder of replies describes. `None` if a command without runs filled the folder.
///
/// # Errors
/// The description cannot be read, or describes a run of another kind.
pub fn recorded_run(
    replies: &StoredReplies,
    kind: RunKind,
) -> Result<Option<RunMeta>, PipelineError> {
    let Some(run) = replies.run()? else {
        return Ok(None);
    };
    let path = || replies.folder().to_owned();
    let run = RunMeta::deserialize(run).map_err(|source| PipelineError::RecordedRun {
        path: path(),
        source,
    })?;
    if run.kind() == kind {
        Ok(Some(run))
    } else {
        Err(PipelineError::RecordedByOther {
            path: path(),
            command: run.kind().command(),
        })
    }
}

/// The settings of a replay. They are those of the recorded run, except that settings which affect
/// no answer, such as the output folder, are taken from `now`.
pub fn replay_settings(recorded: &RunMeta, now: &Settings) -> Result<toml::Table, PipelineError> {
    Ok(with_effects_of(
        toml::Table::try_from(now)?,
        stored_settings(recorded),
    ))
}

/// Writes the description of a run into the folder in which its replies are stored. A shard
/// describes the whole run.
pub(super) fn describe_run(
    replies: Option<&Arc<StoredReplies>>,
    meta: &RunMeta,
) -> Result<(), PipelineError> {
    let Some(replies) = replies.filter(|replies| !replies.replays()) else {
        return Ok(());
    };
    let mut meta = RunMeta {
        // A path on this machine means nothing to others. `cache` is another such path, which is
        // removed below.
        data_file: None,
        shard: None,
        ..meta.clone()
    };
    meta.settings.remove("cache");
    // The journal already has this description as JSON, so the default is never used.
    let described = serde_json::to_value(meta).unwrap_or_default();
    Ok(replies.begin_run(described)?)
}
