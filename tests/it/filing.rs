//! `convfinqa ask` about a report of many tables, as HTML or as a workbook.

use std::io::Write;

use serde_json::{Value as Json, json};

use crate::support::cli::{CommandExt, Ran, Workplace};
use crate::support::fault_server::{FaultServer, Reply};

/// A table as filers write it: signs in cells of their own, and blank cells that make room.
fn table(title: &str, rows: &[(&str, &str, &str)]) -> String {
    let row = |(label, new, old): &(&str, &str, &str)| {
        format!(
            "<tr><td colspan='3'>{label}</td><td>$</td><td>{new}</td><td></td>\
             <td>$</td><td>{old}</td><td></td></tr>"
        )
    };
    let body: String = rows.iter().map(row).collect();
    format!(
        "<p>{title}</p><p>(In millions)</p><table><tr><td colspan='3'></td>\
         <td colspan='2'>2031</td><td></td><td colspan='2'>2030</td><td></td></tr>{body}</table>"
    )
}

fn report() -> String {
    let tables = [
        table(
            "Consolidated statements of income",
            &[("Net sales", "1,250", "1,000"), ("Research", "300", "250")],
        ),
        table(
            "Leases",
            &[
                ("Rent of offices", "41", "40"),
                ("Rent of vehicles", "9", "7"),
            ],
        ),
        table(
            "Employees",
            &[("Engineers", "712", "690"), ("Sales staff", "205", "198")],
        ),
    ];
    let tables = tables.join("<p>Some words between the tables of the report.</p>");
    format!("<html><body>{tables}</body></html>")
}

#[test]
fn a_question_is_answered_from_the_table_that_it_is_about() {
    let place = Workplace::new();
    place.write("report.htm", &report());
    for (question, answer, label) in [
        (
            "what was rent of vehicles in 2030?", "$7 million", "Rent of vehicles · 2030",
        ),
        (
            "what were net sales in 2031?", "$1,250 million", "Net sales · 2031",
        ),
    ] {
        let ran = place.run(&format!("ask report.htm '{question}' --json"));
        let json = ran.succeeds().json();
        assert_eq!(json["answer"], answer, "{json}");
        assert_eq!(json["evidence"][0]["label"], label);
        assert_eq!(json["doubt"], Json::Null);
    }
}

fn ask_lines(place: &Workplace, line: &str, stdin: &str) -> Ran {
    let file = std::fs::File::open(place.write("stdin", stdin)).unwrap();
    let mut command = place.command();
    command.given(&format!("ask {line}"));
    command.stdin(file).ran()
}

/// A quarterly report: two lengths of periods, a balance sheet, and a note with rows of the same
/// names.
fn quarterly() -> String {
    let row = |cells: &[&str]| format!("<tr><td>{}</td></tr>", cells.join("</td><td>"));
    let table = |rows: &[&[&str]]| {
        let rows: String = rows.iter().map(|cells| row(cells)).collect();
        format!("<table>{rows}</table>")
    };
    let flows = table(&[
        &[
            "", "Three months ended July 1, 2031", "Three months ended July 2, 2030",
            "Nine months ended July 1, 2031", "Nine months ended July 2, 2030",
        ],
        &["Total net sales", "500", "400", "1,400", "1,000"],
        &["Research and development", "50", "44", "140", "120"],
        &["Income from operations", "100", "60", "210", "150"],
        &["Purchases of equipment", "(30)", "(20)", "(65)", "(40)"],
    ]);
    let balances = table(&[
        &["", "July 1, 2031", "September 30, 2030"],
        &["Cash and cash equivalents", "70", "56"],
        &["Total assets", "900", "800"],
        &["LIABILITIES AND PARTNERS' CAPITAL:", "", ""],
        &["Notes payable", "33", "44"],
    ]);
    let note = table(&[
        &[
            "", "Three months ended July 1, 2031", "Three months ended July 2, 2030",
        ],
        &["Research and development", "7", "5"],
        &["North", "300", "250"],
        &["South", "200", "150"],
    ]);
    format!(
        "<html><body><p>For the quarterly period ended July 1, 2031</p><p>Acme Corp.</p><p>(Exact name of registrant)</p>\
         <p>Consolidated statements of income</p><p>(In millions)</p>{flows}\
         <p>Consolidated balance sheets</p><p>(In millions)</p>{balances}\
         <p>Sales by region, and share-based compensation in them</p>{note}</body></html>"
    )
}

#[test]
fn questions_are_answered_as_people_ask_them() {
    let place = Workplace::new();
    place.write("10q.htm", &quarterly());
    let questions = [
        (
            "how much revenue did Acme report in the June 2031 quarter?",
            "500 million",
            true,
        ),
        (
            "revenue for the nine months of fiscal 2031",
            "1,400 million",
            true,
        ),
        ("R&D in the quarter ended July 2, 2030", "44 million", true),
        (
            "operating margin in the third quarter of fiscal 2031",
            "20.0%",
            true,
        ),
        (
            "by what percent did quarterly sales grow year over year?",
            "25.0%",
            true,
        ),
        ("cash at the end of fiscal 2030", "56 million", true),
        (
            "notes payable at the end of fiscal 2030",
            "44 million",
            true,
        ),
        (
            "purchases of equipment in the first nine months of fiscal 2031",
            "65 million",
            true,
        ),
        (
            "growth of purchases of equipment in the June 2031 quarter in percent",
            "50.0%",
            true,
        ),
        (
            "percent change in total assets since September 30, 2030",
            "12.5%",
            true,
        ),
        (
            "what share of sales came from the South in the June 2031 quarter?",
            "40%",
            false,
        ),
        ("revenue in fiscal 2029", "500", false),
        ("total net sales last year", "500", false),
        ("how many employees are there?", "-", false),
    ];
    let lines: Vec<&str> = questions.iter().map(|(question, ..)| *question).collect();
    let read = ask_lines(&place, "10q.htm --json", &lines.join("\n"));
    for ((question, answer, sure), line) in questions.iter().zip(read.stdout.lines()) {
        let json: Json = serde_json::from_str(line).unwrap();
        let is_sure = json["answer"].is_string() && json["doubt"].is_null();
        assert_eq!(is_sure, *sure, "{question}: {json}");
        if *sure {
            assert_eq!(json["answer"], *answer, "{question}: {json}");
        }
    }
    let last = place
        .run("ask 10q.htm 'total net sales last year' --json")
        .json();
    let doubt = last["doubt"].as_str().unwrap();
    assert!(doubt.contains("Nine months ended July 2, 2030"), "{doubt}");
    let asked = "revenue in the June 2031 quarter\nand in the June 2030 quarter?\n";
    let turns = ask_lines(&place, "10q.htm --quiet", asked);
    assert_eq!(turns.stdout, "500 million\n400 million\n");
}

/// A statement of three years with this title, and with this heading above its rows.
fn annual(title: &str, heading: &str) -> String {
    let rows = [
        ["", "2024", "2023", "2022"],
        [heading, "", "", ""],
        ["Revenue", "1,204", "987", "900"],
        ["Costs", "700", "600", "550"],
        ["Net income", "504", "387", "350"],
    ];
    let rows = rows.map(|cells| format!("<tr><td>{}</td></tr>", cells.join("</td><td>")));
    format!(
        "<html><body><p>{title}</p><p>(In millions)</p><table>{}</table></body></html>",
        rows.concat()
    )
}

#[test]
fn an_answer_to_a_part_of_the_question_is_not_sure() {
    let place = Workplace::new();
    for (title, heading, questions) in [
        (
            "Consolidated statements of operations",
            "Operating activities:",
            [
                ("revenue in 2024", Some("1,204 million")),
                ("net income growth from 2022 to 2024", Some("44.0%")),
                ("ratio of costs to revenue in 2024", Some("0.581")),
                ("revenue minus costs in 2024", Some("504 million")),
                (
                    "difference between revenue and costs in 2024",
                    Some("504 million"),
                ),
                (
                    "sum of revenue and net income in 2024",
                    Some("1,708 million"),
                ),
                ("sum of revenue in 2022 and 2023", Some("1,887 million")),
                (
                    "average revenue from 2022 to 2024",
                    Some("1,030.333 million"),
                ),
                ("in which year were costs lowest?", Some("2022")),
                ("revenue in 2022 and 2023", None),
                ("average revenue", None),
                (
                    "how much higher was revenue than costs in 2024",
                    Some("504 million"),
                ),
                ("revenue and costs in 2024", None),
                ("change in revenue and costs in 2024", None),
                ("net income growth from 2022 to 2024 per year", None),
                ("revenue in the third quarter of 2024", None),
                ("revenue for the six months of 2024", None),
            ]
            .as_slice(),
        ),
        (
            "Results by segment",
            "North America:",
            &[
                ("revenue in 2024", None),
                ("revenue in North America in 2024", Some("1,204 million")),
            ],
        ),
        (
            "Pro forma results of discontinued operations",
            "",
            &[("revenue in 2024", None)],
        ),
        (
            "Parent company only",
            "",
            &[("revenue growth in 2024", None)],
        ),
    ] {
        place.write("annual.htm", &annual(title, heading));
        let lines: Vec<&str> = questions.iter().map(|(question, _)| *question).collect();
        let read = ask_lines(&place, "annual.htm --json", &lines.join("\n"));
        assert_eq!(read.stdout.lines().count(), questions.len());
        for ((question, answer), line) in questions.iter().zip(read.stdout.lines()) {
            let json: Json = serde_json::from_str(line).unwrap();
            let sure = json["answer"].as_str().filter(|_| json["doubt"].is_null());
            assert_eq!(sure, *answer, "{title}: {question}: {json}");
        }
    }
}

#[test]
fn a_heading_over_two_columns_may_stand_above_the_first() {
    let rows = [
        ["", "12 weeks ended June 30, 2031", "July 1, 2030"],
        ["Fees", "60", "50"],
    ];
    let rows = rows.map(|cells| format!("<tr><td>{}</td></tr>", cells.join("</td><td>")));
    let place = Workplace::new();
    place.write("weeks.htm", &format!("<table>{}</table>", rows.concat()));
    let ran = place.run("ask weeks.htm 'percent change in fees' --json");
    let json = ran.succeeds().json();
    assert_eq!(json["answer"], "20.0%", "{json}");
    assert_eq!(json["doubt"], Json::Null, "{json}");
}

#[test]
fn what_was_read_can_be_listed() {
    let place = Workplace::new();
    place.write("report.htm", &report());
    let listed = place.run("ask report.htm --list-tables");
    listed
        .succeeds()
        .prints("  2  Leases\n     2 rows; (In millions); 2031 | 2030\n");
    let json = place.run("ask report.htm --list-tables --json");
    let second: Json = serde_json::from_str(json.stdout.lines().nth(1).unwrap()).unwrap();
    assert_eq!(second["title"], "Leases");
    assert_eq!(second["rows"][1][2]["text"], "$ 40");
}

#[test]
fn a_model_is_shown_the_best_tables_with_their_titles_and_ids_of_their_own() {
    let server = FaultServer::start(|_| {
        let analysis = json!({"steps": ["read"], "answer": "7", "program": "subtract(9, 7)",
            "evidence": [{"id": "r5c1", "literal": "9"}], "unit": {"kind": "number"}});
        Reply::chat(&analysis.to_string())
    });
    let place = Workplace::new();
    place.write("report.htm", &report());
    let url = server.base_url();
    let line = format!(
        "ask report.htm 'rent of vehicles and research?' --model m --base-url {url} --critic off"
    );
    let ran = place.run(&format!("{line} --json --page-tokens 130"));
    assert_eq!(
        ran.ends(4).json()["evidence"][0]["label"],
        "Rent of vehicles · 2031"
    );
    let shown = server.requests()[0].user().to_owned();
    let at = |part: &str| {
        shown
            .find(part)
            .unwrap_or_else(|| panic!("{part} in {shown}"))
    };
    let order = [
        "Consolidated statements of income", "| r2 ", "Leases", "| r3 ",
    ];
    assert!(order.map(at).is_sorted(), "{shown}");
    assert!(!shown.contains("Engineers"), "{shown}");
}

/// A workbook of one sheet with these cells, the first three of its first row merged.
fn workbook(rows: &[&[&str]]) -> Vec<u8> {
    let cell = |text: &&str| match text.parse::<f64>() {
        Ok(number) => format!("<c><v>{number}</v></c>"),
        Err(_) => format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>"),
    };
    let row = |row: &&[&str]| format!("<row>{}</row>", row.iter().map(cell).collect::<String>());
    let rows: String = rows.iter().map(row).collect();
    let merged = "<mergeCells count=\"1\"><mergeCell ref=\"B2:C2\"/></mergeCells>";
    workbook_of(&rows, merged)
}

/// A workbook of one sheet with these rows, and what follows them; style 1 is a percentage.
fn workbook_of(rows: &str, rest: &str) -> Vec<u8> {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let relations = "http://schemas.openxmlformats.org/package/2006/relationships";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let parts = [
        (
            "[Content_Types].xml",
            "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>"
                .to_owned(),
        ),
        (
            "_rels/.rels",
            format!(
                "<Relationships xmlns=\"{relations}\"><Relationship Id=\"r1\" Type=\"{office}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml",
            format!(
                "<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets><sheet name=\"Segments\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                "<Relationships xmlns=\"{relations}\"><Relationship Id=\"r1\" Type=\"{office}/worksheet\" Target=\"worksheets/sheet1.xml\"/>\
                 <Relationship Id=\"r2\" Type=\"{office}/styles\" Target=\"styles.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/styles.xml",
            format!(
                "<styleSheet xmlns=\"{main}\"><cellXfs count=\"2\"><xf numFmtId=\"0\"/><xf numFmtId=\"10\"/></cellXfs></styleSheet>"
            ),
        ),
        (
            "xl/worksheets/sheet1.xml",
            format!("<worksheet xmlns=\"{main}\"><sheetData>{rows}</sheetData>{rest}</worksheet>"),
        ),
    ];
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in parts {
        archive
            .start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn a_workbook_is_read_with_its_merged_headings() {
    let place = Workplace::new();
    let rows: &[&[&str]] = &[
        &["Sales by region, in millions"],
        &["Region", "6 months ended", ""],
        &["", "June 2031", "June 2030"],
        &["North", "120.5", "98"],
        &["South", "80", "75.25"],
    ];
    std::fs::write(place.path("book.xlsx"), workbook(rows)).unwrap();
    let listed = place.run("ask book.xlsx --list-tables");
    listed
        .succeeds()
        .prints("6 months ended June 2031 | 6 months ended June 2030");
    let json = place.run("ask book.xlsx 'sales of the south region in June 2030?' --json");
    assert_eq!(json.succeeds().json()["evidence"][0]["literal"], "75.25");
}

#[test]
fn what_is_no_report_is_refused_in_one_line() {
    let place = Workplace::new();
    place.write(
        "login.htm",
        "<html><body><form>Sign in</form></body></html>",
    );
    place.write("broken.xlsx", "PK\u{3}\u{4} cut off");
    std::fs::write(place.path("secret.xlsx"), b"\xd0\xcf\x11\xe0\xa1\xb1").unwrap();
    place.write("cut.htm", report().trim_end_matches("</body></html>"));
    std::fs::write(place.path("empty.xlsx"), workbook(&[&["Title"]])).unwrap();
    let sign_in = "no table with figures; save the report itself";
    for (file, words) in [
        ("login.htm", sign_in),
        ("empty.xlsx", sign_in),
        ("broken.xlsx", "cannot be read as a workbook"),
        ("secret.xlsx", "it needs a password"),
        ("cut.htm", "it is cut off: it has no </html>"),
    ] {
        place
            .run(&format!("ask {file} why?"))
            .fails(3, &[file, words]);
    }
}

#[test]
fn a_part_of_a_report_that_breaks_off_is_never_sure() {
    let place = Workplace::new();
    let report = report();
    let part = report.trim_start_matches("<html><body>");
    let cut = part.split(" staff").next().unwrap();
    place.write("part.htm", part.trim_end_matches("</body></html>"));
    place.write("cut.htm", cut);
    for (file, doubt) in [
        ("part.htm", Json::Null),
        ("cut.htm", json!("the report may be cut off")),
    ] {
        let ran = place.run(&format!("ask {file} 'net sales in 2031?' --json"));
        let answer = ran.answer();
        assert_eq!(answer["answer"], "$1,250 million", "{file}");
        assert_eq!(answer["doubt"], doubt, "{file}");
    }
    place
        .run("ask cut.htm --list-tables")
        .succeeds()
        .tells("note: cut.htm may be cut off");
}

#[test]
fn a_workbook_of_few_cells_is_read_wherever_they_are() {
    let sheet = |cells: &str, rest: &str| {
        let place = Workplace::new();
        std::fs::write(place.path("book.xlsx"), workbook_of(cells, rest)).unwrap();
        place.run("ask book.xlsx --list-tables --json")
    };
    let number = |at: &str, style: u32, number: &str| {
        let row = at.trim_start_matches(char::is_alphabetic);
        format!("<row r=\"{row}\"><c r=\"{at}\" s=\"{style}\"><v>{number}</v></c></row>")
    };
    let far = number("A1", 0, "1") + &number("XFD1048575", 0, "2");
    sheet(&far, "").fails(3, &["no table with figures"]);
    let backwards = "<mergeCells count=\"1\"><mergeCell ref=\"C1:A1\"/></mergeCells>";
    sheet(&number("C1", 0, "1"), backwards).fails(3, &["it is damaged"]);
    let label = "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>Margin</t></is></c>\
                 <c r=\"B1\" s=\"1\"><v>0.455</v></c></row>";
    let read = sheet(label, "").succeeds().json();
    assert_eq!(read["rows"][1][1]["text"], "45.50%");
    assert_eq!(read["rows"][1][1]["value"], 45.5);
}
