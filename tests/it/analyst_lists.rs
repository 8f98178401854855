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
    let amounts = "Buchungstag;Empfänger;Betrag\n05.01.2031;REWE Markt;-12,50\n03.02.2031;REWE City;-20,25\n14.02.2031;Halden;-15,00\n";
    let questions = [("How much was spent at REWE?", "32.75")];
    assert_answers("amounts.csv", amounts, &questions);
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

/// Each was the sum of the amounts.
#[test]
fn a_column_that_the_question_names_is_the_one_that_is_added_up() {
    let list = "Date,Client,Item,Amount,VAT,Tip,Points,Price,Net fee,Gross fee
2031-01-05,Alder,Desk,100,20,3,10,5,1,2
2031-01-19,Birch,Lamp,200,40,0,20,6,1,2
2031-02-02,Alder,Chair,50,10,4,5,7,1,2
";
    let questions = [
        ("What is the total VAT of Alder?", "30"),
        ("What is the total tip of Alder?", "7"),
        ("What is the total number of points of Birch?", ""),
        ("What are the total points of Birch?", "20"),
        ("What is the total amount of Alder?", "150"),
        // Not sure: it is not added up, two columns, a count, more than one column, no such rows.
        ("What is the total price of Alder?", ""),
        ("What is the total fee of Alder?", ""),
        ("What is the total net fee of Alder?", "2"),
        ("What is the total number of Alder?", ""),
        ("What is the total amount and VAT of Alder?", ""),
        ("What is the total amount with VAT of Alder?", ""),
        ("What is the total amount by client?", ""),
        ("What is the total amount of each item?", ""),
        ("How much did I spend at Alder?", ""),
    ];
    assert_answers("work.csv", list, &questions);
    let signed = "Date,Shop,Amount,Tip\n2031-01-05,Roma,-20,-3\n2031-01-19,Lune,-48,-7\n2031-02-02,Roma,-25,-4\n2031-02-05,Boss,200,0\n";
    let questions = [
        ("How much tip did I spend at Roma?", "7"),
        ("How much did I spend at Roma?", "45"),
    ];
    assert_answers("signed.csv", signed, &questions);
}

/// Dates in digits whose day and month may be exchanged were dropped.
#[test]
fn a_date_in_digits_is_read_like_those_of_the_list() {
    let rows = |days: [&str; 3]| {
        let amounts = ["10", "20", "40"];
        let rows = days.iter().zip(amounts);
        let rows = rows.map(|(day, amount)| format!("{day},Halden,{amount}\n"));
        format!("Date,Shop,Amount\n{}", rows.collect::<String>())
    };
    let day_first = rows(["03/01/2031", "01/03/2031", "25/03/2031"]);
    let month_first = rows(["03/01/2031", "01/03/2031", "03/25/2031"]);
    let unknown = rows(["03/01/2031", "01/03/2031", "05/05/2031"]);
    for (list, first, march) in [
        (&day_first, "10", "60"),
        (&month_first, "20", "50"),
        (&unknown, "", ""),
    ] {
        let questions = [
            ("How much was spent at Halden on 3/1/31?", first),
            ("How much was spent at Halden in March 2031?", march),
            ("How much was spent at Halden in 2031?", "70"),
            ("How much was spent at Halden?", "70"),
            (
                "How much was spent at Halden in May?",
                if first.is_empty() { "40" } else { "" },
            ),
            ("How much was spent at Halden on 31/31/2031?", ""),
            ("How much was spent at Halden on 3/1?", ""),
            ("How much was spent at Halden as of 03/01/2031?", ""),
            (
                "How much was spent at Halden from 01/01/2031 to 03/02/2031?",
                "",
            ),
        ];
        let questions = questions.map(|(question, answer)| {
            // The third day of January is 3/1 where the day comes first.
            let answer = match (question.contains("3/1/31"), list == &month_first) {
                (true, true) => "10",
                _ => answer,
            };
            (question, answer)
        });
        assert_answers("days.csv", list, &questions);
    }
}

/// A part of a word, a word like it and a name of another period counted.
#[test]
fn a_name_is_that_of_whole_words_in_all_rows() {
    let list = "Date,Shop,Kind,Amount
2031-01-05,RENT GREENWOOD,Home,100
2031-01-06,RENT-A-CAR HERTZ,Car,30
2031-01-07,Park & Ride,Car,5
2031-01-08,Park-Side Hotel,Hotels,80
2031-01-09,Whole Kernel,Food,7
2031-02-09,Whole Kernel Market,Food,8
2031-02-10,GOOGL,Shares,9
2031-02-11,Fern Books,Books,11
2031-02-12,Fern Taxis,Travel,12
2031-02-13,Shell,Car,13
2031-02-14,Shelly's,Food,14
";
    let questions = [
        ("How much did I spend on rent?", "100"),
        ("How much did I spend at rent-a-car Hertz?", "30"),
        ("How much did I spend at Park & Ride?", "5"),
        ("How much did I spend at Whole Kernel Market?", "8"),
        ("How much did I spend on food?", "29"),
        ("How much did I spend on hotel?", "80"),
        ("How much did I spend at Shell?", "13"),
        ("How much did I spend at Fern?", "23"),
        // Not sure.
        ("How much did I spend on fern?", ""),
        ("How much did I spend at Whole Kernel?", ""),
        ("How much did I spend at Whole Kernel in February?", ""),
        ("How much did I spend at Kernel in February?", ""),
        ("How much did I spend on Google?", ""),
        ("How much did I spend on Foods?", ""),
        ("How much did I spend on food and at Fern?", ""),
        ("How much did I spend on food and at Shelly's?", ""),
        ("How much did I spend on food at Shelly's?", "14"),
        ("How much did I spend in the US?", ""),
    ];
    assert_answers("names.csv", list, &questions);
    let place = Workplace::new();
    place.write("names.csv", list);
    let ran = place.run("ask names.csv 'How much did I spend at Whole Kernel?' --json");
    let names = "Whole Kernel; Whole Kernel Market";
    assert!(ran.stdout.contains(names), "{}", ran.stdout);
}

/// No such question was answered, or another figure was the guess.
#[test]
fn a_refund_has_the_name_of_what_was_paid() {
    let list = "Date,Shop,Amount\n2031-01-05,Rovex,-90\n2031-01-09,Halden,-12\n2031-01-19,Rovex,20\n2031-02-05,Boss,200\n2031-02-06,Fern,-8\n";
    let questions = [
        ("How much was refunded by Rovex?", "20"),
        ("How much did Halden cost me?", "12"),
        ("What went to Halden?", "12"),
        ("What came in from Boss?", "200"),
        ("How much did Boss pay me?", "200"),
        ("How much was I paid by Boss?", "200"),
        ("How much did I get from Boss in February?", "200"),
        ("How much was refunded by Halden?", ""),
        ("How much was refunded?", ""),
        ("How much did I spend at Rovex?", ""),
        ("How much do I owe Halden?", ""),
    ];
    assert_answers("refunds.csv", list, &questions);
    let unsaid = "Date,Kind,Side,Amount\n2031-01-05,ACME,Buy,90\n2031-01-09,ACME,Sell,20\n2031-02-06,Rovex,Buy,8\n";
    let questions = [
        ("How much did I spend on ACME?", ""),
        ("How much did I spend on Rovex?", "8"),
        ("How much did I receive from ACME?", "20"),
    ];
    assert_answers("sides.csv", unsaid, &questions);
    let income = "Date,Kind,Amount\n2031-01-05,Salary,90\n2031-01-09,Total Wine,20\n2031-02-06,IT support,8\n";
    let questions = [
        ("How much did I spend in January?", ""),
        ("How much did I spend at Total?", ""),
        ("How much did I spend on IT?", "8"),
        ("How much did it cost in February?", "8"),
    ];
    assert_answers("income.csv", income, &questions);
    let place = Workplace::new();
    place.write("refunds.csv", list);
    for (question, why) in [
        ("How much did I spend at Aldi?", "Aldi"),
        ("What was the average amount spent at Halden?", "only sums"),
    ] {
        let ran = place.run(&format!("ask refunds.csv '{question}' --json"));
        assert!(ran.stdout.contains("\"answer\":null"), "{}", ran.stdout);
        assert!(ran.stdout.contains(why), "{}", ran.stdout);
    }
}

/// A blank amount or a currency of some row made the whole list unreadable.
#[test]
fn only_the_rows_of_a_sum_need_an_amount_of_one_currency() {
    let list = "Date,Shop,Currency,Amount\n2031-01-05,Rovex,USD,90\n2031-01-09,Rovex,EUR,12\n2031-01-19,Halden,EUR,20\n2031-02-05,Fern,EUR,\n2031-02-06,Fern,EUR,8\n";
    let questions = [
        ("How much was spent at Halden?", "20"),
        ("How much was spent at Fern?", ""),
        ("How much was spent at Rovex?", ""),
        ("How much was spent at Rovex in euros?", "12"),
        ("How much was spent at Rovex in GBP?", ""),
    ];
    assert_answers("blank.csv", list, &questions);
}

#[test]
fn a_sum_says_of_how_many_rows_it_is() {
    let place = Workplace::new();
    place.write("bank.csv", BANK);
    let ran = place.run("ask bank.csv 'How much was spent on groceries?'");
    assert!(ran.stdout.contains("sum of 2 rows"), "{}", ran.stdout);
    let ran = place.run("ask bank.csv 'How much was spent on 3 February 2031?'");
    assert!(ran.stdout.contains("sum of 1 row)"), "{}", ran.stdout);
}

/// The reason was that the list has no such row.
#[test]
fn a_sum_of_too_many_rows_says_how_many_match() {
    let place = Workplace::new();
    let rows = "2031-01-05,Halden,-1\n".repeat(1001);
    place.write("long.csv", &format!("Date,Shop,Amount\n{rows}"));
    let ran = place.run("ask long.csv 'How much was spent at Halden?' --json");
    let why = "1,001 rows match, and at most 1,000 are added up";
    assert!(ran.stdout.contains(why), "{}", ran.stdout);
}

/// The months of the year before were left out.
#[test]
fn a_period_that_begins_in_the_year_before_has_the_months_of_both_years() {
    let list = "Date,Shop,Amount
2030-03-20,Halden,-1
2030-11-10,Halden,-20
2031-02-10,Halden,-5
2031-04-01,Halden,-7
";
    let questions = [
        (
            "How much was spent in the twelve months ended March 2031?",
            "25",
        ),
        ("How much was spent in the first quarter of 2031?", "5"),
    ];
    assert_answers("card.csv", list, &questions);
}

/// The sum was sure, but of the last day alone, or of December and February of one year.
#[test]
fn a_period_that_ends_on_a_day_or_begins_in_an_unknown_year_has_no_sum() {
    let list = "Date,Shop,Amount
2030-02-10,Halden,-5
2030-12-10,Halden,-20
2030-12-31,Halden,-3
";
    let questions = [
        (
            "How much was spent in the three months ended December 31, 2030?",
            "",
        ),
        ("How much was spent in the year ended 31 December 2030?", ""),
        ("How much was spent in the three months ended February?", ""),
        ("How much was spent on 31 December 2030?", "3"),
        ("How much was spent in December?", "23"),
        ("How much was spent in the fourth quarter?", "23"),
    ];
    assert_answers("card.csv", list, &questions);
}
