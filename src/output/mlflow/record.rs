//! `mlflow.json` in a run's folder: the server that the run is logged on, and the parts
//! known to have arrived. It only saves requests: without it, everything is requested or
//! sent again.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::output::staged::write_json_pretty;
use crate::run::RunFolder;
use finqa_core::files;

use super::error::MlflowError;
use super::traces::PendingTraces;

/// The version of the file's layout; a newer one is refused.
const FORMAT: u32 = 1;

/// The server that a run is logged on, and the parts that it has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeliveryRecord {
    format: u32,
    /// The server, without anything that may be secret.
    pub uri: String,
    pub experiment: String,
    /// Experiment id on the server.
    pub experiment_id: String,
    pub run_id: String,
    /// The location of the run's files on the server.
    #[serde(default)]
    pub artifact_uri: String,
    /// The server has the parameters and the first tags.
    #[serde(default)]
    pub described: bool,
    /// Files that the server has: path on the server → blake3 of the content.
    #[serde(default)]
    pub artifacts: BTreeMap<String, String>,
    /// Bytes of `traces.jsonl` that the server has.
    #[serde(default)]
    pub traces: u64,
    /// The parts that the server cannot store, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortfalls: Vec<String>,
    /// Answers that the run had when all of it was delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete_at: Option<usize>,
}

impl DeliveryRecord {
    /// The record in a run's folder, if there is one.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, MlflowError> {
        let path = path(folder);
        let error = |reason| MlflowError::Record {
            path: path.clone(),
            reason,
        };
        let bytes = match files::read(&path) {
            Ok(bytes) => bytes,
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => {
                return Err(MlflowError::File { path, source });
            }
        };
        #[derive(Deserialize)]
        struct RecordFormat {
            format: u32,
        }
        let version: RecordFormat = serde_json::from_slice(&bytes)
            .map_err(|source| error(format!("not a record of a delivery ({source})")))?;
        if version.format > FORMAT {
            return Err(error(format!(
                "format {} is newer than this program's {FORMAT}",
                version.format
            )));
        }
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|source| error(format!("not a record of a delivery ({source})")))
    }

    /// True if every trace in the run's folder is delivered, or cannot be.
    pub(crate) fn has_all_traces(&self, folder: &Path) -> Result<bool, MlflowError> {
        if self
            .shortfalls
            .iter()
            .any(|line| line.starts_with("traces:"))
        {
            return Ok(true);
        }
        // A line that was cut off in the middle does not count.
        Ok(PendingTraces::read(folder, self.traces)?.next == self.traces)
    }

    /// A record of nothing delivered to a server.
    pub(super) fn new(uri: &str, experiment: &str) -> Self {
        Self {
            format: FORMAT,
            uri: uri.to_owned(),
            experiment: experiment.to_owned(),
            ..Self::default()
        }
    }

    /// Writes it, whole or not at all.
    pub(super) fn write(&self, folder: &Path) -> Result<(), MlflowError> {
        Ok(write_json_pretty(&path(folder), self)?)
    }
}

fn path(folder: &Path) -> PathBuf {
    folder.join(RunFolder::TRACKING)
}

/// Held while a run is delivered, so that two processes do not make two MLflow
/// runs of it. The system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub(super) struct DeliveryLock {
    _file: File,
}

impl DeliveryLock {
    /// Takes hold of a run.
    pub(crate) fn take(folder: &Path) -> Result<Self, MlflowError> {
        let path = folder.join(RunFolder::TRACKING_LOCK);
        let error = |source| MlflowError::File {
            path: path.clone(),
            source,
        };
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(error)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(MlflowError::Busy {
                folder: folder.to_owned(),
            }),
            // A file system without locks: the server's own uniqueness is left.
            Err(TryLockError::Error(_)) => Ok(Self { _file: file }),
        }
    }
}
