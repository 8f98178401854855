//! Answers from a user's table that look right and need not be: they are guesses.

use rstest::rstest;

use crate::own_tables::{answer, document, named, printed, sure};

const PROFITS: &str = ";2031;2032
Profit before tax;30;40
Tax;6;8
Profit for the year;24;32";

const NET: &str = ";2031;2032
Net income;22;30
Income tax expense;6;8
Net sales;100;120
Discounts;9;12
Refunds;5;6";

const REGIONS: &str = "Region;Units;Price;Exports;Imports
North;10;4;10;4
South;20;5;20;5
Total;30;9;30;9";

const DAYS: &str = ";1 Jan 2031;2 Jan 2031;3 Jan 2031
Visitors;11;12;13";

const ODD_BALANCE: &str = ";2031;2032
Current tax liabilities;1;2
Total current assets;4;5
Assets held for sale;80;90
Equity attributable to minority;280;290
Total liabilities and equity;290;300
Net income per share;2;3
Net cash from operating activities;60;70
Capital expenditures accrued;12;13";

const STOCKS: &str = "Stock;Shares;Value;Dividend yield;Fee %
Beta;50;400;2;3";

#[rstest]
#[case::after_tax(PROFITS, "What was profit for the year after tax in 2032?")]
#[case::after_a_tax_before(PROFITS, "What was the profit after tax in 2032?")]
#[case::net_income(NET, "What was net income after income tax in 2032?")]
#[case::net_sales(NET, "What were net sales after discounts in 2032?")]
fn nothing_is_subtracted_that_comes_before(#[case] table: &str, #[case] question: &str) {
    let found = answer(&document(table), &[], question);
    let repeated = ["30", "32", "120"].contains(&&*printed(&found));
    assert!(found.doubt.is_some() || repeated, "{question}: {found:?}");
}

#[rstest]
#[case::net_of(NET, "What were net sales net of refunds in 2032?", "")]
#[case::row_of_one_factor(REGIONS, "What is units times price for the North?", "")]
#[case::row_before_the_factor(REGIONS, "What is North units times price?", "")]
#[case::row_of_one_term(REGIONS, "What are exports net of imports for the North?", "")]
#[case::rate_of_a_column(STOCKS, "What is the value of Beta times dividend yield of Beta?", "")]
#[case::how_many_times(
    ";2031;2032\nRevenue;300;400\nProfit before tax;30;40",
    "How many times revenue was profit before tax in 2032?",
    ""
)]
fn operands_of_other_rows_are_a_guess(
    #[case] table: &str,
    #[case] question: &str,
    #[case] why: &str,
) {
    named(table, question, why);
}

#[rstest]
#[case::any_price(
    "Fruit;List price;Number of complaints\nPears;300;5",
    "What is the revenue from pears?"
)]
#[case::any_count(
    "Firm;House price;Number of rooms\nAcme;100;2",
    "What are the proceeds from Acme?"
)]
#[case::units_of_both(
    "Item;Price (cents);Units sold (thousands)\nPens;300;5",
    "What is the revenue from pens?"
)]
#[case::unit_of_the_price(
    "Fruit;Price per kg;Volume (t);Units sold\nApples;2;7;300",
    "What is the revenue from apples?"
)]
#[case::unit_of_the_row(
    "Item;Price;Units sold\nPears (per 100 g);3;5",
    "What is the revenue from pears?"
)]
#[case::only_with_others(ODD_BALANCE, "What was the equity ratio in 2032?")]
#[case::per_share(ODD_BALANCE, "What was the return on equity in 2032?")]
#[case::held_for_sale(ODD_BALANCE, "What was the return on assets in 2032?")]
#[case::no_total(ODD_BALANCE, "What was working capital in 2032?")]
#[case::accrued(ODD_BALANCE, "What was the free cash flow in 2032?")]
#[case::signs_of_costs(
    ";2031;2032\nCost of sales;300;350\nSelling costs;(50);(60)",
    "What were total costs in 2032?"
)]
#[case::signs_of_listed_costs(
    ";2031;2032\nCost of sales;300;350\nSelling costs;(50);(60)",
    "What was the total of selling costs and cost of sales in 2032?"
)]
fn rows_that_may_not_be_meant_are_a_guess(#[case] table: &str, #[case] question: &str) {
    named(table, question, "");
}

#[rstest]
#[case::no_day_of_a_month(
    ";Jan 2031;Feb 2031\nStock;10;20", "What was the stock on 14 January 2031?", ""
)]
#[case::other_day_of_the_month(
    ";31 March 2031;31 March 2032\nDeposits;500;550",
    "What were deposits on 30 March 2032?",
    ""
)]
#[case::day_before_the_last_of_a_year(
    ";31 Dec 2031;31 Dec 2032\nDeposits;500;550",
    "What were deposits on 30 December 2032?",
    "no 30 December of 2032"
)]
#[case::month_of_days(DAYS, "How many visitors were there in January 2031?", "")]
fn a_day_that_the_page_lacks_is_named(
    #[case] table: &str,
    #[case] question: &str,
    #[case] why: &str,
) {
    named(table, question, why);
}

#[rstest]
#[case::of_columns(DAYS, "How many visitors were there on 2 January 2031?", "12")]
#[case::of_rows(
    "Day;Visitors\n1 Jan 2031;11\n2 Jan 2031;12\n3 Jan 2031;13",
    "How many visitors were there on 2 January 2031?",
    "12"
)]
fn each_day_of_a_month_has_its_figures(
    #[case] table: &str,
    #[case] question: &str,
    #[case] value: &str,
) {
    sure(table, question, value);
}

const TIED: &str = "Sales by region;2031;2030
North;30;15
South;30;10
West;20;10
East;60;20";

const TIED_SALES: &str = "Sales by region;2031;2030
North;50;25
South;50;25
West;20;20";

#[rstest]
#[case(
    TIED_SALES,
    "which region had the highest sales in 2031?",
    "North and South"
)]
#[case(TIED, "which region had the lowest sales in 2030?", "South and West")]
#[case(TIED, "which region grew fastest from 2030 to 2031?", "")]
#[case(TIED_SALES, "which region grew fastest from 2030 to 2031?", "")]
fn a_tie_is_named_and_a_guess(#[case] table: &str, #[case] question: &str, #[case] tie: &str) {
    named(table, question, tie);
}

const TWINS: &str = "Item;2031;2030\nSales;100;90\nOther;5;4\nSales;70;60";
const GAPS: &str = ";2031;2030\nSales;;90\nCosts;50;\nProfit;;";
const TWO_KINDS: &str = ";2031;2030\nMargin;10;9\nMargin;5%;4%\nSales;200;225";
const BARE: &str = "Sales;10;20\nCosts;5;6\nProfit;5;14";

/// The first figure of several would be as good as the last; a figure of another period or row
/// is none at all.
#[rstest]
#[case(TWINS, "what were sales in 2031?", "")]
#[case(TWINS, "what was the growth of sales from 2030 to 2031?", "")]
#[case(TWO_KINDS, "what was the growth in margin from 2030 to 2031?", "")]
#[case(BARE, "what is the profit?", "")]
#[case(GAPS, "what were sales in 2031?", "Sales has no figure of 2031")]
#[case(
    GAPS,
    "what was the change in sales from 2030 to 2031?",
    "Sales has no figure of 2031"
)]
#[case(GAPS, "what was profit in 2031?", "")]
fn a_figure_that_the_labels_leave_open_is_a_guess(
    #[case] table: &str,
    #[case] question: &str,
    #[case] why: &str,
) {
    named(table, question, why);
}

const YARDS: &str = "Yard;Boats;Repairs 2031;Repairs 2032;Staff cost 2032
Alfa;40;210;230;900
Bravo;50;310;330;950";

const BUDGETS: &str = "Service;2031 Actual;2032 Budget;2032 Actual;2033 Budget
Roads;100;110;115;120
Parks;50;55;52;60";

const COURSES: &str = "Course;2030/31;2031/32;2032/33
Physics;40;50;60
Biology;70;80;90";

#[rstest]
#[case::look_up(YARDS, "What were the staff costs of Alfa in 2031?", "")]
#[case::count(YARDS, "How many staff did Alfa have in 2031?", "")]
#[case::change(
    YARDS,
    "What was the change in staff costs of Alfa from 2031 to 2032?",
    ""
)]
#[case::outturn(BUDGETS, "2033 actual for Parks?", "")]
#[case::adverb(BUDGETS, "What did Parks actually cost in 2033?", "")]
fn a_noun_that_only_another_line_has_is_a_guess(
    #[case] table: &str,
    #[case] question: &str,
    #[case] why: &str,
) {
    named(table, question, why);
}

#[rstest]
#[case(YARDS, "What were the staff costs of Alfa in 2032?", "900")]
#[case(
    ";2031;2032\nMarketing;5;6\nCost of sales;50;60",
    "What was the marketing cost in 2031?",
    "5"
)]
fn a_noun_that_the_line_has_or_leaves_out_is_none(
    #[case] table: &str,
    #[case] question: &str,
    #[case] expected: &str,
) {
    sure(table, question, expected);
}

#[rstest]
#[case::look_up("What was Physics in 2031?")]
#[case::change("What was the change in Physics from 2031 to 2032?")]
#[case::which("Which course was the largest in 2031?")]
fn a_year_among_seasons_is_a_guess(#[case] question: &str) {
    named(COURSES, question, "2031 is a part of two seasons");
}

#[test]
fn a_season_and_a_fiscal_year_are_none() {
    sure(COURSES, "What was Physics in 2030/31?", "40");
    sure(COURSES, "What was Physics in fiscal 2031?", "40");
}
