//! Totals, differences and periods of a user's tables, all invented, that were answered wrong
//! and sure.

use std::sync::Arc;

use rstest::rstest;

use crate::own_tables::{answer, document, named, sure};

const REGIONS: &str = "Region;Revenue 2031
North Harbour;420
South;310
East;150";

const NOTED: &str = "Region;Revenue 2031
Nordics (1);40
South;30
East Coast and Islands;20";

const EXPENSES: &str = "Expense;2031
Salaries;900
Office rent;120
Travel;60
Software licences;80";

const LOANS: &str = "Instrument;Principal
Term loan A;50
Term loan B;30
Revolver;12.5
Bond;100";

const LINES: &str = ";2031
Software revenue;10
Professional services revenue;20
Costs;5";

const FUNCTIONS: &str = "Function;Actual cost;Budgeted cost
Marketing;40;50
IT;25;20
Facilities;10;15";

const CASH: &str = ";2031;2030
Operating cash flow;1.35;1.2
Capex;(0.6);(0.5)
Gross profit;9;8
SG&A;(4);(3)
Translation differences;(2);(1)";

const MONTHS: &str = ";Jan-31;Feb-31;Mar-31;Apr-31;May-31
Revenue;10;20;40;80;160";

const DAYS: &str = ";31.12.2031;31.12.2030
Cash;12;10";

#[rstest]
#[case(REGIONS, "What was total revenue in 2031?", "880")]
#[case(
    REGIONS,
    "What share of total revenue in 2031 came from East?",
    "17.0%"
)]
#[case(NOTED, "What was total revenue in 2031?", "90")]
#[case(EXPENSES, "What were total expenses in 2031?", "1160")]
#[case(LOANS, "What is the total principal?", "192.5")]
#[case(LOANS, "What percentage of total principal is the Bond?", "51.9%")]
fn a_total_adds_rows_with_long_and_short_labels(
    #[case] table: &str,
    #[case] question: &str,
    #[case] expected: &str,
) {
    sure(table, question, expected);
}

#[test]
fn a_total_of_rows_that_say_the_word_in_more_and_fewer_words_is_a_guess() {
    named(
        LINES, "What was total revenue in 2031?", "may not be what is meant",
    );
}

#[rstest]
#[case("What was the total actual cost?", "75")]
fn a_row_in_capitals_is_a_name(#[case] question: &str, #[case] expected: &str) {
    sure(FUNCTIONS, question, expected);
}

#[rstest]
#[case("What was operating cash flow minus capex in 2031?", "0.75")]
#[case("What was gross profit minus SG&A in 2030?", "5")]
fn a_cost_below_zero_is_subtracted_by_its_size(#[case] question: &str, #[case] expected: &str) {
    sure(CASH, question, expected);
}

#[test]
fn another_row_below_zero_is_subtracted_with_a_doubt() {
    let question = "What was gross profit minus translation differences in 2031?";
    named(CASH, question, "below zero");
}

#[rstest]
#[case(MONTHS, "What was the total revenue from Jan-31 to Mar-31?", "70")]
#[case(MONTHS, "What was total revenue from January to March?", "70")]
#[case(MONTHS, "What was total revenue from January to March 2031?", "70")]
#[case(MONTHS, "What was revenue in May 2031?", "160")]
#[case(DAYS, "What was cash in 2030?", "10")]
fn spans_of_periods_are_those_of_the_header(
    #[case] table: &str,
    #[case] question: &str,
    #[case] expected: &str,
) {
    sure(table, question, expected);
}

const MIXED: &str = "Item;2031
Cash;1.5 million
Trade receivables;870 thousand
Stock;2.1 million";

#[rstest]
#[case("What was the sum of cash and trade receivables in 2031?", "2.37")]
#[case(
    "What was the difference between cash and trade receivables in 2031?",
    "0.63"
)]
#[case("What was the ratio of cash to trade receivables in 2031?", "1.724")]
#[case("Which item was the largest in 2031?", "Stock")]
#[case("What were trade receivables in 2031?", "870")]
fn cells_with_scales_of_their_own_are_brought_to_one(
    #[case] question: &str,
    #[case] expected: &str,
) {
    sure(MIXED, question, expected);
}

const DIVISIONS: &str = "Division;FY2031;FY2032
Land;310;330
Sea;190;205
Operating cash flow;9;11";

#[rstest]
#[case("How many employees did the Sea division have in FY2032?", "")]
#[case("What was cash in FY2031?", "cash")]
fn what_only_the_second_table_has_is_a_guess(#[case] question: &str, #[case] why: &str) {
    let text = [
        "Employees by division", "Land: FY2031 1200; FY2032 1250.", "Sea: FY2031 800; FY2032 840.",
        "Cash: FY2031 5; FY2032 6.",
    ];
    let mut page = (*document(DIVISIONS)).clone();
    page.post_text = text.map(str::to_owned).to_vec();
    let doubt = answer(&Arc::new(page), &[], question).doubt;
    assert!(
        doubt.as_deref().is_some_and(|doubt| doubt.contains(why)),
        "{question}: {doubt:?}"
    );
}

const ESTATES: &str = "Estate;Area;Rent 2032
Oak House;40;90
Elm House;30;50
Subtotal homes;70;140
Ash Mill;35;95
Subtotal mills;35;95
Total;105;235";

#[rstest]
#[case("Which estate has the highest rent?", "Ash Mill")]
#[case("Which estate had the largest area?", "Oak House")]
fn a_subtotal_is_left_out_of_compared_rows(#[case] question: &str, #[case] expected: &str) {
    let found = answer(&document(ESTATES), &[], question);
    assert_eq!(found.words.as_deref(), Some(expected), "{:?}", found.doubt);
}

#[rstest]
#[case("What is the average number of beds?", "50")]
#[case("What is the total number of beds?", "150")]
fn a_row_of_all_is_a_total(#[case] question: &str, #[case] expected: &str) {
    let table = "Ward;Beds;Guests 2033
Cedar;40;100
Birch;50;200
Maple;60;300
All wards;150;600";
    sure(table, question, expected);
}

#[test]
fn a_unit_after_the_year_of_a_heading_is_read() {
    let table = "Fund;Return 2032 %;Return 2033 %;Assets 2033
Alpha;4.5;6.5;100
Beta;3.5;7.5;200";
    sure(table, "What was the return of Alpha in 2033?", "6.5");
}
