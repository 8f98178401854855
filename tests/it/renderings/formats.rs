//! Blocks of lines and tables, as files of each format.

use std::fmt::Write;

use crate::support::book::{Sheet, book};

#[derive(Clone)]
pub struct Cell {
    pub text: String,
    /// The stored number of a workbook's cell, and its number format.
    pub stored: Option<(f64, &'static str)>,
}

impl Cell {
    pub fn text(text: String) -> Self {
        Self { text, stored: None }
    }
}

pub enum Block {
    Line(String),
    Table(Vec<Vec<Cell>>),
}

/// The lines of a file whose tables are written by `table`.
fn lines(blocks: &[Block], table: impl Fn(&[Vec<Cell>]) -> String) -> Vec<u8> {
    let mut file = String::new();
    for block in blocks {
        match block {
            Block::Line(line) => writeln!(file, "{line}").unwrap(),
            Block::Table(rows) => writeln!(file, "\n{}", table(rows)).unwrap(),
        }
    }
    file.into_bytes()
}

pub fn csv(blocks: &[Block], separator: char) -> Vec<u8> {
    let cell = |text: &str| {
        if text.contains([separator, '"']) {
            format!("\"{text}\"")
        } else {
            text.to_owned()
        }
    };
    let row = |row: &Vec<Cell>| {
        let cells: Vec<String> = row.iter().map(|it| cell(&it.text)).collect();
        cells.join(&separator.to_string()) + "\n"
    };
    let mut file = String::new();
    for block in blocks {
        match block {
            Block::Line(line) => writeln!(file, "{}", cell(line)).unwrap(),
            Block::Table(rows) => {
                file.extend(rows.iter().map(row));
                file.push('\n');
            }
        }
    }
    file.into_bytes()
}

pub fn markdown(blocks: &[Block]) -> Vec<u8> {
    lines(blocks, |rows| {
        let line = |row: &Vec<Cell>| {
            let cells: String = row.iter().map(|cell| format!(" {} |", cell.text)).collect();
            format!("|{cells}\n")
        };
        let mut table = line(&rows[0]);
        table += &format!("|{}\n", "---|".repeat(rows[0].len()));
        table.extend(rows[1..].iter().map(line));
        table
    })
}

pub fn text(blocks: &[Block]) -> Vec<u8> {
    lines(blocks, |rows| {
        let line = |row: &Vec<Cell>| {
            let cells = row[1..].iter().map(|cell| format!("{:>20}", cell.text));
            format!("{:<40}{}\n", row[0].text, cells.collect::<String>())
        };
        rows.iter().map(line).collect()
    })
}

pub fn html(blocks: &[Block], copy: Option<&[Block]>, by_class: bool) -> Vec<u8> {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let body = |blocks: &[Block]| {
        let mut body = String::new();
        for block in blocks {
            match block {
                Block::Line(line) => write!(body, "<p>{}</p>", escaped(line)).unwrap(),
                Block::Table(rows) => {
                    let cell = |cell: &Cell| format!("<td>{}</td>", escaped(&cell.text));
                    let row = |row: &Vec<Cell>| {
                        format!("<tr>{}</tr>", row.iter().map(cell).collect::<String>())
                    };
                    let rows: String = rows.iter().map(row).collect();
                    write!(body, "<table>{rows}</table>").unwrap();
                }
            }
        }
        body
    };
    let hidden = copy.map(|copy| {
        let attribute = if by_class {
            "class='draft'"
        } else {
            "style='display:none'"
        };
        format!("<div {attribute}>{}</div>", body(copy))
    });
    let hidden = hidden.unwrap_or_default();
    let style = "<style>p { margin: 0 } .draft { display: none }</style>";
    let body = body(blocks);
    format!("<html><head><meta charset='utf-8'>{style}</head><body>{hidden}{body}</body></html>")
        .into_bytes()
}

/// A workbook with the blocks on one sheet, and the copy on a hidden one.
pub fn workbook(blocks: &[Block], copy: Option<&[Block]>) -> Vec<u8> {
    let mut codes: Vec<&str> = Vec::new();
    let mut cell = |cell: &Cell| {
        let Some((value, code)) = cell.stored else {
            return cell.text.clone();
        };
        let known = codes.iter().position(|known| *known == code);
        let style = known.unwrap_or_else(|| {
            codes.push(code);
            codes.len() - 1
        });
        format!("{}|{value}", style + 1)
    };
    let mut sheet = |blocks: &[Block]| {
        let mut rows: Vec<Vec<String>> = Vec::new();
        for block in blocks {
            match block {
                Block::Line(line) => rows.push(vec![line.clone()]),
                Block::Table(table) => {
                    rows.extend(table.iter().map(|row| row.iter().map(&mut cell).collect()));
                    rows.push(Vec::new());
                }
            }
        }
        rows
    };
    let sheets = [Some(blocks), copy].into_iter().flatten();
    let sheets: Vec<Vec<Vec<String>>> = sheets.map(&mut sheet).collect();
    let texts: Vec<Vec<Vec<&str>>> = sheets
        .iter()
        .map(|rows| {
            rows.iter()
                .map(|row| row.iter().map(String::as_str).collect())
                .collect()
        })
        .collect();
    let rows: Vec<Vec<(&str, &[&str])>> = texts
        .iter()
        .map(|rows| rows.iter().map(|row| ("", row.as_slice())).collect())
        .collect();
    let states = [("Income", ""), ("Draft", "state=\"hidden\"")];
    let sheets = states.iter().zip(&rows);
    let sheets: Vec<Sheet<'_>> = sheets
        .map(|((name, state), rows)| Sheet(name, state, "", rows))
        .collect();
    book(&codes, &sheets)
}

/// A PDF whose columns end at the same places, one page a table.
pub fn pdf(blocks: &[Block]) -> Vec<u8> {
    // Courier: every character is as wide as 0.6 of the size.
    const SIZE: f64 = 9.0;
    let mut pages = Vec::new();
    let (mut page, mut y) = (String::new(), 780.0);
    for block in blocks {
        let mut put = |x: f64, y: f64, text: &str| {
            let text = text
                .replace('\\', "\\\\")
                .replace('(', "\\(")
                .replace(')', "\\)");
            writeln!(page, "BT /F1 {SIZE} Tf {x:.1} {y:.1} Td ({text}) Tj ET").unwrap();
        };
        match block {
            Block::Line(line) => {
                put(40.0, y, line);
                y -= 16.0;
            }
            Block::Table(rows) => {
                for row in rows {
                    put(40.0, y, &row[0].text);
                    for (column, cell) in (1..).zip(&row[1..]) {
                        let width = cell.text.chars().count() as f64 * 0.6 * SIZE;
                        put(280.0 + 90.0 * f64::from(column) - width, y, &cell.text);
                    }
                    y -= 14.0;
                }
                pages.push(std::mem::take(&mut page));
                y = 780.0;
            }
        }
    }
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        String::new(),
    ];
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>";
    objects.push(font.to_owned());
    let mut kids = String::new();
    for content in pages {
        let id = objects.len() + 1;
        write!(kids, "{id} 0 R ").unwrap();
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 842] /Contents {} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>",
            id + 1
        ));
        objects.push(format!(
            "<< /Length {} >>\nstream\n{content}endstream",
            content.len()
        ));
    }
    let count = kids.matches('R').count();
    objects[1] = format!("<< /Type /Pages /Kids [{kids}] /Count {count} >>");
    let mut file = "%PDF-1.4\n".to_owned();
    let mut places = String::new();
    for (id, object) in (1..).zip(&objects) {
        writeln!(places, "{:010} 00000 n ", file.len()).unwrap();
        write!(file, "{id} 0 obj\n{object}\nendobj\n").unwrap();
    }
    let (start, size) = (file.len(), objects.len() + 1);
    write!(
        file,
        "xref\n0 {size}\n0000000000 65535 f \n{places}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    )
    .unwrap();
    file.into_bytes()
}
