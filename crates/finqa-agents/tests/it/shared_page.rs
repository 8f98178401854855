//! Tests that a page is read only once for all of its questions and uses.

use std::sync::Arc;

use finqa_agents::pair::verify::{self, LiteralPlaces};
use finqa_agents::pair::{Answer, EmbeddedAgent};
use finqa_agents::prompt::{CriticView, Prompts};
use finqa_core::page::pages_read;
use finqa_core::question::{Document, Question, QuestionKey, QuestionKind};

#[test]
fn prompts_checks_and_the_embedded_analyst_share_the_page_of_a_document() {
    let cells = [["", "2031", "2030"], ["fees", "$ 48300", "$ 40250"]];
    let document = Arc::new(Document {
        pre_text: vec!["fees rose in 2031 .".into()],
        table: cells.map(|row| row.map(str::to_owned).to_vec()).to_vec(),
        ..Document::default()
    });
    let before = pages_read();
    let prompts = Prompts::embedded();
    let analyst = EmbeddedAgent::default();
    for text in [
        "what were fees in 2031?",
        "by what percentage did fees grow in 2031?",
    ] {
        let question = Question {
            key: QuestionKey {
                id: "INV/2031/page_1.pdf-1".into(),
                part: "qa".into(),
            },
            kind: QuestionKind::StandAlone,
            document: Arc::clone(&document),
            text: text.into(),
            history: Vec::new(),
        };
        prompts.analyst(&question).unwrap();
        let critic = CriticView::default();
        prompts.critic(&question, &critic).unwrap();
        assert!(analyst.opinion(&question).is_some());
        verify::check(&question, &Answer::default());
        assert_eq!(LiteralPlaces::of(&question).find("48300").len(), 1);
    }
    assert_eq!(pages_read() - before, 1);
}
