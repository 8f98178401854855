//! A run's folder: the names of its files, the list of all runs, and the progress of each.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::brief_results::BriefResults;
use super::journal::{Journal, JournalError};
use super::lock::RunLock;
use super::run_meta::RunMeta;

/// The name of the folder within an output folder that contains the runs.
pub(super) const RUNS: &str = "runs";

/// One run's folder, `OUTPUT/runs/<run-id>/`. The CSV of the last run is also copied to
/// `OUTPUT/output.csv`.
#[derive(Clone, Debug)]
pub struct RunFolder {
    output: PathBuf,
    folder: PathBuf,
}

impl RunFolder {
    /// The journal, from which every other file can be made again.
    pub const JOURNAL: &'static str = "journal.sqlite";
    /// The answers and their scores.
    pub const CSV: &'static str = "output.csv";
    /// Every question with all its requests and replies.
    pub const TRANSCRIPTS: &'static str = "transcripts.jsonl";
    /// Scores, tokens and money.
    pub const SUMMARY: &'static str = "summary.json";
    /// The report page.
    pub const REPORT: &'static str = "report.html";
    /// The settings, in the form of `convfinqa.toml`.
    pub const CONFIG: &'static str = "config.toml";
    /// Traces, if enabled.
    pub const TRACES: &'static str = "traces.jsonl";
    /// The state of the delivery to a tracking server.
    pub const TRACKING: &'static str = "mlflow.json";
    /// The files that every finished run has in addition to its journal.
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

    /// The folder of the run with this id. It need not exist.
    pub fn new(output: &Path, run: &str) -> Self {
        Self {
            output: output.to_owned(),
            folder: Self::runs(output).join(run),
        }
    }

    /// The folder of a shard, within the folder that the shards of its run share.
    pub(super) fn of_shard(output: &Path, shards: &Path, index: u32) -> Self {
        Self {
            output: output.to_owned(),
            folder: shards.join(index.to_string()),
        }
    }

    /// Makes the folder and checks that it can be written to, before a call costs money. The check
    /// writes a block of 4 KiB, as most file systems have, and syncs it, so that it also fails on a
    /// full disk.
    pub fn create(&self) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let mut probe = tempfile::tempfile_in(&self.folder)?;
        probe.write_all(&[0; 4096])?;
        probe.sync_all()
    }

    pub fn path(&self) -> &Path {
        &self.folder
    }

    pub fn output(&self) -> &Path {
        &self.output
    }

    /// The path of this run's file `name`.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn journal(&self) -> PathBuf {
        self.file(Self::JOURNAL)
    }

    /// The copy of the last run's CSV in the output folder, which `convfinqa analyze` reads by
    /// default.
    pub fn last_csv(&self) -> PathBuf {
        self.output.join(Self::CSV)
    }

    /// True if this run's CSV is the one that was copied to the output folder. The contents are
    /// compared, because the copy does not name its run.
    pub fn is_last(&self) -> bool {
        let content = |path: PathBuf| std::fs::read(path).ok();
        let last = content(self.last_csv());
        last.is_some() && last == content(self.file(Self::CSV))
    }
}

/// A run's description and progress, as its journal and files show them.
#[derive(Clone, Debug)]
pub struct RunState {
    pub meta: RunMeta,
    /// Questions that have an outcome.
    pub answered: usize,
    pub stage: RunStage,
    /// The figures of the summary; `None` until it is written.
    pub results: Option<BriefResults>,
}

/// The progress of a run.
#[derive(Clone, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum RunStage {
    /// A process is working on the run. The text names the process.
    Running(String),
    /// Some questions have no outcome.
    Unfinished,
    /// Every question has an outcome, but not every file is written.
    Unwritten,
    /// Every question has an outcome, and every file is written.
    Finished,
}

impl RunStage {
    /// The name in JSON.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

impl RunFolder {
    /// The folders of all runs, oldest first. A folder without a journal is left out, because its
    /// run was killed before it began. Empty if `output` has no runs or cannot be listed.
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
        // On a tie by name, because `read_dir` returns entries in any order.
        folders.sort_by_cached_key(|folder| (folder.started_at(), folder.folder.clone()));
        folders
    }

    /// The run's start in seconds since 1970 UTC; 0 if unknown. It is read from the folder's name,
    /// or from the journal if the user chose the name (`--run`).
    pub(crate) fn started_at(&self) -> i64 {
        if let Ok(id) = uuid::Uuid::parse_str(&self.id()) {
            let at = id.get_timestamp().map(|time| time.to_unix().0);
            return at.and_then(|at| i64::try_from(at).ok()).unwrap_or_default();
        }
        let meta = Journal::read(&self.journal()).and_then(|journal| journal.meta());
        meta.map_or(0, |meta| meta.started_at())
    }

    /// The run folder at `path`. If it is in a folder named `runs`, its output folder is the parent
    /// of that, otherwise `output`.
    pub(super) fn at(path: &Path, output: &Path) -> Self {
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

    /// Reads the run's description and progress.
    pub fn state(&self) -> Result<RunState, JournalError> {
        let journal = Journal::read(&self.journal())?;
        let meta = journal.meta()?;
        let answered = journal.answered()?;
        let stage = match RunLock::holder(self.path()) {
            Some(holder) => RunStage::Running(holder),
            None if answered < meta.total => RunStage::Unfinished,
            None if !self.is_written(&meta) => RunStage::Unwritten,
            None => RunStage::Finished,
        };
        Ok(RunState {
            meta,
            answered,
            stage,
            results: BriefResults::read(&self.file(Self::SUMMARY)),
        })
    }

    /// True if all files of a finished run exist, and the summary has all answers and was scored by
    /// the current gold. The summary is written last, so the other files are not older.
    fn is_written(&self, meta: &RunMeta) -> bool {
        // A summary that cannot be read counts as not written.
        let summary = std::fs::read(self.file(Self::SUMMARY)).unwrap_or_default();
        let summary: Value = serde_json::from_slice(&summary).unwrap_or_default();
        let gold = summary.pointer("/run/gold").cloned().unwrap_or_default();
        summary.get("complete") == Some(&Value::Bool(true))
            && serde_json::to_value(&meta.gold).is_ok_and(|counts| counts == gold)
            && Self::RESULTS.iter().all(|name| self.file(name).is_file())
    }
}
