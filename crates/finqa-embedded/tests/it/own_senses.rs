//! Questions whose words a table has in another sense, or only in a part of what they ask for.
//! `own_questions` asks them.

use super::own_questions::Expected::{Is, Unsure};
use super::own_questions::Questions;

/// Each table with its questions.
#[rustfmt::skip] // Tables: rustfmt would indent their lines.
pub(crate) const SENSES: &[Questions] = &[
    // The cell that is asked for is empty, and a row with more in brackets is another one.
    ("Item;2031;2032
Rent;500;
Rent (garage);30;31", &[
        ("What was rent in 2032?", Unsure("is an empty cell")),
        ("What was rent (garage) in 2032?", Is("31")),
    ]),
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
        ("What could hall hire be in 2032?", Unsure("could")),
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
    // A row that is one term of a measure is not the measure.
    ("Item;2032;2031
Long-term debt;700;650
Current portion of long-term debt;60;50
Overdraft;9;8
Equity;900;850", &[
        ("What was long-term debt including the current portion in 2032?", Is("760")),
        ("What was the current portion of long-term debt in 2032?", Is("60")),
        ("What was total debt in 2032?", Unsure("Overdraft")),
    ]),
    // The heading lends its words to no row of another figure.
    ("Item;2032;2031
Net debt;;
Long-term debt;300;310
Cash;60;50
Equity;400;380", &[
        ("What was debt to equity in 2032?", Unsure("may not be what is meant")),
        ("What was equity in 2032?", Is("400")),
    ]),
    // A total and a measure are in doubt if the table has a similar row.
    ("Item;2032;2031
Operating profit;200;180
Depreciation and amortization;50;40
Depreciation of leased cars;20;10
Interest expense;30;28
Interest on leases;8;7
Interest income;2;1", &[
        ("What was total interest in 2032?", Unsure("Interest on leases")),
        ("What was EBITDA in 2032?", Unsure("Depreciation of leased cars")),
        ("What was interest cover in 2031?", Unsure("Interest on leases")),
        ("What was interest expense in 2032?", Is("30")),
    ]),
    ("Item;2032;2031
310 Fees;700;650
300 Other fees;60;50", &[
        ("What were total fees in 2032?", Unsure("Other fees")),
        ("What were fees in 2032?", Is("700")),
    ]),
    ("Item;2032;2031
Operating profit;200;180
Depreciation and amortization;50;40
Interest expense;25;20
Interest income;2;1", &[
        ("What was EBITDA in 2032?", Is("250")),
        ("What was interest cover in 2031?", Is("9")),
    ]),
    // A department is not the figure that has its name.
    ("Department;Budget;Actual
Sales;800;830
Kitchen;300;290
Total;1100;1120", &[
        ("What was the actual turnover?", Unsure("may be a name")),
        ("What was the actual of sales?", Is("830")),
    ]),
    ("Division;Revenue;Staff
Brink;80;9
Alder;30;4", &[
        ("What was the turnover of Brink?", Is("80")),
    ]),
    // A word of the question is not the status of a row if it is the heading of the column.
    ("Client;Status;Invoice;Paid
Ferris;open;1200;500
Ferris;paid;300;300
Gunn;paid;800;800", &[
        ("How much did Ferris pay?", Unsure("in two labels")),
        ("What was the open invoice of Ferris?", Is("1200")),
    ]),
    ("Pupil;Result;Score;Passed
Ann;passed;80;5
Cleo;failed;40;2
Ann;failed;30;1", &[
        ("How many passed did Ann have?", Unsure("in two labels")),
    ]),
    // An empty cell is not answered by the plan or the limit of its year.
    ("Measure;2031;2032;Goal 2032;2033;Limit 2033
Parcels;31;36;35;–;40
Leaks;7;–;5;4;3
Miles;60;62;;66;", &[
        ("What were leaks in 2032?", Unsure("Leaks · 2032 is an empty cell")),
        ("What were parcels in 2033?", Unsure("Parcels · 2033 is an empty cell")),
        ("By how much did leaks fall from 2031 to 2032?", Unsure("2032 is an empty cell")),
        ("What was the goal for leaks in 2032?", Is("5")),
        ("What were leaks in 2033?", Is("4")),
        ("What were miles in 2032?", Is("62")),
    ]),
    ("Measure;Result;Target
Parcels;;35
Leaks;7;5", &[
        ("What were parcels?", Unsure("Parcels · Result is an empty cell")),
        ("What was the target for parcels?", Is("35")),
    ]),
    ("Year;Parcels;Leaks
2031;31;7
2032;;6
Target 2032;35;5", &[
        ("What were parcels in 2032?", Unsure("2032 · Parcels is an empty cell")),
        ("What were leaks in 2032?", Is("6")),
    ]),
    ("Measure;2030;2031;Goal 2032
Parcels;31;36;40", &[
        ("In which year were parcels highest?", Is("2031")),
    ]),
];
