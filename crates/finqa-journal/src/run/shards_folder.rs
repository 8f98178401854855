//! The folder that the shards of a run share, `OUTPUT/runs/<name>.shards/`. It contains the plan
//! that all shards agreed on, and a run folder for each shard.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::settings::Shard;
use finqa_core::error::{Kind, Kinded};
use finqa_core::files;

use super::folder::RunFolder;
use super::journal::Journal;
use super::plan::Plan;
use super::run_meta::RunMeta;
use super::shards_error::ShardsError;

/// The version of the plan's layout. Plans of any other version are refused.
const FORMAT: u32 = 2;

/// The file with the shared plan.
const PLAN: &str = "plan.json";
/// The folder in which the merged journal is written.
const MERGING: &str = "merging";
/// The end of the folder's name. A run's own name cannot end like this.
pub(super) const SHARDS_SUFFIX: &str = ".shards";

/// The plan that the shards of a run share. The first shard that starts writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedPlan {
    format: u32,
    /// The number of questions in each shard.
    pub questions: Vec<usize>,
    /// The description of the whole run.
    pub run: RunMeta,
}

impl SharedPlan {
    /// The plan of a whole `run` that is split into `shards` parts.
    pub fn new(run: RunMeta, plan: &Plan, shards: u32) -> Self {
        let mut questions: Vec<_> = Shard::all(shards).map(|_| 0).collect();
        for planned in plan.questions() {
            let shard = Shard::of(&planned.case.question.key.id, shards);
            // Shards are numbered from 1.
            if let Some(count) = questions.get_mut(shard as usize - 1) {
                *count += 1;
            }
        }
        Self {
            format: FORMAT,
            questions,
            run,
        }
    }

    pub fn count(&self) -> u32 {
        u32::try_from(self.questions.len()).unwrap_or(u32::MAX)
    }

    /// The shards, each with its number of questions.
    pub fn shards(&self) -> impl Iterator<Item = (Shard, usize)> {
        Shard::all(self.count()).zip(self.questions.iter().copied())
    }
}

/// The folder that has the shards of one run.
#[derive(Clone, Debug)]
pub struct ShardsFolder {
    output: PathBuf,
    name: String,
}

impl ShardsFolder {
    /// The folder of the shards of the run with this name. It need not exist.
    pub fn new(output: &Path, name: &str) -> Self {
        Self {
            output: output.to_owned(),
            name: name.to_owned(),
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn path(&self) -> PathBuf {
        RunFolder::runs(&self.output).join(format!("{}{SHARDS_SUFFIX}", self.name))
    }

    pub fn shard(&self, index: u32) -> RunFolder {
        RunFolder::of_shard(&self.output, &self.path(), index)
    }

    /// The folder in which the merged journal is written until it is complete.
    pub fn merging(&self) -> PathBuf {
        self.path().join(MERGING)
    }

    pub fn merged(&self) -> RunFolder {
        RunFolder::new(&self.output, &self.name)
    }

    /// Reads the plan that the shards share.
    pub fn plan(&self) -> Result<SharedPlan, ShardsError> {
        let path = self.path().join(PLAN);
        let no_plan = |reason: String| ShardsError::NoPlan {
            path: path.clone(),
            reason,
        };
        let bytes = files::read(&path).map_err(|source| match source.kind() {
            ErrorKind::NotFound => no_plan("it is missing".to_owned()),
            _ => ShardsError::io(&path)(source),
        })?;
        let plan: SharedPlan =
            serde_json::from_slice(&bytes).map_err(|error| no_plan(error.to_string()))?;
        match plan.format {
            FORMAT => Ok(plan),
            format => Err(no_plan(format!("format {format} instead of {FORMAT}"))),
        }
    }

    /// Proposes a plan. Returns the plan that the first shard proposed. Shards that start at the
    /// same time agree on one plan, because the file is put in place only if none exists.
    pub fn agree(&self, plan: SharedPlan) -> Result<SharedPlan, ShardsError> {
        let path = self.path().join(PLAN);
        if path.is_file() {
            return self.plan();
        }
        self.refuse_taken()?;
        match self.write(&path, &plan) {
            Ok(()) => Ok(plan),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => self.plan(),
            Err(error) => Err(ShardsError::io(&path)(error)),
        }
    }

    /// Writes the plan, whole or not at all. An error of the kind `AlreadyExists` if there is one.
    fn write(&self, path: &Path, plan: &SharedPlan) -> std::io::Result<()> {
        let folder = self.path();
        std::fs::create_dir_all(&folder)?;
        let file = tempfile::NamedTempFile::new_in(&folder)?;
        // A temporary file is private, but the shards may belong to several users.
        files::let_others_read(file.as_file())?;
        serde_json::to_writer(file.as_file(), plan)?;
        // Synced first, so that a power failure cannot leave an empty plan.
        file.as_file().sync_all()?;
        file.persist_noclobber(path)?;
        Ok(())
    }

    /// Returns an error if a run with this name exists that was not merged from shards.
    pub fn refuse_taken(&self) -> Result<(), ShardsError> {
        let merged = self.merged().journal();
        if !merged.is_file() {
            return Ok(());
        }
        match Journal::read(&merged).and_then(|journal| journal.meta()) {
            Ok(meta) if meta.merged.is_some() => Ok(()),
            // A damaged merged journal may be replaced, because the shards have all its entries.
            Err(error) if error.kind() == Kind::Data => Ok(()),
            _ => Err(ShardsError::Taken {
                run: self.name.clone(),
            }),
        }
    }
}
