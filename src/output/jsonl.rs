//! `transcripts.jsonl`: every question's whole exchange. Each line is a JSON object: the
//! first names the format, one with `text` holds a paragraph or sentence that later lines name by
//! its number, every other one is a question. `docs/runs.md` says how to read it.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::run::{Row, TextHash, share_quoted, text_hash};
use finqa_agents::agents::Call;

use super::staged::{OutputError, StagedFile};

/// The version of the file's layout. In version 1, which had no line for it, every question
/// repeated its texts.
const FORMAT: u32 = 2;

/// A question's line: the row and its calls, which the journal stores apart from it.
#[derive(Serialize)]
struct TranscriptLine<'a> {
    #[serde(flatten)]
    row: &'a Row,
    calls: &'a [Call],
}

/// `transcripts.jsonl` while it is being written, row by row in the plan's order.
pub(crate) struct Transcripts {
    file: StagedFile,
    /// The numbers of the texts that are written.
    texts: HashMap<TextHash, i64>,
    failed: Option<io::Error>,
}

impl Transcripts {
    /// A file without questions.
    ///
    /// # Errors
    /// [`OutputError`] naming the file.
    pub(crate) fn create(path: &Path) -> Result<Self, OutputError> {
        let mut file = StagedFile::create(path)?;
        let failed = line(&mut file, &json!({"format": FORMAT})).err();
        Ok(Self {
            file,
            texts: HashMap::new(),
            failed,
        })
    }

    /// Adds a row. [`Transcripts::finish`] returns the error, if any.
    pub(crate) fn add(&mut self, row: &Row) {
        if self.failed.is_none() {
            self.failed = self.write(row).err();
        }
    }

    fn write(&mut self, row: &Row) -> io::Result<()> {
        let Self { file, texts, .. } = self;
        let mut question = serde_json::to_value(TranscriptLine {
            row,
            calls: &row.solution.calls,
        })?;
        if let Some(Value::Array(calls)) = question.get_mut("calls") {
            for call in calls.iter_mut().filter_map(Value::as_object_mut) {
                slim(call);
            }
        }
        share_quoted(&mut question, |text, written| {
            let next = texts.len() as i64 + 1;
            let number = *texts.entry(text_hash(text)).or_insert(next);
            if number == next {
                line(file, &json!({"text": number, "content": written}))?;
            }
            Ok::<_, io::Error>(number)
        })?;
        line(file, &question)
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// [`OutputError`] if anything could not be written; a file that was there is
    /// then as it was.
    pub(crate) fn finish(self) -> Result<(), OutputError> {
        match self.failed {
            Some(source) => Err(self.file.error(source)),
            None => self.file.persist(),
        }
    }
}

fn line(file: &mut StagedFile, value: &Value) -> io::Result<()> {
    serde_json::to_writer(&mut *file, value)?;
    file.write_all(b"\n")
}

/// Leaves out of a call what it says twice, and counters that are 0.
fn slim(call: &mut Map<String, Value>) {
    // By it a run recognises a reply that it has; the request is all here.
    call.shift_remove("request_hash");
    if let Some(Value::Object(cost)) = call.get_mut("cost") {
        leave_out_zeros(cost);
    }
    if let Some(Value::Object(reply)) = call.get_mut("reply") {
        for said_by_the_call in ["attempts", "latency"] {
            reply.shift_remove(said_by_the_call);
        }
        if reply.get("lost").is_some_and(|lost| *lost == 0) {
            reply.shift_remove("lost");
        }
        if let Some(Value::Object(usage)) = reply.get_mut("usage") {
            leave_out_zeros(usage);
        }
    }
}

fn leave_out_zeros(counters: &mut Map<String, Value>) {
    counters.retain(|_, count| *count != 0 && *count != "0");
}
