//! Finds the run, the shards or the file of answers that a user names.

use std::path::{Path, PathBuf};

use thiserror::Error;

use finqa_core::files;

use super::command::{command, list_command, resume_command};
use super::episodes::exported_run;
use super::folder::{RunFolder, RunStage};
use super::journal::JournalError;
use super::run_meta::RunKind;
use super::shards_folder::{SHARDS_SUFFIX, ShardsFolder};

/// Maximum number of ids that an error names.
const SHOWN: usize = 8;

/// A run's folder that cannot be made or found.
#[derive(Debug, Error)]
pub enum FolderError {
    #[error("{folder}: no unfinished run to resume; leave out --resume to start one")]
    NothingToResume { folder: PathBuf },
    #[error("{folder}: the newest unfinished run is of another kind; `{command}` continues it")]
    OtherKindToResume { folder: PathBuf, command: String },
    #[error(
        "{run}: no such run in {folder}; `{}` lists them, and -o names another folder",
        list_command(folder)
    )]
    NoSuchRun { run: String, folder: PathBuf },
    #[error(
        "{named}: no such file, and no such run in {folder}; `{}` lists the runs, and -o names \
         another folder",
        list_command(folder)
    )]
    NoSuchAnswers { named: PathBuf, folder: PathBuf },
    #[error(
        "{path} is a file of episodes that run {run} exported; name the run instead: `{score}` scores it"
    )]
    ExportedEpisodes {
        path: PathBuf,
        run: String,
        score: String,
    },
    #[error("{folder}: no run was started with --shard")]
    NoShards { folder: PathBuf },
    #[error(
        "{run}: no run of this name was started with --shard in {folder}; `{}` lists the runs, and \
         -o names another folder",
        list_command(folder)
    )]
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
        some: String,
    },
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl RunFolder {
    /// The folder of a run: a path to it, its id or a prefix of its id, or
    /// `last` for the newest.
    pub(crate) fn locate(output: &Path, run: &str) -> Result<Self, FolderError> {
        let path = path_of(run)?;
        if path.join(Self::JOURNAL).is_file() {
            return Ok(Self::at(path, output));
        }
        refuse_episodes(path, output)?;
        let found = named(run, Self::all(output), Self::id, Self::runs(output));
        found.map_err(|error| match (error, ShardsFolder::locate(output, run)) {
            (FolderError::NoSuchRun { .. }, Ok(shards)) => FolderError::InShards {
                merge: command(&format!("merge {}", shards.name()), output),
                run: shards.name().to_owned(),
            },
            (error, _) => error,
        })
    }

    /// The folder of the run to resume: as [`RunFolder::locate`], but `last` is
    /// the newest run, of this kind if one is given, that is not finished. One that cannot be
    /// read is passed over.
    ///
    /// # Errors
    /// [`FolderError::NothingToResume`], [`FolderError::OtherKindToResume`], or why a run cannot
    /// be read if nothing else can be resumed, and those of [`RunFolder::locate`].
    pub(crate) fn find_resumable(
        output: &Path,
        run: &str,
        kind: Option<RunKind>,
    ) -> Result<Self, FolderError> {
        if run != "last" {
            return Self::locate(output, run);
        }
        let (mut unreadable, mut other) = (None, None);
        for folder in Self::all(output).into_iter().rev() {
            match folder.state() {
                Ok(state) if state.stage == RunStage::Finished => {}
                // Its shards are continued, not the run.
                Ok(state) if state.meta.merged.is_some() => {}
                Ok(state) if kind.is_some_and(|kind| state.meta.kind() != kind) => {
                    other.get_or_insert(state.meta);
                }
                Ok(_) => return Ok(folder),
                Err(error) => {
                    unreadable.get_or_insert(error);
                }
            }
        }
        let folder = Self::runs(output);
        Err(match (unreadable, other) {
            (Some(error), _) => error.into(),
            (None, Some(meta)) => FolderError::OtherKindToResume {
                folder,
                command: resume_command(&meta.id, output),
            },
            (None, None) => FolderError::NothingToResume { folder },
        })
    }

    /// The file of answers that a user means: the path, if it exists, otherwise a run under
    /// `output` (`last`, or a prefix of an id).
    pub(crate) fn answers_at(named: &Path, output: &Path) -> Result<PathBuf, FolderError> {
        refuse_episodes(named, output)?;
        let exists = named.exists();
        let files = [Self::CSV, Self::JOURNAL];
        let is_empty = named.is_dir() && files.iter().all(|name| !named.join(name).exists());
        if exists && !is_empty {
            return Ok(named.to_owned());
        }
        let text = named.to_string_lossy();
        match Self::locate(output, &text) {
            Err(error @ FolderError::InShards { .. }) => Err(error),
            _ if exists => Ok(named.to_owned()),
            Ok(run) => Ok(run.path().to_owned()),
            Err(error) if text == "last" || is_id(&text) => Err(error),
            // A bare word may be meant as either.
            Err(_)
                if named.extension().is_none() && named.file_name() == Some(named.as_os_str()) =>
            {
                Err(FolderError::NoSuchAnswers {
                    named: named.to_owned(),
                    folder: Self::runs(output),
                })
            }
            Err(_) => Ok(named.to_owned()),
        }
    }

    /// The journal of the run that left this CSV: `OUTPUT/output.csv` is a copy of
    /// `OUTPUT/runs/<last run>/output.csv`. `None` if it is not, byte for byte.
    pub(crate) fn journal_behind(csv: &Path) -> Option<PathBuf> {
        if csv.file_name()? != Self::CSV {
            return None;
        }
        let own = csv.with_file_name(Self::JOURNAL);
        if own.is_file() {
            return Some(own);
        }
        let bytes = files::read(csv).ok()?;
        // Newest first: the last run's copy is the likely one.
        Self::all(csv.parent()?).iter().rev().find_map(|run| {
            let copy = run.file(Self::CSV);
            let size = std::fs::metadata(&copy).ok()?.len();
            let same = size == bytes.len() as u64 && files::read(&copy).ok()? == bytes;
            same.then(|| run.journal())
        })
    }
}

impl ShardsFolder {
    /// The shards of a run: that of a path to its folder or to theirs, or of its name, a prefix
    /// of its name, or `last` for the one that was started last.
    pub(crate) fn locate(output: &Path, run: &str) -> Result<Self, FolderError> {
        if let Some(found) = Self::at(path_of(run)?) {
            return Ok(found);
        }
        let (folder, all) = (RunFolder::runs(output), Self::all(output));
        if all.is_empty() && run == "last" {
            return Err(FolderError::NoShards { folder });
        }
        let name = run.strip_suffix(SHARDS_SUFFIX).unwrap_or(run);
        let found = named(name, all, |shards| shards.name().to_owned(), folder);
        found.map_err(|error| match error {
            FolderError::NoSuchRun { run, folder } => FolderError::NoSuchShards { run, folder },
            error => error,
        })
    }
}

/// Refuses a file of episodes where a run or predictions are meant.
fn refuse_episodes(path: &Path, output: &Path) -> Result<(), FolderError> {
    match exported_run(path) {
        None => Ok(()),
        Some(run) => Err(FolderError::ExportedEpisodes {
            path: path.to_owned(),
            score: command(&format!("score {run}"), output),
            run,
        }),
    }
}

/// True if the text may be a prefix of a run's id.
fn is_id(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
}

/// The text by which a user names a run, as a path. The empty one is a prefix of every id.
fn path_of(run: &str) -> Result<&Path, FolderError> {
    match run {
        "" => Err(FolderError::NoName),
        run => Ok(Path::new(run)),
    }
}

/// The one of `all` runs, oldest first, that is meant by its id, a prefix of its id, or `last`
/// for the newest.
fn named<T>(
    run: &str,
    mut all: Vec<T>,
    id: impl Fn(&T) -> String,
    runs: PathBuf,
) -> Result<T, FolderError> {
    let mut found = match all.iter().position(|one| id(one) == run) {
        Some(at) => vec![all.swap_remove(at)],
        None if run == "last" => all.pop().into_iter().collect(),
        None => {
            all.retain(|one| id(one).starts_with(run));
            all
        }
    };
    match (found.pop(), found.len()) {
        (Some(one), 0) => Ok(one),
        (None, _) => Err(FolderError::NoSuchRun {
            run: run.to_owned(),
            folder: runs,
        }),
        (Some(newest), others) => {
            found.push(newest);
            let newest_first = found.iter().rev().take(SHOWN);
            let mut some: Vec<String> = newest_first.map(id).collect();
            if others + 1 > SHOWN {
                some.push(format!("{} more", others + 1 - SHOWN));
            }
            Err(FolderError::Ambiguous {
                run: run.to_owned(),
                folder: runs,
                count: others + 1,
                some: some.join(", "),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::journal::Journal;
    use crate::run::run_meta::RunMeta;

    #[test]
    fn a_run_is_named_by_path_id_unique_start_or_last_and_an_ambiguous_start_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path();
        let ids = ["019a-1", "019a-2", "019b", "019b-x"];
        for id in ids {
            let run = RunFolder::runs(output).join(id);
            std::fs::create_dir_all(&run).unwrap();
            std::fs::write(run.join("journal.sqlite"), "").unwrap();
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
            RunFolder::find_resumable(output, "019a", Some(RunKind::Questions)),
            Err(FolderError::Ambiguous { .. })
        ));
    }

    #[test]
    fn a_journal_that_cannot_be_read_keeps_no_older_run_from_being_resumed() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path();
        let run = |id: &str| {
            let run = RunFolder::runs(output).join(id);
            std::fs::create_dir_all(&run).unwrap();
            run.join("journal.sqlite")
        };
        std::fs::write(run("019b"), "no database").unwrap();
        std::fs::write(run("019c"), "").unwrap();
        let error =
            RunFolder::find_resumable(output, "last", Some(RunKind::Questions)).unwrap_err();
        assert!(
            matches!(&error, FolderError::Journal(_)) && error.to_string().contains("019c"),
            "the newest that cannot be read is named: {error}"
        );
        let meta = RunMeta {
            id: "019a".into(),
            total: Some(1),
            ..RunMeta::default()
        };
        Journal::create(&run("019a"), &meta, None).unwrap();
        let found = RunFolder::find_resumable(output, "last", Some(RunKind::Questions)).unwrap();
        assert_eq!(found.id(), "019a");
        assert!(RunFolder::find_resumable(output, "last", Some(RunKind::Episodes)).is_err());
    }

    #[test]
    fn a_run_with_a_name_is_as_old_as_its_start() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path();
        let ids = [
            "01970000-0000-7000-8000-000000000000", "z", "019a0000-0000-7000-8000-000000000000",
        ];
        for id in ids {
            let run = RunFolder::runs(output).join(id);
            std::fs::create_dir_all(&run).unwrap();
            let meta = RunMeta {
                started: "2025-09-01T00:00:00Z".into(),
                ..RunMeta::default()
            };
            Journal::create(&run.join("journal.sqlite"), &meta, None).unwrap();
        }
        let found: Vec<_> = RunFolder::all(output).iter().map(RunFolder::id).collect();
        assert_eq!(found, ids);
        let named = RunFolder::answers_at(Path::new("z"), output).unwrap();
        assert_eq!(named, output.join("runs/z"));
    }
}
