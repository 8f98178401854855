//! The types of the dataset: records, their questions and their gold.

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use finqa_core::number::Value;
use finqa_core::question::{Document, HistoryEntry, HistorySource, Question, QuestionKey};

/// The dataset's answer to a question. Never shown to a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gold {
    /// `qa.answer`: a text such as `14.1%`, typed in by an annotator. Only stand-alone questions
    /// have one.
    pub answer: Option<String>,
    /// The program in the dataset's language.
    pub program: Option<String>,
    /// The program's result, rounded to 5 decimals by the dataset. If the dataset has only the
    /// program, the result is computed.
    pub exe_ans: Option<Value>,
    /// For a turn of a Double record: the half (0 or 1) that it belongs to.
    pub split: Option<u8>,
}

impl Gold {
    /// True if there is no gold to score against.
    pub fn is_empty(&self) -> bool {
        self.answer.is_none() && self.program.is_none() && self.exe_ans.is_none()
    }
}

/// A question and its gold. The packages that answer questions do not know this type.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub question: Question,
    /// The gold by which the answer is scored; empty for a test file without gold.
    pub gold: Gold,
}

/// The questions of a record that are asked (`--mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The stand-alone questions of each record: one (`qa`) or two (`qa_0`, `qa_1`).
    Questions,
    /// The turns of each conversation, in order.
    Conversations,
}

/// The earlier answers that a turn sees (`--history`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum HistoryMode {
    /// The answers given earlier in the run.
    Own,
    /// The dataset's answers.
    Gold,
}

impl Case {
    /// The question as later turns see it, with its gold for an answer.
    pub fn as_gold_history(&self) -> HistoryEntry {
        HistoryEntry {
            question: self.question.text.clone(),
            value: self.gold.exe_ans.clone(),
            program: self.gold.program.clone(),
            label: None,
            source: HistorySource::Gold,
        }
    }
}

/// The number of stand-alone questions of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordKind {
    /// One stand-alone question (`qa`).
    Single,
    /// Two stand-alone questions (`qa_0`, `qa_1`) over one page.
    Double,
}

impl RecordKind {
    /// The kind that a record's id begins with; `None` if the id begins with neither kind.
    pub fn in_id(id: &str) -> Option<Self> {
        match id.split_once('_')?.0 {
            "Single" => Some(Self::Single),
            "Double" => Some(Self::Double),
            _ => None,
        }
    }
}

/// The page's file name in a record id: `JKHY/2009/page_28.pdf` for
/// `Single_JKHY/2009/page_28.pdf-3`. If the id has no `.pdf`, the whole id without its kind is
/// returned.
pub fn filename_in_id(id: &str) -> &str {
    let page = match RecordKind::in_id(id) {
        Some(_) => id.split_once('_').map_or(id, |(_, page)| page),
        None => id,
    };
    let end = page.find(".pdf").map(|at| at + 4);
    end.and_then(|end| page.get(..end)).unwrap_or(page)
}

/// One record: a page with its stand-alone questions and its conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub document: Arc<Document>,
    pub kind: RecordKind,
    /// The stand-alone questions: none, one or two. Their history is empty.
    pub questions: Vec<Arc<Case>>,
    /// The conversation's turns in order. Their history is empty; a run fills it when it asks them.
    pub turns: Vec<Arc<Case>>,
}

impl Record {
    pub fn id(&self) -> &str {
        &self.document.id
    }

    /// Stand-alone questions, then turns.
    pub fn cases(&self) -> impl Iterator<Item = &Case> {
        let cases = self.questions.iter().chain(&self.turns);
        cases.map(AsRef::as_ref)
    }
}

/// The records of a file, and the file that they come from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dataset {
    /// The source as shown to people: a path, or `built-in sample`.
    pub source: String,
    /// blake3 of the file's bytes, hex.
    pub hash: String,
    /// True for the invented sample, whose score says nothing about ConvFinQA.
    pub invented: bool,
    /// The records in file order.
    pub records: Vec<Record>,
    /// Questions whose gold has no `exe_ans` in the file, so that it was computed from gold's
    /// program.
    pub computed: HashSet<QuestionKey>,
    /// Notes of one line each about parts of the file that are not read, and about golds that were
    /// computed or could not be computed.
    pub notes: Vec<String>,
}

impl Dataset {
    /// Number of stand-alone questions.
    pub fn question_count(&self) -> usize {
        self.records.iter().map(|r| r.questions.len()).sum()
    }

    /// Number of turns in all conversations.
    pub fn turn_count(&self) -> usize {
        self.records.iter().map(|r| r.turns.len()).sum()
    }

    /// Removes all gold.
    pub fn drop_golds(&mut self) {
        for record in &mut self.records {
            for case in record.questions.iter_mut().chain(&mut record.turns) {
                Arc::make_mut(case).gold = Gold::default();
            }
        }
    }

    /// The record with this id.
    pub fn record(&self, id: &str) -> Option<&Record> {
        self.records.iter().find(|record| record.id() == id)
    }
}
