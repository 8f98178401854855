//! Signs in a user's own tables, and questions of which the labels are not enough.

use rstest::rstest;

use crate::own_tables::{named, sure};

const SIGNS: &str = ";2032;2031
Net debt;450;(20)
Tax expense;12;(4)
Repayments of debt;(30);(25)
Net income;(12);9";

const QUARTERS: &str = ";Q1 2031;Q2 2031;Q3 2031;Q4 2031;Q1 2032
Sales;100;120;90;150;110
Net income;8;(12);5;9;7";

#[rstest]
#[case("what was net debt in 2031?", "-20")]
#[case("what was the tax expense in 2031?", "-4")]
#[case("what was the change in net debt from 2031 to 2032?", "470")]
#[case("what were the repayments of debt in 2031?", "25")]
fn a_minus_repeats_the_name_of_a_row_only_if_all_its_figures_have_it(
    #[case] question: &str,
    #[case] expected: &str,
) {
    sure(SIGNS, question, expected);
}

#[rstest]
#[case("what was the average quarterly net income in 2031?", "")]
#[case("was net income negative in Q2 2031?", "a sign")]
fn what_the_labels_do_not_answer_is_a_guess(#[case] question: &str, #[case] why: &str) {
    named(QUARTERS, question, why);
}
