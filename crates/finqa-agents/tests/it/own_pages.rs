//! What the critic says of the embedded analyst's answers about a table of the user's own.

use std::sync::Arc;

use finqa_agents::pair::{Answer, verify};
use finqa_agents::parse::Analysis;
use finqa_core::question::{Document, Question, QuestionKey};
use finqa_embedded::EmbeddedAnalyst;

#[test]
fn the_critic_says_that_a_figure_is_not_defined_and_not_that_it_is_a_guess() {
    let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
    let document = Document {
        table: vec![row(&["", "2031", "2032"]), row(&["Grants", "0", "3"])],
        own: true,
        ..Document::default()
    };
    let question = Question {
        key: QuestionKey {
            id: String::new(),
            part: "0".to_owned(),
        },
        document: Arc::new(document),
        text: "what was the percentage change in grants from 2031 to 2032?".to_owned(),
        history: Vec::new(),
    };
    let analyst = EmbeddedAnalyst::new();
    let page = analyst.index(&question.document);
    let found = analyst.answer(&page, &question).expect("an answer");
    let analysis = Analysis {
        answer: "n/a".to_owned(),
        confidence: Some(found.confidence),
        ..Analysis::default()
    };
    let settled = Answer {
        doubt: found.doubt,
        ..Answer::from_analysis(&analysis, &question)
    };
    let findings = verify::check(&question, &settled);
    let [finding] = findings.as_slice() else {
        panic!("{findings:?}");
    };
    let finding = finding.to_string();
    assert!(finding.contains("it is not defined") && finding.contains("a value above zero"));
    assert!(!finding.contains("guess"), "{finding}");
}
