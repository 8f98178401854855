//! What the batch APIs of all providers have in common.

use serde_json::value::RawValue;

use super::record::BatchRecord;
use crate::llm::transport::HttpReply;

/// A batch that is submitted, or looked for.
pub(super) struct PlannedBatch<'a> {
    pub record: &'a BatchRecord,
    /// The id of the run.
    pub run: &'a str,
    /// The batches of the run that were found, and those that are not its own.
    pub known: &'a [String],
}

/// A request of a batch: its `custom_id` and its body.
pub(super) type BatchLine<'a> = (&'a str, &'a RawValue);

/// A batch as its provider describes it.
#[derive(Debug)]
pub(super) enum BatchState {
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

/// The result of one request.
#[derive(Debug)]
pub(super) enum BatchResult {
    Reply(HttpReply),
    /// Not processed, because the batch ended before.
    Unprocessed,
}

/// An id that a provider gave, if it can be a part of a path.
pub(super) fn plain_id(id: Option<&str>) -> Result<String, String> {
    let id = id.ok_or("it has no `id`")?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    match !id.is_empty() && id.bytes().all(is_plain) {
        true => Ok(id.to_owned()),
        false => Err(format!("its id {id:?} cannot be a part of a path")),
    }
}
