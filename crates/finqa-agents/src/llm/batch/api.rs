//! What the batch APIs of all providers have in common.

use serde_json::value::RawValue;

use super::record::BatchRecord;
use crate::llm::transport::HttpReply;

/// A batch that is submitted, or looked for.
pub(super) struct PlannedBatch<'a> {
    pub record: &'a BatchRecord,
    /// The id of the run.
    pub run: &'a str,
    /// Batches that are not looked for: the run's own, and what is known to be foreign.
    pub known: Vec<&'a String>,
}

/// A request of a batch: its `custom_id` and its body.
pub(super) type BatchLine<'a> = (&'a str, &'a RawValue);

/// A batch as its provider describes it.
#[derive(Debug, Default)]
pub(super) enum BatchState {
    #[default]
    Running,
    Ended {
        /// The reason why requests without a result were not processed.
        early: Option<&'static str>,
        /// The paths of the results.
        results: Vec<String>,
    },
    /// Rejected as a whole: no request was processed.
    Rejected {
        why: String,
        /// More requests than the provider takes at a time.
        is_too_large: bool,
    },
}

/// The result of one request; `None` if it was not processed, because the batch ended before.
pub(super) type BatchResult = Option<HttpReply>;
