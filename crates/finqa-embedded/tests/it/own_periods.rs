//! Months, quarters and halves in questions about people's own tables. All tables are invented.

use super::own_questions::Expected::{Is, Unsure};
use super::own_questions::Questions;
use super::own_tables::check;

const BY_MONTH: &str = "Item;Jan;Feb;Mar;Apr;May;Jun;Jul;Aug;Sep;Oct;Nov;Dec;FY 2031
Fees;10;11;12;13;14;15;16;17;18;19;20;21;186
Postage;5;4;3;2;1;5;4;3;2;1;5;4;39
Interest paid;1;1;1;1;1;1;1;1;1;1;1;1;12
Margin;5%;6%;7%;8%;9%;5%;6%;7%;8%;9%;5%;6%;7%
Cash;50;51;52;53;54;55;56;57;58;59;60;61;61";

#[rustfmt::skip] // Tables: rustfmt would indent their lines.
const PERIODS: &[Questions] = &[
    (BY_MONTH, &[
        // December is a month, and not the year that ends with it.
        ("What were fees in December?", Is("21")),
        ("How much higher were fees in December than in January?", Is("11")),
        ("Did fees rise from November to December?", Is("yes")),
        ("What were fees for the year?", Is("186")),
        // A quarter or half is the sum of its months.
        ("What were fees in the second quarter?", Is("42")),
        ("total fees Q4", Is("60")),
        ("What were fees in the first half?", Is("75")),
        ("What were average fees in Q3?", Is("17")),
        ("What were fees from April to June?", Is("42")),
        ("What were fees in Q2 2030?", Unsure("2030")),
        ("What was cash in Q2?", Unsure("not added up over time")),
        ("What was the margin in Q2?", Unsure("")),
        ("Did fees rise in Q2?", Unsure("")),
        ("By how much did fees grow in Q2?", Unsure("")),
    ]),
    // A total changes like any other row.
    ("Item;2031;2032
Rent;50;52
Travel;9;8
Total;59;60", &[
        ("By how much did the total rise from 2031 to 2032?", Is("1")),
        ("Growth of the total from 2031 to 2032 in %", Is("1.7%")),
        ("Did the total fall from 2031 to 2032?", Is("no")),
    ]),
    // The fiscal year begins with another month, so the months of a quarter are not known.
    ("Item;Apr;May;Jun;Jul
Fees;10;11;12;13", &[
        ("What were fees in Q2?", Unsure("")),
        ("What were fees from April to June?", Is("33")),
    ]),
    // The table has the quarter itself.
    ("Item;Jan;Feb;Mar;Q1
Fees;10;11;12;34", &[
        ("What were fees in Q1?", Is("34")),
    ]),
];

#[test]
fn a_month_is_not_the_year_that_ends_with_it_and_a_quarter_is_its_months() {
    check(PERIODS);
}
