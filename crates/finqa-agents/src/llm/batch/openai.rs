//! The Batch API of OpenAI and Azure, which uses a file of requests, a batch, and files of results.
//!
//! Uploads use async-openai's types. Batches, requests and results do not, because async-openai's
//! types refuse unknown states, lack Azure's paths, and refuse Azure's lines, which have no `id`.

use async_openai::types::batches::{BatchCompletionWindow, BatchRequestInputMethod};
use async_openai::types::files::{CreateFileRequest, FileInput, FilePurpose};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio_util::bytes::Bytes;

use super::api::{BatchLine, BatchResult, BatchState, plain_id};
use super::record::{BatchRecord, RunBatches};
use crate::llm::transport::HttpReply;

/// The error of a batch that has ended but whose announced results do not arrive.
pub(super) const UNANNOUNCED: &str = "the results that it announces do not come";

/// The metadata keys that identify a batch, so that it is found in the provider's list even if the
/// process ended before it had the batch's id.
const RUN: &str = "convfinqa_run";
const NUMBER: &str = "convfinqa_batch";

/// A request as a line of the file that creates a batch in OpenAI's API.
#[derive(Serialize)]
struct FileLine<'a> {
    custom_id: &'a str,
    method: BatchRequestInputMethod,
    url: &'a str,
    body: &'a RawValue,
}

/// The file with these requests to `endpoint`.
pub(super) fn file(lines: &[BatchLine], endpoint: &str) -> serde_json::Result<Bytes> {
    let mut file = Vec::new();
    for (custom_id, body) in lines {
        let line = FileLine {
            custom_id,
            method: BatchRequestInputMethod::POST,
            url: endpoint,
            body,
        };
        serde_json::to_writer(&mut file, &line)?;
        file.push(b'\n');
    }
    Ok(file.into())
}

pub(super) fn upload(file: Bytes) -> CreateFileRequest {
    CreateFileRequest {
        file: FileInput::from_bytes("convfinqa.jsonl".to_owned(), file),
        purpose: FilePurpose::Batch,
        expires_after: None,
    }
}

/// The body that submits the requests of an uploaded file.
pub(super) fn submission(
    run: &RunBatches,
    record: &BatchRecord,
    endpoint: &str,
    file: &str,
) -> serde_json::Result<Box<RawValue>> {
    to_raw_value(&json!({
        "input_file_id": file,
        "endpoint": endpoint,
        // The API has no other window.
        "completion_window": BatchCompletionWindow::W24H,
        "metadata": {RUN: run.id, NUMBER: record.number.to_string()},
    }))
}

/// True if a batch in the provider's list is the planned one.
pub(super) fn is_planned(batch: &Value, run: &RunBatches, record: &BatchRecord) -> bool {
    let says = |key: &str, what: &str| {
        let found = batch.get("metadata").and_then(|metadata| metadata.get(key));
        found.and_then(Value::as_str) == Some(what)
    };
    says(RUN, &run.id) && says(NUMBER, &record.number.to_string())
}

/// Reads the state of a batch of `count` requests. An ended batch that lacks required results is an
/// error.
pub(super) fn state(batch: &Value, count: usize) -> Result<BatchState, String> {
    // Azure writes an empty id if a file does not exist.
    let text = |path: &str| {
        let text = batch.pointer(path).and_then(Value::as_str);
        text.filter(|text| !text.is_empty())
    };
    let status = text("/status").unwrap_or_default();
    let early = match status.to_ascii_lowercase().as_str() {
        "validating" | "queued" | "in_progress" | "running" | "finalizing" | "cancelling" => {
            return Ok(BatchState::Running);
        }
        "failed" => {
            let code = text("/errors/data/0/code").unwrap_or("unknown");
            let message = text("/errors/data/0/message");
            let message = message.unwrap_or("the provider gives no reason");
            return Ok(BatchState::Rejected {
                why: format!("{message} ({code})"),
                is_too_large: code == "token_limit_exceeded",
            });
        }
        "completed" | "success" => None,
        "expired" => Some("expired"),
        "cancelled" | "canceled" => Some("was canceled"),
        _ => return Err(format!("its state `{status}` is unknown")),
    };
    // Mistral's field names lack the `_id`.
    let files = ["/output_file", "/error_file"];
    let files = files.map(|name| text(&format!("{name}_id")).or_else(|| text(name)));
    let counted = |name: &str| {
        let counted = batch.pointer(&format!("/request_counts/{name}"));
        counted.and_then(Value::as_u64)
    };
    let counts = ["total", "completed", "failed"].map(counted);
    let is_unfiled = match (counts, files) {
        ([_, Some(completed), _], [None, _]) if completed > 0 => true,
        ([_, _, Some(failed)], [None, None]) if failed > 0 => true,
        // Every request has a result, unless the counts say that no request was processed.
        ([total, ..], [None, None]) => early.is_none() && total.unwrap_or_default() < count as u64,
        _ => false,
    };
    if is_unfiled {
        return Err(UNANNOUNCED.to_owned());
    }
    let files = files.iter().flatten();
    let paths = files.map(|id| Ok(format!("/files/{}/content", plain_id(id)?)));
    Ok(BatchState::Ended {
        early,
        results: paths.collect::<Result<_, String>>()?,
    })
}

/// Reads a line of the results; `None` if its form is unknown. The result is `None` if the request
/// expired or was cancelled.
pub(super) fn result(line: &Value) -> Option<BatchResult> {
    let of = |name: &str| line.get(name).filter(|it| !it.is_null());
    let reply = match of("response") {
        Some(response) => {
            let status = response.get("status_code").filter(|it| !it.is_null());
            // If a server leaves out the status, the body shows how the request ended.
            let status = status.map_or("200".to_owned(), Value::to_string);
            let status = status.trim_matches('"').parse().ok()?;
            let id = response.get("request_id").and_then(Value::as_str);
            HttpReply::of_json(status, response.get("body")?, id)
        }
        None => {
            let error = of("error")?;
            let code = error.get("code").and_then(Value::as_str);
            // Such a line has no status. A 500 means that the request is worth another attempt.
            let status = match code.unwrap_or_default() {
                "batch_expired" | "batch_cancelled" => return Some(None),
                code if code.contains("server") || code.contains("internal") => 500,
                _ => 400,
            };
            HttpReply::of_json(status, &json!({"error": error}), None)
        }
    };
    Some(Some(reply))
}
