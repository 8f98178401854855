//! The worked example of docs/embedded-analyst.md, a turn of the sample.

use std::sync::Arc;

use finqa_core::question::{
    Document, HistoryEntry, HistorySource, Question, QuestionKey, QuestionKind,
};
use finqa_embedded::EmbeddedAnalyst;
use serde_json::Value as Json;

const DOCS: &str = include_str!("../../../../docs/embedded-analyst.md");
const SAMPLE: &str = include_str!("../../../../data/sample.json");

fn texts(of: &Json) -> Vec<String> {
    let texts = of.as_array().unwrap().iter();
    texts
        .map(|text| text.as_str().unwrap().to_owned())
        .collect()
}

/// The last turn of the conversation, with the gold programs of the turns before it as history.
fn last_turn() -> Question {
    let records: Vec<Json> = serde_json::from_str(SAMPLE).unwrap();
    let page = "ORLN/2017/page_12.pdf";
    let record = records.iter().find(|record| record["filename"] == page);
    let record = record.unwrap();
    let turns = &record["annotation"];
    let [texts_of_turns, programs] = ["dialogue_break", "turn_program"].map(|of| texts(&turns[of]));
    let history = texts_of_turns.iter().zip(programs);
    let entry = |(question, program): (&String, String)| HistoryEntry {
        question: question.clone(),
        value: None,
        program: Some(program),
        label: None,
        source: HistorySource::Gold,
    };
    let mut history: Vec<HistoryEntry> = history.map(entry).collect();
    let last = history.pop().unwrap();
    Question {
        key: QuestionKey {
            id: page.to_owned(),
            part: history.len().to_string(),
        },
        kind: QuestionKind::Turn,
        document: Arc::new(Document {
            id: page.to_owned(),
            filename: page.to_owned(),
            pre_text: texts(&record["pre_text"]),
            post_text: texts(&record["post_text"]),
            table: record["table"]
                .as_array()
                .unwrap()
                .iter()
                .map(texts)
                .collect(),
            ..Document::default()
        }),
        text: last.question,
        history,
    }
}

/// The rows of the table of candidates and the confidence are those that the program computes, so a
/// new training or rule cannot leave old numbers in the text.
#[test]
fn the_documented_turn_has_these_candidates_and_this_confidence() {
    let question = last_turn();
    let analyst = EmbeddedAnalyst::new();
    let page = analyst.index(&question.document);
    let explanation = analyst.explain(&page, &question);
    let missing = explanation.programs.iter().filter_map(|one| {
        // The first row has the value in more digits than an answer prints.
        let row = format!("| {:.1} | {} |", one.score, one.plan);
        let program = format!("| `{}` |", one.program);
        let has = |line: &str| line.starts_with(&row) && line.ends_with(&program);
        (!DOCS.lines().any(has)).then(|| format!("{row} … {program}"))
    });
    let missing: Vec<String> = missing.collect();
    assert!(missing.is_empty(), "{missing:#?}");
    let answer = analyst.answer(&page, &question).unwrap();
    let confidence = format!("confidence {:.2}\"]", answer.confidence);
    assert!(DOCS.contains(&confidence), "{confidence}");
}
