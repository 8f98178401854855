//! The embedded analyst over an invented page: stand-alone questions and a conversation.

use std::sync::Arc;

use finqa_core::number::{Scale, UnitKind};
use finqa_core::program::Program;
use finqa_core::question::{
    Document, HistoryEntry, HistorySource, Question, QuestionKey, QuestionKind,
};
use finqa_embedded::training::candidates;
use finqa_embedded::{EmbeddedAnalyst, EmbeddedAnswer};

fn page() -> Document {
    let row = |cells: &[&str]| cells.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>();
    Document {
        id: "Single_ZZZQ/2012/page_1.pdf-1".to_owned(),
        filename: "ZZZQ/2012/page_1.pdf".to_owned(),
        pre_text: vec![
            "rental expense was $ 4.5 million , $ 4.1 million and $ 3.4 million in 2012 , 2011 and 2010 , respectively . \
             the company leased 62 barges as of december 31 , 2012 ."
                .to_owned(),
        ],
        post_text: Vec::new(),
        table: vec![
            row(&["( in millions )", "2012", "2011"]),
            row(&["net revenue", "$ 520.0", "$ 400.0"]),
            row(&["fuel expense", "130.0", "110.0"]),
            row(&["cash used in investing activities", "-75.5 ( 75.5 )", "-60.0 ( 60.0 )"]),
            row(&["impairments", "2014", "12.0"]),
        ],
        ..Document::default()
    }
}

fn question(document: &Arc<Document>, history: &[HistoryEntry], text: &str) -> Question {
    Question {
        key: QuestionKey {
            id: document.id.clone(),
            part: "qa".to_owned(),
        },
        kind: QuestionKind::StandAlone,
        document: Arc::clone(document),
        text: text.to_owned(),
        history: history.to_vec(),
    }
}

fn ask(history: &[HistoryEntry], text: &str) -> EmbeddedAnswer {
    let document = Arc::new(page());
    let analyst = EmbeddedAnalyst::new();
    let question = question(&document, history, text);
    analyst
        .answer(&analyst.index(&document), &question)
        .expect("an answer")
}

/// It was read from the beginning of the part's name, so that `ask` ranked every question as a
/// turn.
#[test]
fn the_kind_of_a_question_is_a_field_and_not_its_part() {
    let document = Arc::new(page());
    let analyst = EmbeddedAnalyst::new();
    let answer = |part: &str, kind: QuestionKind| {
        let mut question = question(&document, &[], "what was the rental expense?");
        question.key.part = part.to_owned();
        question.kind = kind;
        let answer = analyst.answer(&analyst.index(&document), &question);
        answer.expect("an answer").confidence
    };
    let alone = answer("qa", QuestionKind::StandAlone);
    assert_eq!(answer("0", QuestionKind::StandAlone), alone);
    assert_ne!(answer("qa", QuestionKind::Turn), alone);
}

/// The programs of a conversation, each turn over our own history.
fn converse(turns: &[&str]) -> Vec<String> {
    let document = Arc::new(page());
    let analyst = EmbeddedAnalyst::new();
    let mut history = Vec::new();
    for text in turns {
        let mut asked = question(&document, &history, text);
        asked.kind = QuestionKind::Turn;
        let guess = analyst.answer(&analyst.index(&document), &asked);
        let guess = guess.expect("an answer");
        let value = Program::parse(&guess.best.program)
            .unwrap()
            .execute(&page().table)
            .unwrap();
        history.push(HistoryEntry {
            question: (*text).to_owned(),
            value: Some(value),
            program: Some(guess.best.program),
            label: Some(guess.best.label),
            source: HistorySource::Own,
        });
    }
    history
        .into_iter()
        .filter_map(|entry| entry.program)
        .collect()
}

#[test]
fn a_stand_alone_question_has_its_program_and_the_scale_of_what_it_is_from() {
    let (million, none) = (Some(Scale::Million), None);
    for (text, program, scale) in [
        ("what was the rental expense in 2011?", "4.1", million),
        ("what was the rental expense in 2012?", "4.5", million),
        (
            "what was the change in net revenue from 2011 to 2012?",
            "subtract(520.0, 400.0)",
            million,
        ),
        (
            "what was the difference in fuel expense between 2011 and 2012?",
            "subtract(130.0, 110.0)",
            million,
        ),
        (
            "what was the ratio of fuel expense to net revenue in 2012?",
            "divide(130.0, 520.0)",
            none,
        ),
        (
            "did net revenue grow from 2011 to 2012?",
            "greater(520.0, 400.0)",
            none,
        ),
        (
            "what was the average rental expense from 2010 to 2012?",
            "add(3.4, 4.1), add(#0, 4.5), divide(#1, const_3)",
            million,
        ),
        (
            "what was the percentage change in turnover from 2011 to 2012?",
            "subtract(520.0, 400.0), divide(#0, 400.0)",
            none,
        ),
        (
            "by what percent did the fuel expense rise from 2011 to 2012?",
            "subtract(130.0, 110.0), divide(#0, 110.0)",
            none,
        ),
        (
            "what was the compound annual growth rate of net revenue from 2011 to 2012?",
            "divide(520.0, 400.0), divide(const_1, const_1), exp(#0, #1), subtract(#2, const_1)",
            none,
        ),
    ] {
        let guess = ask(&[], text);
        assert_eq!(
            (guess.best.program.as_str(), guess.best.unit.scale),
            (program, scale),
            "{text}"
        );
        let doubt = guess.doubt.unwrap_or_default();
        assert!(!doubt.ends_with("not supported"), "{text}: {doubt}");
    }
}

#[test]
fn a_share_is_a_percent_and_names_its_cells() {
    let guess = ask(
        &[],
        "what percentage of net revenue was fuel expense in 2012?",
    );
    assert_eq!(guess.best.program, "divide(130.0, 520.0)");
    assert_eq!(guess.best.unit.kind, UnitKind::Percent);
    let ids: Vec<&str> = guess.best.evidence.iter().map(|e| e.id.as_str()).collect();
    assert_eq!(ids, ["r2c1", "r1c1"]);
}

#[test]
fn a_conversation_refers_back_changes_a_part_and_sums_up() {
    // By itself, the dataset hardly ever asks for a figure as it is printed.
    let first = converse(&["how many barges did the company lease in 2012?"]);
    assert_eq!(first, ["62"]);
    let change = "subtract(520.0, 400.0), divide(#0, 400.0)";
    let sum = "add(4.5, 4.1), add(#0, 3.4)";
    for turns in [
        [
            ("what was the net revenue in 2012?", "520.0"),
            ("and what was it in 2011?", "400.0"),
            (
                "what was, then, the change over the year?",
                "subtract(520.0, 400.0)",
            ),
            (
                "and how much does this change represent in relation to the 2011 net revenue?",
                change,
            ),
            (
                "and what is that times 100?",
                &format!("{change}, multiply(#1, const_100)"),
            ),
        ],
        [
            ("what was the rental expense in 2012?", "4.5"),
            ("and in 2011?", "4.1"),
            ("what is the sum of those values?", "add(4.5, 4.1)"),
            ("and including the 2010 value?", sum),
            (
                "what is that divided by 3?",
                &format!("{sum}, divide(#1, const_3)"),
            ),
        ],
    ] {
        let programs = converse(&turns.map(|(question, _)| question));
        assert_eq!(programs, turns.map(|(_, program)| program));
    }
}

#[test]
fn a_page_without_numbers_gives_no_answer() {
    let document = Arc::new(Document {
        table: Vec::new(),
        pre_text: vec!["nothing to see".to_owned()],
        ..Document::default()
    });
    let question = question(&document, &[], "what was the revenue in 2011?");
    let analyst = EmbeddedAnalyst::new();
    assert_eq!(analyst.answer(&analyst.index(&document), &question), None);
}

#[test]
fn a_guess_says_why_it_is_one() {
    for (text, why) in [
        ("what was the net revenue in 2017?", "the page has no 2017"),
        (
            "what was the median of net revenue?",
            "asks for a statistic, which is not supported",
        ),
        (
            "in which quarter was the net revenue posted?",
            "asks for a date, which is not supported",
        ),
        (
            "what percentage of the net revenue in 2012 was not fuel expense, in segments other than east?",
            "asks for what is left of a whole, which is not supported",
        ),
        (
            "what was the ebitda in 2012?", "the page does not mention \"ebitda\"",
        ),
        // The stem "employe" was shown.
        (
            "what was the employee/store in 2012?", "the page does not mention \"employee\"",
        ),
    ] {
        let doubt = ask(&[], text).doubt.unwrap_or_default();
        assert!(doubt.ends_with(why), "{text}: {doubt}");
    }
}

/// The programs that are compared for a question about a table.
fn compared(table: &[&[&str]], text: &str) -> Vec<String> {
    let row = |cells: &&[&str]| cells.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>();
    let document = Arc::new(Document {
        pre_text: vec!["the interest is 4.5% ( 4.5 % ) a year .".to_owned()],
        table: table.iter().map(row).collect(),
        ..page()
    });
    let analyst = EmbeddedAnalyst::new();
    let question = question(&document, &[], text);
    let page = analyst.index(&document);
    let all = candidates(&analyst, &page, &question).into_iter();
    all.map(|candidate| candidate.program).collect()
}

#[test]
fn programs_of_several_numbers_are_among_the_compared() {
    let due: &[&[&str]] = &[
        &[
            "payments due", "total", "less than 1 year", "1-3 years", "3-5 years", "after 5 years",
        ],
        &["debt", "1000", "100", "300", "250", "350"],
        &["leases", "240", "60", "90", "50", "40"],
        &["total", "1240", "160", "390", "300", "390"],
    ];
    let warranties: &[&[&str]] = &[
        &["", "2012", "2011"],
        &["balance at january 1", "102", "107"],
        &["accruals", "42", "28"],
        &["balance at december 31", "118", "102"],
    ];
    let plans: &[&[&str]] = &[
        &["", "number of shares", "average price per share"],
        &["october", "300", "12.5"],
        &["november", "450", "13.0"],
    ];
    let halves: &[&[&str]] = &[&["", "2012"], &["east", "30"], &["west", "50"]];
    for (table, text, program) in [
        (halves, "what is the interest a year?", "4.5"),
        (halves, "what is the interest a year?", "4.5%"),
        (
            due,
            "what percentage of the leases is due after 5 years?",
            "divide(40, 240)",
        ),
        (
            warranties,
            "what was the percentage change in the balance from 2011 to 2012?",
            "subtract(118, 102), divide(#0, 102)",
        ),
        (
            plans,
            "how many shares were purchased in total?",
            "add(300, 450)",
        ),
    ] {
        let programs = compared(table, text);
        assert!(
            programs.iter().any(|p| p == program),
            "{text}: {programs:?}"
        );
    }
}
