//! Reads files of tables and text: CSV, TSV, Markdown, or plain text with tables in aligned
//! columns.
//!
//! A note says what is read differently than it is written. A file that could be misread is an
//! error.

use std::path::Path;

use finqa_core::question;

use super::markdown;
use crate::block::{Block, PrintedTable};
use crate::decode::DecodedText;
use crate::error::DocumentError;
use crate::grid::plain::{self, PlainBlock};
use crate::grid::spans::PrintedCell;
use crate::lines::{self, Part, PlacedLine};
use crate::text::{normalise_sentences, sentences};

/// The contents of a file of text.
pub(crate) enum PlainFile {
    /// At most one table, and the text around it.
    Page(Box<question::Document>),
    /// Several tables, each below its titles.
    Tables(Vec<Block>),
}

/// Reads a file by its extension. Also returns notes on what is read differently than it is
/// written.
///
/// # Errors
/// JSON, a table whose rows do not fit together, and a file without table or text.
pub(crate) fn read(
    path: &Path,
    extension: &str,
    name: &str,
    decoded: DecodedText,
) -> Result<(PlainFile, Vec<String>), DocumentError> {
    let text = decoded.text.as_str();
    // Tables have pipes in Markdown and aligned columns in plain text.
    let blocks = match extension {
        "json" | "jsonl" => {
            return Err(DocumentError::Json {
                path: path.to_owned(),
            });
        }
        // Many programs give a text file with separated values the name of a workbook.
        "csv" | "xls" | "xlsx" => plain::separated(path, text, None)?,
        "tsv" | "tab" => plain::separated(path, text, Some(b'\t'))?,
        "txt" | "text" => aligned(text),
        // With any other name, a text without pipes is read as text without a table.
        _ => markdown::blocks(text),
    };
    let mut notes = decoded.notes;
    // Each table with the texts above it. `texts` has the texts since the last table.
    let mut tables: Vec<(Vec<String>, Vec<Vec<String>>)> = Vec::new();
    let mut texts = Vec::new();
    let mut votes = 0;
    for block in blocks {
        match block {
            PlainBlock::Text(text) => texts.extend(sentences(&text)),
            PlainBlock::Table(rows) => {
                let grid = plain::shape(path, rows)?;
                notes.extend(grid.notes);
                votes += grid.votes;
                texts.extend(grid.titles);
                tables.push((std::mem::take(&mut texts), grid.rows));
            }
        }
    }
    let above = tables.iter_mut().flat_map(|(above, _)| above);
    let note = normalise_sentences(above.chain(&mut texts), votes);
    notes.extend(note);
    if tables.len() > 1 {
        let tables = tables.into_iter().flat_map(|(above, rows)| {
            let above = above.into_iter().map(Block::Text);
            above.chain([Block::Table(table_of(rows))])
        });
        let blocks = tables.chain(texts.into_iter().map(Block::Text));
        return Ok((PlainFile::Tables(blocks.collect()), notes));
    }
    // A page of text has an empty table.
    let (before, table) = tables.pop().unwrap_or_default();
    let document = question::Document {
        id: name.to_owned(),
        filename: name.to_owned(),
        own: true,
        table,
        pre_text: before,
        post_text: texts,
        ..question::Document::default()
    };
    if document.table.is_empty() && document.sentences().next().is_none() {
        return Err(DocumentError::Nothing {
            path: path.to_owned(),
            reason: "it holds neither a table nor text".to_owned(),
        });
    }
    Ok((PlainFile::Page(Box::new(document)), notes))
}

/// Makes a table from rows of texts.
pub(crate) fn table_of(rows: Vec<Vec<String>>) -> PrintedTable {
    let cell = |text| PrintedCell {
        text,
        ..PrintedCell::default()
    };
    let rows = rows.into_iter();
    PrintedTable {
        rows: rows
            .map(|row| row.into_iter().map(cell).collect())
            .collect(),
        ..PrintedTable::default()
    }
}

/// Minimum number of rows without a blank cell. With fewer, the columns of an aligned table are
/// uncertain. Set by hand.
const FULL_ROWS: usize = 2;

/// Splits plain text into text and tables. A table whose columns are uncertain remains text.
fn aligned(text: &str) -> Vec<PlainBlock> {
    let lines = lines::tidied(lines::of_text(text));
    let is_full = |row: &&Vec<PrintedCell>| row.iter().skip(1).all(|cell| !cell.text.is_empty());
    let parts = lines::parts(&lines).into_iter();
    let tables = parts.filter_map(|part| match part {
        Part::Table(lines, rows) => Some((lines, rows)),
        Part::Text(_) => None,
    });
    let mut tables = tables
        .filter(|(_, rows)| rows.iter().skip(1).filter(is_full).count() >= FULL_ROWS)
        .peekable();
    let (mut blocks, mut plain) = (Vec::new(), String::new());
    // `top` of a `PlacedLine` is its line number in the text, counted from 1.
    let (mut number, mut end) = (0.0, 0.0);
    for line in text.lines() {
        number += 1.0;
        let begins = |lines: &[PlacedLine]| lines.first().is_some_and(|line| line.top <= number);
        if let Some((lines, rows)) = tables.next_if(|(lines, _)| begins(lines)) {
            end = lines.last().map_or(number, |line| line.top);
            blocks.push(PlainBlock::Text(std::mem::take(&mut plain)));
            let rows = rows
                .into_iter()
                .map(|row| row.into_iter().map(|cell| cell.text));
            blocks.push(PlainBlock::Table(
                // No row is longer than the header, so its line number is never shown.
                rows.map(|row| (0, row.collect())).collect(),
            ));
        }
        if number > end {
            plain.push_str(line);
            plain.push('\n');
        }
    }
    blocks.push(PlainBlock::Text(plain));
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of each table, and the remaining text.
    fn read(text: &str) -> (Vec<Vec<Vec<String>>>, String) {
        let mut tables = Vec::new();
        let mut plain = String::new();
        for block in aligned(text) {
            match block {
                PlainBlock::Table(rows) => {
                    tables.push(rows.into_iter().map(|(_, row)| row).collect())
                }
                PlainBlock::Text(text) => plain.push_str(&text),
            }
        }
        (tables, plain)
    }

    #[test]
    fn columns_are_read_by_their_alignment() {
        let text = "Accounts of Oriel
                          2033      2032
                         £'000     £'000
Assets
Plant                   84,310    79,655
Goodwill                 2,400         -

Liabilities
Trade payables         (35,744)  (33,210)
Loans                             (1,200)
                       -------   -------
Net assets              50,966    45,245

Sales rose.  They may rise again.
";
        let (tables, plain) = read(text);
        let [table] = tables.as_slice() else {
            panic!("{tables:?}");
        };
        assert_eq!(
            table,
            &[
                ["", "2033 £'000", "2032 £'000"],
                ["Assets", "", ""],
                ["Plant", "84,310", "79,655"],
                ["Goodwill", "2,400", "-"],
                ["Liabilities", "", ""],
                ["Trade payables", "(35,744)", "(33,210)"],
                ["Loans", "", "(1,200)"],
                ["Net assets", "50,966", "45,245"],
            ]
        );
        assert!(plain.starts_with("Accounts of Oriel\n"), "{plain}");
        assert!(plain.contains("Sales rose."), "{plain}");
    }

    #[test]
    fn each_header_begins_a_table_and_text_and_ragged_lines_are_none() {
        for (tables, text) in [
            (
                2,
                "Line    2033   2032\nPipes     10      9\nPumps     20     19\n\n\
                 Line    Share   Rank\nPipes     10%      2\nPumps     20%      1\n",
            ),
            (
                0,
                "Sales rose by 5.  Costs fell by 3.\nProfit rose by 8.  Cash fell.\n",
            ),
            (0, "Pipes  10  9\nPumps that are large        20     19\n"),
            (0, "1.  First 2032\n2.  Second 2033\n"),
            (0, "Pipes    10    9\n"),
        ] {
            assert_eq!(read(text).0.len(), tables, "{text}");
        }
    }
}
