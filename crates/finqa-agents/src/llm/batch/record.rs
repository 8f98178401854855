//! The journal's record of a batch, written before and after each request that changes the batch's
//! state.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// Stores a batch in place of what is stored under its number. Resolves once that is durable, or to
/// `false` if it cannot be stored.
pub type BatchRecorder = Arc<dyn Fn(BatchRecord) -> BoxFuture<'static, bool> + Send + Sync>;

/// The progress of a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchStage {
    /// The provider may have it.
    #[default]
    Sending,
    /// The provider has it.
    Submitted,
    /// Its results are in the journal, or it was never processed.
    Ended,
}

/// A batch of requests to one model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchRecord {
    /// From 1.
    pub number: u32,
    /// Provider, address, model and path.
    pub server: String,
    pub stage: BatchStage,
    /// The provider's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// Milliseconds since 1970.
    pub planned_at: i64,
    /// Batches that were mistaken for this one, and belong to another run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) foreign: Vec<String>,
    pub count: usize,
    /// Its requests; empty once it has ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) requests: Vec<BatchedRequest>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BatchedRequest {
    /// The `custom_id`: a hash of the request and of who asks.
    pub key: String,
    /// The id of its reservation in the budget, if the run has a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved: Option<u64>,
}

/// The batches that the journal of a run has, and what stores new ones.
pub struct RunBatches {
    /// The run's id.
    pub id: String,
    pub earlier: Vec<BatchRecord>,
    /// The amount that is counted for each request of the run, by the id of its reservation, if the
    /// run has a limit.
    pub amounts: HashMap<u64, Decimal>,
    pub recorder: BatchRecorder,
}
