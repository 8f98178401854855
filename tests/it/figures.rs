//! `convfinqa ask`: what a cell holds, in which unit, and in which of several tables.

use serde_json::{Value as Json, json};

use crate::support::cli::Workplace;

fn ask(place: &Workplace, file: &str, question: &str) -> Json {
    let ran = place.run(&format!("ask {file} '{question}' --json"));
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{file}: {}", ran.stderr))
}

/// Asserts that a question has this value in units, and no doubt.
fn is_sure(place: &Workplace, file: &str, question: &str, value: f64) {
    let read = ask(place, file, question);
    let found = read["plain_value"].as_f64();
    let close = found.is_some_and(|found| (found - value).abs() <= 1e-9 * value.abs());
    assert!(
        close && read["doubt"].is_null(),
        "{file}: {question}: {read}"
    );
}

/// Asserts that a question is not answered surely.
fn is_open(place: &Workplace, file: &str, question: &str, why: &str) {
    let read = ask(place, file, question);
    let doubt = read["doubt"].as_str().unwrap_or_default();
    assert!(doubt.contains(why), "{file}: {question}: {read}");
}

/// Its only cell was taken for a title, and the column had no period.
#[test]
fn a_year_above_the_only_column_is_its_heading() {
    let place = Workplace::new();
    place.write("a.csv", ",2019\nRevenue,1250\nCosts,900\n");
    place.write("a.md", "| | 2019 |\n|---|---|\n| Revenue | 1,250 |\n");
    for file in ["a.csv", "a.md"] {
        is_sure(&place, file, "what was revenue in 2019?", 1250.0);
    }
    place.write(
        "b.csv",
        "Income statement,,\n,2019,2018\nRevenue,1250,1000\n",
    );
    is_sure(&place, "b.csv", "what was revenue in 2019?", 1250.0);
}

#[test]
fn a_figure_is_understood_whole_or_the_answer_is_not_sure() {
    let place = Workplace::new();
    let cells = [
        ("'-45", -45.0),
        ("-USD 45", -45.0),
        ("(₹45)", -45.0),
        ("—45", -45.0),
        ("45-", -45.0),
        ("△45", -45.0),
        ("4.5E+11", 4.5e11),
    ];
    for (cell, value) in cells {
        place.write(
            "a.csv",
            &format!("Item,2031,2030\nSales,90,80\nProfit,{cell},18\n"),
        );
        is_sure(&place, "a.csv", "what was profit in 2031?", value);
    }
    for cell in ["(45", "45 -", "45 Dr", "18 Cr", "minus 45", "<45"] {
        place.write(
            "a.csv",
            &format!("Item,2031,2030\nSales,90,80\nProfit,{cell},18\n"),
        );
        is_open(
            &place, "a.csv", "what was profit in 2031?", "is not understood",
        );
    }
    place.write("a.csv", "Item,2031,2030\nProfit,▲98,▼36\n");
    is_sure(&place, "a.csv", "what was profit in 2031?", 98.0);
    is_sure(&place, "a.csv", "what was profit in 2030?", -36.0);
    place.write("a.csv", "Item,2031,2030\nProfit,▲98,36\n");
    is_sure(&place, "a.csv", "what was profit in 2031?", -98.0);
}

#[test]
fn a_european_report_is_read_in_its_notation() {
    let place = Workplace::new();
    place.write(
        "plain.xhtml",
        "<html><body><p>Income statement</p><table><tr><td>€ million</td><td>2031</td><td>2030</td></tr>\
         <tr><td>Revenue</td><td>2 345,6</td><td>2 121,0</td></tr>\
         <tr><td>Costs</td><td>(841,2)</td><td>(798,1)</td></tr></table></body></html>",
    );
    is_sure(
        &place, "plain.xhtml", "what was revenue in 2031?", 2_345_600_000.0,
    );
    is_sure(
        &place,
        "plain.xhtml",
        "what was the change in revenue from 2030 to 2031?",
        224_600_000.0,
    );
    let figure = |context: &str, text: &str| {
        format!(
            "<td><ix:nonFraction name='ifrs-full:Revenue' contextRef='{context}' unitRef='u' scale='6' \
             format='ixt4:num-comma-decimal'>{text}</ix:nonFraction></td>"
        )
    };
    let context = |id: &str, year: u16| {
        format!(
            "<xbrli:context id='{id}'><xbrli:period><xbrli:startDate>{year}-01-01</xbrli:startDate>\
             <xbrli:endDate>{year}-12-31</xbrli:endDate></xbrli:period></xbrli:context>"
        )
    };
    // "1,121" alone would be 1121.
    place.write(
        "tagged.xhtml",
        &format!(
            "<html><body><div style='display:none'><ix:header><ix:resources>{}{}<xbrli:unit id='u'>\
             <xbrli:measure>iso4217:EUR</xbrli:measure></xbrli:unit></ix:resources></ix:header></div>\
             <p>Income statement</p><table><tr><td></td><td>2031</td><td>2030</td></tr>\
             <tr><td>Revenue</td>{}{}</tr></table></body></html>",
            context("a", 2031),
            context("b", 2030),
            figure("a", "1,234"),
            figure("b", "1,121"),
        ),
    );
    is_sure(
        &place, "tagged.xhtml", "what was revenue in 2031?", 1_234_000.0,
    );
    let boxes = "<div style='position: absolute; left:40px'>Revenue</div>".repeat(9);
    place.write("boxes.xhtml", &format!("<html><body>{boxes}</body></html>"));
    let ran = place.run("ask boxes.xhtml 'what was revenue?'");
    assert!(
        ran.stderr.contains("boxes at fixed places"),
        "{}",
        ran.stderr
    );
}

#[test]
fn units_are_read_in_the_forms_of_the_world() {
    let place = Workplace::new();
    for (unit, factor) in [
        ("£m", 1e6),
        ("€ million", 1e6),
        ("EUR thousand", 1e3),
        ("TEUR", 1e3),
        ("Mio. EUR", 1e6),
        ("CHF m", 1e6),
        ("RMB'000", 1e3),
        ("US$m", 1e6),
        ("$MM", 1e6),
        ("NOK mill.", 1e6),
        ("($000)", 1e3),
        ("Rs. in crore", 1e7),
        ("₹ lakh", 1e5),
        (
            "Millions, except per-share figures, for the year ended June 30,",
            1e6,
        ),
    ] {
        let table = "<tr><td>UNIT</td><td>2031</td><td>2030</td></tr><tr><td>Revenue</td><td>1,250</td><td>1,000</td></tr>";
        place.write(
            "corner.htm",
            &format!(
                "<p>Income</p><table>{}</table>",
                table.replace("UNIT", unit)
            ),
        );
        place.write(
            "line.htm",
            &format!(
                "<p>Income</p><p>{unit}</p><table>{}</table>",
                table.replace("UNIT", "")
            ),
        );
        place.write(
            "t.csv",
            &format!("\"{unit}\",2031,2030\nRevenue,\"1,250\",\"1,000\"\n"),
        );
        let files = ["corner.htm", "line.htm", "t.csv"];
        let files = files
            .iter()
            .filter(|file| **file != "line.htm" || !unit.contains(','));
        for file in files {
            let read = ask(&place, file, "what was revenue in 2031?");
            let found = read["plain_value"].as_f64().unwrap_or_default();
            assert!(
                (found - 1250.0 * factor).abs() < 1.0,
                "{file} {unit}: {read}"
            );
        }
    }
}

#[test]
fn rows_that_are_not_money_keep_no_scale() {
    let place = Workplace::new();
    let rows = [
        ("Revenue", "1,250", 1_250_000_000.0),
        ("Diluted EPS", "1.52", 1.52),
        ("DPS", "0.4", 0.4),
        ("Days sales outstanding", "45", 45.0),
        ("Debt to EBITDA", "2.5", 2.5),
        ("Return on equity", "14.2", 14.2),
        ("Interest coverage", "8.1", 8.1),
        ("Customer satisfaction score", "71", 71.0),
    ];
    let html =
        rows.map(|(name, cell, _)| format!("<tr><td>{name}</td><td>{cell}</td><td>9</td></tr>"));
    let csv = rows.map(|(name, cell, _)| format!("{name},\"{cell}\",9\n"));
    let unit = "in millions, except per share data";
    place.write(
        "t.htm",
        &format!(
            "<p>Highlights ({unit})</p><table><tr><td></td><td>2031</td><td>2030</td></tr>{}</table>",
            html.concat()
        ),
    );
    place.write(
        "t.csv",
        &format!("\"({unit})\",2031,2030\n{}", csv.concat()),
    );
    for file in ["t.htm", "t.csv"] {
        for (name, _, value) in rows {
            let read = ask(
                &place,
                file,
                &format!("what was {} in 2031?", name.to_lowercase()),
            );
            assert_eq!(read["plain_value"], json!(value), "{file}: {name}: {read}");
        }
    }
}

/// Every question about a filing whose tables print no scale was "not sure".
#[test]
fn a_tag_settles_the_scale_that_is_not_printed() {
    let place = Workplace::new();
    let report = |above: &str, rows: &str| {
        format!(
            "<html><body><div style='display:none'><ix:header><ix:resources>\
             <xbrli:context id='a'><xbrli:period><xbrli:startDate>2031-01-01</xbrli:startDate>\
             <xbrli:endDate>2031-12-31</xbrli:endDate></xbrli:period></xbrli:context>\
             <xbrli:unit id='usd'><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit>\
             <xbrli:unit id='ps'><xbrli:measure>iso4217:USD</xbrli:measure><xbrli:measure>xbrli:shares</xbrli:measure></xbrli:unit>\
             </ix:resources></ix:header></div><p>{above}</p>\
             <table><tr><td></td><td>2031</td></tr>{rows}</table></body></html>"
        )
    };
    let row = |label: &str, unit: &str, scale: i32, text: &str| {
        format!(
            "<tr><td>{label}</td><td><ix:nonFraction name='x:F' contextRef='a' unitRef='{unit}' \
             scale='{scale}'>{text}</ix:nonFraction></td></tr>"
        )
    };
    let rows = row("Net sales", "usd", 6, "8,410") + &row("Basic", "ps", 0, "13.91");
    place.write("bare.htm", &report("Income statement", &rows));
    is_sure(
        &place, "bare.htm", "what were net sales in 2031?", 8_410_000_000.0,
    );
    // The heading does not say that it is per share.
    place.write(
        "scaled.htm",
        &report("Income statement (in millions)", &rows),
    );
    let read = ask(&place, "scaled.htm", "what was basic in 2031?");
    assert_eq!(read["plain_value"], json!(13.91), "{read}");
    let rows = row("Net sales", "usd", 3, "8,410");
    place.write(
        "other.htm",
        &report("Income statement (in millions)", &rows),
    );
    is_open(
        &place, "other.htm", "what were net sales in 2031?", "says 10^3",
    );
}

/// The note on what is held for sale answered for the balance sheet.
#[test]
fn a_row_of_a_statement_answers_before_the_same_row_of_a_note() {
    let place = Workplace::new();
    let table = |title: &str, rows: &[(&str, &str)]| {
        let rows = rows
            .iter()
            .map(|(name, cell)| format!("<tr><td>{name}</td><td>{cell}</td></tr>"));
        format!(
            "<p>{title}</p><table><tr><td></td><td>2031</td></tr>{}</table>",
            rows.collect::<String>()
        )
    };
    let balance = table(
        "CONSOLIDATED BALANCE SHEETS (in millions)",
        &[
            ("Current Assets", ""),
            ("Inventories", ""),
            ("Materials", "200"),
            ("Goods", "272"),
            ("Total inventories", "472"),
            ("Goodwill", "1,813"),
            ("Total Assets", "2,285"),
        ],
    );
    let note = table(
        "What is held for sale, shown in our consolidated balance sheets, was (in millions):",
        &[("Goodwill", "23"), ("Total inventories", "2")],
    );
    let earnings = table(
        "CONSOLIDATED STATEMENTS OF EARNINGS (in millions)",
        &[
            ("Net sales", "9,000"),
            ("Depreciation and amortization", "3,034"),
        ],
    );
    let cash = table(
        "CONSOLIDATED STATEMENTS OF CASH FLOWS (in millions)",
        &[
            ("Operating activities:", ""),
            ("Depreciation and amortization", "3,336"),
        ],
    );
    place.write(
        "r.htm",
        &format!("<html><body>{balance}{earnings}{cash}{note}</body></html>"),
    );
    is_sure(
        &place, "r.htm", "what was goodwill in 2031?", 1_813_000_000.0,
    );
    is_sure(
        &place, "r.htm", "what were total inventories in 2031?", 472_000_000.0,
    );
    is_open(
        &place,
        "r.htm",
        "what was depreciation and amortization in 2031?",
        "several figures fit",
    );
}

/// Revenue was 100, of the section in percent.
#[test]
fn another_heading_in_a_csv_begins_a_table() {
    let place = Workplace::new();
    place.write(
        "ratios.csv",
        "Key figures of Sorrel\nFinancials\n,2031-12,2032-12,TTM\nRevenue USD Mil,\"5,210\",\"6,030\",\"6,410\"\n\
         Operating Income USD Mil,812,990,\"1,004\"\nRatios\nMargins % of Sales,2031-12,2032-12,TTM\n\
         Revenue,100.00,100.00,100.00\nSG&A,21.30,20.90,20.70\n",
    );
    is_sure(&place, "ratios.csv", "what was revenue in 2032?", 6030e6);
    is_sure(&place, "ratios.csv", "what was the TTM revenue?", 6410e6);
    is_sure(
        &place, "ratios.csv", "what was operating income in 2031?", 812e6,
    );
    let growth = "what was revenue growth in 2032 in percent?";
    assert!(
        (ask(&place, "ratios.csv", growth)["plain_value"]
            .as_f64()
            .unwrap()
            - 15.739)
            .abs()
            < 0.01
    );
    is_open(
        &place, "ratios.csv", "what was SG&A in 2032?", "may not be what is meant",
    );
}

/// The balances differ from it by what was bought and by exchange rates.
#[test]
fn a_row_of_the_cash_flow_answers_for_a_change() {
    let place = Workplace::new();
    place.write(
        "report.htm",
        "<html><p>BALANCE SHEETS</p><p>(in millions)</p><table><tr><td></td><td>December 31, 2032</td><td>December 31, 2031</td></tr>\
         <tr><td>Inventories</td><td>640</td><td>610</td></tr><tr><td>Trade receivables</td><td>905</td><td>880</td></tr></table>\
         <p>STATEMENTS OF CASH FLOWS</p><p>(in millions)</p><table><tr><td></td><td>2032</td><td>2031</td></tr>\
         <tr><td>Net income</td><td>300</td><td>280</td></tr><tr><td>Change in inventories</td><td>(18)</td><td>9</td></tr>\
         <tr><td>Change in trade receivables</td><td>(12)</td><td>(7)</td></tr></table></html>",
    );
    for (question, value) in [
        ("what was the change in inventories in 2032?", -18e6),
        ("what was the change in inventories in 2031?", 9e6),
        ("what was the change in trade receivables in 2032?", -12e6),
    ] {
        is_sure(&place, "report.htm", question, value);
    }
}

/// "Group" is the sum of the others, whatever it is called.
#[test]
fn a_total_is_not_added_to_its_parts() {
    let place = Workplace::new();
    place.write(
        "sales.csv",
        "Region,2032\nNorth,120\nSouth,80\nWest,45\nWorldwide,245\n",
    );
    let json = ask(
        &place,
        "sales.csv",
        "what was the sum of all regions in 2032?",
    );
    assert!(
        json["plain_value"] == 245.0 || !json["doubt"].is_null(),
        "{json}"
    );
}

/// The numbers of notes were the row's latest figures, or made two figures fit.
#[test]
fn a_column_of_notes_has_no_figures() {
    let place = Workplace::new();
    let row = |cells: [&str; 4]| format!("<tr><td>{}</td></tr>", cells.join("</td><td>"));
    let rows = [["", "Note", "2031", "2030"], ["Revenue", "4", "90", "80"]].map(row);
    let rows = rows.concat();
    place.write(
        "a.htm",
        &format!("<p>Income (in millions)</p><table>{rows}</table>"),
    );
    is_sure(&place, "a.htm", "what was revenue?", 90e6);
    place.write(
        "a.csv",
        ",Note,2031,2030\nRevenue,4,90,80\nCosts,\"5, 6\",60,55\n",
    );
    is_sure(
        &place,
        "a.csv",
        "what was the total revenue of 2031 and 2030?",
        170.0,
    );
}

/// 2,871 was read of "287,1".
#[test]
fn a_comma_marks_the_decimals_of_a_sentence_too() {
    let place = Workplace::new();
    let text = "The order backlog was 287,1 million in 2031.";
    let table = "| Mio. EUR | 2031 | 2030 |\n|---|---|---|\n| Umsatz | 1.204,5 | 1.100,2 |\n";
    place.write("a.md", &format!("{text}\n\n{table}"));
    is_sure(
        &place, "a.md", "what was the order backlog in 2031?", 287.1e6,
    );
}

#[test]
fn the_side_of_an_account_is_repeated_and_not_computed_with() {
    let place = Workplace::new();
    let rows = [
        ["Account", "2031", "2030"],
        ["Cash", "45 Dr", "30 Dr"],
        ["Loans", "1,23,456 Cr", "85 Cr"],
    ];
    let csv = rows.map(|row| row.map(|cell| format!("\"{cell}\"")).join(","));
    place.write("a.csv", &csv.join("\n"));
    let row = |cells: [&str; 3]| format!("<tr><td>{}</td></tr>", cells.join("</td><td>"));
    let html = rows.map(row).concat();
    place.write("a.htm", &format!("<p>Ledger</p><table>{html}</table>"));
    for file in ["a.csv", "a.htm"] {
        for (question, answer) in [
            ("what was cash in 2031?", "45 Dr"),
            ("what were loans in 2031?", "123456 Cr"),
        ] {
            let json = ask(&place, file, question);
            assert_eq!(json["answer"], answer, "{json}");
            assert!(json["doubt"].is_null(), "{json}");
        }
        let question = "what was the sum of cash and loans in 2031?";
        is_open(&place, file, question, "sides of an account");
    }
}

/// A column under a segment's name had no period, although its tags have one.
#[test]
fn a_tag_gives_its_period_to_a_column_that_prints_none() {
    let place = Workplace::new();
    let head = r#"<div style="display:none"><ix:header><ix:resources>
        <xbrli:context id="c"><xbrli:period><xbrli:startDate>2031-01-01</xbrli:startDate><xbrli:endDate>2031-12-31</xbrli:endDate></xbrli:period></xbrli:context>
        <xbrli:unit id="u"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit></ix:resources></ix:header></div>"#;
    let figure = |value: &str| {
        format!(
            "<ix:nonFraction name='x:Sales' contextRef='c' unitRef='u' scale='6'>{value}</ix:nonFraction>"
        )
    };
    let page = |cell: &str| {
        format!(
            "<html><body>{head}<p>Sales by kind</p><table><tr><td></td><td>Amount</td></tr>\
            <tr><td>Pipes</td><td>{cell}</td></tr><tr><td>Pumps</td><td>{}</td></tr></table></body></html>",
            figure("7")
        )
    };
    place.write("a.htm", &page(&figure("412")));
    is_sure(&place, "a.htm", "what were sales of pipes in 2031?", 412e6);
    is_open(&place, "a.htm", "what were sales of pipes in 2030?", "2030");
}
