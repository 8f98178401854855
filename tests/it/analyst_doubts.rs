//! `convfinqa ask` where a figure is not quite what was asked for: a change for a balance, a plan for a
//! year, a credit for a cost, a part of a year, another company, a number of things.

use crate::analyst_questions::table;
use crate::analyst_sides::{assert_answers, page};

const YEARS: &[&str] = &["", "2031", "2030", "2029"];

/// A change of the cash flow statement answered for the balance that the report does not have.
#[test]
fn a_change_is_no_balance() {
    let changes: &[&[&str]] = &[
        YEARS,
        &["Net income", "144", "93", "56"],
        &["Deferred income taxes", "6", "5", "4"],
        &["Changes in operating assets and liabilities:"],
        &["Inventories", "(10)", "(5)", "(4)"],
        &["Accrued expenses", "7", "6", "5"],
        &["Customer deposits", "3", "2", "1"],
    ];
    let read = page(
        "",
        &[table("CONSOLIDATED STATEMENTS OF CASH FLOWS", changes)],
    );
    let questions = [
        ("What were inventories on December 31, 2031?", ""),
        ("What was the balance of inventories?", ""),
        ("What were accrued expenses as of December 31, 2031?", ""),
        ("What were customer deposits at year end 2031?", ""),
        ("Deferred income taxes at December 31, 2031?", ""),
        ("What was net income at the end of 2031?", "144"),
        ("What were accrued expenses in 2031?", "7"),
    ];
    assert_answers("cash.htm", &read, &questions);
}
