//! `convfinqa ask` about sums and averages that a question may not mean.

use serde_json::Value as Json;

use crate::analyst_sides::{assert_answers, shown};
use crate::support::cli::Workplace;

/// A sum that the question spells was in doubt in other words than those that ask for it.
#[test]
fn a_sum_that_is_spelled_is_not_in_doubt() {
    let table = "Item,2031\nTotal debt,30\nTotal equity,50\n";
    let questions = [
        ("sum of total debt and total equity in 2031", "80"),
        ("total debt plus total equity in 2031", "80"),
        ("total debt added to total equity in 2031", "80"),
        ("total debt and total equity together in 2031", "80"),
        ("total debt and equity in 2031", ""),
        ("sum of total debt and total equity together in 2031", "80"),
    ];
    assert_answers("a.csv", table, &questions);
}

/// Two averages were one average of both.
#[test]
fn an_operation_that_each_figure_has_is_not_one_of_both() {
    let table = "Item,2031,2032\nNet sales,100,120\nNet income,10,14\n";
    let questions = [
        ("average net sales and average net income in 2032", ""),
        ("sum of net sales and sum of net income in 2032", ""),
        ("average of net sales and net income in 2032", "67"),
        ("average net sales", "110"),
    ];
    assert_answers("a.csv", table, &questions);
}

/// Sales and net income were added up, and interest income and expense.
#[test]
fn figures_are_not_added_unless_that_is_spelled() {
    let table = "Item,2033\nNet sales,500\nNet income,80\nInterest income,12\n\
        Interest expense,30\nDividends paid,40\nShare repurchases,25\n";
    let questions = [
        ("total interest income and interest expense in 2033", ""),
        ("average net sales and net income in 2033", ""),
        ("total of net sales and net income in 2033", "580"),
        ("average of net sales and net income in 2033", "290"),
        ("total interest expense and dividends paid in 2033", ""),
        ("interest expense and dividends paid together in 2033", "70"),
        ("interest expense and dividends paid in total in 2033", "70"),
    ];
    assert_answers("a.csv", table, &questions);
    let report = "# Report\n\nIncome\n\n| | 2033 |\n|---|---|\n| Net sales | 500 |\n| Net income | 80 |\n\n\
        Balance sheet\n\n| | 2033 |\n|---|---|\n| Cash | 7 |\n| Total assets | 90 |\n";
    let questions = [
        ("What were total sales and net income in 2033?", ""),
        ("What was the sum of sales and net income in 2033?", "580"),
    ];
    assert_answers("a.md", report, &questions);
}

/// Year-end balances of several years were added up.
#[test]
fn levels_are_not_added_up_over_time() {
    let years = "Item,2031,2032\nNet sales,100,120\nCash,40,45\nInventory,22,25\nHeadcount,300,320\n\
        Number of employees at year end,310,330\nCustomers,90,95\nNew customers,20,25\n\
        Capital expenditure,12,15\n";
    let questions = [
        ("total net sales in 2031 and 2032", "220"),
        ("total capital expenditure in 2031 and 2032", "27"),
        ("total new customers in 2031 and 2032", "45"),
        ("total cash in 2031 and 2032", ""),
        ("sum of inventory in 2031 and 2032", ""),
        ("total headcount in 2031 and 2032", ""),
        ("total number of employees at year end in 2031 and 2032", ""),
        ("total customers in 2031 and 2032", ""),
        ("total headcount in 2032", "320"),
        ("average headcount", "310"),
        ("cash plus inventory in 2032", "70"),
    ];
    assert_answers("a.csv", years, &questions);
    let months = "Month,Sales,Cash balance,Deposits\nJan 2033,10,100,7\nFeb 2033,12,110,8\n";
    let questions = [
        ("total sales", "22"),
        ("total deposits", "15"),
        ("total cash balance", ""),
        ("average cash balance", "105"),
    ];
    assert_answers("b.csv", months, &questions);
    let divisions = "Division,Headcount\nNorth,30\nSouth,40\n";
    assert_answers("c.csv", divisions, &[("total headcount", "70")]);
}

/// A quarter was added to the year that it is in.
#[test]
fn periods_that_overlap_have_no_sum() {
    let parts =
        "Item,Q1 2033,Q2 2033,H1 2033,9M 2033,YTD 2033,FY 2033\nRevenue,10,20,30,60,60,100\n";
    let questions = [
        ("total revenue in Q1 and Q2 2033", "30"),
        ("total revenue in Q1 2033 and FY 2033", ""),
        ("total revenue in Q1 and YTD 2033", ""),
        ("total revenue in Q1 and H1 2033", ""),
        ("total revenue in H1 and 9M 2033", ""),
        ("average revenue in Q1 and FY 2033", ""),
    ];
    assert_answers("a.csv", parts, &questions);
    let both = "Item,FY 2033,Q4 2033\nRevenue,100,30\n";
    let questions = [
        ("total revenue in 2033 and Q4 2033", ""),
        // Each of both is asked for, and not their sum.
        ("revenue in 2033 and Q4 2033", "100; 30"),
        ("how much revenue in 2033 and Q4 2033", ""),
    ];
    assert_answers("c.csv", both, &questions);
    let levels = "Item,H1 2033,FY 2033\nHeadcount,300,320\n";
    assert_answers(
        "b.csv",
        levels,
        &[("average headcount in H1 2033 and FY 2033", "310")],
    );
}

/// "Total" in a list was left out of the answer.
#[test]
fn a_total_as_an_item_of_a_list_is_not_left_out() {
    let table = "Item,2032,2033\nPumps,10,20\nValves,30,45\nTotal,40,65\n";
    let questions = [
        ("what were total and valves in 2033?", ""),
        ("what were valves and the total in 2033?", ""),
        ("what was the total in 2033?", "65"),
        (
            "what was the difference between total and valves in 2033?",
            "20",
        ),
        ("what was the total of pumps and valves in 2033?", "65"),
    ];
    assert_answers("a.csv", table, &questions);
}

/// The currency of a row was that of its count too, and a scale was left out.
#[test]
fn a_unit_of_a_row_is_not_put_on_a_count_or_left_out() {
    let table = "Item,Currency,Units sold,Revenue\nApple,EUR,100,250\nPear,EUR,40,90\n";
    let place = Workplace::new();
    place.write("a.csv", table);
    for (question, answer) in [
        ("what were units sold of apple?", "100"),
        ("what was the revenue of apple?", "€250"),
    ] {
        let read: Json = place
            .run(&format!("ask a.csv '{question}' --json"))
            .answer();
        assert_eq!(shown(&read), answer, "{read}");
        assert!(read["doubt"].is_null(), "{read}");
    }
    let table = "Item,Unit,2033\nGas used,thousand m3,30\nSales,EUR thousand,50\n";
    assert_answers(
        "b.csv",
        table,
        &[("gas used in 2033", ""), ("sales in 2033", "50 thousand")],
    );
}

/// One amount of such a list was the guess at a sum, or payments were added to what came in.
#[test]
fn a_list_of_transactions_has_neither_a_guess_nor_a_sum() {
    let list = |[rewe, boss]: [&str; 2]| {
        format!(
            "Date,Shop,Amount\n2031-01-05,Rewe,{rewe}12.50\n2031-01-09,Boss,{boss}2000\n\
            2031-01-13,Rewe,{rewe}30\n2031-02-01,Fern,{rewe}4\n2031-02-03,Rewe,{rewe}5.5\n\
            2031-02-14,Boss,{boss}2000\n2031-03-01,Fern,{rewe}8\n2031-03-02,Halden,{rewe}9\n"
        )
    };
    for signs in [["", ""], ["-", ""]] {
        let place = Workplace::new();
        place.write("bank.csv", &list(signs));
        for question in [
            "How much was spent at Rewe?", "How much was spent in February 2031?",
            "What is the total amount?", "What is the sum of all amounts?",
        ] {
            let ran = place.run(&format!("ask bank.csv '{question}' --json"));
            let answer: Json = serde_json::from_str(&ran.stdout).unwrap();
            assert!(answer["answer"].is_null(), "{question}: {answer}");
            assert!(answer["doubt"].is_string(), "{question}: {answer}");
        }
    }
    let balances = "Date,Shop,Balance\n2031-01-05,Rewe,987.50\n2031-01-09,Boss,2987.50\n";
    let questions = [("What was the balance on 9 January 2031?", "2987.50")];
    assert_answers("bank.csv", balances, &questions);
}
