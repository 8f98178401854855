//! The file of traces, in OTLP/JSON. As in OpenTelemetry's file exporter, each line is an
//! `ExportTraceServiceRequest`; here it has one complete trace.
//!
//! A trace is written when its root span ends, so a reader never sees part of one. A question that
//! was in flight when the process died leaves no trace; on resume it is asked again and gets a new
//! one.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use opentelemetry::trace::{SpanId, TraceId};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use parking_lot::Mutex;

use finqa_core::files;

/// The file, which is set once the run's folder exists. Traces that end before are not written.
pub(super) type RunTraceFile = Arc<Mutex<Option<File>>>;

/// Collects the spans of a trace, and writes them when its root ends.
#[derive(Debug)]
pub(super) struct FileExporter {
    pub file: RunTraceFile,
    pub open: Mutex<HashMap<TraceId, Vec<SpanData>>>,
    pub resource: ResourceAttributesWithSchema,
}

impl FileExporter {
    /// Appends the spans as one line of JSON. After the first failure, it writes nothing more.
    fn write(&self, spans: Vec<SpanData>) {
        let request = ExportTraceServiceRequest {
            resource_spans: group_spans_by_resource_and_scope(spans, &self.resource),
        };
        // A trace that cannot be serialised becomes an empty line, which readers skip.
        let line = serde_json::to_string(&request).unwrap_or_default() + "\n";
        let mut file = self.file.lock();
        // A failed write must not stop the run. It may have left part of a line, so no further
        // traces are written.
        if file
            .as_mut()
            .is_some_and(|file| file.write_all(line.as_bytes()).is_err())
        {
            *file = None;
        }
    }
}

impl SpanExporter for FileExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        for span in batch {
            let trace = span.span_context.trace_id();
            let root = span.parent_span_id == SpanId::INVALID;
            let mut open = self.open.lock();
            open.entry(trace).or_default().push(span);
            let whole = root.then(|| open.remove(&trace)).flatten();
            // Released here, so that the spans of other traces do not wait for the disk.
            drop(open);
            if let Some(spans) = whole {
                self.write(spans);
            }
        }
        Ok(())
    }
}

/// Opens the file for appending. If a killed process left part of a line at the end, ends that line
/// first, so that readers skip only this line and not the next one too.
pub(super) fn append_lines(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    let mut file = options.create(true).read(true).append(true).open(path)?;
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

/// Reads the traces of a file as OTLP requests, in the order in which the traces ended. There are
/// none if the file does not exist. Lines that cannot be read are skipped, because a killed process
/// can leave part of a line.
pub fn read_traces(
    path: &Path,
) -> std::io::Result<impl Iterator<Item = ExportTraceServiceRequest> + use<>> {
    let file = match files::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        opened => Some(opened?),
    };
    let lines = file
        .into_iter()
        .flat_map(|file| BufReader::new(file).lines());
    Ok(lines.filter_map(|line| serde_json::from_str(&line.ok()?).ok()))
}
