//! What batch APIs have in common: requests, the progress of a batch, results.

use serde_json::value::RawValue;

use crate::models::transport::HttpReply;

/// The limits of a batch API.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchLimits {
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
pub(super) struct BatchLine<'a> {
    pub key: &'a str,
    pub body: &'a RawValue,
}

/// The progress of a batch at its provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BatchProgress {
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
pub(super) struct BatchState {
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
pub(super) struct BatchFault {
    pub code: String,
    pub message: String,
    /// The line of the file, from 1.
    pub line: Option<usize>,
}

/// The result of one request.
#[derive(Debug)]
pub(super) enum BatchResult {
    Reply(HttpReply),
    /// Not processed, because the batch ended before.
    Unprocessed,
}
