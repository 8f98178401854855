//! The Batch API of OpenAI and Azure: a file of requests, a batch, files of results.
//!
//! Uploads, batches and their states are async-openai's types. Requests and results are not:
//! its types lack Azure's paths, and refuse Azure's lines, which have no `id`.

use async_openai::types::InputSource;
use async_openai::types::batches::{
    Batch, BatchCompletionWindow, BatchRequestInputMethod, BatchStatus,
};
use async_openai::types::files::{CreateFileRequest, FileInput, FilePurpose};
use bytes::Bytes;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::BatchRecord;
use super::api::{
    BatchApi, BatchFault, BatchLimits, BatchLine, BatchProgress, BatchResult, BatchState,
    PlannedSubmission,
};
use super::lookup::plain_id;
use crate::llm::transport::HttpReply;

/// The metadata keys that identify a batch.
const RUN: &str = "convfinqa_run";
const WAVE: &str = "convfinqa_wave";

#[derive(Serialize)]
struct FileLine<'a> {
    custom_id: &'a str,
    method: BatchRequestInputMethod,
    url: &'a str,
    body: &'a RawValue,
}

#[derive(Serialize)]
struct FileSubmission<'a> {
    input_file_id: Option<&'a str>,
    endpoint: &'a str,
    completion_window: BatchCompletionWindow,
    metadata: Value,
}

pub(super) fn upload(file: Bytes, name: &str) -> CreateFileRequest {
    CreateFileRequest {
        file: FileInput {
            source: InputSource::Bytes {
                filename: name.to_owned(),
                bytes: file,
            },
        },
        purpose: FilePurpose::Batch,
        expires_after: None,
    }
}

/// The Batch API of OpenAI and Azure.
pub(in crate::llm) struct FileBatches;

impl BatchApi for FileBatches {
    fn limits(&self) -> BatchLimits {
        BatchLimits {
            requests: 50_000,
            bytes: 200_000_000,
            frame: 160,
        }
    }

    fn path(&self) -> &'static str {
        "/batches"
    }

    fn cursor(&self) -> &'static str {
        "after"
    }

    fn identifies_batches(&self) -> bool {
        true
    }

    fn file(&self, lines: &[BatchLine<'_>], endpoint: &str) -> serde_json::Result<Option<Vec<u8>>> {
        let mut file = Vec::new();
        for BatchLine { key, body } in lines {
            let line = FileLine {
                custom_id: key,
                method: BatchRequestInputMethod::POST,
                url: endpoint,
                body,
            };
            serde_json::to_writer(&mut file, &line)?;
            file.push(b'\n');
        }
        Ok(Some(file))
    }

    fn submission(&self, batch: &PlannedSubmission<'_>) -> serde_json::Result<Box<RawValue>> {
        let submission = FileSubmission {
            input_file_id: batch.record.file.as_deref(),
            endpoint: batch.endpoint,
            completion_window: BatchCompletionWindow::W24H,
            metadata: json!({RUN: batch.run, WAVE: batch.record.place()}),
        };
        to_raw_value(&submission)
    }

    fn is_planned(&self, batch: &Value, planned: &BatchRecord, run: &str, _: &[String]) -> bool {
        let says = |key: &str, what: &str| {
            let found = batch.get("metadata").and_then(|metadata| metadata.get(key));
            found.and_then(Value::as_str) == Some(what)
        };
        says(RUN, run) && says(WAVE, &planned.place())
    }

    fn may_precede(&self, _: &Value, _: &BatchRecord) -> bool {
        true
    }

    fn state(&self, batch: Value, _: &str) -> Result<BatchState, String> {
        let batch: Batch = serde_json::from_value(batch).map_err(|error| error.to_string())?;
        let progress = match batch.status {
            BatchStatus::Validating | BatchStatus::InProgress | BatchStatus::Finalizing => {
                BatchProgress::Running
            }
            BatchStatus::Cancelling => BatchProgress::Cancelling,
            BatchStatus::Completed => BatchProgress::Completed,
            BatchStatus::Expired => BatchProgress::Expired,
            BatchStatus::Cancelled => BatchProgress::Cancelled,
            BatchStatus::Failed => BatchProgress::Rejected,
        };
        let counts = batch.request_counts.unwrap_or_default();
        let files = [batch.output_file_id, batch.error_file_id];
        // Azure names a file that is not there by an empty id.
        let files = files.into_iter().flatten().filter(|id| !id.is_empty());
        let paths = files.map(|id| Ok(format!("/files/{}/content", plain_id(&id)?)));
        let faults = batch.errors.map(|errors| errors.data).unwrap_or_default();
        Ok(BatchState {
            progress,
            done: u64::from(counts.completed) + u64::from(counts.failed),
            results: paths.collect::<Result<_, String>>()?,
            faults: faults
                .into_iter()
                .map(|fault| BatchFault {
                    code: fault.code,
                    message: fault.message,
                    line: fault.line.and_then(|line| usize::try_from(line).ok()),
                })
                .collect(),
        })
    }

    fn result(&self, line: &Value) -> Option<BatchResult> {
        let response = line.get("response").filter(|it| !it.is_null());
        let status = response
            .and_then(|it| it.get("status_code"))
            .and_then(Value::as_u64);
        if let (Some(response), Some(status)) = (response, status) {
            let id = response.get("request_id").and_then(Value::as_str);
            return Some(BatchResult::Reply(HttpReply::of_json(
                u16::try_from(status).ok()?,
                response.get("body")?,
                id,
            )));
        }
        let error = line.get("error").filter(|it| !it.is_null())?;
        let code = error
            .get("code")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if matches!(code, "batch_expired" | "batch_cancelled") {
            return Some(BatchResult::Unprocessed);
        }
        let status = match code.contains("server") || code.contains("internal") {
            true => 500,
            false => 400,
        };
        Some(BatchResult::Reply(HttpReply::of_json(
            status,
            &json!({"error": error}),
            None,
        )))
    }
}
