//! `transcripts.jsonl`: every question's whole exchange. Each line is a JSON object: the
//! first names the format, every other one is a question. Texts and messages that repeat are
//! listed where they are first used, and named by their numbers. `docs/runs.md` says how to
//! read it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use crate::run::{Row, TextHash, share, text_hash};
use finqa_agents::pair::Call;

use super::staged::{OutputError, StagedFile};

/// The version of the file's layout.
const FORMAT: u32 = 3;

/// A question's line: the row and its calls, which the journal stores apart from it.
#[derive(Serialize)]
struct TranscriptLine<'a> {
    /// The texts that this line is the first to use.
    shared: Vec<Value>,
    #[serde(flatten)]
    row: &'a Row,
    calls: &'a [Call],
}

/// `transcripts.jsonl` while it is being written, row by row in the plan's order.
pub(crate) struct Transcripts {
    file: StagedFile,
    shared: SharedEntries,
}

impl Transcripts {
    /// A file without questions.
    pub(crate) fn create(path: &Path) -> Result<Self, OutputError> {
        let mut file = StagedFile::create(path)?;
        file.put(|file| line(file, &json!({"format": FORMAT})))?;
        let shared = SharedEntries::default();
        Ok(Self { file, shared })
    }

    pub(crate) fn add(&mut self, row: &Row) -> Result<(), OutputError> {
        self.file.put(|file| {
            let mut question = serde_json::to_value(TranscriptLine {
                shared: Vec::new(),
                row,
                calls: &row.solution.calls,
            })?;
            leave_out_absent(&mut question);
            let new = self.shared.take_from(&mut question);
            if let Some(shared) = question.get_mut("shared") {
                *shared = new.into();
            }
            line(file, &question)
        })
    }

    /// Puts the file in its place.
    pub(crate) fn finish(self) -> Result<(), OutputError> {
        self.file.persist()
    }
}

/// Texts and messages by their hashes.
#[derive(Default)]
struct SharedEntries {
    texts: HashMap<TextHash, i64>,
    messages: HashMap<TextHash, i64>,
    last: i64,
}

impl SharedEntries {
    /// Puts numbers in place of a question's texts and messages, and gives those that are new.
    fn take_from(&mut self, question: &mut Value) -> Vec<Value> {
        let Self {
            texts,
            messages,
            last,
        } = self;
        let mut new = Vec::new();
        let mut number = |known: &mut HashMap<_, i64>, hash, written| {
            *known.entry(hash).or_insert_with(|| {
                *last += 1;
                new.push(written);
                *last
            })
        };
        let shared = share(question, |text| {
            Ok::<_, Infallible>(number(texts, text_hash(text), text.into()))
        });
        let Ok(()) = shared;
        let calls = question.get_mut("calls").and_then(Value::as_array_mut);
        let sent = calls.into_iter().flatten().filter_map(|call| {
            let sent = call.get_mut("messages");
            sent.and_then(Value::as_array_mut)
        });
        for message in sent.flatten() {
            let written = message.take();
            let hash = text_hash(&written.to_string());
            *message = number(messages, hash, written).into();
        }
        new
    }
}

/// Leaves out what is null or an empty list, but no answer that there is not.
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
