//! `transcripts.jsonl`: every question's whole exchange, one JSON object a line.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use crate::run::Row;
use finqa_agents::agents::Call;

use super::staged::{OutputError, StagedFile};

/// A line: the row and, beside it, its calls, which the row leaves to the journal.
#[derive(Serialize)]
struct TranscriptLine<'a> {
    #[serde(flatten)]
    row: &'a Row,
    calls: &'a [Call],
}

/// `transcripts.jsonl` while it is being written, row by row in the plan's order.
pub struct Transcripts {
    file: StagedFile,
    failed: Option<std::io::Error>,
}

impl Transcripts {
    /// An empty file.
    ///
    /// # Errors
    /// [`OutputError`] naming the file.
    pub fn create(path: &Path) -> Result<Self, OutputError> {
        Ok(Self {
            file: StagedFile::create(path)?,
            failed: None,
        })
    }

    /// Adds a row. What goes wrong is told by [`Transcripts::finish`].
    pub fn add(&mut self, row: &Row) {
        if self.failed.is_some() {
            return;
        }
        let line = TranscriptLine {
            row,
            calls: &row.solution.calls,
        };
        let written = serde_json::to_writer(&mut self.file, &line)
            .map_err(std::io::Error::from)
            .and_then(|()| self.file.write_all(b"\n"));
        self.failed = written.err();
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// [`OutputError`] if anything could not be written; a file that was there is
    /// then as it was.
    pub fn finish(self) -> Result<(), OutputError> {
        match self.failed {
            Some(source) => Err(self.file.error(source)),
            None => self.file.persist(),
        }
    }
}
