//! The journal's record of a batch, written before and after each request that changes the batch's
//! state.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// Stores a batch, replacing the record with the same number. Resolves when the record is durable,
/// or to `false` if it cannot be stored.
pub type BatchRecorder = Arc<dyn Fn(BatchRecord) -> BoxFuture<'static, bool> + Send + Sync>;

/// The stage of a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchStage {
    /// The provider may have the batch.
    #[default]
    Sending,
    /// The provider has the batch.
    Submitted,
    /// The results of the batch are in the journal, or the batch was never processed.
    Ended,
}

/// A batch of requests to one model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchRecord {
    /// The number of the batch, from 1.
    pub number: u32,
    /// Provider, address, model and path.
    pub server: String,
    pub stage: BatchStage,
    /// The provider's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// The time of planning, in milliseconds since 1970.
    pub planned_at: i64,
    /// Batches of other runs that were mistaken for this batch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) foreign: Vec<String>,
    /// The number of requests, which stays known after they were removed.
    pub count: usize,
    /// The requests of the batch; empty after it has ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) requests: Vec<BatchedRequest>,
}

/// A request of a batch, as the journal stores it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BatchedRequest {
    /// The `custom_id`: a hash of the request and of its origin.
    pub key: String,
    /// The id of the request's reservation in the budget, if the run has a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved: Option<u64>,
}

/// The batches in the journal of a run, and the recorder for new ones.
pub struct RunBatches {
    /// The run's id.
    pub id: String,
    pub earlier: Vec<BatchRecord>,
    /// If the run has a limit: the amount that is counted for each request of the run, by the id of
    /// its reservation.
    pub amounts: HashMap<u64, Decimal>,
    pub recorder: BatchRecorder,
}
