//! The folder that the shards of a run share, `OUTPUT/runs/<name>.shards/`: the plan that
//! all of them agreed on, and the folder of each, which is a run's.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::dataset::QuestionKey;
use crate::settings::Shard;
use finqa_core::files;

use super::folder::{RUNS, RunFolder, RunStage, RunState};
use super::journal::Journal;
use super::plan::Plan;
use super::run_meta::RunMeta;
use super::shards_error::ShardsError;

/// The version of the plan's layout; any other is refused.
const FORMAT: u32 = 1;

/// The plan's file.
const PLAN: &str = "plan.json";
/// The folder in which the merged journal is written.
const MERGING: &str = "merging";
pub(super) const SHARDS_SUFFIX: &str = ".shards";

/// The plan that the shards of a run share, written by the first one started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedPlan {
    format: u32,
    /// The number of shards.
    pub shards: u32,
    /// The whole run.
    pub run: RunMeta,
    /// The questions of one pass, in the plan's order.
    questions: Vec<QuestionKey>,
}

impl SharedPlan {
    /// The plan of a whole `run` split into `shards`.
    pub(crate) fn new(run: RunMeta, plan: &Plan, shards: u32) -> Self {
        let first = plan.questions().take_while(|planned| planned.epoch == 0);
        let questions = first.map(|planned| planned.case.question.key.clone());
        Self {
            format: FORMAT,
            shards,
            run,
            questions: questions.collect(),
        }
    }

    /// The number of questions in the whole run.
    pub fn total(&self) -> usize {
        self.run.total.unwrap_or(self.questions.len())
    }

    /// The question at a place of the plan, and its pass.
    pub fn question(&self, index: usize) -> Option<(&QuestionKey, u32)> {
        let pass = index.checked_div(self.questions.len())?;
        let key = self.questions.get(index % self.questions.len())?;
        Some((key, u32::try_from(pass).ok()?)).filter(|_| index < self.total())
    }
}

/// The folder of a run's shards.
#[derive(Clone, Debug)]
pub struct ShardsFolder {
    output: PathBuf,
    name: String,
}

impl ShardsFolder {
    /// The folder of the shards of the run with this name.
    pub fn new(output: &Path, name: &str) -> Self {
        Self {
            output: output.to_owned(),
            name: name.to_owned(),
        }
    }

    /// The folders of all runs with shards, the one that was started first at the front; those
    /// whose plan cannot be read are the oldest.
    pub fn all(output: &Path) -> Vec<Self> {
        let entries = std::fs::read_dir(RunFolder::runs(output));
        let names = entries.into_iter().flatten().flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            Some(name.strip_suffix(SHARDS_SUFFIX)?.to_owned())
        });
        let all = names.map(|name| Self::new(output, &name));
        let mut all: Vec<_> = all.filter(|folder| folder.path().is_dir()).collect();
        all.sort_by_cached_key(|folder| (folder.started_at(), folder.name.clone()));
        all
    }

    /// The shards at this path, which is the folder of their run, of all of them or of one.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let found = path.ancestors().take(2).find_map(|folder| {
            let name = folder.file_name()?.to_str()?;
            let runs = folder.parent().filter(|runs| runs.ends_with(RUNS))?;
            let name = name.strip_suffix(SHARDS_SUFFIX).unwrap_or(name);
            Some(Self::new(runs.parent()?, name))
        });
        found.filter(|found| found.path().is_dir())
    }

    /// The start of the first shard in seconds since 1970 UTC; 0 if unknown.
    pub(crate) fn started_at(&self) -> i64 {
        self.plan().map_or(0, |plan| plan.run.started_at())
    }

    /// The name of the run.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the folder.
    pub fn id(&self) -> String {
        format!("{}{SHARDS_SUFFIX}", self.name)
    }

    /// The folder itself.
    pub fn path(&self) -> PathBuf {
        RunFolder::runs(&self.output).join(self.id())
    }

    /// The folder of a shard.
    pub fn shard(&self, index: u32) -> RunFolder {
        RunFolder::of_shard(&self.output, &self.path(), index)
    }

    /// The folder in which the process that merges writes the journal, before it is complete.
    pub fn merging(&self) -> PathBuf {
        self.path().join(MERGING)
    }

    /// The folder of the merged run.
    pub fn merged(&self) -> RunFolder {
        RunFolder::new(&self.output, &self.name)
    }

    /// The plan that the shards share.
    pub fn plan(&self) -> Result<SharedPlan, ShardsError> {
        #[derive(Deserialize)]
        struct PlanFormat {
            format: u32,
        }
        let path = self.path().join(PLAN);
        let bytes = files::read(&path).map_err(|source| match source.kind() {
            ErrorKind::NotFound => ShardsError::MissingPlan { path: path.clone() },
            _ => ShardsError::io(&path)(source),
        })?;
        let no_plan = |reason: String| ShardsError::NoPlan {
            path: path.clone(),
            reason,
        };
        let read = serde_json::from_slice(&bytes);
        let PlanFormat { format } = read.map_err(|error| no_plan(error.to_string()))?;
        if format != FORMAT {
            return Err(no_plan(format!("format {format} instead of {FORMAT}")));
        }
        serde_json::from_slice(&bytes).map_err(|error| no_plan(error.to_string()))
    }

    /// The progress of the shards; `None` if they are merged and complete.
    pub fn state(&self) -> Result<Option<RunState>, ShardsError> {
        let merged = self.merged().state().ok().and_then(|run| run.meta.merged);
        let is_complete = merged.as_ref().is_some_and(|it| it.missing.is_empty());
        if is_complete {
            return Ok(None);
        }
        let mut plan = self.plan()?;
        plan.run.merged = merged;
        let (mut answered, mut finished, mut running) = (0, 0, 0);
        let (mut paused, mut interrupted) = (0, 0);
        for shard in Shard::all(plan.shards) {
            let own = self.shard(shard.index());
            if !own.journal().is_file() {
                continue;
            }
            let state = own.state()?;
            answered += state.answered;
            match state.stage {
                RunStage::Running(_) => running += 1,
                _ if state.meta.total == Some(state.answered) => finished += 1,
                _ if state.meta.paused.is_some() => {
                    paused += 1;
                    plan.run.paused = state.meta.paused;
                }
                _ => interrupted += 1,
            }
        }
        Ok(Some(RunState {
            meta: plan.run,
            answered,
            stage: RunStage::Shards {
                finished,
                running,
                paused,
                interrupted,
                of: plan.shards,
            },
        }))
    }

    /// Proposes a plan; gives the one that the first shard proposed. Shards that start at
    /// the same time agree, because a file is renamed to its place only if it is free.
    pub fn agree(&self, plan: SharedPlan) -> Result<SharedPlan, ShardsError> {
        let path = self.path().join(PLAN);
        if path.is_file() {
            return self.plan();
        }
        if self.is_taken() {
            return Err(ShardsError::Taken {
                run: self.name.clone(),
            });
        }
        match self.write(&path, &plan) {
            Ok(()) => Ok(plan),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => self.plan(),
            Err(error) => Err(ShardsError::io(&path)(error)),
        }
    }

    fn write(&self, path: &Path, plan: &SharedPlan) -> std::io::Result<()> {
        let folder = self.path();
        std::fs::create_dir_all(&folder)?;
        let file = tempfile::NamedTempFile::new_in(&folder)?;
        // They may be several users'.
        files::let_others_read(file.as_file())?;
        serde_json::to_writer(file.as_file(), plan)?;
        file.as_file().sync_all()?;
        file.persist_noclobber(path)?;
        Ok(())
    }

    /// True if a run of this name exists that was not merged from shards.
    fn is_taken(&self) -> bool {
        let merged = self.merged().journal();
        let meta = Journal::read(&merged).and_then(|journal| journal.meta());
        merged.is_file() && meta.map_or(true, |meta| meta.merged.is_none())
    }
}
