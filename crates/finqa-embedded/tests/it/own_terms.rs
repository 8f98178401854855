//! Figures by name, sums as operands, days and seasons of a user's tables, all invented.

use rstest::rstest;

use crate::own_tables::{named, sure};

const BALANCE: &str = ";2032;2031
Cash;50;40
Receivables;30;25
Total current assets;120;90
Additional paid-in capital;200;180
LIABILITIES AND EQUITY;;
Total current liabilities;60;45
Total liabilities;150;130
Total equity;300;260
Total liabilities and equity;450;390";

const SHOP: &str = "Product;Units sold;Average price;Returns (units)
Lamps;140;25.5;7
Chairs;60;80;4";

const STAFF: &str = ";30 Jun 2031;31 Dec 2031;30 Jun 2032;31 Dec 2032
Research & Development;640;672;701;715
Sales;310;322;298;305";

const SEASONS: &str = ";FY 2032/33 plan;FY 2031/32;FY 2030/31
Members;152;146;139
Staff costs;(742);(701);(655)
Subscription income;900;800;700
Donations;50;60;70";

const OFFICES: &str = "Mitarbeitende;31.12.2031;31.12.2032
Nord;1000;1050
West;200;240
Gesamt;1200;1290";

const STORES: &str = ";2031;2032;2033
Net sales;500;600;700
Cost of goods sold;300;350;420
Stores open at end of year;19;20;23
Operating margin;9.4;10.1;8.7";

const STATIONS: &str = ";Revenue;Operating profit
2031;900;60
2032;950;38";

#[rstest]
#[case::margin_of_columns(STATIONS, "What was the operating margin in 2032?", "4.0%")]
#[case::section(
    BALANCE,
    "What was the ratio of total liabilities to equity in 2031?",
    "0.5"
)]
fn figures_by_name_and_sums_are_computed(
    #[case] table: &str,
    #[case] question: &str,
    #[case] value: &str,
) {
    sure(table, question, value);
}

#[rstest]
#[case::day_before_month(STAFF, "How many people worked in sales on 30 June 2032?", "298")]
#[case::and_sign(
    STAFF,
    "How many people were in research and development in 2032?",
    "715"
)]
#[case::season(SEASONS, "How many members were there in 2031/32?", "146")]
#[case::change_of_seasons(
    SEASONS,
    "By how much did donations fall from 2030/31 to 2031/32?",
    "10"
)]
fn periods_are_found_as_questions_name_them(
    #[case] table: &str,
    #[case] question: &str,
    #[case] value: &str,
) {
    sure(table, question, value);
}

#[rstest]
#[case::amount_or_rate(OFFICES, "Which office grew the most?", "")]
#[case::part_of_a_total(
    SEASONS,
    "What were staff costs as a share of total income in 2031/32?",
    ""
)]
#[case::percentage_without_sign(
    STORES,
    "What was the operating profit in 2032 (operating margin times net sales)?",
    ""
)]
#[case::no_sum_of_balances(STORES, "What was the total of stores in 2031 and 2032?", "")]
#[case::half_of_a_year("; H1 2032\nRevenue;12\nCosts;9", "What was revenue in 2032?", "")]
#[case::verb_and_heading(SHOP, "What is the cost of producing a lamp?", "")]
fn what_the_labels_leave_open_is_a_guess(
    #[case] table: &str,
    #[case] question: &str,
    #[case] doubt: &str,
) {
    named(table, question, doubt);
}
