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
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use opentelemetry::trace::{SpanId, TraceId};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanData;
use parking_lot::Mutex;

use super::error::TelemetryError;
use finqa_core::text::counted;

/// Spans that may wait for the disk; more are lost, and counted.
const QUEUE: usize = 16_384;

enum FileMessage {
    Span(Box<SpanData>),
    /// Answered when everything before it is in the file.
    Flush(SyncSender<()>),
}

/// Writes whole traces to a file, on a separate thread.
#[derive(Debug)]
pub(super) struct FileTraces {
    path: PathBuf,
    sender: SyncSender<FileMessage>,
    state: Arc<FileState>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct FileState {
    /// Spans dropped because the queue was full.
    lost: AtomicU64,
    /// The reason why writing has stopped, if it has.
    broken: Mutex<Option<String>>,
    stop: AtomicBool,
}

impl FileTraces {
    /// Opens the file for appending. An incomplete last line, left by a process
    /// that was killed, is removed.
    /// `resource` says whose spans they are.
    pub(super) fn open(path: &Path, resource: &Resource) -> Result<Self, TelemetryError> {
        let file = append_whole_lines(path).map_err(|source| TelemetryError::File {
            path: path.to_owned(),
            source,
        })?;
        let (sender, received) = sync_channel(QUEUE);
        let state = Arc::new(FileState::default());
        let thread = std::thread::spawn({
            let (state, resource) = (Arc::clone(&state), resource.into());
            move || write_all(file, &resource, &received, &state)
        });
        Ok(Self {
            path: path.to_owned(),
            sender,
            state,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Takes an ended span; never waits.
    pub(super) fn span(&self, span: SpanData) {
        if self
            .sender
            .try_send(FileMessage::Span(Box::new(span)))
            .is_err()
        {
            self.state.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until everything so far is in the file, at most `timeout`.
    pub(super) fn flush(&self, timeout: Duration) -> bool {
        let (done, written) = sync_channel(1);
        self.sender.try_send(FileMessage::Flush(done)).is_ok()
            && written.recv_timeout(timeout).is_ok()
    }

    /// Writes what is queued and ends the thread.
    pub(super) fn close(&self, timeout: Duration) {
        self.state.stop.store(true, Ordering::Relaxed);
        if self.flush(timeout)
            && let Some(thread) = self.thread.lock().take()
        {
            let _ = thread.join();
        }
    }

    /// The missing traces, in one line.
    pub(super) fn problem(&self) -> Option<String> {
        let broken = self.state.broken.lock().clone();
        let lost = self.state.lost.load(Ordering::Relaxed);
        match (broken, lost) {
            (Some(reason), _) => Some(format!(
                "traces: {}: {reason}; the file is incomplete, the run is not affected",
                self.path.display()
            )),
            (None, 0) => None,
            (None, lost) => Some(format!(
                "traces: {}: left out {} because they arrived faster than they could be written",
                self.path.display(),
                counted(lost, "span")
            )),
        }
    }
}

/// Opens for appending after the last whole line.
fn append_whole_lines(path: &Path) -> std::io::Result<File> {
    let mut file = File::options()
        .create(true)
        .read(true)
        .append(true)
        .open(path)?;
    let mut end = file.metadata()?.len();
    let mut block = [0; 4096];
    while end > 0 {
        let start = end.saturating_sub(block.len() as u64);
        let length = usize::try_from(end - start).unwrap_or(block.len());
        file.seek(SeekFrom::Start(start))?;
        let read = block.get_mut(..length).unwrap_or_default();
        file.read_exact(read)?;
        if let Some(at) = read.iter().rposition(|byte| *byte == b'\n') {
            end = start + at as u64 + 1;
            break;
        }
        end = start;
    }
    if end < file.metadata()?.len() {
        file.set_len(end)?;
    }
    Ok(file)
}

fn write_all(
    mut file: File,
    resource: &ResourceAttributesWithSchema,
    received: &Receiver<FileMessage>,
    state: &FileState,
) {
    let mut open: HashMap<TraceId, Vec<SpanData>> = HashMap::new();
    while let Ok(first) = received.recv() {
        let mut lines = Vec::new();
        let mut waiting = Vec::new();
        for message in std::iter::once(first).chain(received.try_iter().take(QUEUE)) {
            match message {
                FileMessage::Flush(done) => waiting.push(done),
                FileMessage::Span(span) => {
                    let trace = span.span_context.trace_id();
                    let root = span.parent_span_id == SpanId::INVALID;
                    open.entry(trace).or_default().push(*span);
                    if root && let Some(spans) = open.remove(&trace) {
                        line(&mut lines, spans, resource);
                    }
                }
            }
        }
        let mut broken = state.broken.lock();
        // After a failure the file may end with half a line: nothing may follow it.
        if broken.is_none()
            && let Err(error) = file.write_all(&lines)
        {
            *broken = Some(error.to_string());
        }
        drop(broken);
        for done in waiting {
            let _ = done.send(());
        }
        if state.stop.load(Ordering::Relaxed) {
            return;
        }
    }
}

fn line(lines: &mut Vec<u8>, spans: Vec<SpanData>, resource: &ResourceAttributesWithSchema) {
    let request = ExportTraceServiceRequest {
        resource_spans: group_spans_by_resource_and_scope(spans, resource),
    };
    let whole = lines.len();
    match serde_json::to_writer(&mut *lines, &request) {
        Ok(()) => lines.push(b'\n'),
        Err(_) => lines.truncate(whole),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_line_is_removed_before_more_is_appended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("traces.jsonl");
        let long = "x".repeat(10_000);
        for (before, after) in [
            (String::new(), String::new()),
            ("{}\n".to_owned(), "{}\n".to_owned()),
            ("{}\n{\"a".to_owned(), "{}\n".to_owned()),
            (format!("{long}\n{long}"), format!("{long}\n")),
            (long.clone(), String::new()),
        ] {
            std::fs::write(&path, before).unwrap();
            append_whole_lines(&path)
                .unwrap()
                .write_all(b"[]\n")
                .unwrap();
            assert_eq!(
                std::fs::read_to_string(&path).unwrap(),
                format!("{after}[]\n")
            );
        }
    }
}
