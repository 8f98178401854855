//! Questions about tables of a user's own that list figures or periods, all invented.

use super::own_questions::Expected::{Is, Unsure};
use super::own_questions::Questions;

#[rustfmt::skip] // A table: rustfmt would give most of its rows four lines.
pub(crate) const LISTS: &[Questions] = &[
    // The row "Net interest income" was surely the interest income.
    ("EUR million;2032;2033\nInterest and dividend income;30;33\nInterest expense;12;13
Net interest income;18;20\nFee income;10;11\nFee expense;3;4\nNet fee income;7;7", &[
        ("What was interest income in 2033?", Unsure("several figures fit")),
        ("What was net interest income in 2033?", Is("20")),
    ]),
];
