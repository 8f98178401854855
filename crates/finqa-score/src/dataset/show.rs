//! Prints one record as text for `data show ID`: first the page and the questions, then separately
//! the gold.

use std::sync::Arc;

use super::{Case, Record};

/// The page and the questions of a record as text, without gold.
pub fn record_text(record: &Record) -> String {
    let (document, kind) = (&record.document, record.kind);
    let (id, file) = (&document.id, &document.filename);
    let sentences = document.sentences().zip(1..);
    let mut sentences = sentences.map(|(text, number)| id_line(&format!("t{number}"), text));
    let before = sentences.by_ref().take(document.pre_text.len()).collect();
    let line = |case: &Arc<Case>| id_line(&case.question.key.part, &case.question.text);
    let questions = |cases: &[Arc<Case>]| cases.iter().map(line).collect();
    [
        format!("{id}  ({kind:?}, {file})\n"),
        section("\n", before),
        format!("\n{}\n", document.page().table.to_markdown()),
        section("\n", sentences.collect()),
        section("\nStand-alone questions\n", questions(&record.questions)),
        section("\nConversation\n", questions(&record.turns)),
    ]
    .concat()
}

/// The gold, one line per question; empty if there is no gold.
pub fn gold_text(record: &Record) -> String {
    let cases = record.cases().filter(|case| !case.gold.is_empty());
    let lines = cases.map(|case| {
        let gold = &case.gold;
        let value = gold.exe_ans.as_ref().map(ToString::to_string);
        let fields = [
            gold.answer.as_ref().map(|text| format!("answer {text}")),
            value.map(|value| format!("value {value}")),
            gold.program.as_ref().map(|text| format!("program {text}")),
        ];
        let fields: Vec<String> = fields.into_iter().flatten().collect();
        id_line(&case.question.key.part, &fields.join(" · "))
    });
    lines.collect()
}

fn id_line(id: &str, text: &str) -> String {
    // The width aligns ids up to `t9999`.
    format!("{id:>5}  {text}\n")
}

/// Lines below a title; empty if there are no lines.
fn section(title: &str, lines: String) -> String {
    if lines.is_empty() {
        lines
    } else {
        format!("{title}{lines}")
    }
}
