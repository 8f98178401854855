//! New, resumed and answered runs, each locked by this process.

use std::collections::BTreeMap;
use std::path::Path;

use crate::dataset::{Dataset, Source, load_named};
use crate::output::{self, OutputError};
use crate::run::{
    Holder, Identity, Journal, LockError, RunFolder, RunKind, RunLock, RunMeta, RunStage, command,
    resume_command,
};
use crate::settings::{Change, Layers, Origin, RunAspect, Settings};
use finqa_core::secrets::HIDDEN;

use super::PipelineError;

/// This program's version.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A run that this process has locked.
pub(super) struct LockedRun {
    pub folder: RunFolder,
    pub journal: Journal,
    pub meta: RunMeta,
    /// Released when the process ends.
    pub lock: RunLock,
}

/// An earlier run to be resumed.
pub struct ResumedRun {
    pub(super) run: LockedRun,
    /// The settings that the run was started with.
    stored_settings: Settings,
    /// Changed options that are not settings.
    other_changes: Vec<Change>,
}

impl ResumedRun {
    /// Locks and opens an earlier run.
    ///
    /// # Errors
    /// A run that is not there, that another process works on, or that cannot
    /// be read; one to be continued that another version of this program started.
    pub fn open(output: &Path, run: &str, kind: RunKind) -> Result<Self, PipelineError> {
        let folder = RunFolder::find_resumable(output, run, Some(kind))?;
        Self::open_folder(folder, kind)
    }

    /// Locks and opens the run in this folder.
    pub(super) fn open_folder(folder: RunFolder, kind: RunKind) -> Result<Self, PipelineError> {
        let lock = RunLock::take(folder.path())?;
        let journal = Journal::open(&folder.journal())?;
        let meta = journal.meta()?;
        if meta.kind() != kind {
            return Err(PipelineError::OtherKind {
                command: resume_command(&meta.id, folder.output()),
                id: meta.id,
            });
        }
        if meta.merged.is_some() && !journal.is_complete()? {
            return Err(PipelineError::MergedRun {
                merge: command(&format!("merge {}", meta.id), folder.output()),
                id: meta.id,
            });
        }
        // Before its settings are read, which may be other ones than this version's.
        if meta.version != VERSION && !journal.is_complete()? {
            return Err(PipelineError::OtherVersion {
                id: meta.id,
                version: meta.version,
                own: VERSION,
            });
        }
        let mut own = Layers::default()
            .table(stored_settings(&meta), Origin::Run)?
            .settings()?;
        if kind == RunKind::Episodes {
            own.keep_for_episodes();
        }
        let run = LockedRun {
            folder,
            journal,
            meta,
            lock,
        };
        let others = Vec::new();
        Ok(Self {
            run,
            stored_settings: own,
            other_changes: others,
        })
    }

    /// The description of the run.
    pub fn meta(&self) -> &RunMeta {
        &self.run.meta
    }

    /// The settings that the run was started with; its data keep the name they had.
    pub fn settings(&self) -> toml::Table {
        stored_settings(&self.run.meta)
    }

    /// Adds changed options that are not settings.
    pub(crate) fn add_changes(&mut self, changes: Vec<Change>) {
        self.other_changes.extend(changes);
    }

    fn changes(&self, settings: &Settings) -> Vec<Change> {
        let mut changes = self.stored_settings.changes(settings);
        changes.extend_from_slice(&self.other_changes);
        changes
    }

    /// True if every question is answered.
    pub(super) fn is_answered(&self) -> Result<bool, PipelineError> {
        Ok(self.run.journal.is_complete()?)
    }

    /// The settings with the run's data file where it is now, whatever folder
    /// this process is in.
    pub(super) fn with_current_data_path(&self, settings: &Settings) -> Settings {
        let mut located = settings.clone();
        let file = self
            .run
            .meta
            .data_file
            .as_ref()
            .filter(|file| file.is_file());
        if let Some(file) = file
            && settings.questions.data_path == self.stored_settings.questions.data_path
        {
            located.questions.data_path = Some(file.to_string_lossy().into_owned());
        }
        located
    }

    /// The run, all of whose questions are answered, to have its files written,
    /// and its records, or why they cannot be read.
    pub(super) fn into_answered_run(
        self,
        settings: &Settings,
    ) -> Result<(LockedRun, Result<Dataset, String>), PipelineError> {
        let mut changes = self.changes(settings);
        let mut records = self.run.meta.records();
        if settings.questions.data_path != self.stored_settings.questions.data_path
            && let Some(named) = load_named(settings.questions.data_path.as_deref())?
            && named.hash == self.run.meta.identity.data
        {
            // The same data by another name.
            changes.retain(|change| change.affects != RunAspect::Data);
            records = Ok(named);
        }
        self.refuse_changes(changes.iter().map(Change::to_string).collect())?;
        Ok((self.run, records))
    }

    /// The run, to be continued as `now`.
    pub(super) fn into_continued_run(
        self,
        settings: &Settings,
        now: &Identity,
    ) -> Result<LockedRun, PipelineError> {
        let RunMeta {
            id, identity, data, ..
        } = &self.run.meta;
        self.refuse_changes(identity.changed_options(now, &self.changes(settings)))?;
        let changed = identity.changed_behind(now, data);
        if !changed.is_empty() {
            return Err(PipelineError::ChangedInputs {
                id: id.clone(),
                changes: changed.join("; "),
            });
        }
        Ok(self.run)
    }

    fn refuse_changes(&self, differences: Vec<String>) -> Result<(), PipelineError> {
        if differences.is_empty() {
            return Ok(());
        }
        Err(PipelineError::ChangedSettings {
            id: self.run.meta.id.clone(),
            changes: differences.join("; "),
        })
    }
}

/// The settings that a run was started with, its data by the name they had.
pub(super) fn stored_settings(meta: &RunMeta) -> toml::Table {
    let mut own = meta.settings.clone();
    if meta.kind() == RunKind::Questions {
        let data = if meta.invented {
            Source::SAMPLE
        } else {
            &meta.data
        };
        own.insert("data_path".to_owned(), data.into());
    }
    if let Some(n) = meta.episodes.as_ref().and_then(|episodes| episodes.n) {
        let n = i64::try_from(n).unwrap_or(i64::MAX);
        own.entry("n").or_insert(n.into());
    }
    if let Some(shard) = &meta.shard {
        own.insert("shard".to_owned(), shard.part.to_string().into());
        own.insert("run".to_owned(), shard.run.clone().into());
    }
    // An address that was not kept whole comes from where it came from.
    own.retain(|_, value| !value.as_str().is_some_and(|text| text.contains(HIDDEN)));
    own
}

/// Creates a new run, in this folder or in one named by its id.
pub(super) fn create_run(
    output: &Path,
    folder: Option<RunFolder>,
    meta: RunMeta,
    prompts: Option<&BTreeMap<String, String>>,
    commit: Option<String>,
) -> Result<LockedRun, PipelineError> {
    let id = uuid::Uuid::now_v7().to_string();
    let folder = folder.unwrap_or_else(|| RunFolder::new(output, &id));
    folder.create().map_err(OutputError::at(folder.path()))?;
    let lock = RunLock::take(folder.path())?;
    if folder.journal().is_file() {
        // Another process of the same shard was faster, and may have answered questions.
        return Err(PipelineError::Lock(LockError::Held {
            folder: folder.path().to_owned(),
            holder: Holder::default(),
        }));
    }
    let meta = RunMeta {
        id,
        started: jiff::Timestamp::now().to_string(),
        version: VERSION.to_owned(),
        commit,
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

/// The line that says that a run of the same questions and settings waits to be
/// resumed. A run that cannot be read is skipped.
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
        "starting a new run, although run {id} with the same questions and settings is unfinished \
         ({} answered); `{}` continues it",
        match state.meta.total {
            Some(total) => format!("{} of {total}", state.answered),
            None => state.answered.to_string(),
        },
        resume_command(&state.meta.id, output),
        id = state.meta.id,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two processes of one shard may both find it not begun.
    #[test]
    fn a_run_that_was_begun_meanwhile_is_not_begun_again() {
        let output = tempfile::tempdir().unwrap();
        let begin = |id: &str| {
            let meta = RunMeta {
                id: id.to_owned(),
                ..RunMeta::default()
            };
            let folder = RunFolder::new(output.path(), "shared");
            create_run(output.path(), Some(folder), meta, None, None)
        };
        let first = begin("first").unwrap().meta.id;
        let error = begin("second").err().unwrap().to_string();
        assert!(error.contains("in use by another process"), "{error}");
        let journal = Journal::read(&RunFolder::new(output.path(), "shared").journal()).unwrap();
        assert_eq!(journal.meta().unwrap().id, first);
    }
}
