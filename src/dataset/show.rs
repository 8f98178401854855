//! One record as text, for `data show ID`: the page and the questions in one part,
//! the gold in another.

use std::sync::Arc;

use super::{Case, Record, RecordKind};

/// Page and questions, without any gold.
pub fn record_text(record: &Record) -> String {
    let document = &record.document;
    let kind = match record.kind {
        RecordKind::Single => "Single",
        RecordKind::Double => "Double",
    };
    let mut out = format!("{}  ({kind}, {})\n", document.id, document.filename);
    let mut sentences = document
        .sentences()
        .enumerate()
        .map(|(index, text)| id_line(&format!("t{}", index + 1), text));
    let before = sentences.by_ref().take(document.pre_text.len()).collect();
    let after = sentences.collect();
    let table = document.page().table.to_markdown();
    out.push_str(&section("\n", before));
    out.push_str(&format!("\n{table}\n"));
    out.push_str(&section("\n", after));
    let questions = |cases: &[Arc<Case>]| {
        let questions = cases.iter().map(|case| &case.question);
        questions
            .map(|question| id_line(&question.key.part, &question.text))
            .collect()
    };
    out.push_str(&section(
        "\nStand-alone questions\n",
        questions(&record.questions),
    ));
    out.push_str(&section("\nConversation\n", questions(&record.turns)));
    out
}

/// The gold, one line per question; blank if there is none.
pub fn gold_text(record: &Record) -> String {
    let mut out = String::new();
    for case in record.cases().filter(|case| !case.gold.is_empty()) {
        let gold = &case.gold;
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
        out.push_str(&id_line(&case.question.key.part, &fields.join(" · ")));
    }
    out
}

fn id_line(id: &str, text: &str) -> String {
    format!("{id:>5}  {text}\n")
}

/// Lines under a title; nothing without lines.
fn section(title: &str, lines: String) -> String {
    if lines.is_empty() {
        return lines;
    }
    format!("{title}{lines}")
}
