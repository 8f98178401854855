//! `mlflow.json` in a run's folder: the server that the run is logged on, and what has
//! arrived. It only saves requests: without it, everything is requested or sent again.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::output::staged::write_json_pretty;
use crate::run::RunFolder;
use finqa_core::files;

use super::error::MlflowError;

/// The version of the file's layout; another one is refused.
const FORMAT: u32 = 2;

/// The server that a run is logged on, and the parts that it has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeliveryRecord {
    format: u32,
    /// The server, without anything that may be secret.
    pub uri: String,
    pub experiment: String,
    /// The run's id there; empty until it is known.
    pub run_id: String,
    /// Bytes of `traces.jsonl` that the server has.
    pub traces: u64,
    /// Answers that the run had when all of it was delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete_at: Option<usize>,
}

impl DeliveryRecord {
    /// The record in a run's folder, if there is one.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, MlflowError> {
        let path = path(folder);
        let bytes = match files::read(&path) {
            Ok(bytes) => bytes,
            Err(source) if source.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(MlflowError::File { path, source }),
        };
        match serde_json::from_slice::<Self>(&bytes) {
            Ok(record) if record.format == FORMAT => Ok(Some(record)),
            _ => Err(MlflowError::Record { path }),
        }
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
