//! `convfinqa ask` about files of every form, whatever they are called.

use serde_json::{Value as Json, json};

use crate::support::book::{Sheet, book};
use crate::support::cli::Workplace;
use crate::support::json::has;

const TABLE: &str = "<p>Income (in millions)</p><table><tr><td></td><td>2031</td><td>2030</td></tr>\
    <tr><td>Net sales</td><td>412</td><td>398</td></tr><tr class='draft'><td>Rent</td><td>7</td><td>6</td></tr></table>";

fn ask(place: &Workplace, file: &str, question: &str) -> Json {
    let ran = place.run(&format!("ask {file} '{question}' --json"));
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{file}: {}", ran.stderr))
}

#[test]
fn a_file_is_read_by_its_content_whatever_it_is_called() {
    let place = Workplace::new();
    let html = format!("<html><body>{TABLE}</body></html>");
    let submission = format!(
        "<SEC-DOCUMENT>0001.txt\n<DOCUMENT>\n<TYPE>10-K\n<TEXT>\n{html}\n</TEXT>\n</DOCUMENT>\n\
         <DOCUMENT>\n<TYPE>GRAPHIC\n<TEXT>\nbegin 644 a.jpg\nNet sales   9   8\nNet sales   7   6\n</TEXT>\n</DOCUMENT>\n</SEC-DOCUMENT>\n"
    );
    let old = "<SEC-DOCUMENT>0002.txt\n<DOCUMENT>\n<TYPE>10-K\n<TEXT>\nIncome (in millions)\n\n\
        <TABLE>\n<CAPTION>\n                 2031      2030\n<S>              <C>       <C>\n\
        Net sales         412       398\nRent                7         6\n</TABLE>\n</TEXT>\n</DOCUMENT>\n</SEC-DOCUMENT>\n";
    let tabs = "Item\t2031\t2030\nNet sales\t412\t398\nRent\t7\t6\n";
    for (file, text) in [
        ("export.xls", html.as_str()),
        ("report", &html),
        ("report.txt", &submission),
        ("old.txt", old),
        ("tabs.xls", tabs),
    ] {
        place.write(file, text);
        let json = ask(&place, file, "what were net sales in 2031?");
        let scale = if file == "tabs.xls" { "" } else { " million" };
        has(
            &json,
            json!({"answer": format!("412{scale}"), "doubt": null}),
        );
    }
    let rows: &[(&str, &[&str])] = &[("", &["", "2031"]), ("", &["Net sales", "0|412"])];
    std::fs::write(
        place.path("book.csv"),
        book(&[], &[Sheet("A", "", "", rows)]),
    )
    .unwrap();
    let json = ask(&place, "book.csv", "what were net sales in 2031?");
    has(&json, json!({"answer": "412", "doubt": null}));
}

#[test]
fn a_form_that_is_not_read_is_named_in_one_line() {
    let place = Workplace::new();
    let xml =
        "<?xml version='1.0'?><Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet'/>";
    let old = |stream: &str| -> Vec<u8> {
        let name = stream.encode_utf16().flat_map(u16::to_le_bytes);
        b"\xD0\xCF\x11\xE0".iter().copied().chain(name).collect()
    };
    for (file, bytes, words) in [
        ("a.xls", old("Workbook"), "(.xls); save it as .xlsx"),
        ("a.xlsx", old("EncryptedPackage"), "it needs a password"),
        ("b.csv", old("WordDocument"), "a Word document (.doc)"),
        ("c.htm", b"\x89PNG\r\n\x1a\n".to_vec(), "it is a picture"),
        (
            "d.xls",
            xml.as_bytes().to_vec(),
            "a workbook in XML of 2003",
        ),
        ("e.pdf", b"{\\rtf1}".to_vec(), "rich text (.rtf)"),
    ] {
        std::fs::write(place.path(file), bytes).unwrap();
        place
            .run(&format!("ask {file} why?"))
            .fails(3, &[file, words]);
    }
}

/// Rows that a page hides by a class were read.
#[test]
fn what_a_style_sheet_hides_does_not_answer() {
    let place = Workplace::new();
    let sheet = "<style>tr.draft { display: none }</style>";
    for (style, answered) in [("", true), (sheet, false)] {
        place.write(
            "a.htm",
            &format!("<html>{style}<body>{TABLE}</body></html>"),
        );
        let json = ask(&place, "a.htm", "what was rent in 2031?");
        assert_eq!(
            json["answer"] == "7 million" && json["doubt"].is_null(),
            answered,
            "{json}"
        );
    }
}

/// A PDF of one upright page and one that is turned.
#[test]
fn a_page_that_is_printed_sideways_is_read_and_named() {
    let line = |x: u32, y: u32, text: &str| format!("BT /F1 10 Tf {x} {y} Td ({text}) Tj ET\n");
    let table: String = [
        (60, 550, "Statements of income"),
        (60, 536, "\\(in thousands\\)"),
        (437, 514, "2031"),
        (557, 514, "2030"),
        (60, 500, "Net sales"),
        (423, 500, "412,300"),
        (543, 500, "398,100"),
        (60, 486, "Cost of sales"),
        (423, 486, "\\(250,100\\)"),
        (543, 486, "\\(240,000\\)"),
        (60, 472, "Gross profit"),
        (423, 472, "162,200"),
        (543, 472, "158,100"),
    ]
    .map(|(x, y, text)| line(x, y, text))
    .concat();
    let pages = [
        line(60, 750, "Key figures"),
        format!("q 0 1 -1 0 612 0 cm\n{table}Q\n"),
    ];
    let mut file = "junk before the header\n%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n\
        2 0 obj << /Type /Pages /Count 2 /Kids [4 0 R 6 0 R] /MediaBox [0 0 612 792] \
        /Resources << /Font << /F1 3 0 R >> >> >> endobj\n\
        3 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> endobj\n"
        .to_owned();
    for (at, drawing) in pages.iter().enumerate() {
        let (page, content, length) = (4 + 2 * at, 5 + 2 * at, drawing.len());
        file.push_str(&format!(
            "{page} 0 obj << /Type /Page /Parent 2 0 R /Contents {content} 0 R >> endobj\n\
             {content} 0 obj << /Length {length} >> stream\n{drawing}\nendstream endobj\n"
        ));
    }
    file.push_str("trailer << /Root 1 0 R >>\n%%EOF\n");
    let place = Workplace::new();
    place.write("report.pdf", &file);
    let ran = place.run("ask report.pdf 'what were net sales in 2031?' --json");
    ran.tells("note: page 2 is printed sideways");
    has(
        &ran.json(),
        json!({"plain_value": 412_300_000.0, "doubt": null}),
    );
}

/// Only the largest table of a page was read.
#[test]
fn every_table_of_a_page_is_read_with_its_heading() {
    let place = Workplace::new();
    let table = |head: &str, row: &str| format!("| {head} |\n|---|---|---|\n| {row} |\n");
    let income = table(
        "(in millions) | 2031 | 2030", "Revenue | 90 | 80 |\n| Costs | 60 | 55",
    );
    let staff = table("| 2031 | 2030", "Engineers | 712 | 690");
    place.write(
        "a.md",
        &format!("## Income\n\n{income}\nIt rose.\n\n## Staff\n\n{staff}"),
    );
    let text = "Income (in millions)\n\n           2031    2030\nRevenue      90      80\nCosts        60      55\n\n\
        Staff\n\n             2031    2030\nEngineers     712     690\nCooks          12      10\n";
    place.write("a.txt", text);
    for file in ["a.md", "a.txt"] {
        let json = ask(&place, file, "what was revenue in 2030?");
        has(&json, json!({"plain_value": 80e6, "doubt": null}));
        let json = ask(&place, file, "how many engineers were there in 2030?");
        has(&json, json!({"answer": "690", "doubt": null}));
    }
}
