//! Spans of a run on their way to MLflow: `traces.jsonl` holds one OTLP export
//! request a line; MLflow takes them in protobuf.

use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;

use super::error::MlflowError;

/// The file in a run's folder.
pub(super) const FILE: &str = "traces.jsonl";

/// Bytes of protobuf in one request, about; MLflow stores a request in one
/// transaction.
const REQUEST: usize = 512 * 1024;

/// Whole lines of the file from an offset, as one request.
#[derive(Debug, Default)]
pub(super) struct Spans {
    /// The request's body; empty if there is nothing new.
    pub body: Vec<u8>,
    /// The offset after it.
    pub next: u64,
    /// Lines that are no export request, and were left out.
    pub unread: usize,
}

impl Spans {
    /// Reads on from an offset. A last line without its end is still being
    /// written, and is left for the next time.
    pub fn read(folder: &Path, from: u64) -> Result<Self, MlflowError> {
        let path = folder.join(FILE);
        let error = |source| MlflowError::File {
            path: path.clone(),
            source,
        };
        let mut spans = Self {
            next: from,
            ..Self::default()
        };
        let mut file = match std::fs::File::open(&path) {
            Ok(file) => file,
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(spans),
            Err(source) => return Err(error(source)),
        };
        file.seek(SeekFrom::Start(from)).map_err(error)?;
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        while spans.body.len() < REQUEST {
            line.clear();
            let read = reader.read_until(b'\n', &mut line).map_err(error)?;
            if !line.ends_with(b"\n") {
                break;
            }
            spans.next += read as u64;
            if line.trim_ascii().is_empty() {
                continue;
            }
            match serde_json::from_slice::<ExportTraceServiceRequest>(&line) {
                // Requests joined end to end are one request: its only field repeats.
                Ok(request) => spans.body.extend(request.encode_to_vec()),
                Err(_) => spans.unread += 1,
            }
        }
        Ok(spans)
    }
}
