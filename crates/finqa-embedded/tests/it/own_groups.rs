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
    // A payee is no total, and it may be one of the rows that are added up.
    ("Payee;May;June
Bakery;40;20
Total Cycles;60;70
Garage;100;110", &[
        ("What was the total in May?", Unsure("may be a total or a name")),
        ("What was the sum in June?", Unsure("may be a total or a name")),
        ("What was Total Cycles in June?", Is("70")),
    ]),
    ("Payee;May;June
Bakery;40;20
Total Cycles;60;70
Total;100;90", &[
        ("What was the total in May?", Is("100")),
        ("What was the sum in June?", Unsure("")),
    ]),
    // The totals of groups are neither lines nor left out without a word.
    ("Site;Line;Plan;Actual
Quay;Rent;100;110
Quay;Wages;300;310
Quay;Subtotal;400;420
Dock;Rent;90;95
Dock;Wages;200;190
Dock;Subtotal;290;285
All;;690;705", &[
        ("What was the highest actual?", Is("310")),
        ("What was the average actual?", Is("176.25")),
        ("What was the total actual?", Is("705")),
        ("What was the highest actual total?", Unsure("several totals")),
        ("What was the average plan total?", Unsure("several totals")),
    ]),
    ("Year;Region;Sales
2031;North;500
2031;South;400
2031;Total;900
2032;North;550
2032;South;380
2032;Total;930", &[
        ("What were the highest sales?", Unsure("totals and their parts fit")),
        ("Which year had the highest total sales?", Is("2032")),
        ("What were North sales in 2032?", Is("550")),
    ]),
    // A total below the last heading is of all rows, unless it is the sum of its section.
    ("Category;Line;2031;2032
Income;;;
;Salary;3000;3100
Costs;;;
;Rent;900;950
;Food;400;420
Total;;1700;1730", &[
        ("What were total costs in 2032?", Unsure("")),
        ("What was the total in 2031?", Is("1700")),
        ("What was the average in 2031?", Unsure("under several headings")),
    ]),
    ("Section;Line;2031
Assets;;
;Stock;50
;Machines;300
Debts;;
;Loan;200", &[
        ("What was the total in 2031?", Unsure("")),
    ]),
    // A filler word names the second part of a row too.
    ("Item;Type;2031;2032
Water;Home;50;55
Water;Business;20;22", &[
        ("What was water in 2032?", Unsure("several figures fit")),
        ("What was home water in 2032?", Is("55")),
    ]),
    // A text that several rows share is no label. Its rows are added up if the total shows that the
    // column adds up, or if the question asks for a total.
    ("Article;Kind;Pieces;Price;Worth;Maker;Unit
Skiff;Boats;3;200;600;Fenn;EUR
Canoe;Boats;5;80;400;Fenn;EUR
Paddle;Gear;20;9;180;Orla;EUR
Sail cloth;Gear;4;30;120;Orla Sails;EUR
Rope;Loose gear;2;5;10;Brack;EUR
Total;;34;;1310;;", &[
        ("What was the worth of boats?", Is("1000")),
        ("worth of all boats", Is("1000")),
        ("How much worth are all the boats together?", Unsure("")),
        ("total pieces of boats", Is("8")),
        ("What was the price of all boats?", Unsure("a text in the column \"Kind\"")),
        ("What was the worth of all gear?", Unsure("\"gear\" only as a text")),
        ("What was the worth of all Orla?", Unsure("\"orla\" only as a text")),
        ("What was the worth of boats and paddles?", Unsure("")),
        ("What was the worth of Fenn boats?", Unsure("only as a text")),
        ("What share of total worth is boats?", Unsure("only as a text")),
        ("How many boats are there?", Unsure("only as a text")),
        ("How many pieces of boats are there?", Unsure("only as a text")),
        ("Which of the boats has the highest worth?", Unsure("")),
        ("Which boat has the highest worth?", Unsure("only as a text")),
        ("Which maker has the highest worth?", Unsure("several rows are of one \"maker\"")),
        ("What was the highest worth of boats?", Unsure("only as a text")),
        ("Which article has the highest worth?", Is("Skiff")),
        ("Which rope has the highest price?", Unsure("")),
        ("What was the average worth of boats?", Unsure("only as a text")),
        ("Is the worth of boats higher than of gear?", Unsure("only as a text")),
        ("What was the worth of all EUR?", Unsure("")),
        ("What was the total worth?", Is("1310")),
        ("What was the worth of the canoe?", Is("400")),
    ]),
    ("Article;Kind;2031;2032
Skiff;Boats;3;2
Canoe;Boats;5;
Paddle;Gear;20;21
Oar;Gear;7;8", &[
        ("What was the total of boats in 2031?", Is("8")),
        ("What were boats in 2031?", Unsure("only as a text")),
        ("What was the total of boats in 2032?", Unsure("only as a text")),
        ("What was the total of all gear?", Unsure("only as a text")),
        ("What was the total of gear in 2031 and 2032?", Unsure("only as a text")),
    ]),
    // A blank may repeat the text above it, a total is no part, and a label may be meant.
    ("Article;Kind;Worth
Skiff;Boats;600
Canoe;;400
Paddle;Gear;180
Total;;1180", &[
        ("What was the worth of all boats?", Unsure("only as a text")),
    ]),
    ("Article;Kind;Worth
Skiff;Boats;600
Canoe;Boats;400
Total boats;Boats;1000
Paddle;Gear;200
Total;;1200", &[
        ("What was the worth of all boats?", Is("1000")),
        ("What was the worth of gear?", Is("200")),
    ]),
    ("Article;Kind;Worth
Skiff;Boats;600
Canoe;Boats;400
Subtotal;Boats;1000
Paddle;Gear;150
Oar;Gear;50
Subtotal on gear;Gear;200", &[
        ("What was the worth of all boats?", Unsure("")),
        ("What was the worth of the gear of Orla?", Unsure("")),
    ]),
    ("Article;Kind;Worth
Boats;Boats;600
Canoe;Boats;400
Oar;Gear;20
Total;;1020", &[
        ("What was the worth of all boats?", Unsure("one of several")),
        ("What was the worth of all tiles?", Unsure("does not mention \"tiles\"")),
        ("What was the worth of all items?", Is("1020")),
        ("What was the worth of all three articles?", Is("1020")),
        ("What was the worth of all other items?", Unsure("does not mention \"other\"")),
    ]),
];
