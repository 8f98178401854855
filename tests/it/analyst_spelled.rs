//! `convfinqa ask` where the question says how a measure is computed.

use crate::analyst_questions::table;
use crate::analyst_sides::{assert_answers, assert_conversation, page};
use crate::support::cli::{CommandExt, Workplace};

fn read() -> String {
    let days: &[&str] = &["", "December 31, 2031", "December 31, 2030"];
    let years: &[&str] = &["", "2031", "2030", "2029"];
    let balances: &[&[&str]] = &[
        days,
        &["Cash and cash equivalents", "70", "80"],
        &["Short-term investments", "30", "20"],
        &["Trade receivables, net", "100", "90"],
        &["Total current assets", "260", "240"],
        &["Short-term borrowings", "60", "50"],
        &["Current portion of long-term debt", "40", "50"],
        &["Current portion of lease liabilities", "7", "6"],
        &["Total current liabilities", "160", "150"],
        &["Long-term debt, less current portion", "300", "400"],
        &["Total liabilities", "700", "800"],
    ];
    let note: &[&[&str]] = &[
        days,
        &["Total long-term debt", "340", "450"],
        &["Less: current portion", "(40)", "(50)"],
        &["Long-term debt, less current portion", "300", "400"],
    ];
    let income: &[&[&str]] = &[
        years,
        &["Net interest income", "400", "300", "220"],
        &["Total noninterest income", "100", "100", "80"],
        &["Total noninterest expense", "300", "200", "150"],
        &["Losses and loss expenses", "120", "100", "90"],
    ];
    let segments: &[&[&str]] = &[&["", "2031"], &["Doors", "12"], &["Locks", "13"]];
    page(
        "",
        &[
            table("CONSOLIDATED STATEMENTS OF INCOME", income),
            table("CONSOLIDATED BALANCE SHEETS", balances),
            table("Note 6. Debt", note),
            table("Segment assets", segments),
        ],
    )
}

/// A label of the note, "Less: current portion", was the answer.
#[test]
fn debt_is_the_sum_of_the_parts_that_are_named() {
    let questions = [
        ("What was total debt at the end of 2031?", "400"),
        ("What was net debt at the end of 2031?", "330"),
        (
            "What was total debt at the end of 2031, adding up short-term borrowings, the current portion and long-term debt?",
            "400",
        ),
        (
            "What was net debt at year-end 2030, i.e. all borrowings less cash and cash equivalents?",
            "420",
        ),
        (
            "What was net debt (short-term borrowings plus the current portion plus long-term debt less cash) at December 31, 2031?",
            "330",
        ),
        ("What was all debt less cash at the end of 2031?", "330"),
    ];
    assert_answers("10k.htm", &read(), &questions);
}

/// A formula in the question was read as the name of one row.
#[test]
fn a_formula_that_is_spelled_out_is_computed() {
    let questions = [
        (
            "What was the bank's efficiency ratio in 2031, that is noninterest expense over net interest income plus noninterest income?",
            "0.6",
        ),
        (
            "What was the efficiency ratio in 2030 (noninterest expense divided by net interest income plus noninterest income)?",
            "0.5",
        ),
        (
            "What was the loss ratio in 2031, losses and loss expenses over net interest income?",
            "0.3",
        ),
        (
            "What was the quick ratio at the end of 2031, taking cash, short-term investments and receivables?",
            "1.25",
        ),
    ];
    assert_answers("10k.htm", &read(), &questions);
}

/// A word beside the formula is of a part or of another figure.
#[test]
fn a_formula_is_only_of_what_the_question_names() {
    let questions = [
        (
            "What was the Hinges ratio in 2031, noninterest expense over net interest income?",
            "",
        ),
        (
            "What was the net debt of Doors at the end of 2031, i.e. all borrowings less cash?",
            "",
        ),
        (
            "What was Hinges' net debt at the end of 2031, i.e. all borrowings less cash?",
            "",
        ),
        (
            "What was adjusted net debt at the end of 2031, i.e. all borrowings less cash?",
            "",
        ),
        (
            "What was net debt at the end of 2031, i.e. all borrowings less restricted cash?",
            "",
        ),
        (
            "What was net debt at the end of 2028, i.e. all borrowings less cash?",
            "",
        ),
        (
            "How much did net debt (all borrowings less cash) fall in 2031?",
            "90",
        ),
    ];
    assert_answers("10k.htm", &read(), &questions);
    let place = Workplace::new();
    place.write("10k.htm", &read());
    let turns = [
        (
            "What was the efficiency ratio in 2031, that is noninterest expense over net interest income plus noninterest income?",
            "0.6",
        ),
        ("And in 2030?", ""),
    ];
    assert_conversation(&place, "10k.htm", &turns);
}

/// The words behind the comma of a label were added up.
#[test]
fn a_label_with_a_comma_is_no_formula() {
    let years = &["", "2031", "2030"];
    let flows = table(
        "CONSOLIDATED STATEMENTS OF CASH FLOWS",
        &[
            years,
            &["Net income", "90", "80"],
            &["Accounts receivable, net and other", "(12)", "(9)"],
            &["Accrued expenses and other", "7", "5"],
            &["Net cash from operating activities", "85", "76"],
            &["Cash and restricted cash, end of period", "44", "31"],
        ],
    );
    let questions = [
        (
            "What was Accounts receivable, net and other in the cash flow statement in 2030?",
            "-9",
        ),
        (
            "What was Cash and restricted cash, end of period in 2030?",
            "31",
        ),
    ];
    assert_answers("10k.htm", &page("", &[flows]), &questions);
}

/// The figures behind the first comma were added up.
#[test]
fn figures_joined_by_and_are_no_formula() {
    let lists = [
        "What were net interest income, noninterest income and noninterest expense in 2031?",
        "What was net interest income, noninterest income and noninterest expense in 2031?",
        "What were net interest income, noninterest income, and noninterest expense in 2031?",
        "What were net interest income; noninterest income and noninterest expense in 2031?",
        "What were, in 2031, noninterest income and noninterest expense?",
        "What were the figures for 2031: noninterest income and noninterest expense?",
        "What were both in 2031: noninterest income and noninterest expense?",
    ];
    for question in lists {
        let place = Workplace::new();
        place.write("10k.htm", &read());
        let ran = place.run(&format!("ask 10k.htm '{question}' --json"));
        let sum = ran.json()["formula"]
            .as_str()
            .unwrap_or_default()
            .contains('+');
        assert!(!sum, "{question}: {}", ran.stdout);
    }
    // A sign or an introduction still makes a formula.
    let questions = [
        (
            "What was the efficiency ratio in 2030, noninterest expense over net interest income plus noninterest income?",
            "0.5",
        ),
        (
            "What was total debt at the end of 2031, short-term borrowings plus the current portion and long-term debt?",
            "400",
        ),
        (
            "What was total debt at the end of 2031: short-term borrowings, the current portion and long-term debt?",
            "400",
        ),
        (
            "What was total debt at the end of 2031, that is short-term borrowings, the current portion and long-term debt?",
            "400",
        ),
        (
            "What was total debt (short-term borrowings, the current portion and long-term debt) at the end of 2031?",
            "400",
        ),
    ];
    assert_answers("10k.htm", &read(), &questions);
}

/// Known measures were computed from reports only.
#[test]
fn a_known_measure_is_computed_from_a_single_table() {
    let place = Workplace::new();
    place.write(
        "own.csv",
        "in EUR k;2031;2030\n\
         Revenue;900;800\n\
         Depreciation and amortisation;-60;-50\n\
         Operating profit;200;140\n\
         Interest expense;-20;-16\n\
         Current assets;300;260\n\
         Total assets;800;760\n\
         Total equity;320;300\n\
         Cash and cash equivalents;80;60\n\
         Short-term borrowings;50;40\n\
         Current liabilities;150;130\n\
         Long-term debt;300;320\n\
         Cash flow from operating activities;210;160\n\
         Capital expenditure;-70;-55\n",
    );
    let debt_only = "in EUR k;2031;2030\nLong-term debt;300;320\nOverdraft;20;10\n";
    place.write("debt.csv", debt_only);
    let more =
        "in EUR k;2031\nShort-term debt;50\nLong-term debt;300\nLoan from owner;60\nCash;80\n";
    place.write("more.csv", more);
    let negative = "in EUR k;2031\nShort-term debt;-50\nLong-term debt;-300\nCash;80\n";
    place.write("negative.csv", negative);
    for (file, question, answer) in [
        (
            "own.csv", "What was working capital in 2031?", "€150 thousand",
        ),
        ("own.csv", "current ratio 2030", "2"),
        ("own.csv", "free cash flow 2031", "€140 thousand"),
        ("own.csv", "net debt 2030", "€300 thousand"),
        ("own.csv", "EBITDA in 2031", "€260 thousand"),
        ("own.csv", "interest cover 2031", "10"),
        ("own.csv", "equity ratio 2031", "40.0%"),
        (
            "own.csv", "By how much did net debt fall in 2031?", "€30 thousand",
        ),
        // No 2029, and a part that may not be all of the debt.
        ("own.csv", "net debt 2029", ""),
        ("debt.csv", "total debt 2031", ""),
        ("debt.csv", "net debt 2031", ""),
        ("more.csv", "total debt 2031", ""),
        ("negative.csv", "net debt 2031", ""),
    ] {
        let mut ask = place.command();
        ask.args(["ask", file, question, "--json"]);
        let json = ask.ran().json();
        let sure = json["doubt"].is_null() && !json["answer"].is_null();
        match answer {
            "" => assert!(!sure, "{question}: {json}"),
            answer => assert!(sure && json["answer"] == answer, "{question}: {json}"),
        }
    }
}

/// Lines of several groups were ranked as if they were the groups.
#[test]
fn the_lines_of_groups_are_not_the_groups() {
    let lines = "Department,Line,2031,2032\nHR,Wages,300,310\nHR,Travel,15,10\nSales,Rent,40,50\n";
    let questions = [
        ("Which line was the highest in 2032?", "Wages (HR)"),
        ("Which department was the highest in 2032?", ""),
    ];
    assert_answers("own.csv", lines, &questions);
}
