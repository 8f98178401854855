//! `transcripts.jsonl`: every question's whole exchange, one JSON object a line.

use std::path::Path;

use serde::Serialize;

use crate::agents::Call;
use crate::run::{Journal, Row};

use super::folder::{SinkError, write_atomic};

/// A line: the row and, beside it, its calls, which the row leaves to the journal.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    row: &'a Row,
    calls: &'a [Call],
}

/// Writes the transcripts of a run from its journal.
///
/// # Errors
/// [`SinkError`] if the journal cannot be read or the file not be written.
pub fn write_transcripts(path: &Path, journal: &Journal) -> Result<(), SinkError> {
    write_atomic(path, |file| {
        let mut failed = None;
        journal.for_each_row(|row| {
            if failed.is_some() {
                return;
            }
            let line = Line {
                row: &row,
                calls: &row.settled.calls,
            };
            let written = serde_json::to_writer(&mut *file, &line)
                .map_err(std::io::Error::from)
                .and_then(|()| file.write_all(b"\n"));
            failed = written.err();
        })?;
        failed.map_or(Ok(()), |source| {
            Err(SinkError::Write {
                path: path.to_owned(),
                source,
            })
        })
    })
}
