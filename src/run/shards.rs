//! The folder that the shards of a run share, `OUTPUT/runs/<name>.shards/`: the plan that
//! all of them agreed on, and the folder of each, which is a run's.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::dataset::QuestionKey;
use crate::settings::Shard;
use finqa_core::files;

use super::folder::RunFolder;
use super::identity::RunMeta;
use super::plan::Plan;

/// The version of the plan's layout; a newer one is refused.
const FORMAT: u32 = 1;

/// The plan's file.
const PLAN: &str = "plan.json";
const SUFFIX: &str = ".shards";

/// A folder of shards that cannot be used.
#[derive(Debug, Error)]
pub enum ShardsError {
    /// Nothing was started with `--shard`.
    #[error("{folder}: no run was started with --shard")]
    NoneStarted { folder: PathBuf },
    /// No run of this name was started with `--shard`.
    #[error("{run}: no run of this name was started with --shard in {folder}")]
    NoSuchRun { run: String, folder: PathBuf },
    /// A run of this name is there, and it has no shards.
    #[error("run {run} exists and has no shards; name another one with --run")]
    Taken { run: String },
    /// The plan cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The plan is not one that this program can read.
    #[error("{path}: not a plan of shards: {source}")]
    NoPlan {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    /// Written by a newer program.
    #[error(
        "{path}: format {found} is newer than this program's {FORMAT}; use the convfinqa that wrote it"
    )]
    Newer { path: PathBuf, found: u32 },
}

/// What the shards of a run agreed on: written by the first that is started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedPlan {
    format: u32,
    /// How many shards there are.
    pub shards: u32,
    /// The whole run.
    pub run: RunMeta,
    /// The questions of one pass, in the plan's order.
    questions: Vec<QuestionKey>,
}

impl SharedPlan {
    /// The plan of a whole `run` that is split into so many shards.
    #[must_use]
    pub(crate) fn new(run: RunMeta, plan: &Plan, shards: u32) -> Self {
        let first = plan.questions().take_while(|planned| planned.epoch == 0);
        Self {
            format: FORMAT,
            shards,
            run,
            questions: first
                .map(|planned| planned.case.question.key.clone())
                .collect(),
        }
    }

    /// How many questions the whole run has.
    #[must_use]
    pub fn total(&self) -> usize {
        self.run.total.unwrap_or(self.questions.len())
    }

    /// The question at a place of the plan, and its pass.
    #[must_use]
    pub fn question(&self, index: usize) -> Option<(&QuestionKey, u32)> {
        let pass = index.checked_div(self.questions.len())?;
        let key = self.questions.get(index % self.questions.len())?;
        Some((key, u32::try_from(pass).ok()?)).filter(|_| index < self.total())
    }

    /// The shard that a question belongs to.
    #[must_use]
    pub(crate) fn shard_of(&self, key: &QuestionKey) -> u32 {
        Shard::of(&key.id, self.shards)
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
    #[must_use]
    pub fn new(output: &Path, name: &str) -> Self {
        Self {
            output: output.to_owned(),
            name: name.to_owned(),
        }
    }

    /// The shards of the run that is named, or of the one that was started last.
    ///
    /// # Errors
    /// [`ShardsError`] if there is none.
    pub fn locate(output: &Path, run: Option<&str>) -> Result<Self, ShardsError> {
        let runs = RunFolder::runs(output);
        if let Some(run) = run.filter(|run| *run != "last") {
            let found = Self::new(output, run.strip_suffix(SUFFIX).unwrap_or(run));
            return match found.file().is_file() {
                true => Ok(found),
                false => Err(ShardsError::NoSuchRun {
                    run: run.to_owned(),
                    folder: runs,
                }),
            };
        }
        let entries = std::fs::read_dir(&runs).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            Some(name.strip_suffix(SUFFIX)?.to_owned())
        });
        let all = names.map(|name| Self::new(output, &name));
        let planned = all.filter_map(|folder| Some((folder.plan().ok()?.run.started, folder)));
        let newest = planned.max_by(|(a, _), (b, _)| a.cmp(b));
        newest
            .map(|(_, folder)| folder)
            .ok_or(ShardsError::NoneStarted { folder: runs })
    }

    /// The name of the run.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        let name = format!("{}{SUFFIX}", self.name);
        RunFolder::runs(&self.output).join(name)
    }

    fn file(&self) -> PathBuf {
        self.path().join(PLAN)
    }

    /// The folder of a shard.
    #[must_use]
    pub fn shard(&self, index: u32) -> RunFolder {
        RunFolder::of_shard(&self.output, &self.path(), index)
    }

    /// The folder of the merged run.
    #[must_use]
    pub fn merged(&self) -> RunFolder {
        RunFolder::new(&self.output, &self.name)
    }

    /// What the shards agreed on.
    ///
    /// # Errors
    /// [`ShardsError`] if it cannot be read.
    pub fn plan(&self) -> Result<SharedPlan, ShardsError> {
        #[derive(Deserialize)]
        struct PlanFormat {
            format: u32,
        }
        let path = self.file();
        let bytes = files::read(&path).map_err(|source| ShardsError::Io {
            path: path.clone(),
            source,
        })?;
        let read = |source| ShardsError::NoPlan {
            path: path.clone(),
            source,
        };
        let PlanFormat { format } = serde_json::from_slice(&bytes).map_err(read)?;
        if format > FORMAT {
            return Err(ShardsError::Newer {
                path,
                found: format,
            });
        }
        serde_json::from_slice(&bytes).map_err(read)
    }

    /// Proposes a plan; gives the one that the first shard proposed. Shards that start at
    /// the same time agree, because a file is renamed to its place only if it is free.
    ///
    /// # Errors
    /// [`ShardsError`] if it cannot be read or written, or the name is another run's.
    pub fn agree(&self, plan: SharedPlan) -> Result<SharedPlan, ShardsError> {
        let path = self.file();
        let failed = |source| ShardsError::Io {
            path: path.clone(),
            source,
        };
        if !path.is_file() {
            if self.merged().journal().is_file() {
                let run = self.name.clone();
                return Err(ShardsError::Taken { run });
            }
            let folder = self.path();
            std::fs::create_dir_all(&folder).map_err(failed)?;
            let file = tempfile::NamedTempFile::new_in(&folder).map_err(failed)?;
            readable_by_others(file.as_file()).map_err(failed)?;
            serde_json::to_writer(file.as_file(), &plan).map_err(|source| failed(source.into()))?;
            file.as_file().sync_all().map_err(failed)?;
            match file.persist_noclobber(&path) {
                Ok(_) => return Ok(plan),
                Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error.error)),
            }
        }
        self.plan()
    }
}

/// Temporary files are private; what shards share is not, because they may be several users'.
#[cfg(unix)]
fn readable_by_others(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_others(_file: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}
