//! `convfinqa ask` about lists of transactions, as banks and apps export them.

use crate::analyst_sides::assert_answers;
use crate::support::cli::Workplace;

const BANK: &str = "Date,Merchant,Category,Amount,Balance
2031-01-03,Opening balance,,,1000.00
2031-01-05,Brook Bakery,Groceries,-12.50,987.50
2031-01-09,Halden Fuel,Car,-40.00,947.50
2031-02-03,Brook Bakery,Groceries,-20.25,927.25
2031-02-14,Page Books,Books,-15.00,912.25
2031-02-20,Oriel Ltd,Salary,2500.00,3412.25
2031-03-01,Page Books,Household,-7.25,3405.00
2031-03-15,Rovex,Electronics,-99.99,3305.01
2031-03-16,Rovex,Electronics,19.99,3325.00
2031-03-20,Total,Car,-30.00,3295.00
";

/// No such question was answered.
#[test]
fn what_was_spent_is_the_sum_of_the_rows_that_match() {
    let questions = [
        ("How much was spent at Brook Bakery?", "32.75"),
        (
            "How much did I spend on groceries in January 2031?",
            "12.50",
        ),
        (
            "How much was spent on the car in the first quarter of 2031?",
            "70",
        ),
        ("What did I spend on books at Page Books?", ""),
        ("How much was spent in January?", "52.5"),
        ("How much was spent on 3 February 2031?", "20.25"),
        ("What salary did I receive?", "2,500.00"),
        // Not sure: no such row, two signs, a name that may be a word, more than a sum.
        ("How much was spent at Aldi?", ""),
        ("How much was spent on groceries in 2030?", ""),
        ("How much was spent at Rovex?", ""),
        ("How much was spent in March?", ""),
        ("How much was spent at Total?", ""),
        ("How much was spent on books?", ""),
        ("How much was spent on groceries per month?", ""),
        ("How much was not spent on groceries?", ""),
        ("What was the largest amount spent on groceries?", ""),
    ];
    assert_answers("bank.csv", BANK, &questions);
}

/// Columns for both sides, texts that say the side, and other forms of dates and decimals.
#[test]
fn what_was_received_is_told_from_what_was_spent() {
    let sides = "Date,Description,Debit,Credit\n01/15/2031,Coffee Bar,4.50,\n01/18/2031,Shoes,,30.00\n02/02/2031,Coffee Bar,5.50,\n";
    let questions = [
        ("How much was spent at Coffee Bar?", "10"),
        ("How much was received for Shoes?", "30.00"),
        ("What is the total amount of Coffee Bar?", ""),
    ];
    assert_answers("sides.csv", sides, &questions);
    let texts = "Date,Shop,Type,Amount\n2031-01-05,Rewe,Expense,12.50\n2031-01-09,Boss,Income,2000\n2031-02-03,Rewe,Expense,20.25\n";
    let questions = [
        ("How much was spent in January?", "12.50"),
        ("How much did I receive from Boss?", "2,000"),
        ("What was the total in January?", ""),
    ];
    assert_answers("texts.csv", texts, &questions);
    let german = "Date;Payee;Type;Value (EUR)\n05.01.2031;REWE Markt;Food;12,50\n29.01.2031;Halden;Car;40,00\n03.02.2031;REWE City;Food;20,25\n14.02.2031;Food Lovers;Gifts;15,00\n";
    let questions = [
        ("How much was spent at REWE?", "32.75"),
        ("How much was spent on food?", ""),
    ];
    assert_answers("german.csv", german, &questions);
    let currencies = "Date,Shop,Amount,Currency\n2031-01-05,Taxi,10,EUR\n2031-01-09,Taxi,20,GBP\n2031-02-09,Bus,3,EUR\n2032-02-09,Bus,4,EUR\n";
    let questions = [
        ("How much was spent on taxi?", ""),
        ("How much was spent on bus in February?", ""),
        ("How much was spent on bus in 2032?", "4"),
    ];
    assert_answers("currencies.csv", currencies, &questions);
}

/// Payments of a card are below zero, a price is no amount, and what failed or was moved was not spent.
#[test]
fn what_is_not_known_to_be_spent_is_not_added_up() {
    let card = "Date,Shop,Amount\n2031-01-05,Rewe,12.50\n2031-01-09,Payment received,-500\n2031-01-13,Halden,20\n";
    let prices = "Date,Ticker,Price\n2031-01-05,ACME,12.50\n2031-01-09,ACME,13\n";
    let states = "Date,Shop,State,Amount\n2031-01-05,Rewe,COMPLETED,-12.50\n2031-01-09,Rewe,DECLINED,-13\n2031-02-09,Transfer to savings,COMPLETED,-100\n";
    for (page, question) in [
        (card, "How much was spent at Rewe?"),
        (card, "How much was spent in January?"),
        (card, "How much was received in January?"),
        (prices, "What was the total of ACME?"),
        (states, "How much was spent at Rewe?"),
        (states, "How much was spent in February?"),
        (BANK, "How much was spent until February?"),
        (BANK, "How much was spent from February?"),
        (BANK, "How much was spent in the first two months of 2031?"),
        (BANK, "How much was spent in the last 3 months?"),
        (BANK, "How much was spent before March?"),
    ] {
        assert_answers("list.csv", page, &[(question, "")]);
    }
}

#[test]
fn a_sum_says_of_how_many_rows_it_is() {
    let place = Workplace::new();
    place.write("bank.csv", BANK);
    let ran = place.run("ask bank.csv 'How much was spent on groceries?'");
    assert!(ran.stdout.contains("sum of 2 rows"), "{}", ran.stdout);
}
