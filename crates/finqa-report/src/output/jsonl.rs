//! `transcripts.jsonl`: the complete exchange of every question. Each line is a JSON object. The
//! first line names the format; each further line is a question. A long text is written on the
//! first line that uses it, and later lines refer to it by its number. `docs/runs.md` says how to
//! read the file.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use finqa_agents::pair::Call;
use finqa_journal::run::{TextHash, share, text_hash};
use finqa_score::score::Row;

use super::staged::{OutputError, StagedFile};

/// The version of the file's layout, on its first line.
const FORMAT: u32 = 4;

/// A question's line: its row and its calls, which a row does not serialise itself.
#[derive(Serialize)]
struct TranscriptLine<'a> {
    /// The texts that this line is the first one to use.
    shared: Vec<Value>,
    #[serde(flatten)]
    row: &'a Row,
    calls: &'a [Call],
}

/// `transcripts.jsonl` while it is being written, row by row in the plan's order.
pub struct Transcripts {
    file: StagedFile,
    /// The number of each long text that was written so far, by its hash.
    known: HashMap<TextHash, i64>,
}

impl Transcripts {
    /// Creates a file without questions.
    pub fn create(path: &Path) -> Result<Self, OutputError> {
        let mut file = StagedFile::create(path)?;
        file.put(|file| line(file, &json!({"format": FORMAT})))?;
        let known = HashMap::new();
        Ok(Self { file, known })
    }

    /// Writes the line of a question. Long texts that an earlier line has are written as their
    /// numbers.
    pub fn add(&mut self, row: &Row) -> Result<(), OutputError> {
        self.file.put(|file| {
            let mut question = serde_json::to_value(TranscriptLine {
                shared: Vec::new(),
                row,
                calls: &row.solution.calls,
            })?;
            leave_out_absent(&mut question);
            let new = share_texts(&mut question, &mut self.known);
            if let Some(shared) = question.get_mut("shared") {
                *shared = new.into();
            }
            line(file, &question)
        })
    }

    /// Moves the finished file into place.
    pub fn finish(self) -> Result<(), OutputError> {
        self.file.persist()
    }
}

/// Replaces a question's long texts by their numbers. Returns the texts that were not numbered
/// before.
fn share_texts(question: &mut Value, known: &mut HashMap<TextHash, i64>) -> Vec<Value> {
    let mut new = Vec::new();
    let Ok(()) = share(question, |text| {
        let next = known.len() as i64 + 1;
        Ok::<_, Infallible>(*known.entry(text_hash(text)).or_insert_with(|| {
            new.push(text.into());
            next
        }))
    });
    new
}

/// Removes fields that are null or an empty list, except `answer` and `shared`. The caller fills
/// `shared` afterwards.
fn leave_out_absent(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, value| {
                let is_absent = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
                name == "answer" || name == "shared" || !is_absent
            });
            fields.values_mut().for_each(leave_out_absent);
        }
        Value::Array(items) => items.iter_mut().for_each(leave_out_absent),
        _ => {}
    }
}

fn line(file: &mut StagedFile, value: &Value) -> io::Result<()> {
    serde_json::to_writer(&mut *file, value)?;
    file.write_all(b"\n")
}
