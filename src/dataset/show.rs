//! One record as text, for `data show ID`: the page and the questions in one part,
//! the gold in another.

use std::sync::Arc;

use super::{Case, Gold, Record, RecordKind};
use finqa_core::table::{Table, TableStyle};

/// A record to be printed.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordView {
    pub id: String,
    pub filename: String,
    /// Single or Double.
    pub kind: RecordKind,
    /// Sentences before the table with their evidence ids, `t1` first.
    pub before: Vec<(String, String)>,
    /// The table as Markdown.
    pub table: String,
    /// Sentences after the table with their evidence ids.
    pub after: Vec<(String, String)>,
    /// Part (`qa`, `qa_0`, …) and text of the stand-alone questions.
    pub questions: Vec<(String, String)>,
    /// Number and text of the conversation's turns.
    pub turns: Vec<(String, String)>,
    /// Part and gold of all questions and turns that have any.
    pub gold: Vec<(String, Gold)>,
}

/// The record with its table in the given style.
pub fn show(record: &Record, style: TableStyle) -> RecordView {
    let document = &record.document;
    let asked = |cases: &[Arc<Case>]| {
        cases
            .iter()
            .map(|case| (case.question.key.part.clone(), case.question.text.clone()))
            .collect()
    };
    let mut sentences = document
        .sentences()
        .enumerate()
        .map(|(index, text)| (format!("t{}", index + 1), text.to_owned()));
    RecordView {
        id: document.id.clone(),
        filename: document.filename.clone(),
        kind: record.kind,
        before: sentences.by_ref().take(document.pre_text.len()).collect(),
        after: sentences.collect(),
        table: Table::from_document(document, style).to_markdown(),
        questions: asked(&record.questions),
        turns: asked(&record.turns),
        gold: record
            .cases()
            .filter(|case| !case.gold.is_empty())
            .map(|case| (case.question.key.part.clone(), case.gold.clone()))
            .collect(),
    }
}

impl RecordView {
    /// Page and questions, without any gold.
    pub fn text(&self) -> String {
        let kind = match self.kind {
            RecordKind::Single => "Single",
            RecordKind::Double => "Double",
        };
        let mut out = format!("{}  ({kind}, {})\n", self.id, self.filename);
        out.push_str(&section("\n", &self.before));
        out.push('\n');
        out.push_str(&self.table);
        out.push('\n');
        out.push_str(&section("\n", &self.after));
        out.push_str(&section("\nStand-alone questions\n", &self.questions));
        out.push_str(&section("\nConversation\n", &self.turns));
        out
    }

    /// The gold, one line per question; blank if there is none.
    pub fn gold_text(&self) -> String {
        let mut out = String::new();
        for (part, gold) in &self.gold {
            let mut fields = Vec::new();
            if let Some(answer) = &gold.answer {
                fields.push(format!("answer {answer}"));
            }
            if let Some(value) = &gold.exe_ans {
                fields.push(format!("value {value}"));
            }
            if let Some(program) = &gold.program {
                fields.push(format!("program {program}"));
            }
            if let Some(split) = gold.split {
                fields.push(format!("half {split}"));
            }
            let line = fields.join(" · ");
            out.push_str(&format!("{part:>5}  {line}\n"));
        }
        out
    }
}

/// Numbered lines under a title; nothing if there is no line.
fn section(title: &str, lines: &[(String, String)]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let body: String = lines
        .iter()
        .map(|(id, text)| format!("{id:>5}  {text}\n"))
        .collect();
    format!("{title}{body}")
}
