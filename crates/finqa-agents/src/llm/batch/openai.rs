//! The Batch API of OpenAI and Azure: a file of requests, a batch, files of results.
//!
//! Uploads, batches and their states are async-openai's types. Requests and results are not:
//! its types lack Azure's paths, and refuse Azure's lines, which have no `id`.

use async_openai::types::batches::{
    Batch, BatchCompletionWindow, BatchRequestInputMethod, BatchStatus,
};
use async_openai::types::files::{CreateFileRequest, FileInput, FilePurpose};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio_util::bytes::Bytes;

use super::api::{BatchLine, BatchResult, BatchState, plain_id};
use super::record::{BatchRecord, RunBatches};
use crate::llm::transport::HttpReply;

/// The metadata keys that identify a batch.
const RUN: &str = "convfinqa_run";
const NUMBER: &str = "convfinqa_batch";

#[derive(Serialize)]
struct FileLine<'a> {
    custom_id: &'a str,
    method: BatchRequestInputMethod,
    url: &'a str,
    body: &'a RawValue,
}

/// The file of these requests to `endpoint`.
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
        "completion_window": BatchCompletionWindow::W24H,
        "metadata": {RUN: run.id, NUMBER: record.number.to_string()},
    }))
}

/// True if a batch in the list is the planned one.
pub(super) fn is_planned(batch: &Value, run: &RunBatches, record: &BatchRecord) -> bool {
    let says = |key: &str, what: &str| {
        let found = batch.get("metadata").and_then(|metadata| metadata.get(key));
        found.and_then(Value::as_str) == Some(what)
    };
    says(RUN, &run.id) && says(NUMBER, &record.number.to_string())
}

/// Reads the state of a batch; `None` for one that has ended and does not name the results that
/// it says there are.
pub(super) fn state(batch: Value) -> Result<Option<BatchState>, String> {
    let batch: Batch = serde_json::from_value(batch).map_err(|error| error.to_string())?;
    let early = match batch.status {
        BatchStatus::Validating
        | BatchStatus::InProgress
        | BatchStatus::Finalizing
        | BatchStatus::Cancelling => return Ok(Some(BatchState::Running)),
        BatchStatus::Failed => {
            let faults = batch.errors.map(|errors| errors.data).unwrap_or_default();
            let first = faults
                .first()
                .map(|it| (it.code.as_str(), it.message.as_str()));
            let (code, message) = first.unwrap_or(("unknown", "the provider gives no reason"));
            return Ok(Some(BatchState::Rejected {
                why: format!("{message} ({code})"),
                is_too_large: code == "token_limit_exceeded",
            }));
        }
        BatchStatus::Completed => None,
        BatchStatus::Expired => Some("expired"),
        BatchStatus::Cancelled => Some("was canceled"),
    };
    // Azure names a file that is not there by an empty id.
    let files = [batch.output_file_id, batch.error_file_id];
    let files = files.map(|id| id.filter(|id| !id.is_empty()));
    let is_unfiled = match (&batch.request_counts, &files) {
        (Some(counts), [None, _]) if counts.completed > 0 => true,
        (Some(counts), [None, None]) => counts.failed > 0,
        (None, [None, None]) => early.is_none(),
        _ => false,
    };
    if is_unfiled {
        return Ok(None);
    }
    let files = files.iter().flatten();
    let paths = files.map(|id| Ok(format!("/files/{}/content", plain_id(id)?)));
    Ok(Some(BatchState::Ended {
        early,
        results: paths.collect::<Result<_, String>>()?,
    }))
}

/// Reads a line of the results.
pub(super) fn result(line: &Value) -> Option<BatchResult> {
    let of = |name: &str| line.get(name).filter(|it| !it.is_null());
    let reply = match of("response") {
        Some(response) => {
            let status = response.get("status_code")?.as_u64()?;
            let id = response.get("request_id").and_then(Value::as_str);
            HttpReply::of_json(u16::try_from(status).ok()?, response.get("body")?, id)
        }
        None => {
            let error = of("error")?;
            let code = error.get("code").and_then(Value::as_str);
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
