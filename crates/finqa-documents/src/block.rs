//! What a report consists of.

use crate::grid::spans::PrintedCell;

/// A paragraph or a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    Text(String),
    Table(PrintedTable),
}

/// A table as printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrintedTable {
    /// The heading above it.
    pub title: String,
    /// The line above it that states its unit: "(In millions, except per share amounts)".
    pub unit: Option<String>,
    /// The sheet of a workbook that it is in.
    pub sheet: String,
    /// Its rows, the header first, all of one length.
    pub rows: Vec<Vec<PrintedCell>>,
}

/// The tables by the text of their cells, and the paragraphs.
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
