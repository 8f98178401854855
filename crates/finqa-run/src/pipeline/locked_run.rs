//! Runs on disk, new or resumed. Each is locked by this process.

use std::collections::BTreeMap;
use std::path::Path;

use finqa_core::secrets::HIDDEN;
use finqa_journal::run::{
    FolderError, Identity, Journal, LockError, MovedModels, RunFolder, RunKind, RunLock, RunMeta,
    RunStage, command,
};
use finqa_journal::settings::{ConfigError, Layers, Origin, Settings};
use finqa_report::output::{self, OutputError};
use finqa_score::dataset::{Dataset, Source, load_named};

use super::PipelineError;

/// This program's version.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Step 4 of a run: its folder and journal on disk, new or resumed. The lock ensures that no other
/// process works on it.
pub struct LockedRun {
    pub(super) folder: RunFolder,
    pub(super) journal: Journal,
    pub(super) meta: RunMeta,
    /// The operating system also releases the lock, however the process ends.
    pub(super) lock: RunLock,
}

impl LockedRun {
    /// Locks and opens an earlier run.
    ///
    /// # Errors
    /// The run does not exist, is of another kind, is locked by another process, or cannot be read.
    /// The run is unfinished and was merged, or was started by another version of this program.
    pub fn open(output: &Path, run: &str, kind: RunKind) -> Result<Self, PipelineError> {
        let folder = RunFolder::find_resumable(output, run, kind)?;
        Self::open_folder(folder, kind)
    }

    /// Locks and opens the run in this folder.
    pub(super) fn open_folder(folder: RunFolder, kind: RunKind) -> Result<Self, PipelineError> {
        let lock = RunLock::take(folder.path())?;
        let journal = Journal::open(&folder.journal())?;
        let meta = journal.meta()?;
        if meta.kind() != kind {
            let command = meta.resume_command(folder.output());
            return Err(FolderError::OtherKind {
                command,
                id: meta.id,
            }
            .into());
        }
        let is_complete = journal.is_complete()?;
        if meta.merged.is_some() && !is_complete {
            return Err(PipelineError::MergedRun {
                merge: command(&format!("merge {}", meta.id), folder.output()),
                id: meta.id,
            });
        }
        // Another version may give other answers. A complete run is accepted, because only its
        // files are written.
        if meta.version != VERSION && !is_complete {
            return Err(PipelineError::OtherVersion {
                id: meta.id,
                version: meta.version,
                own: VERSION,
            });
        }
        Ok(Self {
            folder,
            journal,
            meta,
            lock,
        })
    }

    /// The description of the run.
    pub fn meta(&self) -> &RunMeta {
        &self.meta
    }

    /// The settings that the run was started with.
    pub fn settings(&self) -> toml::Table {
        stored_settings(&self.meta)
    }

    /// The records of a run whose questions all have an outcome, or the reason why the records
    /// cannot be read.
    ///
    /// # Errors
    /// Settings that differ from those of the run.
    pub(super) fn records(
        &self,
        settings: &Settings,
    ) -> Result<Result<Dataset, String>, PipelineError> {
        let mut own = settings_of(&self.meta)?;
        let mut records = self.meta.records();
        let named = &settings.questions.data_path;
        if *named != own.questions.data_path
            && let Some(data) = load_named(named.as_deref(), settings.questions.split.as_deref())?
            && data.hash == self.meta.identity.data
        {
            // The user named a file with the same data at another path.
            own.questions.data_path.clone_from(named);
            records = Ok(data);
        }
        self.refuse(&own.changes(settings))?;
        Ok(records)
    }

    /// Records the models of this process if they differ from those of the last process. On resume
    /// they may differ, because a server on this machine may have another address now.
    pub(super) fn record_models(&mut self, now: &Identity) -> Result<(), PipelineError> {
        let own = (&self.meta.identity.model, &self.meta.identity.critic);
        let last = self.meta.moved.last();
        if last.map_or(own, |last| (&last.model, &last.critic)) != (&now.model, &now.critic) {
            self.journal.record_models(MovedModels {
                at: jiff::Timestamp::now().to_string(),
                model: now.model.clone(),
                critic: now.critic.clone(),
                first: !self.journal.has_reply()?,
            })?;
        }
        Ok(())
    }

    /// Returns an error if there are any changes, because the run cannot be continued with them.
    pub(super) fn refuse(&self, changes: &[String]) -> Result<(), PipelineError> {
        if changes.is_empty() {
            return Ok(());
        }
        Err(PipelineError::Changed {
            id: self.meta.id.clone(),
            changes: changes.join("; "),
        })
    }
}

/// The settings with which a run was started. The data's path, the number of episodes and the shard
/// come from other parts of the run's description.
pub(super) fn stored_settings(meta: &RunMeta) -> toml::Table {
    let mut own = meta.settings.clone();
    if meta.kind() == RunKind::Questions {
        // The absolute path, because this process may have another working directory.
        let file = meta.data_file.as_ref().filter(|file| file.is_file());
        let data = match file {
            _ if meta.invented => Source::SAMPLE.to_owned(),
            Some(file) => file.to_string_lossy().into_owned(),
            None => meta.data.clone(),
        };
        own.insert("data_path".to_owned(), data.into());
    }
    if let Some(n) = meta.episodes.as_ref().and_then(|episodes| episodes.n) {
        // TOML has no unsigned integers.
        let n = i64::try_from(n).unwrap_or(i64::MAX);
        own.entry("n").or_insert(n.into());
    }
    if let Some(shard) = &meta.shard {
        own.insert("shard".to_owned(), shard.part.to_string().into());
        own.insert("run".to_owned(), shard.run.clone().into());
    }
    // An address that was stored with a part hidden cannot be used. Without it, the address is read
    // again from the variable or file that it came from.
    own.retain(|_, value| !value.as_str().is_some_and(|text| text.contains(HIDDEN)));
    own
}

fn settings_of(meta: &RunMeta) -> Result<Settings, ConfigError> {
    let layers = Layers::default().table(stored_settings(meta), Origin::Run)?;
    layers.settings()
}

/// The differences between two runs that affect questions or answers, one line each. A line names a
/// setting. If no setting differs, it names a part of the identity, such as the data.
pub(super) fn differences(was: &RunMeta, now: &RunMeta) -> Vec<String> {
    if was.identity.unplaced() == now.identity.unplaced() {
        return Vec::new();
    }
    let mut lines = match (settings_of(was), settings_of(now)) {
        (Ok(was), Ok(now)) => was.changes(&now),
        // Settings that cannot be read are not compared, but the identities are, below.
        _ => Vec::new(),
    };
    if let (Some(was), Some(now)) = (&was.episodes, &now.episodes) {
        lines.extend(was.changes(now));
    }
    if lines.is_empty() {
        lines = was.identity.changes(&now.identity, &was.data);
    }
    lines
}

/// Creates a new run in `folder`, or in a folder named after the run's id. Generates the id if
/// `meta` has none. Writes the journal and `config.toml`.
///
/// # Errors
/// Another process works on the folder, or has already created a run in it. A file cannot be
/// written.
pub(super) fn create_run(
    output: &Path,
    folder: Option<RunFolder>,
    meta: RunMeta,
    prompts: Option<&BTreeMap<String, String>>,
) -> Result<LockedRun, PipelineError> {
    let id = if meta.id.is_empty() {
        uuid::Uuid::now_v7().to_string()
    } else {
        meta.id.clone()
    };
    let folder = folder.unwrap_or_else(|| RunFolder::new(output, &id));
    folder.create().map_err(OutputError::at(folder.path()))?;
    let lock = RunLock::take(folder.path())?;
    if folder.journal().is_file() {
        // Another process has started the same shard in the meantime, and may have answered
        // questions.
        return Err(PipelineError::Lock(LockError::Held {
            folder: folder.path().to_owned(),
            holder: "another process".to_owned(),
        }));
    }
    let meta = RunMeta {
        id,
        started: jiff::Timestamp::now().to_string(),
        version: VERSION.to_owned(),
        ..meta
    };
    let journal = Journal::create(&folder.journal(), &meta, prompts)?;
    output::write_config(&folder.file(RunFolder::CONFIG), &meta, &[])?;
    Ok(LockedRun {
        folder,
        journal,
        meta,
        lock,
    })
}

/// A note about the newest unfinished run with the same questions and settings; `None` if there is
/// no such run. Runs that cannot be read are skipped.
pub(super) fn unfinished_run_note(output: &Path, identity: &Identity) -> Option<String> {
    let states = RunFolder::all(output).into_iter().rev();
    let mut states = states.filter_map(|folder| folder.state().ok());
    let state = states.find(|state| {
        state.stage == RunStage::Unfinished
            && state.meta.merged.is_none()
            && state.meta.identity == *identity
            && state.meta.version == VERSION
    })?;
    Some(format!(
        "starting a new run, although run {} with the same questions and settings is unfinished \
         ({} of {} answered); `{}` continues it",
        state.meta.id,
        state.answered,
        state.meta.total,
        state.meta.resume_command(output)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two processes of one shard may both find that it has no journal yet.
    #[test]
    fn a_run_that_was_begun_meanwhile_is_not_begun_again() {
        let output = tempfile::tempdir().unwrap();
        let begin = |id: &str| {
            let meta = RunMeta {
                id: id.to_owned(),
                ..RunMeta::default()
            };
            let folder = RunFolder::new(output.path(), "shared");
            create_run(output.path(), Some(folder), meta, None)
        };
        let first = begin("first").unwrap().meta.id;
        let error = begin("second").err().unwrap().to_string();
        assert!(error.contains("in use by another process"), "{error}");
        let journal = Journal::read(&RunFolder::new(output.path(), "shared").journal()).unwrap();
        assert_eq!(journal.meta().unwrap().id, first);
    }
}
