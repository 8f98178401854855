//! The file of traces: OTLP/JSON, one `ExportTraceServiceRequest` a line (the
//! form of OpenTelemetry's file exporter), one whole trace a line.
//!
//! A trace is written in one piece when its root ends, so a reader never sees
//! half of one. A question that was in flight when the process died leaves no
//! trace; on resume it is asked again and gets a new one.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use opentelemetry::trace::{SpanId, TraceId};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use parking_lot::Mutex;

use super::OnWarning;
use super::error::TelemetryError;

/// The file, once there is a run; spans before that are not written.
pub(super) type RunTraceFile = Arc<OnceLock<TraceFile>>;

/// A file that whole traces are appended to.
#[derive(Debug)]
pub(super) struct TraceFile {
    path: PathBuf,
    /// Absent after a failure: the file may end with half a line, and nothing may follow it.
    file: Mutex<Option<File>>,
}

impl TraceFile {
    /// Opens the file for appending.
    pub(super) fn open(path: &Path) -> Result<Self, TelemetryError> {
        let file = append_lines(path).map_err(|source| TelemetryError::File {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(Some(file)),
        })
    }

    fn append(&self, line: &[u8]) -> std::io::Result<()> {
        let mut file = self.file.lock();
        let written = file.as_mut().map_or(Ok(()), |file| file.write_all(line));
        if written.is_err() {
            *file = None;
        }
        written
    }
}

/// Collects the spans of a trace and writes them when its root ends.
pub(super) struct FileExporter {
    file: RunTraceFile,
    open: Mutex<HashMap<TraceId, Vec<SpanData>>>,
    resource: ResourceAttributesWithSchema,
    notice: OnWarning,
}

impl std::fmt::Debug for FileExporter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FileExporter({:?})", self.file)
    }
}

impl FileExporter {
    pub(super) fn new(file: RunTraceFile, notice: OnWarning) -> Self {
        Self {
            file,
            open: Mutex::default(),
            resource: ResourceAttributesWithSchema::default(),
            notice,
        }
    }

    fn write(&self, file: &TraceFile, spans: Vec<SpanData>) {
        let request = ExportTraceServiceRequest {
            resource_spans: group_spans_by_resource_and_scope(spans, &self.resource),
        };
        let Ok(mut line) = serde_json::to_vec(&request) else {
            return;
        };
        line.push(b'\n');
        if let Err(error) = file.append(&line) {
            (self.notice)(&format!(
                "traces: {}: {error}; the file is incomplete, the run is not affected",
                file.path.display()
            ));
        }
    }
}

impl SpanExporter for FileExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let Some(file) = self.file.get() else {
            return Ok(());
        };
        for span in batch {
            let trace = span.span_context.trace_id();
            let root = span.parent_span_id == SpanId::INVALID;
            let mut open = self.open.lock();
            open.entry(trace).or_default().push(span);
            let whole = root.then(|| open.remove(&trace)).flatten();
            drop(open);
            if let Some(spans) = whole {
                self.write(file, spans);
            }
        }
        Ok(())
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.resource = resource.into();
    }
}

/// Opens for appending. A last line that a killed process has cut is ended, so that readers
/// pass over it and no other.
fn append_lines(path: &Path) -> std::io::Result<File> {
    let mut file = File::options()
        .create(true)
        .read(true)
        .append(true)
        .open(path)?;
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last != *b"\n" {
        file.write_all(b"\n")?;
    }
    Ok(file)
}
