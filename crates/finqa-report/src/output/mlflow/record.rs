//! `mlflow.json` in a run's folder: the server that all of the run was delivered to. It only
//! saves requests: without it, everything is requested or sent again.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::output::staged::write_json_pretty;
use finqa_journal::run::RunFolder;

use super::error::MlflowError;

/// The version of the file's layout; another one is passed over.
pub(super) const FORMAT: u32 = 3;

/// The server that has a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryRecord {
    pub(super) format: u32,
    /// The server, without anything that may be secret.
    pub uri: String,
    pub experiment: String,
    /// The run's id there.
    pub run_id: String,
    /// Answers that the run had when it was delivered.
    pub complete_at: usize,
    /// When its golds were renewed before, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gold_at: Option<String>,
}

impl DeliveryRecord {
    /// The record in a run's folder, if there is one that can be read.
    pub fn read(folder: &Path) -> Option<Self> {
        let record = std::fs::read(folder.join(RunFolder::TRACKING)).ok()?;
        let record: Self = serde_json::from_slice(&record).ok()?;
        (record.format == FORMAT).then_some(record)
    }

    /// Writes it, whole or not at all.
    pub(super) fn write(&self, folder: &Path) -> Result<(), MlflowError> {
        Ok(write_json_pretty(&folder.join(RunFolder::TRACKING), self)?)
    }
}
