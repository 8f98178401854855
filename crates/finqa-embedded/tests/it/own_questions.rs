//! Questions of every kind that labels answer, over invented tables as users paste them.

use rstest::rstest;

use crate::own_tables::{answer, document, named, printed, sure};

const AIRLINE: &str = "Item;2029;2030;2031
Ticket revenue;2,310;2,540;2,905
Fuel costs;(812);(640);(455)
Crew costs;(390);(410);(433)
Operating profit;610;905;1,320
Passengers (thousands);4,100;4,350;4,720";

const AIRLINE_BY_YEAR: &str = "Year;Revenue;Fuel costs;Net result
2029;2310;(812);(40)
2030;2540;(640);55
2031;2905;(455);(12)";

const DUE: &str = "Year;Amount due
2021;51.2
2022;43.7";

const LOAN: &str = ";2021;2022
Principal due;51.2;43.7
Interest due;4.0;3.1";

const REGIONS: &str = "Region;Sales 2032;Sales 2033;Staff 2033
North;120;150;31
South;80;72;22
Overseas;45;61;9
Total;245;283;62";

const QUARTERS: &str = "EUR thousand;Q1 2032;Q2 2032;Q3 2032;Q4 2032
Online sales;210;240;180;350
Store sales;400;390;420;410
Marketing;-30;-45;-28;-60
EBIT;41;39;12;77";

const PRODUCTS: &str = "Product;Revenue ($m);Cost ($k);Units
Lamp;3.2;1,900;1200
Chair;1.1;600;400
Desk;0.9;700;150";

/// The smallest magnitude was named once: the figures are printed below zero.
#[rstest]
#[case(AIRLINE, "in which year were fuel costs highest?", "2029")]
#[case(AIRLINE, "in which year were fuel costs lowest?", "2031")]
#[case(AIRLINE_BY_YEAR, "in which year were fuel costs highest?", "2029")]
#[case(AIRLINE_BY_YEAR, "which year had the lowest fuel costs?", "2031")]
#[case(QUARTERS, "in which quarter was marketing highest?", "Q4 2032")]
fn the_highest_cost_in_brackets_is_the_largest_magnitude(
    #[case] table: &str,
    #[case] question: &str,
    #[case] expected: &str,
) {
    sure(table, question, expected);
}

/// Once answered the wrong way round: "more" is the quantity here.
#[rstest]
#[case(DUE, "was more due in 2021 than in 2022?", "yes")]
#[case(DUE, "was less due in 2021 than in 2022?", "no")]
#[case(LOAN, "was more principal due in 2021 than in 2022?", "yes")]
#[case(LOAN, "was less interest due in 2021 than in 2022?", "no")]
#[case(DUE, "how much more was due in 2021 than in 2022?", "7.5")]
fn more_due_in_one_year_than_in_another(
    #[case] table: &str,
    #[case] question: &str,
    #[case] expected: &str,
) {
    sure(table, question, expected);
}

#[rstest]
#[case("what were the crew costs in 2030?", "410")]
#[case("what was the change in ticket revenue from 2029 to 2031?", "595")]
#[case("by how much did fuel costs fall from 2029 to 2031?", "357")]
#[case("by what percentage did fuel costs fall from 2030 to 2031?", "28.9%")]
#[case("did crew costs rise from 2029 to 2030?", "yes")]
#[case("were fuel costs higher than crew costs in 2031?", "yes")]
#[case("what was the sum of fuel costs and crew costs in 2030?", "1050")]
#[case("what was the average ticket revenue from 2029 to 2031?", "2585")]
#[case(
    "what were fuel costs as a percentage of ticket revenue in 2031?",
    "15.7%"
)]
#[case("what was the total ticket revenue over the last two years?", "5445")]
#[case("how many passengers were there in 2029?", "4100")]
#[case("what was the highest operating profit?", "1320")]
fn a_statement_with_years_as_columns(#[case] question: &str, #[case] expected: &str) {
    let found = answer(&document(AIRLINE), &[], question);
    let shown = printed(&found);
    let shown = shown.strip_suffix(" thousand").unwrap_or(&shown);
    assert_eq!((shown, found.doubt), (expected, None), "{question}");
}

#[rstest]
#[case("when was the net result lowest?", "2029")]
#[case("what was the net result in 2031?", "-12")]
#[case("what was the change in the net result from 2030 to 2031?", "-67")]
#[case("was the net result higher in 2030 than in 2031?", "yes")]
#[case("what was revenue growth from 2029 to 2030?", "10.0%")]
#[case("what was the average revenue?", "2585")]
#[case(
    "what was the difference between revenue and fuel costs in 2030?",
    "1900"
)]
#[case("what were total fuel costs from 2029 to 2031?", "1907")]
fn a_statement_with_years_as_rows(#[case] question: &str, #[case] expected: &str) {
    sure(AIRLINE_BY_YEAR, question, expected);
}

#[rstest]
#[case("what were sales in the South in 2033?", "72")]
#[case("what was the total of sales in 2033?", "283")]
#[case("what share of total sales came from Overseas in 2033?", "21.6%")]
#[case("what was the share of North in total sales in 2032?", "49.0%")]
#[case("which region had the highest sales in 2032?", "North")]
#[case("which region had the smallest staff in 2033?", "Overseas")]
#[case(
    "what was the percentage change in sales of the North from 2032 to 2033?",
    "25.0%"
)]
#[case("what were the sales of North and Overseas together in 2032?", "165")]
#[case(
    "what was the difference between sales of North and South in 2033?",
    "78"
)]
#[case("what was the average of sales in 2033?", "94.333")]
#[case("what was the ratio of sales to staff in the North in 2033?", "4.839")]
#[case("did sales of the South fall from 2032 to 2033?", "yes")]
fn rows_with_a_total(#[case] question: &str, #[case] expected: &str) {
    sure(REGIONS, question, expected);
}

#[rstest]
#[case(
    QUARTERS,
    "what were store sales in the second quarter of 2032?",
    "390"
)]
#[case(
    QUARTERS,
    "what was EBIT as a percentage of store sales in Q4 2032?",
    "18.8%"
)]
#[case(
    QUARTERS,
    "what was the percentage growth in EBIT from Q3 to Q4 2032?",
    "541.7%"
)]
#[case(QUARTERS, "were online sales higher in Q4 than in Q1 2032?", "yes")]
#[case(QUARTERS, "in which quarter were online sales lowest?", "Q3 2032")]
#[case(
    PRODUCTS,
    "what is the ratio of cost to revenue for the chair?",
    "0.545"
)]
#[case(PRODUCTS, "which product has the highest cost?", "Lamp")]
#[case(PRODUCTS, "which product has the fewest units?", "Desk")]
#[case(PRODUCTS, "what is the total units of lamp and desk?", "1350")]
fn quarters_and_scales(#[case] table: &str, #[case] question: &str, #[case] expected: &str) {
    sure(table, question, expected);
}

#[rstest]
#[case(AIRLINE, "what was ticket revenue per passenger in 2031?", "unit")]
#[case(AIRLINE, "what were catering costs in 2030?", "catering")]
#[case(AIRLINE, "what will fuel costs be in 2032?", "will")]
#[case(LOAN, "was more due in 2021 than in 2022?", "Interest due")]
#[case(REGIONS, "which country had the highest sales in 2033?", "country")]
#[case(REGIONS, "what were sales in the East in 2033?", "east")]
#[case(REGIONS, "what were the sales excluding North in 2033?", "excluding")]
#[case(REGIONS, "what were sales in the North and in the South in 2033?", "")]
#[case(REGIONS, "what were staff costs in the North in 2033?", "Staff")]
#[case(REGIONS, "what were sales of the North in 2031?", "no 2031")]
#[case(QUARTERS, "what was the average EBIT over the four quarters?", "over")]
#[case(QUARTERS, "what were total sales in Q1 2032?", "")]
#[case(QUARTERS, "what was EBIT?", "names no period")]
fn what_labels_leave_open_is_not_sure(
    #[case] table: &str,
    #[case] question: &str,
    #[case] why: &str,
) {
    named(table, question, why);
}
