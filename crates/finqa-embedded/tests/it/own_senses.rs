//! Questions whose words a table has in another sense, or only in a part of what they ask for.
//! `own_questions` asks them.

use super::own_questions::Expected::{Is, Unsure};
use super::own_questions::Questions;

/// Each table with its questions.
#[rustfmt::skip] // Tables: rustfmt would indent their lines.
pub(crate) const SENSES: &[Questions] = &[
    // "IT" is a name even if no row has it.
    ("Item;2031;2032
Licences;500;520
Wages;300;310", &[
        ("What were IT wages in 2032?", Unsure("does not mention \"IT\"")),
        ("What was it for wages in 2032?", Is("310")),
    ]),
];
