//! The embedded analyst over tables of a user's own, all invented: conversations, and pages with
//! text or several tables.

use std::sync::Arc;

use finqa_core::number::{Scale, print};
use finqa_core::question::{
    Document, HistoryEntry, HistorySource, Question, QuestionKey, QuestionKind,
};
use finqa_embedded::{EmbeddedAnalyst, EmbeddedAnswer};

use super::own_questions::Expected::{Is, Unsure};
use super::own_questions::Questions;

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

fn answer(document: &Arc<Document>, history: &[HistoryEntry], text: &str) -> EmbeddedAnswer {
    find_answer(document, history, text).expect("an answer")
}

pub(crate) fn find_answer(
    document: &Arc<Document>,
    history: &[HistoryEntry],
    text: &str,
) -> Option<EmbeddedAnswer> {
    let analyst = EmbeddedAnalyst::new();
    let question = Question {
        key: QuestionKey {
            id: document.id.clone(),
            part: history.len().to_string(),
        },
        kind: if history.is_empty() {
            QuestionKind::StandAlone
        } else {
            QuestionKind::Turn
        },
        document: Arc::clone(document),
        text: text.to_owned(),
        history: history.to_vec(),
    };
    analyst.answer(&analyst.index(document), &question)
}

pub(crate) fn printed(answer: &EmbeddedAnswer) -> String {
    print(&answer.best.value, answer.best.unit, answer.best.in_percent)
}

/// Asks the questions of each table.
pub(crate) fn check(tables: &[Questions]) {
    let mut wrong = Vec::new();
    for (table, questions) in tables {
        for (question, expected) in *questions {
            let found = find_answer(&document(table), &[], question);
            let shown = found.as_ref().map_or_else(String::new, printed);
            // Without an answer, there is no reason either.
            let doubt = found
                .as_ref()
                .map_or(Some(""), |found| found.doubt.as_deref());
            let right = match expected {
                Is(answer) => shown == *answer && doubt.is_none(),
                Unsure(why) => doubt.is_some_and(|doubt| doubt.contains(why)),
            };
            if !right {
                wrong.push(format!("{question}: {shown}, {doubt:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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

/// The lower case of `İ` is longer, a plain apostrophe is shorter: the words behind them keep
/// their spelling, by which "IT" is a name and "it" is not.
#[test]
fn typographic_characters_do_not_shift_the_words_behind_them() {
    let table = document("Department;2031;2030\nIT;45;40\nSales;30;20");
    for text in [
        "what was the company's IT in 2031?",
        "what was the company\u{2019}s IT in 2031?",
        "what was the company\u{2019}s \u{2018}IT\u{2019} in 2031?",
        "what was İ's IT in 2031?",
    ] {
        assert_eq!(printed(&answer(&table, &[], text)), "45", "{text}");
    }
}

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

/// Revenue per employee was 36.765, and the employees 34 thousand.
#[test]
fn money_for_each_thing_is_in_the_scale_of_the_money() {
    let table = "(in thousands);2023;2024\nRevenue;1000;1250\nEmployees;30;34\nStores;8;10\n\
                 Number of shops;3;4\nHotels at year end;1;2\nInterest Rate Swaps;9;12";
    let table = document(table);
    for (question, expected, scale) in [
        (
            "revenue per employee in 2024?",
            "36.765",
            Some(Scale::Thousand),
        ),
        ("how many employees in 2024?", "34", None),
        ("revenue per store in 2024?", "125", Some(Scale::Thousand)),
        ("how many shops were there in 2024?", "4", None),
        ("how many hotels at year end in 2024?", "2", None),
        ("interest rate swaps in 2024?", "12", Some(Scale::Thousand)),
    ] {
        let found = answer(&table, &[], question);
        assert_eq!(
            (printed(&found).as_str(), found.doubt.as_ref()),
            (expected, None)
        );
        assert_eq!(found.best.unit.scale, scale, "{question}");
    }
}

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

/// Questions that were once answered wrongly and without a doubt, and similar ones that have a sure answer.
#[rustfmt::skip] // A table, like those of `own_questions`.
pub(crate) const NOT_SURE: &[Questions] = &[
    // The row "Net interest income" was surely the interest income.
    ("EUR million;2032;2033\nInterest and dividend income;30;33\nInterest expense;12;13
Net interest income;18;20\nFee income;10;11\nFee expense;3;4\nNet fee income;7;7", &[
        ("What was interest income in 2033?", Unsure("several figures fit")),
        ("What was net interest income in 2033?", Is("20")),
    ]),
    (";2022;2023
Revenue;100;120
Net loss;(5);(8)
Loss before income taxes;(6);(9)
Income tax benefit;1;2
Net cash used in operating activities;(3);(4)
Loss per share;(0.5);(0.8)", &[
        ("what was net income in 2023?", Unsure("Net loss")),
        ("what was the net loss in 2023?", Is("8")),
        ("did net income increase from 2022 to 2023?", Unsure("Net loss")),
        ("which year had the highest net income?", Unsure("Net loss")),
        ("what was the average net income?", Unsure("Net loss")),
        ("what was the net margin in 2023?", Unsure("")),
        ("what was revenue minus net income in 2023?", Unsure("Net loss")),
        ("what was the income before income taxes in 2023?", Unsure("Loss before income taxes")),
        ("what was the tax expense in 2023?", Unsure("Income tax benefit")),
        ("what was the operating cash flow in 2023?", Unsure("Net cash used")),
        ("what were the earnings per share in 2023?", Unsure("Loss per share")),
        ("what was the effective tax rate in 2023?", Unsure("")),
    ]),
    ("Store;Revenue;Net loss\nOslo;90;5\nBergen;80;7", &[
        ("which store had the highest net income?", Unsure("")),
        ("which store had the highest net loss?", Is("Bergen")),
    ]),
    (";2022;2023\nNet income (loss);(5);9\nOperating profit;3;4", &[
        ("what was net income in 2023?", Is("9")),
        ("what was the net loss in 2023?", Unsure("Net income")),
        ("what was the operating loss in 2023?", Unsure("Operating profit")),
    ]),
    (";2019;2020\nRevenue;70;60\nCapex;5;5", &[
        ("was revenue higher in 2019 or 2020?", Is("2019")),
        ("was revenue lower in 2019 or in 2020?", Is("2020")),
        ("was revenue or capex higher in 2020?", Is("Revenue")),
        ("was capex higher in 2019 or 2020?", Unsure("equal")),
    ]),
    ("Year;Revenue;Capex\n2019;70;5\n2020;60;6", &[
        ("was revenue higher in 2019 or 2020?", Is("2019")),
        ("was revenue or capex higher in 2020?", Is("Revenue")),
    ]),
    ("Month;Rent;Food;Travel\nJan;900;300;50\nFeb;900;320;60\nMar;950;310;70", &[
        ("what was food in January?", Is("300")),
        ("what was food in Jan 2020?", Unsure("the page has no January of 2020")),
        ("what was the rent in January 2021?", Unsure("the page has no January of 2021")),
        ("what was the total rent in Jan 2019 and Feb 2020?", Unsure("")),
        ("what was the total rent from January to March 2020?", Unsure("")),
        ("what was the total rent from January to March?", Is("2750")),
    ]),
    ("Product;Units sold;Price;Revenue\nWidget;100;5;500\nGadget;50;8;400", &[
        ("what was the revenue per unit of Widget?", Unsure("")),
        ("what was the average revenue per unit?", Unsure("")),
        ("what was the price per unit of Widget?", Unsure("")),
        ("what were the sales of Widget?", Is("500")),
        ("how many units were sold of Gadget?", Is("50")),
    ]),
    ("Product;Revenue\nUnit A;100\nUnit B;50
Operating unit C;5", &[
        ("what was the revenue per unit of Unit A?", Unsure("per")),
    ]),
    ("Store;Sales;Staff;Opened\nOslo;900;12;2011\nBergen;700;15;2014\nTotal;1600;27;", &[
        ("which store sells most?", Unsure("")),
        ("which store is the largest?", Unsure("")),
        ("which store has the highest sales?", Is("Oslo")),
        ("which store has the most staff?", Is("Bergen")),
    ]),
    ("Staff by store;2031\nOslo;12\nBergen;15", &[
        ("which store sells most?", Unsure("sell")),
        ("which store was the largest in 2031?", Is("Bergen")),
    ]),
    ("Item;Budget;Actual\nRent;100;90\nFood;50;80\nTravel;20;25", &[
        ("which item was most over budget?", Unsure("over")),
        ("which item was most under budget?", Unsure("under")),
        ("which item was most above budget?", Unsure("above")),
        ("which item was furthest below budget?", Unsure("")),
        ("how much over the budget was cleaning?", Unsure("cleaning")),
        ("which item had the largest budget?", Is("Rent")),
    ]),
    ("Year;Sales\n2030;100\n2031;140", &[
        ("What share of sales came from 2031?", Unsure("")),
        ("What share of sales came from sales in 2031?", Unsure("")),
        ("What were sales as a percentage of sales in 2031?", Unsure("")),
    ]),
    (";North;South;Total\nSales;10;20;30\nStaff;1;2;3", &[
        ("which region had the highest sales?", Is("South")),
        ("which region had the fewest staff?", Is("North")),
    ]),
    ("Item;Amount\nSales;300\nCosts;200\nProfit;100", &[
        ("What were sales, costs and profit?", Is("300; 200; 100")),
        ("What were sales and staff?", Unsure("\"staff\"")),
    ]),
    (";2031;2030\nNorth sales;10;9\nNorth costs;4;3\nSales;30;28\nCosts;12;11", &[
        ("what were sales and costs in 2031?", Is("30; 12")),
        ("what were costs and sales in 2030?", Is("11; 28")),
        ("what were North sales and North costs in 2031?", Is("10; 4")),
        ("what were North sales and costs in 2031?", Unsure("may be about it")),
        ("what were sales and costs of the North in 2031?", Unsure("may be about it")),
        ("what were sales in 2031 and costs in 2030?", Unsure("")),
        ("what were sales and costs?", Unsure("names no period")),
    ]),
    // "Valves" was sure to be the row of that name, although its sales may be meant.
    (";2031;2030\nPump sales;450;390\nValve sales;550;410\nValves;12;11", &[
        ("what were sales of pumps and valves in 2031?", Unsure("may be about it")),
        ("what were pump sales and valve sales in 2031?", Is("450; 550")),
    ]),
    (";2031;2030\nInterest expense;5;4\nInterest income;7;6\nIncome;100;90\nNet income;60;50", &[
        ("what were interest expense and income in 2031?", Unsure("may be about it")),
        ("what were interest expense and net income in 2031?", Is("5; 60")),
    ]),
    ("EUR thousand;Q1 2032;Q2 2032\nOnline sales;210;240\nStore sales;400;390
Research and development;55;61\nEBIT;41;39", &[
        ("what were online sales, store sales and EBIT in Q1 2032?", Is("210; 400; 41")),
        ("what were EBIT and research and development in Q1 2032?", Is("41; 55")),
        ("what was research and development in Q1 2032?", Is("55")),
        ("what were online sales and costs in Q1 2032?", Unsure("\"costs\"")),
    ]),
    ("Class;Dividends;Shares\nCommon;50;10\nPreferred;20;5\nTotal;70;15", &[
        ("What were the dividends per common share?", Unsure("per")),
        ("What were total dividends per common share?", Unsure("per")),
    ]),
    ("Item;2031\nCosts;50\nTotal costs;80", &[
        ("What was the total cost in 2031?", Is("80")),
        ("What were the costs in total in 2031?", Is("80")),
        ("What were costs in 2031?", Is("50")),
    ]),
    ("Year;Amount due\n2030;10\n2031;20\nThereafter;70", &[
        ("How much is due after 2031?", Is("70")),
        ("How much is due after 2030?", Unsure("after")),
    ]),
    (";2029;2030;2031\nSales;90;95;80\nNet loss;-5;3;-8", &[
        ("in which year was the net loss largest?", Unsure("only some")),
    ]),
    (";2029;2030;2031\nSales;90;95;80\nNet loss;-4;-5;-8", &[
        ("in which year was the net loss largest?", Is("2031")),
        ("by how much did the net loss rise from 2030 to 2031?", Is("3")),
    ]),
];

/// Doubts showed stems: "revenu", "purchase of property and equipment net", "compani".
#[test]
fn a_doubt_names_figures_in_the_words_of_the_question() {
    let table = document("Grants by region;2035;2034\nNorth;3;4\nSouth;5;1");
    for (question, said) in [
        ("what was the revenue in 2035?", "\"revenue\""),
        ("what were the sales in 2035?", "\"sales\""),
        (
            "what was the depreciation and amortization in 2035?",
            "\"depreciation and amortization\"",
        ),
        (
            "what were purchases of property and equipment in 2035?",
            "\"purchases of property and equipment\"",
        ),
    ] {
        let doubt = answer(&table, &[], question).doubt.unwrap_or_default();
        assert!(doubt.contains(said), "{question}: {doubt}");
    }
    let table = document("Staff by store;2031\nOslo;12\nBergen;15");
    let found = answer(&table, &[], "which branches had the most staff?");
    let doubt = found.doubt.unwrap_or_default();
    assert!(doubt.contains("\"branches\""), "{doubt}");
}

/// A sum of 160,000 rows once overflowed the stack.
#[test]
fn a_sum_of_more_figures_than_anybody_checks_is_declined() {
    let table = |rows: usize| {
        let rows = (1..=rows).map(|row| format!("\nShop {row}a;{}", 1000 + 7 * row % 1000));
        document(&format!("Shop;2031{}", rows.collect::<String>()))
    };
    let doubt = |rows| answer(&table(rows), &[], "what was the total in 2031?").doubt;
    assert_eq!(doubt(500), None);
    assert!(doubt(5001).is_some());
}

/// The program was `-0`, because the number of "(0)" is minus zero.
#[test]
fn a_zero_in_brackets_is_quoted_without_a_minus() {
    let table = document("in millions;2031;2030\nRevenue;120;100\nImpairment;(0);(5)");
    let answer = answer(&table, &[], "what was impairment in 2031?");
    assert_eq!(answer.best.program, "0");
}
