//! Finds the run, the shards or the file of answers that a user names.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::command::command;
use super::folder::{RunFolder, RunStage};
use super::journal::JournalError;
use super::run_meta::RunKind;
use super::shards_folder::{SHARDS_SUFFIX, ShardsFolder};
use finqa_core::error::{Kind, Kinded};

/// Maximum number of ids that an error names. Set by hand.
const SHOWN: usize = 8;

/// A run's folder that cannot be found, or is not the one that the command needs.
#[derive(Debug, Error)]
pub enum FolderError {
    #[error("{folder}: no unfinished run to resume")]
    NothingToResume { folder: PathBuf },
    #[error("run {id} must be resumed with `{command}`")]
    OtherKind { id: String, command: String },
    #[error("{run}: no such run in {folder}")]
    NoSuchRun { run: String, folder: PathBuf },
    #[error("no whole run yet in {folder}")]
    NoRuns { folder: PathBuf },
    #[error("{run}: no run of this name was started in shards in {folder}")]
    NoSuchShards { run: String, folder: PathBuf },
    #[error("the name of the run is empty; give its id, a prefix of its id, or `last`")]
    NoName,
    #[error("run {run} is in shards; merge them with `{merge}`")]
    InShards { run: String, merge: String },
    #[error("{run} is a prefix of {count} runs in {folder}: {some}; give more of the id")]
    Ambiguous {
        run: String,
        folder: PathBuf,
        count: usize,
        /// The newest of these runs.
        some: String,
    },
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl Kinded for FolderError {
    fn kind(&self) -> Kind {
        match self {
            Self::Journal(error) => error.kind(),
            _ => Kind::Usage,
        }
    }
}

impl RunFolder {
    /// Finds the folder of a run. `run` is a path to it, its id, a prefix of its id, or `last` for
    /// the newest run.
    pub fn locate(output: &Path, run: &str) -> Result<Self, FolderError> {
        let path = Path::new(run);
        if run.is_empty() {
            return Err(FolderError::NoName);
        }
        if path.join(Self::JOURNAL).is_file() {
            return Ok(Self::at(path, output));
        }
        Self::named(output, run).map_err(|error| match (error, ShardsFolder::locate(output, run)) {
            (FolderError::NoSuchRun { .. } | FolderError::NoRuns { .. }, Ok(shards)) => {
                FolderError::InShards {
                    merge: command(&format!("merge {}", shards.name()), output),
                    run: shards.name().to_owned(),
                }
            }
            (error, _) => error,
        })
    }

    /// The run with this id, the only run whose id begins with it, or the newest for `last`.
    fn named(output: &Path, run: &str) -> Result<Self, FolderError> {
        let (mut all, folder) = (Self::all(output), Self::runs(output));
        if let Some(at) = all.iter().position(|one| one.id() == run) {
            return Ok(all.swap_remove(at));
        }
        let run = run.to_owned();
        if run != "last" {
            all.retain(|one| one.id().starts_with(&run));
            if all.len() > 1 {
                let some: Vec<_> = all.iter().rev().take(SHOWN).map(Self::id).collect();
                return Err(FolderError::Ambiguous {
                    run,
                    folder,
                    count: all.len(),
                    some: some.join(", "),
                });
            }
        }
        all.pop().ok_or(match &*run {
            "last" => FolderError::NoRuns { folder },
            _ => FolderError::NoSuchRun { run, folder },
        })
    }

    /// Finds the folder of the run to resume. Unlike in [`RunFolder::locate`], `last` is the newest
    /// unfinished run of this kind. Runs that cannot be read are skipped.
    ///
    /// # Errors
    /// The errors of [`RunFolder::locate`]. For `last`: [`FolderError::NothingToResume`] if no run
    /// is unfinished. If there are unfinished runs but none can be resumed, the reason for the
    /// newest one.
    pub fn find_resumable(output: &Path, run: &str, kind: RunKind) -> Result<Self, FolderError> {
        if run != "last" {
            return Self::locate(output, run);
        }
        let mut newest = None;
        for folder in Self::all(output).into_iter().rev() {
            let state = match folder.state() {
                Ok(state) => state,
                Err(error) => {
                    newest.get_or_insert(error.into());
                    continue;
                }
            };
            // A merged run cannot be resumed; its shards can.
            if state.stage == RunStage::Finished || state.meta.merged.is_some() {
                continue;
            }
            if state.meta.kind() == kind {
                return Ok(folder);
            }
            newest.get_or_insert(FolderError::OtherKind {
                command: state.meta.resume_command(output),
                id: state.meta.id,
            });
        }
        let folder = Self::runs(output);
        Err(newest.unwrap_or(FolderError::NothingToResume { folder }))
    }

    /// The path of the answers that a user names: `named` itself if it is a file, otherwise a run
    /// under `output` (`last`, or a prefix of an id).
    pub fn answers_at(named: &Path, output: &Path) -> Result<PathBuf, FolderError> {
        // Not `is_file`, so that a pipe counts too.
        let is_file = named.exists() && !named.is_dir();
        match Self::locate(output, &named.to_string_lossy()) {
            Ok(run) if !is_file => Ok(run.path().to_owned()),
            // Not a run: treat it as a path, unless it looks like a misspelled run name.
            Err(error @ FolderError::NoSuchRun { .. }) => {
                let is_name = named.extension().is_none() && named.components().count() == 1;
                if is_name && !named.exists() {
                    Err(error)
                } else {
                    Ok(named.to_owned())
                }
            }
            Err(error) if !is_file => Err(error),
            _ => Ok(named.to_owned()),
        }
    }
}

impl ShardsFolder {
    /// The shards of the run with this name.
    pub fn locate(output: &Path, run: &str) -> Result<Self, FolderError> {
        let name = run.strip_suffix(SHARDS_SUFFIX).unwrap_or(run);
        let shards = Self::new(output, name);
        if shards.path().is_dir() {
            Ok(shards)
        } else {
            Err(FolderError::NoSuchShards {
                run: run.to_owned(),
                folder: RunFolder::runs(output),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::journal::Journal;
    use crate::run::run_meta::RunMeta;

    /// Makes the folder of a run and returns the path of its journal.
    fn journal_of(output: &Path, id: &str) -> PathBuf {
        let run = RunFolder::new(output, id);
        std::fs::create_dir_all(run.path()).unwrap();
        run.journal()
    }

    #[test]
    fn a_run_is_named_by_path_id_unique_start_or_last_and_an_ambiguous_start_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path();
        let ids = ["019a-1", "019a-2", "019b", "019b-x"];
        for id in ids {
            std::fs::write(journal_of(output, id), "").unwrap();
        }
        std::fs::create_dir_all(output.join("runs/019c")).unwrap();
        let id = |run: &str| RunFolder::locate(output, run).map(|folder| folder.id());
        assert_eq!(id("last").unwrap(), "019b-x");
        assert_eq!(id("019a-2").unwrap(), "019a-2");
        assert_eq!(id("019b").unwrap(), "019b", "a whole id is no start");
        let path = output.join("runs/019a-1");
        let by_path = RunFolder::locate(Path::new("elsewhere"), path.to_str().unwrap()).unwrap();
        assert_eq!(by_path.last_csv(), output.join("output.csv"));
        let error = id("019a").unwrap_err().to_string();
        assert!(
            error.starts_with("019a is a prefix of 2 runs")
                && error.contains("019a-2, 019a-1; give more"),
            "{error}"
        );
        assert!(matches!(id("019c"), Err(FolderError::NoSuchRun { .. })));
        assert!(matches!(
            RunFolder::find_resumable(output, "019a", RunKind::Questions),
            Err(FolderError::Ambiguous { .. })
        ));
    }

    #[test]
    fn a_journal_that_cannot_be_read_keeps_no_older_run_from_being_resumed() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path();
        std::fs::write(journal_of(output, "019b"), "no database").unwrap();
        std::fs::write(journal_of(output, "019c"), "").unwrap();
        let error = RunFolder::find_resumable(output, "last", RunKind::Questions).unwrap_err();
        assert!(
            matches!(&error, FolderError::Journal(_)) && error.to_string().contains("019c"),
            "the newest that cannot be read is named: {error}"
        );
        let meta = RunMeta {
            id: "019a".into(),
            total: 1,
            ..RunMeta::default()
        };
        Journal::create(&journal_of(output, "019a"), &meta, None).unwrap();
        let found = RunFolder::find_resumable(output, "last", RunKind::Questions).unwrap();
        assert_eq!(found.id(), "019a");
        assert!(RunFolder::find_resumable(output, "last", RunKind::Episodes).is_err());
    }

    #[test]
    fn a_run_with_a_name_is_as_old_as_its_start() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path();
        let ids = [
            "01970000-0000-7000-8000-000000000000", "z", "019a0000-0000-7000-8000-000000000000",
        ];
        for id in ids {
            let meta = RunMeta {
                started: "2025-09-01T00:00:00Z".into(),
                ..RunMeta::default()
            };
            Journal::create(&journal_of(output, id), &meta, None).unwrap();
        }
        let found: Vec<_> = RunFolder::all(output).iter().map(RunFolder::id).collect();
        assert_eq!(found, ids);
        let named = RunFolder::answers_at(Path::new("z"), output).unwrap();
        assert_eq!(named, output.join("runs/z"));
    }
}
