//! The form of a provider's batch API, and what all of them have in common.

use serde_json::Value;
use serde_json::value::RawValue;

use super::BatchRecord;
use crate::llm::transport::HttpReply;

/// The form of a provider's batch API: what differs between those that exist. A file, if there
/// is one, is uploaded as OpenAI's, and lists and cancellations have the same form.
pub(in crate::llm) trait BatchApi: Sync {
    fn limits(&self) -> BatchLimits;

    fn path(&self) -> &'static str;

    /// The parameter of the list that continues after a batch.
    fn cursor(&self) -> &'static str;

    /// True if a batch in the list can be identified. Otherwise its results show whose it is.
    fn identifies_batches(&self) -> bool;

    /// The file of these requests to `endpoint`, if the API expects one.
    fn file(&self, lines: &[BatchLine<'_>], endpoint: &str) -> serde_json::Result<Option<Vec<u8>>>;

    /// The body that submits a batch.
    fn submission(&self, batch: &PlannedSubmission<'_>) -> serde_json::Result<Box<RawValue>>;

    /// True if a batch in the list is the planned one, or may be it and is not a `known` one.
    fn is_planned(&self, batch: &Value, planned: &BatchRecord, run: &str, known: &[String])
    -> bool;

    /// True if the planned batch may come after this one in the list, the newest of which is first.
    fn may_precede(&self, batch: &Value, planned: &BatchRecord) -> bool;

    /// Reads the state of the batch at `path`.
    fn state(&self, batch: Value, path: &str) -> Result<BatchState, String>;

    /// Reads a line of the results.
    fn result(&self, line: &Value) -> Option<BatchResult>;
}

/// A batch to be submitted.
pub(in crate::llm) struct PlannedSubmission<'a> {
    pub record: &'a BatchRecord,
    /// The id of the run.
    pub run: &'a str,
    pub lines: &'a [BatchLine<'a>],
    /// The path of each request.
    pub endpoint: &'a str,
}

/// The limits of a batch API.
#[derive(Debug, Clone, Copy)]
pub(in crate::llm) struct BatchLimits {
    pub requests: usize,
    /// Of the whole file or body.
    pub bytes: u64,
    /// Maximum number of bytes that the API adds to each request.
    pub frame: u64,
}

impl BatchLimits {
    /// True if `more` bytes fit into a batch with this many requests and bytes.
    pub(super) fn fit(self, requests: usize, bytes: u64, more: u64) -> bool {
        requests < self.requests && bytes + more <= self.bytes
    }
}

/// A request of a batch.
pub(in crate::llm) struct BatchLine<'a> {
    pub key: &'a str,
    pub body: &'a RawValue,
}

/// The progress of a batch at its provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::llm) enum BatchProgress {
    Running,
    /// Cancellation was requested.
    Cancelling,
    Completed,
    Expired,
    Cancelled,
    /// The batch was rejected as a whole, and no request was processed.
    Rejected,
    /// The batch may belong to another run, and is no longer waited for.
    GivenUp,
}

/// A batch as its provider describes it.
#[derive(Debug)]
pub(in crate::llm) struct BatchState {
    pub progress: BatchProgress,
    /// Requests with a result.
    pub done: u64,
    /// The paths of its results.
    pub results: Vec<String>,
    /// The reasons of a rejection.
    pub faults: Vec<BatchFault>,
}

/// A reason for which a batch was rejected.
#[derive(Debug)]
pub(in crate::llm) struct BatchFault {
    pub code: String,
    pub message: String,
    /// The line of the file, from 1.
    pub line: Option<usize>,
}

/// The result of one request.
#[derive(Debug)]
pub(in crate::llm) enum BatchResult {
    Reply(HttpReply),
    /// Not processed, because the batch ended before.
    Unprocessed,
}
