//! `convfinqa ask` for figures by other names, for what is printed in parts, for each of several
//! periods, and what the tags of a filing settle.

use serde_json::Value as Json;

use crate::analyst_questions::{ask, table};
use crate::analyst_sides::shown;
use crate::support::cli::Workplace;

fn report() -> String {
    let years: &[&str] = &["", "2031", "2030"];
    let days: &[&str] = &["", "December 31, 2031", "December 31, 2030"];
    let tables = [
        table(
            "CONSOLIDATED STATEMENTS OF INCOME",
            &[
                years,
                &["Net sales", "900", "800"],
                &["Operating expenses:"],
                &["Fulfillment", "45", "40"],
                &["Sales, general and administrative", "110", "90"],
                &["Total operating expenses", "155", "130"],
                &["Operating income", "200", "140"],
                &["Interest:"],
                &["Debt", "14", "12"],
                &["Finance lease", "6", "4"],
                &["Interest income", "(3)", "(2)"],
                &["Interest, net", "17", "14"],
                &["Net earnings", "144", "93"],
            ],
        ),
        table(
            "CONSOLIDATED BALANCE SHEETS",
            &[
                days,
                &["Current assets:"],
                &[
                    "Trade receivables, net of allowances for doubtful accounts of $1 and $2, respectively",
                    "150",
                    "130",
                ],
                &["Total current assets", "350", "300"],
                &["Total assets", "800", "700"],
                &["Current liabilities:"],
                &["Short-term borrowings", "30", "20"],
                &["Trade payables", "90", "80"],
                &["Finance lease obligations due within one year", "8", "7"],
                &["Total current liabilities", "140", "120"],
                &["Long-term finance lease obligations", "59", "50"],
                &["Long-term debt", "70", "60"],
            ],
        ),
        table(
            "CONSOLIDATED STATEMENTS OF CASH FLOWS",
            &[
                years,
                &["Operating activities:"],
                &["Net earnings", "144", "93"],
                &["Changes in operating assets and liabilities:"],
                &["Inventories", "(10)", "(5)"],
                &["Net cash provided by operating activities", "190", "130"],
                &[
                    "Net cash provided by (used in) investing activities",
                    "(95)",
                    "(60)",
                ],
            ],
        ),
        table(
            "Net sales by country were as follows:",
            &[
                years,
                &["United States", "540", "420"],
                &["Germany", "200", "200"],
                &["Japan", "160", "180"],
                &["Total net sales", "900", "800"],
            ],
        ),
    ];
    format!("<html><body>{}</body></html>", tables.concat())
}

/// The digits of the answer, without its currency, sign and scale.
fn digits(read: &Json) -> String {
    let found = shown(read);
    let found = found.trim_start_matches(['-', '$']);
    found.trim_end_matches(" million").to_owned()
}

fn is_sure(read: &Json) -> bool {
    !read["answer"].is_null() && read["doubt"].is_null()
}

#[test]
fn a_figure_is_found_by_other_names_and_by_its_parts() {
    let place = Workplace::new();
    place.write("10k.htm", &report());
    for (question, answer) in [
        (
            "By how much did operating cash flow change from 2030 to 2031?",
            "60",
        ),
        ("What were accounts payable at the end of 2031?", "90"),
        (
            "What did the company owe its suppliers at the end of 2031?",
            "90",
        ),
        (
            "By how much did accounts receivable change from 2030 to 2031?",
            "20",
        ),
        (
            "What was selling, general and administrative expense in 2031?",
            "110",
        ),
        (
            "Fulfillment costs as a percentage of net sales in 2031?",
            "5.0%",
        ),
        ("Operating income less net earnings in 2031?", "56"),
        // The row "Debt" under interest is an expense.
        ("What was total debt at the end of 2031?", "100"),
        ("What was interest expense in 2031?", "20"),
        (
            "What were finance lease obligations at the end of 2031?",
            "67",
        ),
        (
            "What were current and non-current finance lease obligations at the end of 2031?",
            "67",
        ),
        (
            "What were net sales outside the United States in 2031?",
            "360",
        ),
        (
            "What share of 2031 net sales was made outside the United States?",
            "40.0%",
        ),
        (
            "What was net cash used in investing activities in 2031?",
            "95",
        ),
    ] {
        let read = ask(&place, question);
        assert!(
            digits(&read) == answer && is_sure(&read),
            "{question}: {answer}: {read}"
        );
    }
    let read = ask(&place, "Net sales in each of the last two years?");
    assert!(is_sure(&read), "{read}");
    let shown = read.to_string();
    assert!(shown.contains("800") && shown.contains("900"), "{read}");
    for question in [
        "What were net sales excluding Canada in 2031?",
        "What were net sales in each of the last five years?",
        "What were marine lease obligations at the end of 2031?",
    ] {
        assert!(!is_sure(&ask(&place, question)), "{question}");
    }
}

/// Names that no label has are found by a tag of the whole company, or of what the question names.
#[test]
fn a_tag_says_what_a_figure_is() {
    let context = |id: &str, segment: &str| {
        format!(
            "<xbrli:context id='{id}'><xbrli:entity>{segment}</xbrli:entity><xbrli:period>\
             <xbrli:startDate>2031-01-01</xbrli:startDate><xbrli:endDate>2031-12-31</xbrli:endDate>\
             </xbrli:period></xbrli:context>"
        )
    };
    let member = "<xbrli:segment><xbrldi:explicitMember dimension='us-gaap:Axis'>x:BluePumpMember\
                  </xbrldi:explicitMember></xbrli:segment>";
    let row = |label: &str, element: &str, context: &str, text: &str| {
        format!(
            "<tr><td>{label}</td><td><ix:nonFraction name='us-gaap:{element}' contextRef='{context}' \
             unitRef='usd' scale='6'>{text}</ix:nonFraction></td></tr>"
        )
    };
    let rows = [
        row("Billed to clients", "Revenues", "a", "900"),
        row("Of the first kind", "Revenues", "b", "70"),
        row(
            "Outlays for plant", "PaymentsToAcquireProductiveAssets", "a", "60",
        ),
        row("Income from operations", "NetIncomeLoss", "a", "44"),
    ];
    let page = format!(
        "<html><body><div style='display:none'><ix:header><ix:resources>{}{}\
         <xbrli:unit id='usd'><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit></ix:resources>\
         </ix:header></div><p>Key figures</p><p>(In millions)</p><table><tr><td></td><td>2031</td></tr>{}\
         </table></body></html>",
        context("a", ""),
        context("b", member),
        rows.concat()
    );
    let place = Workplace::new();
    place.write("10k.htm", &page);
    for (question, answer) in [
        ("What was revenue in 2031?", "900"),
        ("What was revenue of the blue pump in 2031?", "70"),
        ("What was capex in 2031?", "60"),
        ("What was operating profit in 2031?", ""),
        ("What was gross revenue in 2031?", ""),
        ("What was gross profit in 2031?", ""),
    ] {
        let read = ask(&place, question);
        match answer {
            "" => assert!(!is_sure(&read), "{question}: {read}"),
            answer => assert!(
                is_sure(&read) && digits(&read) == answer,
                "{question}: {read}"
            ),
        }
    }
    let untagged = page.replace("ix:nonFraction", "span");
    place.write("10k.htm", &untagged);
    assert!(!is_sure(&ask(&place, "What was capex in 2031?")));
}

/// The word "each" was one that the page lacks.
#[test]
fn each_of_the_last_periods_of_a_table_of_the_user_is_listed() {
    let place = Workplace::new();
    place.write(
        "years.csv",
        "Year,Revenue,Cost\n2029,100,60\n2030,80,50\n2031,120,70\n",
    );
    place.write(
        "quarters.csv",
        "Quarter,Revenue\nQ1 2031,100\nQ2 2031,80\nQ3 2031,120\n",
    );
    for (question, values) in [
        (
            "years.csv 'What was revenue in each of the last two years?'",
            ["80", "120"],
        ),
        ("years.csv 'What was cost in every year?'", ["60", "70"]),
        (
            "quarters.csv 'What was revenue in each quarter?'",
            ["80", "120"],
        ),
    ] {
        let read = place.run(&format!("ask {question} --json")).json();
        let shown = read.to_string();
        let all = values.iter().all(|value| shown.contains(value));
        assert!(is_sure(&read) && all, "{question}: {read}");
    }
}

/// The report of a company whose statements cannot be added up by their names alone.
fn odd_report() -> String {
    let years: &[&str] = &["", "2030", "2031", "2029"];
    let days: &[&str] = &["", "December 31, 2030", "December 31, 2031"];
    let tables = [
        table(
            "CONSOLIDATED STATEMENTS OF INCOME",
            &[
                years,
                &["Turnover:"],
                &["Products", "1,100", "1,250", "900"],
                &["Services", "190", "200", "150"],
                &["Less: returns", "80", "90", "70"],
                &["Turnover, net", "1,210", "1,360", "980"],
                &["Interest:"],
                &["Bonds", "12", "14", "11"],
                &["Loans", "5", "6", "4"],
                &["Total interest", "17", "20", "15"],
                &["Net income", "93", "144", "80"],
            ],
        ),
        table(
            "CONSOLIDATED BALANCE SHEETS",
            &[
                days,
                &["Current assets:"],
                &["Cash and cash equivalents", "40", "(50)"],
                &["Deferred income taxes", "20", "30"],
                &["Total current assets", "300", "350"],
                &["Total assets", "700", "800"],
                &["Current liabilities:"],
                &["Short-term debt", "10", "20"],
                &["Warranties, current", "7", "8"],
                &["Total current liabilities", "90", "100"],
                &["Bonds", "280", "300"],
                &["Long-term debt", "170", "180"],
                &["Warranties, non-current", "20", "30"],
                &["Deferred income taxes, non-current", "50", "60"],
                &["Total liabilities", "480", "500"],
            ],
        ),
        table(
            "CONSOLIDATED STATEMENTS OF CASH FLOWS",
            &[
                years,
                &["Net income", "93", "144", "80"],
                &[
                    "Net cash provided by operating activities",
                    "130",
                    "190",
                    "120",
                ],
                &["Additions to property", "(60)", "(95)", "(50)"],
                &[
                    "Cash and cash equivalents at end of year",
                    "40",
                    "(50)",
                    "25",
                ],
            ],
        ),
    ];
    format!("<html><body>{}</body></html>", tables.concat())
}

/// Asks each question; it is answered surely by the digits given, or not surely without them.
fn asked_of(page: &str, name: &str, questions: &[(&str, &str)]) {
    let place = Workplace::new();
    place.write(name, page);
    for (question, answer) in questions {
        let read = place.run(&format!("ask {name} '{question}' --json")).json();
        let right = match *answer {
            "" => !is_sure(&read),
            answer => is_sure(&read) && digits(&read) == answer,
        };
        assert!(right, "{question}: {answer:?}: {read}");
    }
}

/// An overdraft was taken for cash: only what is paid is printed below zero.
#[test]
fn only_an_outflow_is_subtracted_without_its_sign() {
    asked_of(
        &odd_report(),
        "10k.htm",
        &[
            ("What was net debt at the end of 2031?", "250"),
            ("What was net debt at the end of 2030?", "140"),
            ("What was free cash flow in 2031?", "95"),
        ],
    );
}

/// Deductions that are printed without a sign were added.
#[test]
fn rows_under_a_heading_are_summed_where_a_row_has_their_sum() {
    asked_of(
        &odd_report(),
        "10k.htm",
        &[
            ("What was turnover in 2029?", ""),
            ("What was interest expense in 2029?", "15"),
            ("What was interest expense?", "20"),
        ],
    );
}

/// An asset was added to what is owed, and a figure of the first column was taken.
#[test]
fn both_terms_are_of_one_side_of_the_balance_sheet() {
    asked_of(
        &odd_report(),
        "10k.htm",
        &[
            (
                "What were current and non-current deferred income taxes at the end of 2031?",
                "",
            ),
            (
                "What were current and non-current warranties at the end of 2030?",
                "27",
            ),
            ("What were current and non-current warranties?", "38"),
        ],
    );
}

/// Interest on the bonds answered for a day that the balance sheet does not have.
#[test]
fn a_balance_is_of_no_statement_of_a_period() {
    asked_of(
        &odd_report(),
        "10k.htm",
        &[
            ("What were bonds at December 31, 2031?", "300"),
            ("What was the balance of bonds in 2031?", "300"),
            (
                "What were cash and cash equivalents at the end of 2029?",
                "25",
            ),
            ("What were average bonds in 2031 and 2029?", ""),
            ("What were bonds in 2031 and 2029?", ""),
        ],
    );
}

/// A row of one day answered for its month, or one near it.
#[test]
fn a_row_of_a_day_is_no_month() {
    asked_of(
        "Date,Sales\n2031-01-05,10\n2031-01-17,20\n2031-01-31,30\n2031-02-03,40\n2031-02-20,50\n",
        "days.csv",
        &[
            ("total sales in January 2031", ""),
            ("average sales in January 2031", ""),
            ("highest sales in January 2031", ""),
            ("sales in 2031", ""),
            ("sales in February 2031", ""),
            ("sales on January 17, 2031", "20"),
        ],
    );
}

/// The year before answered for the quarter before, and the year for its quarters.
#[test]
fn the_quarters_of_a_table_are_not_its_years() {
    asked_of(
        "Quarter,Revenue\nQ1 2030,80\nQ2 2030,85\nQ1 2031,100\nQ2 2031,110\n",
        "growth.csv",
        &[
            ("revenue growth quarter over quarter in Q2 2031", ""),
            (
                "How much did revenue grow quarter-on-quarter in Q2 2031?",
                "",
            ),
            (
                "By how much did revenue grow year over year in Q2 2031?",
                "25",
            ),
        ],
    );
    asked_of(
        "Item,Q1 2031,Q2 2031,Q3 2031,Q4 2031,FY 2031\nCost,50,60,61,62,233\n",
        "quarters.csv",
        &[
            ("cost in each quarter of 2031", "50; 60; 61; 62"),
            ("cost in every month of 2031", ""),
            ("cost in each quarter of 2030", ""),
            ("cost in 2031", "233"),
        ],
    );
    asked_of(
        "Item,Q1 2031,Q3 2031,Q4 2031,FY 2031\nCost,50,61,62,233\n",
        "quarters.csv",
        &[("cost in each quarter of 2031", "")],
    );
}
