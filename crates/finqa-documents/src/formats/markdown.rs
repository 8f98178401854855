//! Reads a Markdown page. Its largest pipe table is the table, and everything else is text; the
//! rows of smaller tables become sentences.

use std::path::Path;

use finqa_core::text::single_spaced;

use crate::error::DocumentError;
use crate::grid::plain::{self, Grid, NumberedRow, PlainBlock};
use crate::text::sentences;

/// A page: text, the table, and more text.
#[derive(Default)]
pub(super) struct MarkdownPage {
    pub(super) before: Vec<String>,
    pub(super) grid: Grid,
    pub(super) after: Vec<String>,
}

/// Reads a page. Without a table, its grid is empty.
pub(super) fn page(path: &Path, text: &str) -> Result<MarkdownPage, DocumentError> {
    page_of(path, blocks(text))
}

/// Builds a page from its blocks. A note says if it has several tables.
pub(super) fn page_of(path: &Path, blocks: Vec<PlainBlock>) -> Result<MarkdownPage, DocumentError> {
    let size = |block: &PlainBlock| match block {
        PlainBlock::Table(rows) => rows.iter().map(|(_, row)| row.len()).sum(),
        PlainBlock::Text(_) => 0,
    };
    let largest = blocks.iter().map(size).max().filter(|size| *size > 0);
    let tables = blocks.iter().filter(|block| size(block) > 0).count();
    let mut page = MarkdownPage::default();
    let mut chosen = false;
    for block in blocks {
        let is_largest = !chosen && Some(size(&block)) == largest;
        let side = if chosen {
            &mut page.after
        } else {
            &mut page.before
        };
        match block {
            PlainBlock::Table(rows) if is_largest => {
                page.grid = plain::shape(path, rows)?;
                chosen = true;
            }
            PlainBlock::Table(rows) => side.extend(row_sentences(&rows)),
            PlainBlock::Text(text) => side.extend(sentences(&text)),
        }
    }
    if tables > 1 {
        page.grid.notes.push(format!(
            "{} has {tables} tables: the largest is the table, the others are read as text",
            path.display()
        ));
    }
    Ok(page)
}

/// Maximum number of header lines above a `|---|` line.
const HEADER_LINES: usize = 4;

fn blocks(text: &str) -> Vec<PlainBlock> {
    let lines: Vec<&str> = text.lines().collect();
    let mut blocks = Vec::new();
    let mut plain = String::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let below = lines.iter().skip(at + 1).take(HEADER_LINES);
        let ruled = below
            .take_while(|line| line.contains('|'))
            .any(|line| is_rule(line));
        if line.contains('|') && ruled {
            blocks.push(PlainBlock::Text(std::mem::take(&mut plain)));
            let rows = lines.iter().enumerate().skip(at);
            let rows: Vec<(usize, &&str)> =
                rows.take_while(|(_, line)| line.contains('|')).collect();
            at += rows.len();
            let rows = rows.into_iter().filter(|(_, line)| !is_rule(line));
            blocks.push(PlainBlock::Table(
                rows.map(|(index, line)| (index as u64 + 1, cells(line)))
                    .collect(),
            ));
        } else {
            plain.push_str(line);
            plain.push('\n');
            at += 1;
        }
    }
    blocks.push(PlainBlock::Text(plain));
    blocks
}

/// True for the line under a header: `|---|:--:|`.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.contains('-')
        && line.contains('|')
        && line
            .chars()
            .all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
}

/// Splits a line at its pipes; `\|` is a pipe inside a cell.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('|')) => {
                chars.next();
                if let Some(cell) = cells.last_mut() {
                    cell.push('|');
                }
            }
            ('|', _) => cells.push(String::new()),
            _ => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(c);
                }
            }
        }
    }
    let bare = |cell: &String| {
        let cell = single_spaced(cell);
        // `**Total**` and `_Total_` are emphasis; `(1)*` is a footnote.
        let inner = ["***", "___", "**", "__", "*", "_", "`"]
            .iter()
            .find_map(|mark| cell.strip_prefix(mark)?.strip_suffix(mark).map(str::trim));
        let inner = inner.filter(|inner| inner.contains(char::is_alphanumeric));
        inner.map(str::to_owned).unwrap_or(cell)
    };
    cells.iter().map(bare).collect()
}

/// Turns the rows of a table into sentences: `Revenue: 2019 5; 2018 4.`
fn row_sentences(rows: &[NumberedRow]) -> Vec<String> {
    let Some(((_, header), body)) = rows.split_first() else {
        return Vec::new();
    };
    let sentence = |row: &[String]| {
        let (label, values) = row.split_first()?;
        let named = header
            .iter()
            .skip(1)
            .zip(values)
            .filter(|(_, value)| !value.is_empty());
        let named: Vec<_> = named
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        Some(format!("{label}: {}.", named.join("; ")))
    };
    body.iter().filter_map(|(_, row)| sentence(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_text_table_text() {
        let text = "# Acme\nIn millions.\n\n| | 2019 | 2018 |\n|---|--:|--:|\n| **Revenue** | 5 | 4 |\n| A\\|B | 1 |  |\n\nAfter it.\n\n| a | b |\n|---|---|\n| x | 1 |\n";
        let page = page(Path::new("a.md"), text).unwrap();
        assert_eq!(page.before, ["Acme", "In millions."]);
        assert_eq!(
            page.grid.rows,
            [
                ["", "2019", "2018"],
                ["Revenue", "5", "4"],
                ["A|B", "1", ""]
            ]
        );
        assert_eq!(page.after, ["After it.", "x: b 1."]);
        assert_eq!(page.grid.notes.len(), 1);
    }

    #[test]
    fn emphasis_of_a_whole_cell_is_left_out() {
        let line = "| *Connections* | _Sites_ | ***Total*** | 5* | (1)* | * |";
        let read = cells(line);
        assert_eq!(
            read.get(..6),
            Some(&["Connections", "Sites", "Total", "5*", "(1)*", "*"].map(str::to_owned)[..])
        );
    }
}
