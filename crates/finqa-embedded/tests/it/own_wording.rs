//! Ways in which people ask about their own tables. All tables are invented.

use super::own_questions::Expected::{Is, Unsure};
use super::own_questions::Questions;
use super::own_tables::check;

#[rustfmt::skip] // Tables: rustfmt would indent their lines.
const MONTHS: &[Questions] = &[
    ("Costs 2031 (EUR);January;February;March;April
Rent;500;500;520;520
Heating;90;110;70;40
Total;590;610;590;560", &[
        ("Hello, could you tell me the rent in February please?", Is("500")),
        ("Good morning! I would like to know what heating was in March. Many thanks", Is("70")),
        ("What did heating come out at in April?", Is("40")),
        ("Hi, the rent for the UK in March please", Unsure("uk")),
        ("Which month had the highest total, and how much was it?", Is("February; 610")),
        ("Which month had the lowest heating and what was it?", Is("April; 40")),
        ("Which month had the lowest rent and how much was it?", Unsure("are equal")),
        ("Which month was the weakest for heating?", Unsure("may be the highest or the lowest")),
        ("When was heating at its worst?", Unsure("may be the highest or the lowest")),
    ]),
    ("Shop;Jan;Feb;Mar
Revenue;40;70;60
Staff turnover;3;9;4
Notebooks;12;14;19", &[
        ("Which month was best for revenue?", Is("Feb")),
        ("In which month was revenue weakest?", Is("Jan")),
        ("What was the best month for revenue?", Is("Feb")),
        ("Which month was the strongest for notebooks?", Is("Mar")),
        ("Which month was best for notebooks?", Unsure("may be the highest or the lowest")),
        ("When was staff turnover at its worst?", Unsure("may be the highest or the lowest")),
    ]),
    ("Team;Best month;Sales
Red;4;90
Blue;2;70", &[
        ("What was the best month of Red?", Is("4")),
    ]),
];

#[test]
fn courtesy_and_words_for_high_and_low_are_read() {
    check(MONTHS);
}

#[rustfmt::skip] // Tables: rustfmt would indent their lines.
const GERMAN: &[Questions] = &[
    ("Monat;Laden Nord;Laden Süd;Summe
Januar;40;20;60
Februar;38;26;64
März;45;21;66
Mai;41;22;63", &[
        ("What was the total in March?", Is("66")),
        ("What was Laden Nord in May?", Is("41")),
        ("Wie hoch war Laden Süd im Februar?", Is("26")),
        ("Welcher Monat war insgesamt am höchsten?", Is("März")),
        ("In welchem Monat war Laden Süd am niedrigsten?", Is("Januar")),
        ("Wie hoch war der Gewinn im Mai?", Unsure("gewinn")),
        ("Wie hoch war Laden Nord im Juni?", Unsure("")),
    ]),
];

#[test]
fn months_and_questions_are_read_in_german() {
    check(GERMAN);
}

#[rustfmt::skip] // Tables: rustfmt would indent their lines.
const FORMULAS: &[Questions] = &[
    ("EUR thousand;2032;2031
Operating cash flow;80;70
Capital expenditure;(30);(25)
Bank loan;200;210
Overdraft;15;
Cash;40;35", &[
        ("Free cash flow in 2032, meaning operating cash flow less capital expenditure", Is("50")),
        ("What was net debt in 2032, i.e. bank loan plus overdraft less cash?", Is("175")),
        ("What was net debt in 2031, i.e. bank loan plus overdraft less cash?", Unsure("debt")),
        ("What was net debt in 2032, i.e. bank loan plus leases less cash?", Unsure("debt")),
        ("Free cash flow in 2032, i.e. operating cash flow plus capital expenditure", Unsure("")),
        ("What was net debt, i.e. bank loan less cash?", Unsure("")),
    ]),
];

#[test]
fn a_formula_in_the_question_is_computed() {
    check(FORMULAS);
}

#[rustfmt::skip] // Tables: rustfmt would indent their lines.
const PLANS: &[Questions] = &[
    ("Item;Budget 2031;Actual 2031;Actual 2030
Energy;200;230;210
Wages;900;880;870
Insurance;50;50;45
Postage;10;;9", &[
        ("How far over budget were we on energy in 2031?", Is("30")),
        ("How much under budget was wages in 2031?", Is("20")),
        ("By how much did energy exceed its budget in 2031?", Is("30")),
        ("Was energy over budget in 2031?", Is("yes")),
        ("Did wages stay within budget in 2031?", Is("yes")),
        ("Did energy stay within budget in 2031?", Is("no")),
        ("Was insurance within budget in 2031?", Unsure("both figures are equal")),
        ("Was insurance over budget in 2031?", Is("no")),
        ("How far under budget was energy in 2031?", Unsure("not lower, but higher")),
        ("Was postage within budget in 2031?", Unsure("no figure of 2031")),
        ("Was energy over budget in 2030?", Unsure("no figure of 2030")),
        ("Was energy over budget?", Unsure("no period")),
    ]),
    ("Item;Budget;Actual;Over budget
Energy;200;230;30
Wages;900;880;-20", &[
        ("How much over budget was energy?", Unsure("several figures fit")),
    ]),
];

#[test]
fn a_figure_is_compared_with_its_budget() {
    check(PLANS);
}

#[rustfmt::skip] // Tables: rustfmt would indent their lines.
const IN_GROUPS: &[Questions] = &[
    ("Department;Line;2031;2032
IT;Wages;710;690
IT;Travel;30;20
HR;Wages;300;310
HR;Travel;15;
Sales;Wages;400;410
Sales;Wages abroad;40;45
Sales;Rent;40;50", &[
        ("total wages in 2032", Is("1410")),
        ("What were total wages across all departments in 2031?", Is("1410")),
        ("total wages", Unsure("no period")),
        ("total travel in 2031", Is("45")),
        ("total travel in 2032", Unsure("says more")),
        ("wages in 2031", Unsure("several figures fit")),
    ]),
    ("Region;Line;Budget 2031;2031
North;Costs;7;8
South;Costs;9;9
Total;Costs;16;17", &[
        ("total costs in 2031", Unsure("")),
    ]),
    ("Region;Line;2031;2032
North;Costs;7;8
South;Costs;9;9
Company;Costs;16;17
North;Staff;3;3
South;Staff;2;2
Company;Staff;5;5", &[
        ("total costs in 2031", Unsure("")),
    ]),
];

#[test]
fn a_line_of_all_groups_is_added_up() {
    check(IN_GROUPS);
}

#[rustfmt::skip] // Tables: rustfmt would indent their lines.
const PERIODS: &[Questions] = &[
    ("Costs;January;February;March;May;Total
Heating;80;60;30;15;185
Water;10;11;12;13;46", &[
        ("How much did heating change in March compared with the month before?", Is("-30")),
        ("Heating in February versus the previous month, in percent", Is("-25.0%")),
        ("How much more was heating in May than the month before?", Unsure("")),
        ("How much did heating change in January compared with the month before?", Unsure("")),
        ("How much did heating change in March compared with the quarter before?", Unsure("")),
        ("How much did heating change compared with the month before?", Unsure("")),
    ]),
    ("EUR thousand;2033;2032;2031
Sales;90;80;70
Wages;4;6;5", &[
        ("total wages over the three years", Is("15")),
        ("average sales over the three years?", Is("80")),
        ("total wages over the five years", Unsure("")),
        ("What were sales in both years?", Unsure("may be any of")),
    ]),
    ("EUR thousand;31.12.2032;31.12.2031
Stocks;30;25
Loans;12;14", &[
        ("What were stocks in both years?", Is("30; 25")),
        ("Loans in both years", Is("12; 14")),
        ("What were loans in both months?", Unsure("")),
    ]),
];

#[test]
fn phrases_for_periods_are_read_by_those_of_the_table() {
    check(PERIODS);
}

#[rustfmt::skip] // Tables: rustfmt would indent their lines.
const EXISTENCE: &[Questions] = &[
    ("Overheads (EUR);January;February;March
Insurance;-;300;-
Repairs;;80;40
Refunds;0;5;0
Net profit;10;20;-", &[
        ("Did we pay any insurance in January?", Is("no")),
        ("Did we pay any insurance in February?", Is("yes")),
        ("Have they had any refunds in March?", Is("no")),
        ("Was there a refund in February?", Is("yes")),
        ("Did we pay any repairs in January?", Unsure("")),
        ("Did we pay any insurance?", Is("yes")),
        ("Did we pay any insurance for cars in February?", Unsure("cars")),
        ("Did we have any net profit in January?", Unsure("")),
        ("Did we have a loss in January?", Unsure("")),
    ]),
];

#[test]
fn an_amount_of_zero_or_a_dash_is_none() {
    check(EXISTENCE);
}

#[rustfmt::skip] // Tables: rustfmt would indent their lines.
const TOTALS_AND_YEARS: &[Questions] = &[
    ("Overheads (EUR);January;February;March;Total
Rent;50;50;52;152
Water;4;6;5;15
Premises subtotal;54;56;57;167
Phone;9;8;7;24
Office subtotal;9;8;7;24
Total;63;64;64;191", &[
        ("Which month had the lowest total overheads?", Is("January")),
        ("What is the average monthly rent?", Is("50.667")),
        ("average rent per month", Is("50.667")),
        ("monthly rent in March", Is("52")),
        ("What is the monthly rent?", Unsure("no period")),
        ("average quarterly rent", Unsure("3 months")),
    ]),
    ("EUR thousand;Q1;Q2;Q3;Q4;FY 2031
Sales;10;20;30;40;100
Tax;1;2;3;4;10
Profit for the year;2;3;4;5;14", &[
        ("What were sales for the year?", Is("100")),
        ("Sales in Q3 versus Q2", Is("10")),
        ("Sales in Q3 compared with the quarter before, in percent", Is("50.0%")),
        ("What was our tax rate for the year, so tax over sales?", Is("10.0%")),
        ("What were sales for the year 2030?", Unsure("no 2030")),
        ("What was the profit for the year in Q3?", Is("4")),
    ]),
    ("EUR thousand;31.12.2032;31.12.2031
Stocks;30;25
Loans;12;14", &[
        ("What were stocks at the end of 2031?", Is("25")),
        ("Loans at year end 2032", Is("12")),
        ("Loans at the end of the year", Unsure("no period")),
    ]),
];

#[test]
fn totals_and_years_are_found_beside_their_parts() {
    check(TOTALS_AND_YEARS);
}
