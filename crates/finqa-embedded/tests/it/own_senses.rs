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
    // What could be or should have been is not on the page.
    ("Item;2031;2032
Hall hire;500;520
Snacks;300;310", &[
        ("How much hall hire could we get in 2032?", Unsure("could")),
        ("What should hall hire have been in 2031?", Unsure("should")),
        ("Could hall hire be lower in 2032 than snacks?", Unsure("could")),
        ("Could you tell me the hall hire in 2032?", Is("520")),
    ]),
    // Balances of two quarters are not added up, printed or computed.
    ("Item;Q1 2032;Q2 2032
Cash;100;110
Short-term borrowings;40;30
Long-term debt;400;390", &[
        ("What was total net debt in Q1 and Q2 2032?", Unsure("not added up over time")),
        ("What was net debt in Q1 2032?", Is("340")),
    ]),
];
