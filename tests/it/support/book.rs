//! Makes small workbooks for tests.

use std::io::Write;

/// A sheet: its name, the XML attribute of its state, the XML above its rows, and its rows, each
/// with its XML attributes.
///
/// A cell is a text, a formula without a value (`=SUM(B2:B3)`), an error (`#DIV/0!`), or the index
/// of a style and a number (`1|0.148`). Style 0 is `General`.
pub struct Sheet<'s>(
    pub &'s str,
    pub &'s str,
    pub &'s str,
    pub &'s [(&'s str, &'s [&'s str])],
);

/// The bytes of a workbook with these sheets. Style 1 is the first of the number formats.
pub fn book(formats: &[&str], sheets: &[Sheet<'_>]) -> Vec<u8> {
    let main = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"";
    let relations = "xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let escaped = |text: &str| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('"', "&quot;")
    };
    let relation = |at: usize, kind: &str, file: &str| {
        format!("<Relationship Id=\"r{at}\" Type=\"{office}/{kind}\" Target=\"{file}\"/>")
    };
    let ids = (1..).zip(sheets);
    let named: String = ids
        .clone()
        .map(|(at, Sheet(name, state, ..))| {
            let name = escaped(name);
            format!("<sheet name=\"{name}\" {state} sheetId=\"{at}\" r:id=\"r{at}\"/>")
        })
        .collect();
    let files: String = ids
        .clone()
        .map(|(at, _)| relation(at, "worksheet", &format!("worksheets/sheet{at}.xml")))
        .collect();
    let styles = relation(sheets.len() + 1, "styles", "styles.xml");
    let codes = (164..).zip(formats);
    let codes: Vec<(usize, String)> = codes.map(|(id, code)| (id, escaped(code))).collect();
    let numbers: String = codes
        .iter()
        .map(|(id, code)| format!("<numFmt numFmtId=\"{id}\" formatCode=\"{code}\"/>"))
        .collect();
    let cells: String = codes
        .iter()
        .map(|(id, _)| format!("<xf numFmtId=\"{id}\"/>"))
        .collect();
    let mut parts = vec![
        (
            "[Content_Types].xml".to_owned(),
            "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>"
                .to_owned(),
        ),
        (
            "_rels/.rels".to_owned(),
            format!(
                "<Relationships {relations}>{}</Relationships>",
                relation(1, "officeDocument", "xl/workbook.xml")
            ),
        ),
        (
            "xl/workbook.xml".to_owned(),
            format!("<workbook {main} xmlns:r=\"{office}\"><sheets>{named}</sheets></workbook>"),
        ),
        (
            "xl/_rels/workbook.xml.rels".to_owned(),
            format!("<Relationships {relations}>{files}{styles}</Relationships>"),
        ),
        (
            "xl/styles.xml".to_owned(),
            format!(
                "<styleSheet {main}><numFmts>{numbers}</numFmts><cellXfs><xf numFmtId=\"0\"/>{cells}</cellXfs></styleSheet>"
            ),
        ),
    ];
    for (at, Sheet(_, _, above, rows)) in ids {
        let row = |(at, (attributes, cells)): (usize, &(&str, &[&str]))| {
            let cells: String = cells.iter().map(|text| cell(&escaped(text))).collect();
            format!("<row r=\"{at}\" {attributes}>{cells}</row>")
        };
        let rows: String = (1..).zip(*rows).map(row).collect();
        parts.push((
            format!("xl/worksheets/sheet{at}.xml"),
            format!("<worksheet {main}>{above}<sheetData>{rows}</sheetData></worksheet>"),
        ));
    }
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in parts {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(name, options).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn cell(text: &str) -> String {
    if let Some(formula) = text.strip_prefix('=') {
        return format!("<c><f>{formula}</f><v></v></c>");
    }
    if text.starts_with('#') {
        return format!("<c t=\"e\"><v>{text}</v></c>");
    }
    match text.split_once('|') {
        Some((style, number)) => format!("<c s=\"{style}\"><v>{number}</v></c>"),
        None => format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>"),
    }
}
