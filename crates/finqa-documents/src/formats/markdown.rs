//! Splits a Markdown page into its pipe tables and the text between them.

use finqa_core::text::single_spaced;

use crate::grid::plain::PlainBlock;

/// Maximum number of header lines above a `|---|` line. Lines further above are text. Set by hand.
const HEADER_LINES: usize = 4;

/// The text and the tables of a page, in their order.
pub(super) fn blocks(text: &str) -> Vec<PlainBlock> {
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
    // A pipe at the end leaves an empty cell, which `grid::plain::shape` drops.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_text_table_text() {
        let text = "# Acme\n\n| | 2019 | 2018 |\n|---|--:|--:|\n| **Revenue** | 5 | 4 |\n| A\\|B | 1 |  |\n\nAfter it.\n";
        let blocks = blocks(text);
        let [
            PlainBlock::Text(before),
            PlainBlock::Table(rows),
            PlainBlock::Text(after),
        ] = blocks.as_slice()
        else {
            panic!("{}", blocks.len());
        };
        assert_eq!(
            (before.as_str(), after.as_str()),
            ("# Acme\n\n", "\nAfter it.\n")
        );
        let cells: Vec<&[String]> = rows.iter().map(|(_, row)| row.get(..3).unwrap()).collect();
        assert_eq!(
            cells,
            [
                ["", "2019", "2018"],
                ["Revenue", "5", "4"],
                ["A|B", "1", ""]
            ]
        );
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
