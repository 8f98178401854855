//! The embedded analyst over tables of a user's own, all invented: conversations, and pages with
//! text or several tables.

use std::sync::Arc;

use finqa_core::number::print;
use finqa_core::question::{
    Document, HistoryEntry, HistorySource, Question, QuestionKey, QuestionKind,
};
use finqa_embedded::{EmbeddedAnalyst, EmbeddedAnswer};

pub(crate) fn document(table: &str) -> Arc<Document> {
    let rows = table
        .lines()
        .map(|line| line.split(';').map(str::to_owned).collect());
    Arc::new(Document {
        id: "table.csv".to_owned(),
        filename: "table.csv".to_owned(),
        table: rows.collect(),
        own: true,
        ..Document::default()
    })
}

pub(crate) fn answer(
    document: &Arc<Document>,
    history: &[HistoryEntry],
    text: &str,
) -> EmbeddedAnswer {
    let analyst = EmbeddedAnalyst::new();
    let question = Question {
        key: QuestionKey {
            id: document.id.clone(),
            part: history.len().to_string(),
        },
        kind: match history.is_empty() {
            true => QuestionKind::StandAlone,
            false => QuestionKind::Turn,
        },
        document: Arc::clone(document),
        text: text.to_owned(),
        history: history.to_vec(),
    };
    analyst
        .answer(&analyst.index(document), &question)
        .expect("an answer")
}

pub(crate) fn printed(answer: &EmbeddedAnswer) -> String {
    print(&answer.best.value, answer.best.unit, answer.best.in_percent)
}

const YEARS: &str = ";2035;2034;2033;2032;2031
Turnover;88;95;91;60;74
Net earnings;5;9;7;-6;2
Grants;4;3;2;1;0
Research and development;11;10;9;8;7
Return on sales;5.7%;9.5%;7.7%;-10%;2.7%";

const MONTHS: &str = "Month;Revenue;Orders
March;135;950
April;142;910
May;160;1000";

/// A question that names all it asks for inherits nothing; others change a part of the one before.
#[test]
fn a_question_takes_from_the_one_before_what_it_leaves_out() {
    let conversations: [(&str, &[(&str, &str)]); 3] = [
        (
            YEARS,
            &[
                ("what was the growth of turnover from 2033 to 2034?", "4.4%"),
                ("in which year were grants lowest?", "2031"),
                ("what were grants in 2033?", "2"),
                ("and in 2034?", "3"),
                ("what is the change?", "1"),
                ("which year had the highest net earnings?", "2034"),
                ("what was the average turnover from 2031 to 2033?", "75"),
            ],
        ),
        (
            YEARS,
            &[
                ("what was turnover in 2034?", "95"),
                ("and in the previous year?", "91"),
            ],
        ),
        (
            MONTHS,
            &[
                ("what was revenue in March?", "135"),
                ("and in April?", "142"),
                ("what about May?", "160"),
                ("and orders?", "1000"),
            ],
        ),
    ];
    for (table, turns) in conversations {
        let document = document(table);
        let mut history = Vec::new();
        for (question, expected) in turns {
            let found = answer(&document, &history, question);
            assert_eq!(printed(&found), *expected, "{question}");
            history.push(HistoryEntry {
                question: (*question).to_owned(),
                value: Some(found.best.value),
                program: Some(found.best.program),
                label: None,
                source: HistorySource::Own,
            });
        }
    }
}

const DIVISIONS: &str = "Division;FY2031;FY2032
Land;310;330
Sea;190;205
Operating cash flow;9;11";

/// The doubt about a question on a page with this text after its table.
fn doubt(text: &[&str], question: &str) -> String {
    let mut page = (*document(DIVISIONS)).clone();
    page.post_text = text.iter().map(|text| (*text).to_owned()).collect();
    answer(&Arc::new(page), &[], question)
        .doubt
        .unwrap_or_default()
}

#[test]
fn what_only_the_second_table_has_is_a_guess() {
    let text = [
        "Employees by division", "Land: FY2031 1200; FY2032 1250.", "Sea: FY2031 800; FY2032 840.",
        "Cash: FY2031 5; FY2032 6.",
    ];
    let employees = doubt(
        &text,
        "How many employees did the Sea division have in FY2032?",
    );
    assert_ne!(employees, "");
    let cash = doubt(&text, "What was cash in FY2031?");
    assert!(cash.contains("cash"), "{cash}");
}

#[test]
fn a_figure_of_the_text_is_not_of_another_year() {
    let text = ["The number of employees was 1,875 at year-end 2033."];
    let doubt = doubt(&text, "what was the number of employees at year-end 2032?");
    assert!(doubt.contains("has it for 2033"), "{doubt}");
}
