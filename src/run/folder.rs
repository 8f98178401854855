//! A run's folder: the names of its files, which runs there are, how far each
//! has come, and which one a name means.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;

use finqa_core::files;

use super::command::{command, list_command, resume_command};
use super::episodes::exported_run;
use super::identity::{RunKind, RunMeta};
use super::journal::{Journal, JournalError};
use super::lock::{Holder, RunLock};
use super::naming;
use super::shards::ShardsFolder;

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

/// The folder of the runs in an output folder.
pub(super) const RUNS: &str = "runs";

/// One run's folder, `OUTPUT/runs/<run-id>/`; the last run's CSV is copied to `OUTPUT/output.csv`.
#[derive(Clone, Debug)]
pub struct RunFolder {
    output: PathBuf,
    folder: PathBuf,
}

impl RunFolder {
    /// The journal, from which every other file can be made again.
    pub(crate) const JOURNAL: &'static str = "journal.sqlite";
    /// The answers and their scores.
    pub(crate) const CSV: &'static str = "output.csv";
    /// Every question's whole exchange.
    pub(crate) const TRANSCRIPTS: &'static str = "transcripts.jsonl";
    /// Scores, tokens and money.
    pub(crate) const SUMMARY: &'static str = "summary.json";
    /// The report page.
    pub const REPORT: &'static str = "report.html";
    /// The settings.
    pub const CONFIG: &'static str = "config.toml";
    /// Traces, if enabled.
    pub(crate) const TRACES: &'static str = "traces.jsonl";
    /// Held by the process that asks the run's questions.
    pub(crate) const LOCK: &'static str = "run.lock";
    /// The delivery to a tracking server.
    pub(crate) const TRACKING: &'static str = "mlflow.json";
    /// Held by the process that delivers the run to a tracking server.
    pub(crate) const TRACKING_LOCK: &'static str = "mlflow.lock";
    /// The files of a finished run other than its journal.
    pub const RESULTS: [&'static str; 5] = [
        Self::CSV,
        Self::TRANSCRIPTS,
        Self::SUMMARY,
        Self::REPORT,
        Self::CONFIG,
    ];

    /// The folder of the runs in `output`.
    pub fn runs(output: &Path) -> PathBuf {
        output.join(RUNS)
    }

    /// The folder of a new run, which does not exist yet.
    pub(crate) fn new(output: &Path, run: &str) -> Self {
        Self {
            output: output.to_owned(),
            folder: Self::runs(output).join(run),
        }
    }

    /// The folder of a shard, next to those of the others.
    pub(super) fn of_shard(output: &Path, shards: &Path, index: u32) -> Self {
        Self {
            output: output.to_owned(),
            folder: shards.join(index.to_string()),
        }
    }

    /// Makes the folder and checks that it can be written to, before anything is
    /// paid for.
    pub(crate) fn create(&self) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let mut probe = tempfile::tempfile_in(&self.folder)?;
        probe.write_all(&[0; 4096])?;
        probe.sync_all()
    }

    /// The run's own folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn output(&self) -> &Path {
        &self.output
    }

    /// A file of this run.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The journal's path.
    pub fn journal(&self) -> PathBuf {
        self.file(Self::JOURNAL)
    }

    /// The report's path.
    pub fn report(&self) -> PathBuf {
        self.file(Self::REPORT)
    }

    /// The last run's CSV, so that `convfinqa analyze` needs no argument.
    pub fn last_csv(&self) -> PathBuf {
        self.output.join(Self::CSV)
    }
}

/// A run as its journal and files say it is.
#[derive(Clone, Debug)]
pub struct RunState {
    pub meta: RunMeta,
    /// Questions that have an outcome.
    pub answered: usize,
    pub stage: RunStage,
}

/// The progress of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunStage {
    /// A process works on it.
    Running(Holder),
    /// Some questions have no outcome.
    Unfinished,
    /// Every question has an outcome, but not every file is written.
    Unwritten,
    /// Nothing is left to do.
    Finished,
    /// Not merged yet.
    Shards {
        /// All of whose questions have an outcome.
        finished: u32,
        running: u32,
        /// Shards that reached a limit; the run's limit is that of one of them.
        paused: u32,
        /// Shards that were stopped or killed, or whose provider failed.
        interrupted: u32,
        of: u32,
    },
}

impl RunFolder {
    /// The folder of a run: a path to it, its id or a prefix of its id, or
    /// `last` for the newest.
    pub(crate) fn locate(output: &Path, run: &str) -> Result<Self, FolderError> {
        let path = naming::path_of(run)?;
        if path.join(Self::JOURNAL).is_file() {
            return Ok(Self::at(path, output));
        }
        refuse_episodes(path, output)?;
        let found = naming::named(run, Self::all(output), Self::id, Self::runs(output));
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
            (Some(error), _) => error,
            (None, Some(meta)) => FolderError::OtherKindToResume {
                folder,
                command: resume_command(&meta.id, output),
            },
            (None, None) => FolderError::NothingToResume { folder },
        })
    }

    /// The folders of every run that has a journal, oldest first. One without a journal is
    /// of a run that was ended before it began.
    pub fn all(output: &Path) -> Vec<Self> {
        let entries = std::fs::read_dir(Self::runs(output));
        let paths = entries.into_iter().flatten().flatten();
        let mut folders: Vec<Self> = paths
            .map(|entry| Self {
                output: output.to_owned(),
                folder: entry.path(),
            })
            .filter(|run| run.journal().is_file())
            .collect();
        folders.sort_by_cached_key(|folder| (folder.started_at(), folder.folder.clone()));
        folders
    }

    /// The run's start in seconds since 1970 UTC, from its folder's name or, if the user
    /// chose the name (`--run`), from its journal. 0 if unknown.
    pub(crate) fn started_at(&self) -> i64 {
        if let Ok(id) = uuid::Uuid::parse_str(&self.id()) {
            let at = id.get_timestamp().map(|time| time.to_unix().0);
            return at.and_then(|at| i64::try_from(at).ok()).unwrap_or_default();
        }
        let meta = Journal::read(&self.journal()).and_then(|journal| journal.meta());
        meta.map_or(0, |meta| meta.started_at())
    }

    /// The folder at `path`, whose last run's CSV is where it usually is.
    fn at(path: &Path, output: &Path) -> Self {
        let runs = path.parent().filter(|runs| runs.ends_with(RUNS));
        let own = runs.and_then(Path::parent);
        Self {
            output: own.unwrap_or(output).to_owned(),
            folder: path.to_owned(),
        }
    }

    /// The name of the folder, which is the run's id.
    pub fn id(&self) -> String {
        let name = self.path().file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The run's progress.
    pub fn state(&self) -> Result<RunState, FolderError> {
        let journal = Journal::read(&self.journal())?;
        let meta = journal.meta()?;
        let answered = journal.answered()?;
        let stage = match RunLock::holder(self.path()) {
            Some(holder) => RunStage::Running(holder),
            None if meta.total.is_none_or(|total| answered < total) => RunStage::Unfinished,
            None if !self.is_written() => RunStage::Unwritten,
            None => RunStage::Finished,
        };
        Ok(RunState {
            meta,
            answered,
            stage,
        })
    }

    /// True if every file was written after the last answer.
    fn is_written(&self) -> bool {
        #[derive(Deserialize)]
        struct Completeness {
            complete: bool,
        }
        let summary = std::fs::read(self.file(Self::SUMMARY)).unwrap_or_default();
        let summary = serde_json::from_slice::<Completeness>(&summary);
        summary.is_ok_and(|summary| summary.complete)
            && Self::RESULTS.iter().all(|name| self.file(name).is_file())
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

#[cfg(test)]
mod tests {
    use super::*;

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
