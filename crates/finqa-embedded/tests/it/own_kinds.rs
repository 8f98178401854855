//! Figures of a kind that the question does not ask for: a level for a change, a count for an
//! amount, a total for an item, another year's.

use std::sync::Arc;

use finqa_core::question::Document;
use rstest::rstest;

use super::own_tables::{answer, document, named, sure};

const STORES: &str = "Item;2031;2032;2033
Stores;120;137;142
Revenue;410;455;470";

#[test]
fn the_net_change_may_not_be_what_was_opened() {
    named(STORES, "how many stores were opened in 2033?", "");
}

const UNITS: &str = "Division;Currency;Revenue (local);Revenue (EUR);Headcount
Borea;USD;140;128.8;640
Cestra;CHF;33;34.7;140
Group;;;340.9;1700";

#[test]
fn a_share_is_of_one_column() {
    sure(
        UNITS,
        "what share of group revenue comes from Borea?",
        "37.8%",
    );
}

#[test]
fn a_share_over_two_columns_is_a_guess() {
    let table = "Division;Sales;Staff
Borea;140;
Group;;1700";
    named(table, "what share of the group comes from Borea?", "");
}

const LINES: &str = "Product line;2033;2032
Flow;186;164
Pressure;97;103
Total net sales;283;267";

#[rstest]
#[case("what were net sales of flow in 2032?", "164")]
#[case("what were net sales of pressure in 2033?", "97")]
#[case("what were total net sales in 2032?", "267")]
#[case("how much did net sales of flow rise in 2033?", "22")]
fn an_item_is_not_its_total(#[case] question: &str, #[case] answer: &str) {
    sure(LINES, question, answer);
}

const PRICES: &str = "Product;Unit price;Units sold 2032;Units sold 2033
Rake;15;100;110
Hose;24;200;210";

#[test]
fn revenue_at_a_price_of_no_period_is_a_guess() {
    let question = "what was the revenue of the rake in 2033?";
    named(PRICES, question, "");
}

#[test]
fn units_sold_are_not_revenue() {
    let table = "Product;Units sold 2032;Units sold 2033
Rake;100;110
Hose;200;210";
    named(table, "what was the turnover of the hose in 2033?", "");
}

#[test]
fn a_figure_of_the_text_is_not_of_another_year() {
    let page = Document {
        pre_text: vec!["The number of employees was 1,875 at year-end 2033.".to_owned()],
        ..Document::clone(&document(LINES))
    };
    let question = "what was the number of employees at year-end 2032?";
    let found = answer(&Arc::new(page), &[], question);
    let doubt = found.doubt.unwrap_or_default();
    assert!(doubt.contains("has it for 2033"), "{doubt}");
}

const UNITS_OF_GROUP: &str = "Division;Revenue
Borea;128
Cestra;35
Dorne;61
Group;224";

#[test]
fn the_sum_of_the_others_is_not_the_largest_of_them() {
    sure(
        UNITS_OF_GROUP,
        "which division has the highest revenue?",
        "Borea",
    );
}

#[test]
fn one_of_three_may_be_the_sum_of_the_others_by_chance() {
    let table = "Division;Revenue
Borea;128
Cestra;35
Dorne;163";
    sure(table, "which division has the highest revenue?", "Dorne");
}
