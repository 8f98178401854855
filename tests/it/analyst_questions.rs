//! `convfinqa ask` as an analyst asks: free wording, named measures, several years, parts of a
//! whole; and no sure answer where a word of the question is not on the page.

use serde_json::{Value as Json, json};

use crate::support::cli::Workplace;

pub(crate) fn table(title: &str, rows: &[&[&str]]) -> String {
    let row = |cells: &&[&str]| format!("<tr><td>{}</td></tr>", cells.join("</td><td>"));
    let rows: String = rows.iter().map(row).collect();
    format!("<p>{title}</p><p>(In millions)</p><table>{rows}</table>")
}

/// The annual report of a company that does not exist.
pub(crate) fn report() -> String {
    let years: &[&str] = &["", "2031", "2030", "2029"];
    let days: &[&str] = &["", "December 31, 2031", "December 31, 2030"];
    let tables = [
        table(
            "CONSOLIDATED STATEMENTS OF INCOME",
            &[
                years,
                &["Net sales", "1,000", "800", "640"],
                &["Cost of sales", "600", "500", "420"],
                &["Gross profit", "400", "300", "220"],
                &["Research and development", "90", "70", "60"],
                &["Selling, general and administrative", "110", "90", "80"],
                &["Operating income", "200", "140", "80"],
                &["Interest expense", "(20)", "(16)", "(10)"],
                &["Income before income taxes", "180", "124", "70"],
                &["Provision for income taxes", "36", "31", "14"],
                &["Net income", "144", "93", "56"],
                &[
                    "Net income attributable to noncontrolling interests",
                    "4",
                    "3",
                    "2",
                ],
                &["Net income attributable to Halden", "140", "90", "54"],
            ],
        ),
        table(
            "CONSOLIDATED BALANCE SHEETS",
            &[
                days,
                &["Assets"],
                &["Current assets:"],
                &["Cash and cash equivalents", "120", "100"],
                &["Accounts receivable, net", "150", "130"],
                &["Inventories", "80", "70"],
                &["Total current assets", "350", "300"],
                &["Property and equipment, net", "450", "400"],
                &["Total assets", "800", "700"],
                &["Liabilities and equity"],
                &["Current liabilities:"],
                &["Accounts payable", "90", "80"],
                &["Short-term debt", "25", "20"],
                &["Current portion of long-term debt", "25", "20"],
                &["Total current liabilities", "140", "120"],
                &["Long-term debt", "250", "230"],
                &["Total shareholders’ equity", "410", "350"],
                &["Total liabilities and equity", "800", "700"],
            ],
        ),
        table(
            "CONSOLIDATED STATEMENTS OF CASH FLOWS",
            &[
                years,
                &["Operating activities:"],
                &["Net income", "144", "93", "56"],
                &["Depreciation and amortization", "50", "40", "35"],
                &["Inventories", "(10)", "(5)", "(4)"],
                &[
                    "Net cash provided by operating activities",
                    "190",
                    "130",
                    "90",
                ],
                &["Investing activities:"],
                &[
                    "Purchases of property and equipment", "(95)", "(60)", "(50)",
                ],
                &["Financing activities:"],
                &["Repurchases of common stock", "(40)", "(30)", "—"],
                &["Dividends paid", "(35)", "(30)", "(25)"],
                &["Supplemental disclosure of cash flow information:"],
                &[
                    "Cash paid for income taxes, net of refunds",
                    "33",
                    "29",
                    "15",
                ],
                &["Cash paid for interest", "19", "15", "9"],
            ],
        ),
        table(
            "Net sales by country were as follows:",
            &[
                years,
                &["United States", "500", "420", "340"],
                &["Germany", "260", "200", "150"],
                &["Japan", "140", "110", "90"],
                &["Rest of world", "100", "70", "60"],
                &["Total net sales", "1,000", "800", "640"],
            ],
        ),
        table(
            "Net sales by product line were as follows:",
            &[
                years,
                &["Pumps", "450", "390", "330"],
                &["Valves", "550", "410", "310"],
                &["Total net sales", "1,000", "800", "640"],
            ],
        ),
        table(
            "Future principal payments of long-term debt",
            &[
                &["", "Amount"],
                &["2032", "25"],
                &["2033", "60"],
                &["2034", "190"],
            ],
        ),
    ];
    format!(
        "<html><body><p>Halden Inc.</p><p>(Exact name of registrant as specified in its charter)</p><p>Annual report for the fiscal year ended December 31, 2031</p>{}</body></html>",
        tables.concat()
    )
}

pub(crate) fn ask(place: &Workplace, question: &str) -> Json {
    let quoted = question.replace('\'', "’");
    let ran = place.run(&format!("ask 10k.htm '{quoted}' --json"));
    let answer = ran.json();
    let is_sure = !answer["answer"].is_null() && answer["doubt"].is_null();
    ran.ends(if is_sure { 0 } else { 4 });
    answer
}

/// The number of a written answer: 1250.4 of `$1,250.4 million`.
pub(crate) fn amount(answer: &Json) -> Option<f64> {
    let first = answer.as_str()?.split(' ').next()?;
    first.replace(['$', ','], "").parse().ok()
}

pub(crate) fn opened() -> Workplace {
    let place = Workplace::new();
    place.write("10k.htm", &report());
    place
}

#[test]
fn questions_of_analysts_are_answered_surely() {
    let place = opened();
    let several = |values: &[&str]| json!(values);
    for (question, answer) in [
        ("How much did Halden spend on R&D in 2031?", json!("90")),
        ("What was capital spending in 2030, please?", json!("60")),
        (
            "How much cash went out the door on share buybacks in 2031?",
            json!("40"),
        ),
        (
            "Cash income taxes paid in 2030, net of refunds?",
            json!("29"),
        ),
        (
            "What interest did it actually pay in cash in 2031?",
            json!("19"),
        ),
        (
            "How much did customers owe the company at year end 2031?",
            json!("150"),
        ),
        (
            "How big was the inventory balance at December 31, 2031?",
            json!("80"),
        ),
        ("What was net income in 2031?", json!("144")),
        ("What was operating income last year?", json!("200")),
        ("How fast did the top line grow in 2031?", json!("25.0%")),
        ("Operating margin in 2031?", json!("20.0%")),
        ("Current ratio at the end of 2031?", json!("2.5")),
        ("What was working capital at the end of 2030?", json!("180")),
        ("What was EBITDA in 2031?", json!("250")),
        ("What was total debt at the end of 2031?", json!("300")),
        ("What was net debt at the end of 2031?", json!("180")),
        ("Total debt to EBITDA in 2031?", json!("1.2")),
        (
            "How many times EBITDA is total debt at the end of 2031?",
            json!("1.2"),
        ),
        (
            "How many times over did operating profit cover interest expense in 2031?",
            json!("10"),
        ),
        ("What was free cash flow in 2031?", json!("95")),
        (
            "Give me company sales for 2031, 2030 and 2029.",
            several(&["1,000 million", "800 million", "640 million"]),
        ),
        (
            "Interest cost in 2029 and 2031?",
            several(&["10 million", "20 million"]),
        ),
        (
            "What share of 2031 sales came from Germany?",
            json!("26.0%"),
        ),
        (
            "Which country had the highest sales in 2031?",
            json!("United States"),
        ),
        (
            "Apart from the United States, which country brought in the most revenue in 2031?",
            json!("Germany"),
        ),
        (
            "Which product line had the highest sales in 2030?",
            json!("Valves"),
        ),
        ("How much long-term debt matures in 2033?", json!("60")),
    ] {
        let read = ask(&place, question);
        let found = &read["answer"];
        let number = |it: &Json| amount(it).map(f64::abs);
        let same = *found == answer || number(found).is_some() && number(found) == number(&answer);
        assert!(same && read["doubt"].is_null(), "{question}: {read}");
    }
}

/// One word of each names what this report lacks, or leaves out what its rows have.
#[test]
fn a_word_that_the_report_lacks_is_a_doubt() {
    let place = opened();
    for question in [
        "What was adjusted operating income in 2031?",
        "What was deferred revenue in 2031?",
        "What were net sales in Brazil in 2031?",
        "What was the operating margin of the pumps business in 2031?",
        "What was unbilled accounts receivable at the end of 2031?",
        "How many customers did Halden have in 2031?",
        "What was net income excluding Japan in 2031?",
        "What was interest income in 2031?",
        "What was revenue in the first quarter of 2031?",
        "What was net income of the parent company alone in 2031?",
        "Which department sold the most in 2031?",
        "What were sales per employee in 2031?",
        "By how much did inventories change from 2030 to 2031 in the first quarter?",
        "By what percentage did net sales grow from fiscal 2030 to fiscal 2031 in the first quarter?",
        "What was the current ratio at the end of 2031 in the first quarter?",
    ] {
        let read = ask(&place, question);
        let sure = !read["answer"].is_null() && read["doubt"].is_null();
        assert!(!sure, "{question}: {read}");
    }
}

/// The figures of one statement over those of another were looked for in one table.
#[test]
fn a_measure_shows_the_cells_of_both_statements() {
    let place = opened();
    let read = ask(&place, "Total debt to EBITDA in 2031?");
    let literals = read["evidence"].as_array().unwrap().iter();
    let literals: Vec<&str> = literals.filter_map(|it| it["literal"].as_str()).collect();
    assert_eq!(literals, ["25", "25", "250", "200", "50"], "{read}");
    let tables = read["evidence"].as_array().unwrap().iter();
    let tables: Vec<&str> = tables.filter_map(|it| it["table"].as_str()).collect();
    assert!(tables.iter().any(|it| it.contains("BALANCE")), "{tables:?}");
    assert!(
        tables.iter().any(|it| it.contains("CASH FLOWS")),
        "{tables:?}"
    );
}
