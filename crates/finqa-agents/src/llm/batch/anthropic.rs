//! Anthropic's Message Batches: requests in the body, results by line, no metadata.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::BatchRecord;
use super::api::{
    BatchApi, BatchLimits, BatchLine, BatchProgress, BatchResult, BatchState, PlannedSubmission,
};
use crate::llm::transport::HttpReply;

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

const COUNTS: [&str; 5] = ["processing", "succeeded", "errored", "canceled", "expired"];

fn count(batch: &Value, of: &str) -> u64 {
    let counts = batch.get("request_counts");
    let count = counts.and_then(|counts| counts.get(of));
    count.and_then(Value::as_u64).unwrap_or(0)
}

/// Anthropic's Message Batches.
pub(in crate::llm) struct MessageBatches;

impl BatchApi for MessageBatches {
    fn limits(&self) -> BatchLimits {
        BatchLimits {
            requests: 100_000,
            bytes: 256_000_000,
            frame: 80,
        }
    }

    fn path(&self) -> &'static str {
        "/v1/messages/batches"
    }

    fn cursor(&self) -> &'static str {
        "after_id"
    }

    fn identifies_batches(&self) -> bool {
        false
    }

    fn file(&self, _: &[BatchLine<'_>], _: &str) -> serde_json::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn submission(&self, batch: &PlannedSubmission<'_>) -> serde_json::Result<Box<RawValue>> {
        let requests = batch.lines.iter().map(|line| SubmittedRequest {
            custom_id: line.key,
            params: line.body,
        });
        let submission = InlineSubmission {
            requests: requests.collect(),
        };
        to_raw_value(&submission)
    }

    /// With as many requests, created since, and not a `known` one.
    fn is_planned(&self, batch: &Value, planned: &BatchRecord, _: &str, known: &[String]) -> bool {
        let id = batch.get("id").and_then(Value::as_str);
        let requests: u64 = COUNTS.iter().map(|of| count(batch, of)).sum();
        requests == planned.count as u64
            && !known.iter().any(|known| Some(known.as_str()) == id)
            && self.may_precede(batch, planned)
    }

    /// If it was created since the other was planned.
    fn may_precede(&self, batch: &Value, planned: &BatchRecord) -> bool {
        let created = batch.get("created_at").and_then(Value::as_str);
        let created = created.unwrap_or_default().parse();
        let created = created.map(Timestamp::as_millisecond);
        created.is_ok_and(|created| created >= planned.planned_at - CLOCK_SKEW)
    }

    fn state(&self, batch: Value, path: &str) -> Result<BatchState, String> {
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
            done: with_result.iter().map(|of| count(&batch, of)).sum(),
            // Not its `results_url`: the key is sent to no other server.
            results: vec![format!("{path}/results")],
            faults: Vec::new(),
        })
    }

    fn result(&self, line: &Value) -> Option<BatchResult> {
        let result = line.get("result")?;
        Some(match result.get("type")?.as_str()? {
            "succeeded" => {
                BatchResult::Reply(HttpReply::of_json(200, result.get("message")?, None))
            }
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
}
