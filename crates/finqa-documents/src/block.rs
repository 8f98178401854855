//! Defines the parts of a document: paragraphs and tables.

use crate::cells::{self, WrittenCell};
use crate::grid::spans::PrintedCell;
use crate::text::normalise_sentences;

/// A paragraph or a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    Text(String),
    Table(PrintedTable),
}

/// A table as it is printed, with the texts that describe it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrintedTable {
    /// The heading above the table; empty without one.
    pub title: String,
    /// The line above it that states its unit: "(In millions, except per share amounts)".
    pub unit: Option<String>,
    /// The workbook sheet that contains it; empty in other documents.
    pub sheet: String,
    /// The page of a PDF on which it begins, from 1.
    pub page: Option<usize>,
    /// The rows, the header first. All have the same length.
    pub rows: Vec<Vec<PrintedCell>>,
}

impl PrintedTable {
    /// Adds an empty column of labels if the table has none. A table with a single unlabelled row
    /// gets its title as the row's label.
    pub(crate) fn label_rows(&mut self) {
        fn text(cell: &PrintedCell) -> &str {
            &cell.text
        }
        let header = self.rows.iter().take(1).flatten().map(text);
        let first = self
            .rows
            .iter()
            .skip(1)
            .filter_map(|row| row.first().map(text));
        if self.rows.len() > 1 && cells::lacks_labels(header, first) {
            for row in &mut self.rows {
                row.insert(0, PrintedCell::default());
            }
        }
        if let [header, row] = self.rows.as_mut_slice()
            && let ([corner, ..], [label, ..]) = (header.as_slice(), row.as_mut_slice())
            && corner.text.is_empty()
            && label.text.is_empty()
        {
            label.text = self.title.trim_end_matches([':', ' ']).to_owned();
        }
    }
}

/// Rewrites the figures of all tables and paragraphs in one notation, `1234.5`. Whether a comma
/// marks the decimals is decided for each column; if its cells do not show it, for the table; and
/// otherwise for all tables together. Each column that changes adds a note.
pub(crate) fn in_one_notation(mut blocks: Vec<Block>, notes: &mut Vec<String>) -> Vec<Block> {
    let mut tables: Vec<Vec<Vec<WrittenCell<'_>>>> = blocks
        .iter_mut()
        .filter_map(|block| match block {
            Block::Table(table) => Some(table.rows.iter_mut()),
            Block::Text(_) => None,
        })
        .map(|rows| {
            rows.map(|row| row.iter_mut().map(written).collect())
                .collect()
        })
        .collect();
    let votes = tables.iter().map(|table| cells::votes(table)).sum();
    for table in &mut tables {
        notes.extend(cells::normalise(table, Some(votes)));
    }
    let texts = blocks.iter_mut().filter_map(|block| match block {
        Block::Text(text) => Some(text),
        Block::Table(_) => None,
    });
    notes.extend(normalise_sentences(texts, votes));
    blocks
}

/// The text of a cell, and whether its tag says that a comma marks the decimals.
fn written(cell: &mut PrintedCell) -> WrittenCell<'_> {
    let comma = cell.tags.first().and_then(|tag| tag.comma);
    (&mut cell.text, comma)
}

/// The texts of each table's cells, and the paragraphs.
#[cfg(test)]
pub(crate) fn printed_texts(blocks: Vec<Block>) -> (Vec<Vec<Vec<String>>>, Vec<String>) {
    let (mut tables, mut texts) = (Vec::new(), Vec::new());
    for block in blocks {
        match block {
            Block::Text(text) => texts.push(text),
            Block::Table(table) => tables.push(
                table
                    .rows
                    .into_iter()
                    .map(|row| row.into_iter().map(|cell| cell.text).collect())
                    .collect(),
            ),
        }
    }
    (tables, texts)
}
