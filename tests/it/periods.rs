//! `convfinqa ask`: which period a heading is of, and a period as the answer.

use serde_json::{Value as Json, json};

use crate::support::cli::Workplace;
use crate::support::json::has;

fn ask(place: &Workplace, file: &str, question: &str) -> Json {
    let ran = place.run(&format!("ask {file} '{question}' --json"));
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{file}: {}", ran.stderr))
}

/// A retailer's fiscal 2031 ends on February 1, 2032: its columns were taken for the year before.
#[test]
fn a_heading_that_names_a_fiscal_year_is_not_shifted() {
    let cover = "<div style='display:none'><ix:header><ix:hidden>\
        <ix:nonNumeric name='dei:DocumentFiscalYearFocus'>2031</ix:nonNumeric>\
        <ix:nonNumeric name='dei:DocumentPeriodEndDate'>2032-02-01</ix:nonNumeric>\
        <ix:nonNumeric name='dei:CurrentFiscalYearEndDate'>--02-01</ix:nonNumeric></ix:hidden></ix:header></div>";
    let place = Workplace::new();
    for (file, heads) in [
        ("named.htm", ["Fiscal 2031", "Fiscal 2030", "Fiscal 2029"]),
        ("bare.htm", ["2031", "2030", "2029"]),
        (
            "dated.htm",
            [
                "Year ended February 1, 2032", "Year ended February 2, 2031",
                "Year ended February 3, 2030",
            ],
        ),
    ] {
        let rows = [
            [&["", ""][..1], &heads].concat(),
            vec!["Net sales", "8,410", "7,950", "7,320"],
            vec!["Gross profit", "2,910", "2,730", "2,510"],
        ];
        let rows = rows.map(|cells| format!("<tr><td>{}</td></tr>", cells.join("</td><td>")));
        let page = format!(
            "<html><body>{cover}<p>Consolidated statements of earnings (in millions)</p><table>{}</table></body></html>",
            rows.concat()
        );
        place.write(file, &page);
        for (question, answer) in [
            ("what were net sales in fiscal 2031?", "8,410 million"),
            ("what were net sales in fiscal 2030?", "7,950 million"),
            ("what was the gross profit in 2029?", "2,510 million"),
            (
                "what was the change in net sales from fiscal 2029 to fiscal 2030?",
                "630 million",
            ),
        ] {
            let json = ask(&place, file, question);
            has(
                &json,
                json!({"answer": answer, "doubt": null, "stop": "accepted"}),
            );
        }
    }
}

/// "31, confidence 0.95" was the answer on every table whose headings are dates.
#[test]
fn a_period_or_a_name_is_the_answer_and_not_a_number_in_it() {
    let place = Workplace::new();
    place.write(
        "years.md",
        "| (in millions) | Year ended December 31, 2033 | Year ended December 31, 2032 | Year ended December 31, 2031 |\n\
         |---|---|---|---|\n| Revenue | 150 | 140 | 130 |\n| Operating profit | 20 | 11 | 15 |\n| Net income | 12 | 10 | 7 |\n",
    );
    place.write(
        "dates.csv",
        ",\"As of June 30, 2033\",\"As of June 30, 2032\",\"As of June 30, 2031\"\nBank debt,40,52,45\nCash,9,5,7\n",
    );
    place.write("quarters.csv", ",Q1 2031,Q2 2031,Q3 2031\nSales,40,52,45\n");
    place.write(
        "notes.csv",
        "Issue,2031\n\"Notes, 10-year\",40\n\"Notes, 5-year\",52\n",
    );
    let rows = [
        ["", "FY2031", "FY2032", "FY2033"],
        ["NPL ratio", "3.1%", "2.9%", "2.7%"],
    ];
    let rows = rows.map(|cells| format!("<tr><td>{}</td></tr>", cells.join("</td><td>")));
    place.write("bank.htm", &format!("<table>{}</table>", rows.concat()));
    for (file, question, answer, plain) in [
        (
            "years.md",
            "Which year had the lowest net income?",
            "2031",
            json!(2031.0),
        ),
        (
            "years.md",
            "In which year was revenue highest?",
            "2033",
            json!(2033.0),
        ),
        (
            "years.md",
            "Which year had the lowest operating profit?",
            "2032",
            json!(2032.0),
        ),
        (
            "dates.csv",
            "When was bank debt highest?",
            "June 30, 2032",
            Json::Null,
        ),
        (
            "dates.csv",
            "In which year was cash lowest?",
            "2032",
            json!(2032.0),
        ),
        (
            "quarters.csv",
            "Which quarter had the highest sales?",
            "Q2 2031",
            Json::Null,
        ),
        (
            "notes.csv",
            "Which issue was the smallest in 2031?",
            "Notes, 10-year",
            Json::Null,
        ),
        (
            "bank.htm",
            "Which year had the highest NPL ratio?",
            "2031",
            json!(2031.0),
        ),
    ] {
        let json = ask(&place, file, question);
        has(
            &json,
            json!({"answer": answer, "plain_value": plain, "doubt": null}),
        );
    }
}

#[test]
fn headings_are_read_as_people_and_programs_write_periods() {
    let place = Workplace::new();
    for (heads, question) in [
        (["2031-12", "2030-12"], "sales in 2031"),
        (["2031-12", "2030-12"], "sales in December 2031"),
        (["12/31/31", "12/31/30"], "sales in 2031"),
        (["31/12/2031", "31/12/2030"], "sales in 2031"),
        (["03/04/31", "25/04/31"], "sales on 3 April 2031"),
        (["04/03/31", "04/25/31"], "sales on 3 April 2031"),
        (["Mar 2031", "Mar 2030"], "sales in March 2031"),
        (["Dec-31", "Dec-30"], "sales in December 2031"),
        (["Dec-31 2031", "Dec-31 2030"], "sales on December 31, 2031"),
        (["CY31", "CY30"], "sales in 2031"),
        (["CY2031", "CY2030"], "sales in 2031"),
        (["F2031", "F2030"], "sales in 2031"),
        (["FY31", "FY30"], "sales in FY31"),
        (["2031.0", "2030.0"], "sales in 2031"),
        (["2031A", "2032E"], "sales in 2031"),
        (["2031a", "2032e"], "sales in 2031"),
        (["FY31A", "FY32e"], "sales in FY31"),
        (["FY2031E", "FY2032E"], "sales in FY2031"),
        (["CY2031E", "CY2032E"], "sales in 2031"),
        (["1Q31A", "1Q32E"], "sales in the first quarter of 2031"),
        (["Q1 31E", "Q1 32E"], "sales in Q1 2031"),
        (["Mar-31A", "Mar-32E"], "sales in March 2031"),
    ] {
        let [first, second] = heads;
        place.write(
            "t.csv",
            &format!("Item,{first},{second}\nSales,412,398\nRent,7,6\n"),
        );
        let json = ask(&place, "t.csv", question);
        has(&json, json!({"answer": "412", "doubt": null}));
    }
    // Of which day is unknown, so no day answers.
    place.write("t.csv", "Item,03/04/31,05/06/31\nSales,412,398\n");
    let json = ask(&place, "t.csv", "sales on 3 April 2031");
    assert!(
        json["doubt"].is_string() || json["answer"].is_null(),
        "{json}"
    );
}

/// A forecast was "the latest" figure.
#[test]
fn a_plan_is_never_the_latest() {
    let place = Workplace::new();
    for plan in [
        "2032E", "FY32E", "2032F", "2032 Budget", "Forecast 2032", "2032 (plan)", "2032B", "FY32e",
        "FY2032E", "CY2032E", "2032P",
    ] {
        let rows = [
            ["", "2030", "2031", plan],
            ["Net sales", "380", "412", "450"],
            ["Rent", "6", "7", "8"],
        ];
        let rows = rows.map(|cells| format!("<tr><td>{}</td></tr>", cells.join("</td><td>")));
        let title = "Consolidated statements of income";
        place.write(
            "a.htm",
            &format!("<p>{title}</p><table>{}</table>", rows.concat()),
        );
        let json = ask(&place, "a.htm", "what were net sales?");
        has(&json, json!({"answer": "412", "doubt": null}));
    }
}
