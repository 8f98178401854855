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
