//! The journal's record of a batch, written before and after each request that changes its
//! state.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::llm::protocol::ApiDialect;

/// Stores batches, each instead of what is stored of the same wave and part. Resolves
/// once they are durable, to `false` if they cannot be stored.
pub type BatchRecorder = Arc<dyn Fn(Vec<BatchRecord>) -> BoxFuture<'static, bool> + Send + Sync>;

/// The progress of a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchStage {
    /// Not submitted; its file may be uploaded.
    #[default]
    Planned,
    /// The submission is in flight.
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
    pub wave: u32,
    /// From 1; a wave has several where it was split.
    pub part: u32,
    /// Provider, address, model and path.
    pub server: String,
    pub stage: BatchStage,
    /// The id of its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The provider's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// The number of its requests.
    pub count: usize,
    /// The bytes of their bodies.
    pub bytes: u64,
    /// The features that the model was known to accept when it was planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) dialect: Option<ApiDialect>,
    /// Milliseconds since 1970.
    pub planned_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submitted_at: Option<i64>,
    /// The provider may have received it twice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeated: bool,
    /// It was found by time and size alone, so it may belong to another run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guessed: bool,
    /// Batches that were guessed to be it, and are not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) foreign: Vec<String>,
    /// The reason of its end, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// It was rejected because too many tokens are enqueued.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) too_large: bool,
    /// Once it has ended only those without an answer, unless it is repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) requests: Vec<BatchedRequest>,
}

impl BatchRecord {
    /// Its place in the run, which identifies it in the provider's list.
    pub(super) fn place(&self) -> String {
        format!("{}.{}", self.wave, self.part)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BatchedRequest {
    /// Its `custom_id`: a hash of the request and of who asks.
    pub key: String,
    /// Under which id its spending is reserved, where the run has a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved: Option<u64>,
    /// Its call knows that this batch has no answer for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}
