//! Months, quarters and halves in questions about people's own tables, and the words that say no
//! more than the name of the file. All tables are invented.

use super::own_questions::Expected::{Is, Unsure};
use super::own_questions::Questions;
use super::own_tables::{check, document, find_answer, printed};
use std::sync::Arc;

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
        ("How much did we spend on postage in Q1?", Is("12")),
        // Several periods are answered one by one, unless their sum may be meant.
        ("What were fees in May and June?", Is("14; 15")),
        ("What was cash in January, March and May?", Is("50; 52; 54")),
        ("How much did we spend on postage in May and June?", Unsure("")),
        ("What were fees in Q2 2030?", Unsure("2030")),
        // The year is not one of its months, and a bound on one side may ask for a sum.
        ("What were fees in December 2031?", Unsure("")),
        ("What were fees from December to January?", Unsure("")),
        ("What were fees until June?", Unsure("until")),
        ("What was cash on 3 May 2031?", Unsure("")),
        ("What were fees from July?", Unsure("from")),
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
    // A month is missing.
    ("Item;Mar;Apr;Jun;Jul
Fees;10;11;12;13", &[
        ("What were fees from March to July?", Unsure("lacks a period")),
        ("What were fees from June to July?", Is("25")),
    ]),
    // Months of two years.
    ("Item;Jan 2031;Feb 2031;Mar 2031;Jan 2032;Feb 2032;Mar 2032
Fees;10;11;12;20;21;22", &[
        ("What were fees in Q1 2032?", Is("63")),
        ("What were fees in Q1 2031?", Is("33")),
        ("What were fees in Q1?", Unsure("")),
        ("What were fees in Q2 2032?", Unsure("")),
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

const BY_YEAR: &str = "Year;Bakery;Shop;Total
2030;30;10;40
2031;36;9;45";

const OF_TEAMS: &str = "Team;2031\nSales;50\nOffice;9";
const PRICES: &str = "Item;Price;Stock\nChairs;5;40\nDesks;9;12";
const SAVINGS: &str = "Account;Jan;Feb;Mar\nSavings;5;6;7";

/// A table, its file's name, a question, and the answer if it is sure.
type Named = (
    &'static str,
    &'static str,
    &'static str,
    Option<&'static str>,
);

#[rustfmt::skip] // A table: rustfmt would give its rows six lines.
const NAMED: &[Named] = &[
    (BY_YEAR, "headcount.csv", "What was the headcount of the bakery in 2031?", Some("36")),
    (BY_YEAR, "headcount.csv", "By how much did the total workforce rise from 2030 to 2031?", Some("5")),
    (BY_YEAR, "shop_sales.csv", "What were bakery sales in 2030?", Some("30")),
    (BY_YEAR, "shop_sales.csv", "What was bakery revenue in 2030?", Some("30")),
    // Another figure, and a name of two.
    (BY_YEAR, "headcount.csv", "What were bakery sales in 2030?", None),
    (BY_YEAR, "sales_and_costs.csv", "What were bakery costs in 2030?", None),
    (BY_YEAR, "export.csv", "What was the headcount of the bakery in 2031?", None),
    // A column may be another figure than the file's name says.
    (PRICES, "sales.csv", "What were sales of chairs?", None),
    (OF_TEAMS, "headcount.csv", "How much did we spend on sales in 2031?", None),
    // A file can say that its figures are levels, which have no sum over time.
    (SAVINGS, "bank_balance_2031.csv", "What were savings in the first quarter?", None),
    (SAVINGS, "savings_target.csv", "What were savings in March?", None),
    (OF_TEAMS, "sick_days.csv", "How many people were in the office in 2031?", None),
    (OF_TEAMS, "export.csv", "How many people were in the office in 2031?", Some("9")),
    (SAVINGS, "savings_target.csv", "What was the target of savings in March?", Some("7")),
    (SAVINGS, "club.csv", "What were savings in the first quarter?", Some("18")),
];

#[test]
fn the_name_of_the_file_says_what_all_figures_are() {
    for (table, file, question, expected) in NAMED {
        let mut document = document(table);
        Arc::make_mut(&mut document).filename = (*file).to_owned();
        let found = find_answer(&document, &[], question);
        let sure = found.filter(|found| found.doubt.is_none());
        let sure = sure.map(|found| printed(&found));
        assert_eq!(sure.as_deref(), *expected, "{file}: {question}");
    }
}

#[rustfmt::skip] // Tables: rustfmt would indent their lines.
const SPENT: &[Questions] = &[
    ("Item;2031;2032
Rent;50;52
Travel;9;8", &[
        ("How much did we spend on travel in 2032?", Is("8")),
        ("How much more went on rent in 2032 than in 2031?", Is("2")),
        ("How much is left of travel in 2032?", Unsure("left")),
    ]),
    // An income is not spent, and people are not money.
    ("Item;Mar;Apr
Income;90;95
Rent;50;52
Trips;9;8", &[
        ("How much did we spend in total in April?", Unsure("spend")),
        ("What was the total in April?", Unsure("")),
        ("What did we spend most on in April?", Unsure("")),
        ("How much did we spend on trips in April?", Is("8")),
        ("What was rent until April?", Unsure("until")),
        ("Wie hoch war rent bis April?", Unsure("until")),
        ("Wie hoch war rent von March bis April?", Is("102")),
        ("How many people did trips take on in April?", Unsure("take")),
    ]),
    ("Team;2031;2032
Sales;50;52
Office;9;8
Stores;7;7", &[
        ("How many people worked in both teams in 2031?", Unsure("both")),
        ("What was the total of both teams in 2031?", Unsure("both")),
    ]),
    ("Region;Q1;Q2
North;50;52
South;9;8
Total;59;60", &[
        ("What was the weakest region?", Unsure("may ask for a name")),
        ("What was the weakest region in Q2?", Unsure("may ask for a name")),
        ("Which region was the weakest in Q2?", Is("South")),
    ]),
    // No total is a part.
    ("Region;Sales;Costs
North;40;30
South;35;29
Total;75;59", &[
        ("What was the share of sales in the North?", Unsure("would be a total")),
        ("What was the best region for sales?", Unsure("may ask for a name")),
        ("What share of total sales was in the North?", Is("53.3%")),
    ]),
    ("Item;2031;2032
Interest;5;2
Long-term debt;9;0", &[
        ("Did we pay any interest in 2031?", Is("yes")),
        ("Did we pay any long-term debt in 2031?", Unsure("level")),
        ("Did we have any long-term debt in 2032?", Is("no")),
    ]),
    ("Item;Spent;Remaining
Rent;50;2
Travel;9;8", &[
        ("How much can we spend on travel?", Unsure("can")),
        ("How much is still to spend on travel?", Unsure("still")),
        ("Can you tell me what was spent on travel?", Is("9")),
    ]),
    ("Item;Budget
Rent;50
Travel;9", &[
        ("How much did we spend on travel?", Unsure("spend")),
    ]),
    ("Client;Paid;Open
Acme;50;7
Bolt;9;8", &[
        ("How much has Acme yet to pay?", Unsure("")),
        ("How much does Acme still have to pay?", Unsure("still")),
        ("How much will Acme pay?", Unsure("will")),
        ("How much is Acme about to pay?", Unsure("about")),
    ]),
    ("Item;2031;2032
Interest income;6;7
Interest expense;25;24
Flats;9;9", &[
        ("How much interest did we get in 2031?", Unsure("get")),
        ("How many flats were let in 2031?", Unsure("let")),
    ]),
    ("Project;Budget;Actual
Alpha;50;57
Beta;9;8", &[
        ("How much was Alpha over?", Unsure("over")),
    ]),
];

#[test]
fn words_for_spending_fit_any_cost() {
    check(SPENT);
}
