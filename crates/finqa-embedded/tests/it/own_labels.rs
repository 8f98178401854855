//! Tables of a user's own whose rows have names in several columns, whose headings have scales
//! and unusual periods, and figures that only finance people call by a name.

use finqa_core::question::{HistoryEntry, HistorySource};
use rstest::rstest;

use crate::own_tables::{answer, document, named, printed, sure};

const PARTS: &str = "Code;Part;Family;Price;Units
K-1;Hinges;Metal;2.50;400
K-2;Brackets;Metal;4.00;300
K-3;Shelves;Wood;20.00;50
K-4;Doors;Wood;90.00;10";

const REGIONS: &str = "Segment;Region;FY2031;FY2032
Retail;North;400;440
Retail;South;300;330
Trade;North;150;200
Trade;South;250;230";

const TEAMS: &str = "Team ID;Team;Town;Lead;People 2031
T-1;Plant;Ghent;Mo;80
T-2;Sales;Bruges;-;20
T-3;Design;Bruges;Kim;30";

#[rstest]
#[case(PARTS, "what is the price of K-3?", "20")]
#[case(TEAMS, "how many people in total in 2031?", "130")]
fn a_question_may_name_some_of_the_columns_that_name_a_row(
    #[case] table: &str,
    #[case] question: &str,
    #[case] expected: &str,
) {
    sure(table, question, expected);
}

#[test]
fn prices_and_unnamed_quantities_are_not_added_up() {
    named(PARTS, "what is the price of metal?", "metal");
    named(REGIONS, "what was trade in the East in FY2032?", "east");
}

const DISCOUNTED: &str = "Item;Price;Units;Discount
Cups;5;10;10%
Bowls;8;20;0%";

#[test]
fn sales_after_a_discount_are_a_guess() {
    named(DISCOUNTED, "what is the total revenue?", "");
}

const GROUP: &str = "(in millions);2031;2032;2033
Revenue;800;1000;1200
Gross profit;320;430;540
Operating income;120;160;216
Net income;80;100;132
Dividends paid;20;25;33
Total debt;300;260;240
Shareholders' equity;500;520;600
Current assets;260;300;345
Current liabilities;130;150;150
Employees;2000;2500;2400
Diluted shares;40;40;44";

#[rstest]
#[case("what was the gross margin in 2033?", "45.0%")]
#[case("what was the operating margin in 2032?", "16.0%")]
#[case("what was the net margin in 2031?", "10.0%")]
#[case("what was revenue per employee in 2033?", "0.5")]
#[case("in which year was the gross margin highest?", "2033")]
#[case("did the net margin improve in 2033?", "yes")]
#[case(
    "by how many percentage points did the gross margin change from 2031 to 2032?",
    "3"
)]
#[case("what was the average operating margin over 2031 to 2033?", "16.3%")]
#[case(
    "what was the percentage change in revenue from 2033 to 2031?",
    "-33.3%"
)]
fn a_figure_that_goes_by_a_name_is_computed_like_a_row(
    #[case] question: &str,
    #[case] expected: &str,
) {
    sure(GROUP, question, expected);
}

const STORES: &str = "Store;Revenue 2031;Revenue 2032;Contribution 2031;Contribution 2032
Harbour;100;200;40;50
Station;300;400;60;80";

#[rstest]
#[case("what was the contribution margin of Harbour in 2031?", "40.0%")]
#[case("what was the contribution margin of Harbour in 2032?", "25.0%")]
fn a_profit_has_a_margin_in_each_period(#[case] question: &str, #[case] expected: &str) {
    let found = answer(&document(STORES), &[], question);
    let shown = found.words.clone().unwrap_or_else(|| printed(&found));
    assert_eq!((shown.as_str(), found.doubt), (expected, None));
}

#[rstest]
#[case("what was revenue in 1998?", "40")]
#[case("what was revenue in fiscal 1999?", "50")]
fn two_digits_from_seventy_are_of_the_last_century(#[case] question: &str, #[case] value: &str) {
    sure(";FY98;FY99;FY00\nRevenue;40;50;70", question, value);
}

#[rstest]
#[case("what was the return on assets in 2033?", "")]
#[case("what was EBITDA in 2033?", "")]
fn a_figure_without_its_rows_is_missing(#[case] question: &str, #[case] why: &str) {
    named(GROUP, question, why);
}

const SCALES: &str = "Company;Revenue ($m);Net income ($k);Employees
Aster;250;12000;500
Basil;80;4000;200";

#[rstest]
#[case("what is the net margin of Aster?", "4.8%")]
#[case("what is the revenue per employee at Basil?", "400000")]
#[case("what is the revenue of Basil?", "80")]
fn a_heading_has_a_scale_of_its_own(#[case] question: &str, #[case] expected: &str) {
    let found = answer(&document(SCALES), &[], question);
    let shown = printed(&found);
    assert_eq!(
        (shown.split(' ').next(), found.doubt),
        (Some(expected), None),
        "{question}"
    );
}

const PERIODS: &str = "EUR m;FY2031;FY2032;LTM Sep-33;9M 2032;9M 2033
Revenue;400;440;470;320;350
EBITDA;80;88;94;64;70";

const SEASONS: &str = ";2029/30;2030/31;2031/32
Broadcasting;40;44;43";

#[rstest]
#[case(PERIODS, "what was LTM revenue?", "470")]
#[case(
    PERIODS,
    "what was the EBITDA margin over the last twelve months?",
    "20.0%"
)]
#[case(PERIODS, "what was EBITDA in the first nine months of 2033?", "70")]
#[case(SEASONS, "in which season was broadcasting highest?", "2030/31")]
fn headings_other_than_years_are_periods(
    #[case] table: &str,
    #[case] question: &str,
    #[case] expected: &str,
) {
    sure(table, question, expected);
}

#[test]
fn the_last_twelve_months_are_not_the_year() {
    named(
        PERIODS, "what was revenue in FY2033?", "only a part of 2033",
    );
}

const BUDGET: &str = "Line;Actual;Budget;Variance;Variance %
Revenue;940;1000;-60;-6.0%
Gross profit;376;420;-44;-10.5%
Marketing;64;80;16;20.0%";

#[rstest]
#[case("what was the variance on marketing?", "16")]
#[case("what was the percentage variance of gross profit?", "-10.5%")]
#[case("what was the actual gross margin?", "40.0%")]
#[case("what was the budgeted gross margin?", "42.0%")]
fn what_has_happened_is_compared_with_the_budget(#[case] question: &str, #[case] expected: &str) {
    sure(BUDGET, question, expected);
}

const MONTHS: &str = "Month;Revenue;Orders
March;135;950
April;142;910
May;160;1000";

#[rstest]
#[case("and in the previous year?")]
#[case("and in the year prior?")]
fn the_year_before_the_last_question_s(#[case] follow_up: &str) {
    let document = document(GROUP);
    let question = "what was revenue in 2033?";
    let found = answer(&document, &[], question);
    let entry = HistoryEntry {
        question: question.to_owned(),
        value: Some(found.best.value),
        program: Some(found.best.program),
        label: None,
        source: HistorySource::Own,
    };
    assert_eq!(printed(&answer(&document, &[entry], follow_up)), "1000");
}

/// Each question changes a part of the one before.
#[rstest]
#[case(MONTHS, &[("what was revenue in March?", "135"), ("and in April?", "142"), ("what about May?", "160"), ("and orders?", "1000")])]
fn a_follow_up_is_read_in_full(#[case] table: &str, #[case] turns: &[(&str, &str)]) {
    let document = document(table);
    let mut history = Vec::new();
    for (question, expected) in turns {
        let found = answer(&document, &history, question);
        let shown = (printed(&found), found.doubt.as_deref());
        assert_eq!(shown, ((*expected).to_owned(), None), "{question}");
        history.push(HistoryEntry {
            question: (*question).to_owned(),
            value: Some(found.best.value),
            program: Some(found.best.program),
            label: None,
            source: HistorySource::Own,
        });
    }
}
