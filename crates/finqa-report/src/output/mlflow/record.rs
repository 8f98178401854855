//! `mlflow.json` in a run's folder names the server that has all of the run. It only saves
//! requests: without it, `track sync` sends the run again.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::output::staged::write_json_pretty;
use finqa_journal::run::RunFolder;

use super::error::MlflowError;

/// The version of the file's layout. A file with another version is ignored.
pub(super) const FORMAT: u32 = 3;

/// A completed delivery of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryRecord {
    pub(super) format: u32,
    /// The server's address, without parts that may be secret.
    pub uri: String,
    pub experiment: String,
    /// The run's id on the server.
    pub run_id: String,
    /// Number of questions that had an outcome at the time of the delivery. If more have one now,
    /// the run must be delivered again.
    pub complete_at: usize,
    /// The time at which the golds had last been renewed; absent if they had not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gold_at: Option<String>,
}

impl DeliveryRecord {
    /// Reads the record in a run's folder; `None` if no record can be read there.
    pub fn read(folder: &Path) -> Option<Self> {
        let record = std::fs::read(folder.join(RunFolder::TRACKING)).ok()?;
        let record: Self = serde_json::from_slice(&record).ok()?;
        (record.format == FORMAT).then_some(record)
    }

    /// Writes the record, whole or not at all.
    pub(super) fn write(&self, folder: &Path) -> Result<(), MlflowError> {
        Ok(write_json_pretty(&folder.join(RunFolder::TRACKING), self)?)
    }
}
