//! What a report consists of.

use super::spans::FiledCell;

/// A paragraph or a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FiledBlock {
    Text(String),
    Table(FiledTable),
}

/// A table as printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FiledTable {
    /// The heading above it.
    pub title: String,
    /// The line above it that states its unit: "(In millions, except per share amounts)".
    pub unit: Option<String>,
    /// Its rows, the header first, all of one length.
    pub rows: Vec<Vec<FiledCell>>,
}

/// The tables by the text of their cells, and the paragraphs.
#[cfg(test)]
pub(super) fn printed_texts(blocks: Vec<FiledBlock>) -> (Vec<Vec<Vec<String>>>, Vec<String>) {
    let (mut tables, mut texts) = (Vec::new(), Vec::new());
    for block in blocks {
        match block {
            FiledBlock::Text(text) => texts.push(text),
            FiledBlock::Table(table) => tables.push(
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
