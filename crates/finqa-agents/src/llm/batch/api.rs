//! Types that the batch APIs of all providers share.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::llm::transport::HttpReply;

/// A request of a batch: its `custom_id` and its body.
pub(super) type BatchLine = (String, Arc<RawValue>);

/// The state of a batch, as its provider describes it.
#[derive(Debug, Default)]
pub(super) enum BatchState {
    #[default]
    Running,
    Ended {
        /// The reason why requests without a result were not processed; `None` if the batch was
        /// completed.
        early: Option<&'static str>,
        /// The paths of the results.
        results: Vec<String>,
    },
    /// The batch was rejected as a whole, so no request was processed.
    Rejected {
        why: String,
        /// True if the provider does not accept so many requests at a time.
        is_too_large: bool,
    },
}

/// The result of one request; `None` if the batch ended before the request was processed.
pub(super) type BatchResult = Option<HttpReply>;

/// Returns an id that will become part of a path. An id with characters that could change the path
/// is an error.
pub(super) fn plain_id(id: &str) -> Result<&str, String> {
    // Gemini's ids contain a slash: `batches/1`, `files/2`.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/".contains(c);
    if id.chars().all(is_plain) && !id.contains("..") {
        Ok(id)
    } else {
        Err(format!("`{id}` is not an id"))
    }
}
