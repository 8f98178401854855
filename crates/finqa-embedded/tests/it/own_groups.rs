//! Questions about tables whose rows are named by two columns. `own_questions` asks them.

use super::own_questions::Expected::{Is, Unsure};
use super::own_questions::Questions;

/// Each table with its questions.
#[rustfmt::skip] // Tables: rustfmt would indent their lines.
pub(crate) const GROUPED: &[Questions] = &[
    ("Line;Region;2031;2032
Retail;East;40;60
Retail;West;;80
Trade;West;10;30", &[
        ("What was Retail West in 2031?", Unsure("has no figure of 2031")),
        ("What was Retail West in 2032?", Is("80")),
        ("What was Retail in 2032?", Unsure("several figures fit")),
    ]),
    ("Department;Line;2031;2032
IT;Wages;700;690
IT;Travel;30;20
HR;Wages;300;310
HR;Travel;15;10
Sales;Rent;40;50", &[
        ("What were IT wages in 2032?", Is("690")),
        ("What was rent in 2032?", Is("50")),
        ("wages in 2031", Unsure("several figures fit")),
        ("How did travel change from 2031 to 2032?", Unsure("several figures fit")),
        ("Which line was the highest in 2032?", Is("IT, Wages")),
    ]),
    ("No.;Item;2031;2032
1;Chairs;40;44
2;Desks;90;95
;Total;130;139", &[
        ("What were desks in 2032?", Is("95")),
        ("What was the total in 2031?", Is("130")),
    ]),
    ("Category;Line;2031;2032
Income;;;
;Salary;3000;3100
;Bonus;200;250
Costs;;;
;Rent;900;950
;Food;400;420", &[
        ("What was the salary in 2032?", Is("3100")),
        ("What were rent and food in 2031?", Is("900; 400")),
    ]),
];
