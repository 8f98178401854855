//! `convfinqa ask` for several figures at once.

use serde_json::{Value as Json, json};

use crate::analyst_questions::{ask, opened, table};
use crate::analyst_sides::{assert_answers, assert_conversation, page};
use crate::support::cli::Workplace;

fn is_sure(read: &Json) -> bool {
    !read["answer"].is_null() && read["doubt"].is_null()
}

/// One of the figures, or their sum, was the answer.
#[test]
fn figures_that_are_listed_are_answered_in_order() {
    let place = opened();
    for (question, values) in [
        (
            "What were net sales, cost of sales and operating income in 2031?",
            vec!["1,000 million", "600 million", "200 million"],
        ),
        (
            "What were operating income, and net sales in 2030?",
            vec!["140 million", "800 million"],
        ),
        (
            "In 2031, what were net sales and net income, respectively?",
            vec!["1,000 million", "144 million"],
        ),
        (
            "What were net sales and cost of sales in 2031 and 2030?",
            vec!["1,000 million", "800 million", "600 million", "500 million"],
        ),
        (
            "What were research and development and cash and cash equivalents in 2031?",
            vec!["90 million", "120 million"],
        ),
        (
            "What were property and equipment and cash at the end of 2031?",
            vec!["450 million", "120 million"],
        ),
        (
            "What were total assets and total current liabilities at the end of 2031?",
            vec!["800 million", "140 million"],
        ),
        (
            "What were both net sales and net income in 2031?",
            vec!["1,000 million", "144 million"],
        ),
        (
            "What were pumps and valves in 2031?",
            vec!["450 million", "550 million"],
        ),
    ] {
        let read = ask(&place, question);
        assert!(is_sure(&read), "{question}: {read}");
        assert_eq!(read["answer"], json!(values), "{question}: {read}");
    }
}

#[test]
fn a_list_with_a_figure_in_doubt_is_not_sure() {
    let place = opened();
    for (question, part) in [
        (
            "What were net sales and unbilled things in 2031?",
            "unbilled things",
        ),
        (
            "What were net sales, unbilled things and net income in 2031?",
            "unbilled things",
        ),
        ("What were net sales and EBITDA in 2031?", "ebitda"),
        (
            "What were net sales and operating income of pumps in 2031?",
            "operating income",
        ),
        (
            "What were current assets and liabilities at the end of 2031?",
            "liabilities",
        ),
    ] {
        let read = ask(&place, question);
        assert!(!is_sure(&read), "{question}: {read}");
        let doubt = read["doubt"].as_str().unwrap_or_default().to_lowercase();
        assert!(doubt.contains(part), "{question}: {read}");
    }
    for question in [
        "What were net sales in 2031 and net income in 2030?",
        "What were net sales in 2031, cost of sales and net income?",
        "What were assets and cash and cash equivalents in 2025?",
        "What were interest and taxes paid in 2031?",
        "What were operating income and operating margin in 2031?",
    ] {
        let read = ask(&place, question);
        assert!(!is_sure(&read), "{question}: {read}");
    }
}

/// A label with "and" is one figure, and what asks for a sum is one number.
#[test]
fn one_figure_with_and_is_no_list() {
    let place = opened();
    for (question, answer) in [
        (
            "What were property and equipment at the end of 2031?",
            "450 million",
        ),
        ("What was research and development in 2031?", "90 million"),
        (
            "What were selling and administrative costs in 2031?",
            "110 million",
        ),
        (
            "What was the total of net sales and net income in 2031?",
            "1,144 million",
        ),
    ] {
        let read = ask(&place, question);
        assert_eq!(read["answer"], answer, "{question}: {read}");
        assert!(is_sure(&read), "{question}: {read}");
    }
}

#[test]
fn what_follows_a_list_is_not_sure() {
    let place = opened();
    let first = ("What were pumps and valves in 2031?", "450 million; 550");
    for next in [
        "And in 2030?", "What was that in 2030?", "What growth is that?",
    ] {
        assert_conversation(&place, "10k.htm", &[first, (next, "")]);
    }
}

/// Only the first was evidence, and the values had no unit.
#[test]
fn several_figures_of_a_single_table_have_their_unit_and_evidence() {
    let read = "EUR million,2030,2031\nSales,100,140\nCosts,90,110\nProfit,10,30\n";
    let questions = [
        ("What were sales and profit in 2031?", "140 million; €30"),
        (
            "What were sales in each of the last two years?",
            "100 million; €140",
        ),
        ("What were sales and staff in 2031?", ""),
    ];
    assert_answers("own.csv", read, &questions);
    let place = Workplace::new();
    place.write("own.csv", read);
    let ran = place.run("ask own.csv 'What were sales and profit in 2031?' --json");
    let evidence = ran.json()["evidence"].as_array().map(Vec::len);
    assert_eq!(evidence, Some(2), "{}", ran.stdout);
}

/// A sum of a total and its part, or the row "Total liabilities and shareholders' equity", was
/// surely the answer.
#[test]
fn a_total_and_another_figure_may_be_two_figures() {
    let place = opened();
    for (question, is_sum) in [
        (
            "What were total current assets and inventories at the end of 2031?",
            false,
        ),
        (
            "What was the sum of total assets and total current liabilities at the end of 2031?",
            true,
        ),
    ] {
        let read = ask(&place, question);
        assert_eq!(is_sure(&read), is_sum, "{question}: {read}");
    }
}

/// A part of the question was ignored, and the rest was surely the answer.
#[test]
fn every_period_and_every_part_of_a_question_is_answered() {
    let rows: &[&[&str]] = &[
        &["", "2031", "2030", "2029"],
        &["Net sales", "1,000", "820", "640"],
        &["Cost of sales", "600", "500", "420"],
        &["Gross profit", "400", "320", "220"],
        &["Research and development", "90", "82", "48"],
        &["Interest expense", "12", "15", "10"],
        &["Net income", "144", "93", "56"],
    ];
    let balances: &[&[&str]] = &[
        &["", "December 31, 2031", "December 31, 2030"],
        &["Current assets:"],
        &["Cash", "700", "520"],
        &["Total assets", "900", "700"],
        &["Current liabilities:"],
        &["Deferred revenue, current", "20", "10"],
        &["Total current liabilities", "120", "110"],
        &["Deferred revenue, non-current", "300", "260"],
        &["Total liabilities", "420", "370"],
    ];
    let read = page(
        "",
        &[
            table("CONSOLIDATED STATEMENTS OF INCOME", rows),
            table("CONSOLIDATED BALANCE SHEETS", balances),
        ],
    );
    let questions = [
        (
            "R&D as a % of net sales, 2029 2030 2031",
            "7.5%; 10.0%; 9.0%",
        ),
        (
            "What was R&D as a percentage of sales in 2031 and 2030?",
            "9.0%; 10.0%",
        ),
        (
            "R&D as a percentage of net sales in 2031 vs 2029",
            "9.0%; 7.5%",
        ),
        (
            "R&D as a share of net sales in each of the last three years",
            "7.5%; 10.0%; 9.0%",
        ),
        ("net income margin 2031 vs 2030", "14.4%; 11.3%"),
        ("net sales 2031 vs 2030", "1,000 million; 820"),
        ("net sales 2031 vs 2030, percent change", "22.0%"),
        ("By how much did net sales change in 2031 vs 2030?", "180"),
        ("net sales up by how much 2031 vs 2030", "180"),
        ("net sales 2031 versus cost of sales 2030", ""),
        ("increase in net income in 2031 vs the increase in 2030", ""),
        // A figure and what is computed from it.
        (
            "net sales in 2031 and growth vs 2030", "1,000 million; 22.0%",
        ),
        (
            "net income in 2030 and the growth to 2031",
            "93 million; 54.8%",
        ),
        (
            "net income in 2031 and its growth in 2030",
            "144 million; 66.1%",
        ),
        (
            "net income 2031 and by how many percent it rose",
            "144 million; 54.8%",
        ),
        (
            "net income 2031 and 2030 and the change",
            "144 million; 93 million; 51",
        ),
        (
            "net income in 2031 and the change in dollars and percent",
            "",
        ),
        ("net margin in 2031 and its change vs 2030", ""),
        ("R&D in 2031 and its share of net sales", ""),
        (
            "Deferred revenue (current and non current) 2031 and its change",
            "320 million; 50",
        ),
        ("Deferred revenue (current and non current) in 2031", "320"),
        // How many times, and among which years.
        (
            "Net sales in 2031 were how many times those of 2030?",
            "1.22",
        ),
        (
            "In 2031, how many times net income were net sales?",
            "6.944",
        ),
        (
            "How many times is interest expense covered by gross profit in 2031?",
            "33.333",
        ),
        (
            "In what year was net income highest, 2029, 2030 or 2031?",
            "2031",
        ),
        ("Net sales up how much in 2031?", "180"),
        ("By how much did net sales fall in 2031?", ""),
        ("How much is net income up on 2030?", "51"),
        ("Net income in 2031, up how much?", "51"),
        ("net income 2031 vs 2030 in %", ""),
        // Sums, and two changes.
        ("What was the total of net income for 2030 and 2031?", ""),
        ("In total, what was net income in 2030 and 2031?", ""),
        ("Altogether, what was net income in 2030 and 2031?", ""),
        ("What was net income in both years?", ""),
        ("net sales growth in 2031 and in 2030", ""),
        ("Did interest expense rise in 2031 and in 2030?", ""),
        (
            "What were net sales in 2031? By how much did they grow?",
            "",
        ),
        (
            "In which year was net income highest, and how much was it?",
            "",
        ),
        ("net sales and net income in 2031", "1,000 million; 144"),
        ("net sales 2029 2030 2031 in total", ""),
        (
            "How often were net sales above net income in 2031 and 2030?",
            "",
        ),
    ];
    assert_answers("report.html", &read, &questions);
    let place = Workplace::new();
    place.write("report.html", &read);
    let turns = [
        ("R&D as a % of net sales in 2031", "9.0%"),
        ("and interest expense?", ""),
    ];
    assert_conversation(&place, "report.html", &turns);
    let turns = [
        ("net sales in 2031 and their growth", "1,000 million; 22.0%"),
        ("what about 2030?", ""),
    ];
    assert_conversation(&place, "report.html", &turns);
}
