//! One record as text, for `data show ID`: the page and the questions in one part,
//! the gold in another.

use std::sync::Arc;

use super::{Case, Record};

/// Page and questions, without any gold.
pub fn record_text(record: &Record) -> String {
    let document = &record.document;
    let sentences = document.sentences().zip(1..);
    let sentences = sentences.map(|(text, number)| id_line(&format!("t{number}"), text));
    let (before, after): (Vec<_>, Vec<_>) = sentences
        .enumerate()
        .partition(|(at, _)| *at < document.pre_text.len());
    let lines = |part: Vec<(usize, String)>| part.into_iter().map(|(_, line)| line).collect();
    let questions = |cases: &[Arc<Case>]| {
        let questions = cases.iter().map(|case| &case.question);
        questions
            .map(|question| id_line(&question.key.part, &question.text))
            .collect()
    };
    [
        format!(
            "{}  ({:?}, {})\n",
            document.id, record.kind, document.filename
        ),
        section("\n", lines(before)),
        format!("\n{}\n", document.page().table.to_markdown()),
        section("\n", lines(after)),
        section("\nStand-alone questions\n", questions(&record.questions)),
        section("\nConversation\n", questions(&record.turns)),
    ]
    .concat()
}

/// The gold, one line per question; blank if there is none.
pub fn gold_text(record: &Record) -> String {
    let cases = record.cases().filter(|case| !case.gold.is_empty());
    let lines = cases.map(|case| {
        let gold = &case.gold;
        let fields = [
            gold.answer
                .as_ref()
                .map(|answer| format!("answer {answer}")),
            gold.exe_ans.as_ref().map(|value| format!("value {value}")),
            gold.program.as_ref().map(|text| format!("program {text}")),
            gold.split.map(|split| format!("half {split}")),
        ];
        let fields: Vec<String> = fields.into_iter().flatten().collect();
        id_line(&case.question.key.part, &fields.join(" · "))
    });
    lines.collect()
}

fn id_line(id: &str, text: &str) -> String {
    format!("{id:>5}  {text}\n")
}

/// Lines under a title; nothing without lines.
fn section(title: &str, lines: String) -> String {
    match lines.is_empty() {
        true => lines,
        false => format!("{title}{lines}"),
    }
}
