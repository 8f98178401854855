//! `convfinqa ask` about sums and averages that a question may not mean.

use crate::analyst_sides::assert_answers;

/// A sum that the question spells was in doubt in other words than those that ask for it.
#[test]
fn a_sum_that_is_spelled_is_not_in_doubt() {
    let table = "Item,2031\nTotal debt,30\nTotal equity,50\n";
    let questions = [
        ("sum of total debt and total equity in 2031", "80"),
        ("total debt plus total equity in 2031", "80"),
        ("total debt added to total equity in 2031", "80"),
        ("total debt and total equity together in 2031", "80"),
        ("total debt and equity in 2031", ""),
    ];
    assert_answers("a.csv", table, &questions);
}

/// Two averages were one average of both.
#[test]
fn an_operation_that_each_figure_has_is_not_one_of_both() {
    let table = "Item,2031,2032\nNet sales,100,120\nNet income,10,14\n";
    let questions = [
        ("average net sales and average net income in 2032", ""),
        ("sum of net sales and sum of net income in 2032", ""),
        ("average of net sales and net income in 2032", "67"),
        ("average net sales", "110"),
    ];
    assert_answers("a.csv", table, &questions);
}
