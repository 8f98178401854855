//! The embedded analyst over tables of a user's own, all invented: each question is answered
//! from its labels, or what the page lacks is named.

use std::sync::Arc;

use finqa_core::number::{Value, print};
use finqa_core::question::{Document, HistoryEntry, HistorySource, Question, QuestionKey};
use finqa_embedded::{EmbeddedAnalyst, EmbeddedAnswer};
use rstest::rstest;

const QUARTERS: &str = "EUR thousand;Q1 2031;Q2 2031;Q3 2031;Q4 2031;FY 2031
Net sales;400;420;390;510;1720
Cost of sales;(250);(260);(245);(300);(1055)
Gross profit;150;160;145;210;665
Order backlog;90;95;80;70;70";

const YEARS: &str = ";2035;2034;2033;2032;2031
Turnover;88;95;91;60;74
Net earnings;5;9;7;-6;2
Grants;4;3;2;1;0
Research and development;11;10;9;8;7
Return on sales;5.7%;9.5%;7.7%;-10%;2.7%";

const DEPOTS: &str = "Depots by country;Stock 2031;% of total;Stock 2030;% of total
Norway;600;60%;500;62.5%
Finland;300;30%;200;25%
Latvia;100;10%;100;12.5%
Total;1000;100%;800;100%";

const OPERATORS: &str = ";2031 North;2031 South;2030 North;2030 South
Sales;140;90;130;75
Short-term borrowings;20;30;25;35
Long-term borrowings;70;80;75;85";

const LOANS: &str = "Rating;Balance 2031;Balance 2030;Default rate
A;120;110;0.2%
B;80;95;1.1%
C;25;20;4.5%";

const STAFF: &str = "Headcount at year end;2030;2031
Engineering;200;260
Sales;100;90
Support;50;55";

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

fn asked(document: &Arc<Document>, history: &[HistoryEntry], text: &str) -> Question {
    Question {
        key: QuestionKey {
            id: document.id.clone(),
            part: history.len().to_string(),
        },
        document: Arc::clone(document),
        text: text.to_owned(),
        history: history.to_vec(),
    }
}

pub(crate) fn answer(
    document: &Arc<Document>,
    history: &[HistoryEntry],
    text: &str,
) -> EmbeddedAnswer {
    let analyst = EmbeddedAnalyst::new();
    let question = asked(document, history, text);
    analyst
        .answer(&analyst.index(document), &question)
        .expect("an answer")
}

pub(crate) fn printed(answer: &EmbeddedAnswer) -> String {
    print(&answer.best.value, answer.best.unit, answer.best.in_percent)
}

/// Asks one question and expects a certain answer, and that it is not a guess.
pub(crate) fn sure(table: &str, question: &str, expected: &str) {
    let found = answer(&document(table), &[], question);
    assert_eq!(
        (printed(&found).as_str(), found.doubt.as_deref()),
        (expected, None),
        "{question}"
    );
}

/// Asks one question and expects that what the page lacks is named.
pub(crate) fn named(table: &str, question: &str, why: &str) {
    let found = answer(&document(table), &[], question);
    assert!(
        found
            .doubt
            .as_deref()
            .is_some_and(|doubt| doubt.contains(why)),
        "{question}: {:?}",
        found.doubt
    );
}

#[rstest]
#[case("in which year was turnover highest?", "2034")]
#[case("in which year were net earnings lowest?", "2032")]
#[case("which year had the lowest research and development?", "2031")]
#[case("in which year was the return on sales lowest?", "2032")]
#[case("what was the highest turnover?", "95")]
#[case("what was the lowest return on sales?", "-10.0%")]
fn the_year_of_the_largest_is_right_in_five_columns_that_descend(
    #[case] question: &str,
    #[case] expected: &str,
) {
    sure(YEARS, question, expected);
}

#[rstest]
#[case("which quarter had the highest gross profit?", "Q4 2031")]
#[case("in which quarter was the cost of sales lowest?", "Q3 2031")]
#[case("what were net sales in the third quarter of 2031?", "390")]
#[case("what were net sales for the full year 2031?", "1720")]
#[case("what was the gross margin in Q2 2031?", "38.1%")]
#[case(
    "what was the percentage change in net sales from Q3 to Q4 2031?",
    "30.8%"
)]
#[case("what share of full-year net sales was made in Q4?", "29.7%")]
fn quarters_are_distinguished_from_the_year(#[case] question: &str, #[case] expected: &str) {
    sure(QUARTERS, question, expected);
}

#[test]
fn a_year_of_which_the_page_has_a_part_is_not_called_missing() {
    named(
        "quarter;revenue\nQ1 2020;10\nQ2 2020;20\nQ1 2021;30",
        "what was the total revenue in 2020?",
        "the page has only a part of 2020: first quarter, second quarter",
    );
}

#[rstest]
#[case(
    "what was the average research and development expense from 2033 to 2035?",
    "10"
)]
#[case("what was the average turnover over the last two years?", "91.5")]
#[case("by how much did net earnings decrease from 2034 to 2035?", "4")]
#[case(
    "by how many percentage points did the return on sales fall from 2034 to 2035?",
    "3.8"
)]
#[case("what was the growth in turnover from 2032 to 2033?", "51.7%")]
#[case("did turnover rise in 2035?", "no")]
#[case("were net earnings higher in 2034 than in 2033?", "yes")]
#[case(
    "what was the ratio of research and development to turnover in 2033?",
    "0.099"
)]
fn words_of_operations_are_not_things_that_the_page_lacks(
    #[case] question: &str,
    #[case] expected: &str,
) {
    sure(YEARS, question, expected);
}

#[rstest]
#[case(DEPOTS, "what share of total stock was in Latvia in 2030?", "12.5%")]
#[case(
    DEPOTS,
    "by how many percentage points did the Norway share change from 2030 to 2031?",
    "-2.5"
)]
#[case(OPERATORS, "what were total sales of both regions in 2031?", "230")]
#[case(STAFF, "what is the sum of sales and support in 2031?", "145")]
#[case(
    STAFF,
    "what was the growth rate of engineering from 2030 to 2031?",
    "30.0%"
)]
fn wholes_and_parts(#[case] table: &str, #[case] question: &str, #[case] expected: &str) {
    sure(table, question, expected);
}

#[rstest]
#[case(DEPOTS, "which country had the largest stock in 2031?", "Norway")]
#[case(OPERATORS, "which region had the highest sales in 2030?", "North")]
#[case(LOANS, "which rating has the highest default rate?", "C")]
fn a_question_for_a_name_is_answered_by_a_label(
    #[case] table: &str,
    #[case] question: &str,
    #[case] expected: &str,
) {
    let found = answer(&document(table), &[], question);
    assert_eq!(
        (found.best.value, found.doubt),
        (Value::Text(expected.to_owned()), None),
        "{question}"
    );
}

#[rstest]
#[case(DEPOTS, "what was the stock in Sweden in 2031?", "sweden")]
#[case(YEARS, "what was the EBITDA in 2033?", "ebitda")]
#[case(YEARS, "what was the turnover in 2029?", "no 2029")]
#[case(STAFF, "who runs engineering?", "")]
#[case(DEPOTS, "is the stock insured?", "insured")]
fn what_the_page_lacks_is_named(#[case] table: &str, #[case] question: &str, #[case] why: &str) {
    named(table, question, why);
}

const SEASONS: &str = ";Season 2030/31;Season 2031/32
Tickets;12;18
Profit / (loss) before tax;(8);3";

#[rstest]
#[case(
    SEASONS,
    "by how much did tickets increase from 2030/31 to 2031/32?",
    "6"
)]
#[case(YEARS, "how much lower were net earnings in 2035 than in 2034?", "4")]
#[case(YEARS, "in which fiscal year was turnover lowest?", "2032")]
#[case(
    DEPOTS,
    "what was the share of Norway in total stock in 2031?",
    "60.0%"
)]
fn seasons_fiscal_years_and_losses(
    #[case] table: &str,
    #[case] question: &str,
    #[case] expected: &str,
) {
    sure(table, question, expected);
}

/// Each question after others that it does not refer to.
#[test]
fn a_complete_question_inherits_nothing_from_the_one_before() {
    let document = document(YEARS);
    let mut history = Vec::new();
    for (question, expected) in [
        (
            "what was the percentage change in turnover from 2033 to 2034?",
            "4.4%",
        ),
        ("in which year was research and development lowest?", "2031"),
        ("what were grants in 2033?", "2"),
        ("and in 2034?", "3"),
        ("what is the change?", "1"),
        ("which year had the highest net earnings?", "2034"),
        ("what was the average turnover from 2031 to 2033?", "75"),
    ] {
        let found = answer(&document, &history, question);
        assert_eq!(printed(&found), expected, "{question}");
        history.push(HistoryEntry {
            question: question.to_owned(),
            value: Some(found.best.value),
            program: Some(found.best.program),
            label: None,
            source: HistorySource::Own,
        });
    }
}

const TWO_OF_A_YEAR: &str = "Item;2022;FY2022 budget
Revenue;100;120";

const BUDGET_FIRST: &str = "Item;2022 budget;FY2022
Revenue;120;100";

/// A year and a fiscal year are one period: the words of the labels tell their columns apart.
#[rstest]
#[case(TWO_OF_A_YEAR, "what was revenue in 2022?", "100")]
#[case(TWO_OF_A_YEAR, "what was revenue in fiscal 2022?", "100")]
#[case(TWO_OF_A_YEAR, "what was the budget revenue in 2022?", "120")]
#[case(BUDGET_FIRST, "what was revenue in 2022?", "100")]
fn a_year_is_not_the_budget_of_the_fiscal_year(
    #[case] table: &str,
    #[case] question: &str,
    #[case] expected: &str,
) {
    // Ten tables: what depends on the order of a hash map differs between them.
    for _ in 0..10 {
        sure(table, question, expected);
    }
}

/// Each word is new, so that all count.
fn long_question(words: usize) -> String {
    let words: Vec<String> = (0..words)
        .map(|n| {
            let letter = |at: usize| char::from(b'b' + u8::try_from(at % 20).unwrap_or(0));
            format!("z{}q{}x", letter(n), letter(n / 20))
        })
        .collect();
    format!("what was revenue of {} in 2022?", words.join(" "))
}

#[rstest]
#[case(31)]
#[case(40)]
#[case(63)]
#[case(64)]
#[case(70)]
#[case(200)]
fn a_question_of_many_words_is_never_sure(#[case] words: usize) {
    let found = answer(&document(TWO_OF_A_YEAR), &[], &long_question(words));
    assert!(found.doubt.is_some(), "{words} words: {found:?}");
}

#[test]
fn growth_is_not_paired_over_rows_of_one_name() {
    let twins = "Region;2031;2030\nNorth;30;15\nOther;90;10\nOther;11;80";
    let found = answer(
        &document(twins),
        &[],
        "which region grew fastest from 2030 to 2031?",
    );
    assert!(found.doubt.is_some() || found.best.value != Value::Text("Other".to_owned()));
}
