//! Anthropic's Message Batches: requests in the body, one result per line, no metadata.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::api::{BatchLine, BatchResult, BatchState};
use super::record::{BatchRecord, RunBatches};
use crate::llm::transport::HttpReply;

/// Maximum difference between the clocks of this machine and the provider, in milliseconds. Set by
/// hand.
const CLOCK_SKEW: i64 = 60_000;

/// A request in the body that creates a batch in Anthropic's API.
#[derive(Serialize)]
struct SubmittedRequest<'a> {
    custom_id: &'a str,
    params: &'a RawValue,
}

/// The body that submits these requests.
pub(super) fn submission(lines: &[BatchLine]) -> serde_json::Result<Box<RawValue>> {
    let requests = lines
        .iter()
        .map(|(custom_id, params)| SubmittedRequest { custom_id, params });
    let requests: Vec<_> = requests.collect();
    to_raw_value(&BTreeMap::from([("requests", requests)]))
}

/// True if a batch in the provider's list may be the batch of `record`: it has the same number of
/// requests, was created after that batch was planned, and is not in this run's records.
/// Anthropic's batches have no metadata, so only its results show whether it really is that batch.
pub(super) fn is_planned(batch: &Value, run: &RunBatches, record: &BatchRecord) -> bool {
    let counts = batch.get("request_counts").and_then(Value::as_object);
    let counts = counts.into_iter().flat_map(|counts| counts.values());
    let requests: u64 = counts.filter_map(Value::as_u64).sum();
    let id = batch.get("id").and_then(Value::as_str);
    let created = batch.get("created_at").and_then(Value::as_str);
    let created = created.and_then(|at| at.parse().ok());
    let created = created.map(Timestamp::as_millisecond);
    let known = run.earlier.iter();
    let mut known = known.flat_map(|it| it.batch.iter().chain(&it.foreign));
    requests == record.count as u64
        && !known.any(|known| Some(known.as_str()) == id)
        && created.is_some_and(|at| at >= record.planned_at - CLOCK_SKEW)
}

/// Reads the state of the batch at `path`.
pub(super) fn state(batch: &Value, path: &str) -> Result<BatchState, String> {
    let status = batch.get("processing_status").and_then(Value::as_str);
    match status.map(str::to_ascii_lowercase).as_deref() {
        Some("in_progress" | "canceling") => Ok(BatchState::Running),
        Some("ended") => Ok(BatchState::Ended {
            // Each result says whether its request was cancelled or expired, so the
            // batch has no single reason.
            early: None,
            // The batch's `results_url` is not used, because it could make us send the key to
            // another server.
            results: vec![format!("{path}/results")],
        }),
        other => Err(format!("its state {other:?} is unknown")),
    }
}

/// Reads a line of the results; `None` if its form is unknown. The result is `None` if the request
/// expired or was cancelled.
pub(super) fn result(line: &Value) -> Option<BatchResult> {
    let result = line.get("result")?;
    let reply = match result.get("type")?.as_str()? {
        "succeeded" => HttpReply::of_json(200, result.get("message")?, None),
        "errored" => {
            let error = result.get("error")?;
            let kind = error.pointer("/error/type").and_then(Value::as_str);
            // Results have no HTTP status, so use the one that a live request would have had.
            let status = match kind {
                Some("authentication_error") => 401,
                Some("billing_error") => 402,
                Some("permission_error") => 403,
                Some("not_found_error") => 404,
                Some("request_too_large") => 413,
                Some("rate_limit_error") => 429,
                Some("api_error") => 500,
                Some("timeout_error") => 504,
                // The status must not be 500, because it decides whether the request may have been
                // billed.
                Some("overloaded_error") => 529,
                _ => 400,
            };
            let id = error.get("request_id").and_then(Value::as_str);
            HttpReply::of_json(status, error, id)
        }
        "expired" | "canceled" => return Some(None),
        _ => return None,
    };
    Some(Some(reply))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The status was that of any failure of the server, 500.
    #[test]
    fn a_result_that_timed_out_has_the_status_of_a_live_timeout() {
        let status = |kind: &str| {
            let error = json!({"type": "error", "error": {"type": kind, "message": "no"}});
            let line = json!({"custom_id": "a", "result": {"type": "errored", "error": error}});
            result(&line).flatten().map(|reply| reply.status)
        };
        assert_eq!(status("timeout_error"), Some(504));
        assert_eq!(status("api_error"), Some(500));
    }
}
