//! Rows of a user's tables that questions describe or compare, and columns that differ in kind,
//! all invented.

use rstest::rstest;

use crate::own_tables::{answer, document, named, printed, sure};

const STOCK: &str = "Code;Article;Group;List price;Unit cost;On hand;Sold 2031
LM-10;Desk lamp;Lighting;30;12;40;100
LM-11;Floor lamp;Lighting;80;50;0;20
CH-20;Oak chair;Seating;120;90;15;60
RG-30;3 m rug;Textiles;60;45;5;10";

const LOANS: &str = "Bank;Purpose;Principal;Balance 2032;Balance 2031;Interest rate
Delta;Bridge works;500;400;450;4%
Sound;Ferry;900;800;850;3%
Total;;1400;1200;1300;";

const HOLDINGS: &str = "Stock;Units;Price;Cost;Value;Gain/loss
Alder;10;50;400;500;100
Birch;20;30;900;600;-300
Cedar;5;90;470;450;-20";

const TEAMS: &str = "Team;2031;2032
North;40;44
South;30;36
West;20;15
Total;90;95
of which: apprentices;120;130
Cost of pay ($ million);150;160";

const BUDGET: &str = "Month;Pay plan;Pay actual;Rent plan;Rent actual
Jan;10;11;5;5
Feb;10;9;5;6
Mar;12;14;5;7";

const SPARSE: &str = "Line;Region;2031;2032
Retail;East;40;60
Retail;West;;80
Trade;West;10;30";

const FREIGHT: &str = "Oriel Freight, $m;Q1 2032;Q2 2032
Revenue;120;150
Shipments (thousands);400;500";

#[rstest]
#[case(LOANS, "Which bank has the highest interest rate?", "Delta")]
#[case(LOANS, "Which bank has the largest balance in 2032?", "Sound")]
#[case(TEAMS, "Which team was the biggest in 2032?", "North")]
#[case(LOANS, "What was the average balance in 2032?", "600")]
#[case(BUDGET, "What was the rent in March?", "7")]
fn rows_are_compared_and_counted(
    #[case] table: &str,
    #[case] question: &str,
    #[case] expected: &str,
) {
    let found = answer(&document(table), &[], question);
    assert_eq!(printed(&found), expected, "{question}: {:?}", found.doubt);
}

#[test]
fn rows_after_the_total_are_of_another_kind() {
    sure(TEAMS, "Which team was the biggest in 2032?", "North");
}

#[test]
fn columns_of_different_kinds_have_no_sure_sum() {
    let found = answer(&document(HOLDINGS), &[], "How much is Alder in all?");
    assert!(found.doubt.is_some());
}

#[test]
fn a_figure_without_a_scale_over_thousands_is_a_guess() {
    let table = FREIGHT.replace(", $m", "");
    let question = "What was the revenue per shipment in Q2 2032?";
    named(&table, question, "may be in another unit");
}

#[test]
fn an_average_of_rates_is_a_guess() {
    named(STOCK, "What is the average list price?", "may need weights");
}

#[test]
fn an_empty_cell_is_named() {
    let question = "What was Retail West in 2031?";
    named(SPARSE, question, "west");
}

#[rstest]
#[case("By how much did the offered seats go down?", "100")]
fn a_formula_in_brackets_is_read(#[case] question: &str, #[case] expected: &str) {
    let table = "Seats;2032;2031
Flown;260;300
Offered;300;400";
    let found = answer(&document(table), &[], question);
    assert_eq!(printed(&found), expected, "{question}: {:?}", found.doubt);
}
