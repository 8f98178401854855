//! Spans of a run on their way to MLflow: `traces.jsonl` holds one trace a
//! line; MLflow takes them in protobuf, several in one request.

use std::path::Path;

use crate::run::RunFolder;
use crate::telemetry::{TraceLine, read_lines};

use super::error::MlflowError;

/// Traces in one request: MLflow stores a request in one transaction.
const REQUEST: usize = 50;

/// The attribute of a question's root span. The run's own trace has none: it
/// says nothing that the MLflow run does not say.
const QUESTION: &str = "convfinqa.question.id";

/// Traces in a run's folder that have not been delivered.
#[derive(Debug, Default)]
pub(super) struct PendingTraces {
    /// Request bodies, a question each.
    pub bodies: Vec<Vec<u8>>,
    /// The offset after them.
    pub next: u64,
    /// Lines that are not traces and were skipped.
    pub unread: usize,
}

impl PendingTraces {
    /// Reads on from an offset. A last line without its end is still being
    /// written, and is left for the next time.
    pub(crate) fn read(folder: &Path, from: u64) -> Result<Self, MlflowError> {
        let path = folder.join(RunFolder::TRACES);
        let read = read_lines(&path, from, REQUEST)
            .map_err(|source| MlflowError::File { path, source })?;
        let lines = read.lines.iter();
        Ok(Self {
            bodies: lines
                .filter(|line| is_question(line))
                .map(TraceLine::to_protobuf)
                .collect(),
            next: read.next,
            unread: read.unreadable,
        })
    }

    /// All of them as one request: its only field repeats, so that requests
    /// joined end to end are one.
    pub(crate) fn together(&self) -> Vec<u8> {
        self.bodies.concat()
    }
}

fn is_question(line: &TraceLine) -> bool {
    let scopes = line.request.resource_spans.iter();
    let spans = scopes
        .flat_map(|resource| &resource.scope_spans)
        .flat_map(|scope| &scope.spans);
    spans
        .flat_map(|span| &span.attributes)
        .any(|attribute| attribute.key == QUESTION)
}
