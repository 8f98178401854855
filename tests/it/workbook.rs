//! `convfinqa ask` about workbooks: what is printed is what is read.

use serde_json::{Value as Json, json};

use crate::support::book::{Sheet, book};
use crate::support::cli::Workplace;
use crate::support::json::has;

/// A folder with a workbook of one sheet.
fn workplace(formats: &[&str], sheets: &[Sheet<'_>]) -> Workplace {
    let place = Workplace::new();
    std::fs::write(place.path("book.xlsx"), book(formats, sheets)).unwrap();
    place
}

fn ask(place: &Workplace, question: &str) -> Json {
    let ran = place.run(&format!("ask book.xlsx '{question}' --json"));
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{question}: {}", ran.stderr))
}

/// An insurer's figures were printed in whole kroner under "in millions", and 22.1 as 2210 %.
#[test]
fn figures_are_those_that_their_number_formats_print() {
    let formats = [
        "#,##0,,", "0.0\"%\"", "0.0%", "0.0,,\"m\"", "#,##0.0,", "#,##0;[Red](#,##0)", "# ?/?",
    ];
    let rows: &[(&str, &[&str])] = &[
        ("", &["Nordvik, overview (DKK in millions)"]),
        ("", &["Item", "FY 2031", "FY 2030"]),
        (
            "",
            &["Gross premium income", "1|39767948584", "1|37012499999"],
        ),
        ("", &["Loss before tax", "1|-6979793206", "1|5000000"]),
        ("", &["Tax rate", "2|22.1", "2|21"]),
        ("", &["Solvency rate", "3|0.14812", "3|0.15"]),
        ("", &["Dividends", "4|2450000", "4|2350000"]),
    ];
    let place = workplace(&formats, &[Sheet("Overview", "", "", rows)]);
    for (question, answer, value) in [
        (
            "gross premium income in FY 2031?", "DKK 39,768 million", 39_768e6,
        ),
        ("loss before tax in FY 2031?", "-DKK 6,980 million", -6980e6),
        ("tax rate in FY 2031?", "22.1%", 22.1),
        ("solvency rate in FY 2031?", "14.8%", 14.8),
        ("dividends in FY 2031?", "DKK 2.5 million", 2.5e6),
        // Of the stored values: the printed ones differ by 2756.
        (
            "change in gross premium income from FY 2030 to FY 2031?",
            "DKK 2,755.449 million",
            2755.448585e6,
        ),
    ] {
        let json = ask(&place, question);
        has(&json, json!({"answer": answer, "doubt": null}));
        let plain = json["plain_value"].as_f64().unwrap();
        assert!(
            (plain - value).abs() < 1e-6 * value.abs(),
            "{question}: {json}"
        );
    }
    // No scale is printed, but the format takes a thousand off.
    let rows: &[(&str, &[&str])] = &[
        ("", &["Item", "2031", "2030"]),
        ("", &["Rent", "5|41250", "5|40000"]),
        ("", &["Fees", "6|-5400", "6|4000"]),
        ("", &["Weight", "7|12.5", "7|3"]),
    ];
    let place = workplace(&formats, &[Sheet("Costs", "", "", rows)]);
    for (question, answer, value) in [
        ("rent in 2031?", "41.3 thousand", 41_300.0),
        ("fees in 2031?", "-5,400", -5400.0),
        ("weight in 2031?", "12.5", 12.5),
    ] {
        let json = ask(&place, question);
        has(
            &json,
            json!({"answer": answer, "plain_value": value, "doubt": null}),
        );
    }
}

#[test]
fn a_figure_is_named_by_its_sheet_and_cell() {
    let rows: &[(&str, &[&str])] = &[
        ("", &["Ratios"]),
        ("", &["", "2031", "2030"]),
        ("", &["Net margin", "1|0.148", "1|0.15"]),
    ];
    let place = workplace(&["0.0%"], &[Sheet("Key figures", "", "", rows)]);
    let ran = place.run("ask book.xlsx 'net margin in 2030?'");
    ran.succeeds()
        .prints("Key figures!C3  15.0  Net margin · 2030");
    let json = ask(&place, "net margin in 2030?");
    assert_eq!(json["evidence"][0]["cell"], "Key figures!C3", "{json}");
}

/// A hidden draft was once "the latest" figure.
#[test]
fn what_is_hidden_does_not_answer_and_is_said_to_be_there() {
    let rows: &[(&str, &[&str])] = &[
        ("", &["$ in thousands"]),
        ("", &["", "2030", "2031", "2032"]),
        ("", &["Revenue", "0|41000", "0|44750", "0|47100"]),
        (
            "hidden='1' outlineLevel='1'",
            &["Of which north", "0|11000", "0|12000", "0|13000"],
        ),
        ("", &["Fees", "1|700", "1|800", "1|900"]),
    ];
    let columns = "<cols><col min='4' max='4' width='9' hidden='1'/></cols>";
    let draft: &[(&str, &[&str])] = &[
        ("", &["", "2030", "2031"]),
        ("", &["Restructuring charges", "0|400", "0|432"]),
    ];
    let sheets = [
        Sheet("P&L", "", columns, rows),
        Sheet("old", "state='veryHidden'", "", draft),
        Sheet("draft", "state='hidden'", "", draft),
    ];
    let place = workplace(&[";;;"], &sheets);
    let json = ask(&place, "what was revenue?");
    has(&json, json!({"answer": "$44,750 thousand", "doubt": null}));
    for (question, why) in [
        (
            "what was revenue in 2032?", "Revenue · 2032 is in a hidden column",
        ),
        (
            "of which north in 2031?",
            "Of which north · 2031 is in a hidden row",
        ),
        (
            "what were fees in 2031?",
            "Fees · 2031 is hidden by its number format",
        ),
        (
            "restructuring charges in 2031?",
            "Restructuring charges · 2031 is in a hidden sheet",
        ),
    ] {
        let ran = place.run(&format!("ask book.xlsx '{question}'"));
        ran.ends(4).prints(&format!("none: {why}"));
    }
    let listed = place.run("ask book.xlsx --list-tables");
    listed.succeeds();
    assert!(!listed.stdout.contains("2032") && !listed.stdout.contains("432"));
    for line in [
        "not read: column D of \"P&L\" is hidden",
        "not read: row 4 of \"P&L\" is hidden",
        "not read: 2 cells of \"P&L\" hidden by their number format",
        "not read: the sheet \"old\" is hidden",
        "not read: the sheet \"draft\" is hidden",
    ] {
        listed.tells(line);
    }
}

/// A total without a value was taken for a heading, and the part above it for the total.
#[test]
fn a_formula_without_a_value_is_computed_if_it_is_a_sum_and_is_no_heading() {
    let rows: &[(&str, &[&str])] = &[
        ("", &["Loans (in millions)"]),
        ("", &["", "2032", "2033"]),
        ("", &["Mortgages", "0|43000", "0|44020"]),
        ("", &["SME loans", "0|15000", "0|16040"]),
        ("", &["Total loans", "=SUM(B3:B4)", "=SUM(C3:C4)"]),
        ("", &["Loans a branch", "#N/A", "=C5/12"]),
        ("", &["Other loans", "0|7", "0|8"]),
    ];
    let place = workplace(&[], &[Sheet("Loans", "", "", rows)]);
    let ran = place.run("ask book.xlsx 'total loans in 2033?'");
    ran.succeeds().prints("Answer    60,060 million");
    ran.prints("computed: SUM(C3:C4)");
    let json = ask(&place, "total loans in 2033?");
    assert_eq!(json["evidence"][0]["formula"], "SUM(C3:C4)", "{json}");
    let ran = place.run("ask book.xlsx 'loans a branch in 2033?' --quiet");
    ran.ends(4)
        .tells("Loans a branch · 2033 is a formula without a stored value");
    let json = ask(&place, "other loans in 2033?");
    assert_eq!(json["doubt"], Json::Null, "no section: {json}");
    let listed = place.run("ask book.xlsx --list-tables");
    listed
        .succeeds()
        .prints("5 rows; in millions; 2 rows of formulas without values, 1 row computed as");
    listed.tells("not read: 1 cell of \"Loans\" with errors");
}

/// A bank's ratios were doubted although each word was their label's.
#[test]
fn a_ratio_is_answered_by_its_label() {
    let rows: &[(&str, &[&str])] = &[
        ("", &["", "FY2031", "FY2032", "FY2033"]),
        ("", &["CET1 ratio", "1|0.141", "1|0.148", "1|0.152"]),
        ("", &["NPL ratio", "1|0.031", "1|0.029", "1|0.027"]),
        ("", &["Cost/income ratio", "1|0.605", "1|0.571", "1|0.55"]),
    ];
    let place = workplace(&["0.0%"], &[Sheet("Key figures", "", "", rows)]);
    for (question, answer) in [
        ("What was the CET1 ratio in 2032?", "14.8%"),
        ("Which year had the highest NPL ratio?", "2031"),
        (
            "By how many percentage points did the cost/income ratio improve from 2031 to 2033?",
            "5.5 percentage points",
        ),
        (
            "By how many percentage points did the CET1 ratio improve from 2031 to 2033?",
            "1.1 percentage points",
        ),
    ] {
        let json = ask(&place, question);
        has(&json, json!({"answer": answer, "doubt": null}));
    }
}

/// Amounts without a scale answered "how many mortgages".
#[test]
fn a_title_states_the_unit_of_its_table() {
    let rows: &[(&str, &[&str])] = &[
        ("", &["Loan portfolio (EUR million)"]),
        ("", &["", "2032", "2033"]),
        ("", &["Mortgages", "0|43000", "0|44020"]),
        ("", &["SME loans", "0|15000", "0|16040"]),
    ];
    let place = workplace(&[], &[Sheet("Loans", "", "", rows)]);
    let json = ask(&place, "what was mortgages in 2033?");
    has(&json, json!({"plain_value": 44_020e6, "doubt": null}));
    let json = ask(&place, "how many mortgages were there in 2033?");
    let doubt = "the question asks for a number of things";
    has(&json, json!({"doubt": doubt}));
}

/// A model has the same table for each case.
#[test]
fn the_same_row_on_several_sheets_is_not_sure() {
    let base: &[(&str, &[&str])] = &[
        ("", &["Income statement (in millions)"]),
        ("", &["", "2032", "2031"]),
        ("", &["Revenue", "0|1250", "0|1100"]),
        ("", &["Costs", "0|900", "0|850"]),
        ("", &["Profit", "0|350", "0|250"]),
    ];
    let bull: &[(&str, &[&str])] = &[
        ("", &["Assumes two new plants (in millions)"]),
        ("", &["", "2032", "2031"]),
        ("", &["Revenue", "0|1400", "0|1100"]),
        ("", &["Costs", "0|950", "0|850"]),
        ("", &["Profit", "0|450", "0|250"]),
    ];
    let place = workplace(
        &[],
        &[Sheet("Base", "", "", base), Sheet("Bull", "", "", bull)],
    );
    let json = ask(&place, "revenue in 2032?");
    let doubt = json["doubt"].as_str().unwrap_or_default();
    assert!(doubt.contains("Revenue · 2032 (Base)"), "{json}");
    assert!(doubt.contains("Revenue · 2032 (Bull)"), "{json}");
    // Where they agree, any of them answers.
    let agreed = ask(&place, "revenue in 2031?");
    has(&agreed, json!({"plain_value": 1100e6, "doubt": null}));
    let named = ask(&place, "revenue in the bull case in 2032?");
    assert_eq!(named["plain_value"], 1400e6, "{named}");
}
