//! Renders tables as Markdown.

use std::borrow::Cow;

use super::cell::{Cell, CellKind};
use super::page_table::Table;

impl Table {
    /// The table as aligned Markdown, without a trailing line break. If the unit is known, the line
    /// `Unit: …` comes first. Columns are named `c0`, `c1`, … and rows `r0` (the header), `r1`, …,
    /// so that `r3c2` names a cell. Dashes are shown as `—`. A number that its cell has twice
    /// (`-2913 ( 2913 )`) is shown once.
    ///
    /// Pipes and backslashes are escaped and line breaks become spaces. Otherwise, one cell could
    /// become several.
    pub fn to_markdown(&self) -> String {
        let ids = (0..self.columns().len()).map(|column| Cow::Owned(format!("c{column}")));
        let mut rows = vec![std::iter::once(Cow::Borrowed("")).chain(ids).collect()];
        for (index, row) in self.cells().iter().enumerate() {
            let mut line = vec![Cow::Owned(format!("r{}", self.first_row() + index))];
            if index == 0 && !self.is_headerless() {
                line.extend(self.columns().iter().map(|column| escape(&column.label)));
            } else {
                line.extend(row.iter().map(shown));
            }
            rows.push(line);
        }
        let table = aligned(&rows);
        match self.caption() {
            Some(caption) => format!("Unit: {}\n\n{table}", escape(&caption.text)),
            None => table,
        }
    }
}

/// The text of a cell in Markdown.
fn shown(cell: &Cell) -> Cow<'_, str> {
    match (cell.kind, &cell.number) {
        (CellKind::Number, Some(number)) if number.doubled => {
            let currency = if number.dollar { "$ " } else { "" };
            Cow::Owned(format!("{currency}{}", number.literal))
        }
        _ => escape(cell.text()),
    }
}

/// Escapes characters that would end the cell or the row.
fn escape(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if !text.contains(['|', '\n', '\r', '\\']) {
        return Cow::Borrowed(text);
    }
    // Room for eight escapes; more make it grow.
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '|' => out.push_str("\\|"),
            '\\' => out.push_str("\\\\"),
            '\n' | '\r' => out.push(' '),
            other => out.push(other),
        }
    }
    Cow::Owned(out)
}

/// Writes a Markdown table whose columns are as wide as their widest cells. The first row becomes
/// the header.
fn aligned(rows: &[Vec<Cow<'_, str>>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    if columns == 0 {
        return String::new();
    }
    // Some Markdown readers require at least three dashes in the line below the header.
    let mut widths = vec![3_usize; columns];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = String::new();
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let mut cells = row.iter();
        for width in &widths {
            let cell = cells.next().map_or("", AsRef::as_ref);
            out.push_str("| ");
            out.push_str(cell);
            out.extend(std::iter::repeat_n(' ', width - cell.chars().count() + 1));
        }
        out.push('|');
        if index == 0 {
            out.push('\n');
            for width in &widths {
                out.push('|');
                out.extend(std::iter::repeat_n('-', width + 2));
            }
            out.push('|');
        }
    }
    out
}
