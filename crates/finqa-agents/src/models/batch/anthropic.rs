//! Anthropic's Message Batches: requests in the body, results by line, no metadata.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::BatchRecord;
use super::api::{BatchLimits, BatchLine, BatchProgress, BatchResult, BatchState};
use crate::models::transport::HttpReply;

pub(super) const LIMITS: BatchLimits = BatchLimits {
    requests: 100_000,
    bytes: 256_000_000,
    frame: 80,
};

/// Maximum difference of the clocks of this machine and the provider, in milliseconds.
const CLOCK_SKEW: i64 = 60_000;

#[derive(Serialize)]
struct InlineSubmission<'a> {
    requests: Vec<SubmittedRequest<'a>>,
}

#[derive(Serialize)]
struct SubmittedRequest<'a> {
    custom_id: &'a str,
    params: &'a RawValue,
}

pub(super) fn submission(lines: &[BatchLine<'_>]) -> serde_json::Result<Box<RawValue>> {
    let requests = lines.iter().map(|line| SubmittedRequest {
        custom_id: line.key,
        params: line.body,
    });
    let submission = InlineSubmission {
        requests: requests.collect(),
    };
    to_raw_value(&submission)
}

const COUNTS: [&str; 5] = ["processing", "succeeded", "errored", "canceled", "expired"];

fn count(batch: &Value, of: &str) -> u64 {
    let counts = batch.get("request_counts");
    let count = counts.and_then(|counts| counts.get(of));
    count.and_then(Value::as_u64).unwrap_or(0)
}

/// True if a batch in the provider's list was created since this one was planned.
pub(super) fn is_since(batch: &Value, record: &BatchRecord) -> bool {
    let created = batch.get("created_at").and_then(Value::as_str);
    let created = created.unwrap_or_default().parse();
    let created = created.map(Timestamp::as_millisecond);
    created.is_ok_and(|created| created >= record.planned_at - CLOCK_SKEW)
}

/// True if a batch in the provider's list may be the planned one: with as many requests,
/// created since, and not a `known` one. Its results will show.
pub(super) fn may_be(batch: &Value, record: &BatchRecord, known: &[String]) -> bool {
    let id = batch.get("id").and_then(Value::as_str);
    let requests: u64 = COUNTS.iter().map(|of| count(batch, of)).sum();
    requests == record.count as u64
        && !known.iter().any(|known| Some(known.as_str()) == id)
        && is_since(batch, record)
}

pub(super) fn state(batch: &Value, path: &str) -> Result<BatchState, String> {
    let progress = match batch.get("processing_status").and_then(Value::as_str) {
        Some("in_progress") => BatchProgress::Running,
        Some("canceling") => BatchProgress::Cancelling,
        // Which requests were cancelled or expired is said by each.
        Some("ended") => BatchProgress::Completed,
        other => return Err(format!("unknown processing_status {other:?}")),
    };
    let (_, with_result) = COUNTS.split_at(1);
    Ok(BatchState {
        progress,
        done: with_result.iter().map(|of| count(batch, of)).sum(),
        // Not its `results_url`: the key is sent to no other server.
        results: vec![format!("{path}/results")],
        faults: Vec::new(),
    })
}

/// Reads a line of the results.
pub(super) fn result(line: &Value) -> Option<BatchResult> {
    let result = line.get("result")?;
    Some(match result.get("type")?.as_str()? {
        "succeeded" => BatchResult::Reply(HttpReply::of_json(200, result.get("message")?, None)),
        "errored" => {
            let error = result.get("error")?;
            let kind = error.pointer("/error/type").and_then(Value::as_str);
            let status = match kind {
                Some("authentication_error") => 401,
                Some("billing_error") => 402,
                Some("permission_error") => 403,
                Some("not_found_error") => 404,
                Some("request_too_large") => 413,
                Some("rate_limit_error") => 429,
                Some("api_error") => 500,
                Some("timeout_error") => 504,
                Some("overloaded_error") => 529,
                _ => 400,
            };
            let id = error.get("request_id").and_then(Value::as_str);
            BatchResult::Reply(HttpReply::of_json(status, error, id))
        }
        "expired" | "canceled" => BatchResult::Unprocessed,
        _ => return None,
    })
}
