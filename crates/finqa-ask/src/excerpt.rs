//! The part of a report that a question is about, as a page: the best tables and paragraphs that
//! fit into a number of tokens, each table with its title, in their order.

use std::sync::OnceLock;

use finqa_core::question;
use finqa_documents::{Block, Document, PrintedCell, PrintedTable, Shown};
use finqa_embedded::{Passage, Passages};

/// Characters of a token, as they are counted for `--page-tokens`.
const CHARACTERS: usize = 3;

/// What a cell takes in addition to its text: the marks around it.
const MARKS: usize = 3;

/// A table that takes more than this share of the room is shown by its best rows.
const MOST_OF_ROOM: f64 = 0.6;

/// What the rows after the best add to the fit of their table.
const OTHER_ROWS: f64 = 0.15;

/// What the figures of a statement count more than those of its notes.
const STATEMENT: f64 = 1.15;

/// What a paragraph counts less than a row, whose words are all of one figure.
const PARAGRAPH: f64 = 0.7;

/// A report; its passages are read when the first question needs them.
#[derive(Debug)]
pub(super) struct ReadDocument {
    document: Document,
    passages: OnceLock<BlockPassages>,
}

#[derive(Debug)]
struct BlockPassages {
    all: Passages,
    /// The first passage of each block, and one past its last.
    places: Vec<(usize, usize)>,
}

/// A block, how well it fits, and how well its rows do.
struct FitBlock {
    at: usize,
    fit: f64,
    rows: Vec<f64>,
}

impl BlockPassages {
    fn read(blocks: &[Block]) -> Self {
        let mut texts: Vec<(&str, String)> = Vec::new();
        let mut places = Vec::new();
        for block in blocks {
            let first = texts.len();
            match block {
                Block::Text(text) => texts.push((text, String::new())),
                Block::Table(table) => texts.extend(rows_in_words(table)),
            }
            places.push((first, texts.len()));
        }
        let all = Passages::read(texts.iter().map(|(text, above)| Passage { text, above }));
        Self { all, places }
    }
}

impl ReadDocument {
    pub(super) fn new(document: Document) -> Self {
        Self {
            document,
            passages: OnceLock::new(),
        }
    }

    pub(super) fn document(&self) -> &Document {
        &self.document
    }

    /// The blocks by how well they fit a question, the best first.
    fn ranked(&self, question: &str) -> Vec<FitBlock> {
        let blocks = &self.document.blocks;
        let passages = self.passages.get_or_init(|| BlockPassages::read(blocks));
        let fits = passages.all.fit(question);
        let blocks = blocks.iter().zip(&passages.places).enumerate();
        let mut ranked: Vec<FitBlock> = blocks
            .filter_map(|(at, (block, (first, end)))| {
                let rows = fits.get(*first..*end)?.to_vec();
                let mut sorted = rows.clone();
                sorted.sort_by(|a, b| b.total_cmp(a));
                let best = sorted.first().copied()?;
                let others: f64 = sorted.iter().skip(1).take(2).sum();
                let fit = match block {
                    Block::Text(_) => best * PARAGRAPH,
                    Block::Table(table) if table.is_statement() => {
                        (best + others * OTHER_ROWS) * STATEMENT
                    }
                    Block::Table(_) => best + others * OTHER_ROWS,
                };
                (fit > 0.0).then_some(FitBlock { at, fit, rows })
            })
            .collect();
        ranked.sort_by(|a, b| b.fit.total_cmp(&a.fit).then(a.at.cmp(&b.at)));
        ranked
    }
}

impl ReadDocument {
    /// The page that a model is shown for a question: the best tables and paragraphs within
    /// `tokens`, in their order.
    pub(super) fn excerpt(&self, question: &str, tokens: usize) -> question::Document {
        let room = tokens.saturating_mul(CHARACTERS);
        let mut left = room;
        let mut shown: Vec<(usize, Shown<'_>)> = Vec::new();
        for block in self.ranked(question) {
            let part = match self.document.blocks.get(block.at) {
                Some(Block::Text(text)) => Shown::Text(text),
                Some(Block::Table(table)) => {
                    Shown::Rows(table, best_rows(table, &block.rows, left, room))
                }
                None => continue,
            };
            let size = size(&part);
            if size == 0 || size > left {
                continue;
            }
            left -= size;
            shown.push((block.at, part));
        }
        shown.sort_by_key(|(at, _)| *at);
        self.document.page(shown.into_iter().map(|(_, part)| part))
    }
}

/// The characters that a part takes in a prompt.
fn size(part: &Shown<'_>) -> usize {
    match part {
        Shown::Text(text) => text.chars().count() + MARKS,
        Shown::Rows(_, rows) if rows.len() < 2 => 0,
        Shown::Rows(table, rows) => size_of_rows(table, rows),
    }
}

/// Whether a row is only a label.
fn heads_rows(row: &[PrintedCell]) -> bool {
    row.iter().skip(1).all(|cell| cell.text.is_empty())
}

/// Each row's label, and the headings above it.
fn rows_in_words(table: &PrintedTable) -> Vec<(&str, String)> {
    let mut heading = "";
    let mut words = Vec::new();
    let head: Vec<&str> = table
        .rows
        .iter()
        .take(1)
        .flatten()
        .map(|cell| cell.text.as_str())
        .collect();
    let head = head.join(" ");
    for row in table.rows.iter().skip(1) {
        let label = row.first().map_or("", |label| label.text.as_str());
        words.push((label, format!("{} {head} {heading}", table.title)));
        if heads_rows(row) {
            heading = label;
        }
    }
    words
}

fn all_rows(table: &PrintedTable) -> Vec<usize> {
    (0..table.rows.len()).collect()
}

/// All rows if they fit well, otherwise the header and the best ones that do, in their order.
fn best_rows(table: &PrintedTable, fits: &[f64], left: usize, room: usize) -> Vec<usize> {
    let all = all_rows(table);
    #[allow(clippy::cast_precision_loss, reason = "characters of a page")]
    let large = size_of_rows(table, &all) as f64 > room as f64 * MOST_OF_ROOM;
    if size_of_rows(table, &all) <= left && !large {
        return all;
    }
    let mut order: Vec<usize> = (1..table.rows.len()).collect();
    let fit = |row: usize| fits.get(row - 1).copied().unwrap_or(0.0);
    order.sort_by(|a, b| fit(*b).total_cmp(&fit(*a)).then(a.cmp(b)));
    let mut rows = vec![0];
    for row in order {
        let mut more = rows.clone();
        more.extend([Some(row), heading_of(table, row)].into_iter().flatten());
        more.sort_unstable();
        more.dedup();
        if size_of_rows(table, &more) > left {
            break;
        }
        rows = more;
    }
    rows
}

/// The row that heads the section of another one.
fn heading_of(table: &PrintedTable, row: usize) -> Option<usize> {
    let above = table.rows.iter().enumerate().take(row).skip(1);
    let mut headings = above.filter(|(_, cells)| heads_rows(cells));
    Some(headings.next_back()?.0)
}

/// The characters that rows take in a prompt.
fn size_of_rows(table: &PrintedTable, rows: &[usize]) -> usize {
    let cells = rows.iter().filter_map(|row| table.rows.get(*row)).flatten();
    let text: usize = cells.map(|cell| cell.text.chars().count() + MARKS).sum();
    text + table
        .above()
        .iter()
        .map(|line| line.chars().count())
        .sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_rows_have_the_heading_of_their_section() {
        let rows = [
            "", "North:", "Revenue", "Costs", "South:", "Revenue", "Costs",
        ];
        let table = PrintedTable {
            rows: rows
                .iter()
                .map(|label| {
                    let figure = if label.ends_with(':') { "" } else { "1,204" };
                    [*label, figure]
                        .map(|text| PrintedCell {
                            text: text.to_owned(),
                            ..PrintedCell::default()
                        })
                        .to_vec()
                })
                .collect(),
            ..PrintedTable::default()
        };
        let fits = [0.0, 0.0, 0.0, 0.0, 2.0, 1.0];
        for (left, rows) in [(45, vec![0, 4, 5]), (60, vec![0, 4, 5, 6]), (30, vec![0])] {
            assert_eq!(best_rows(&table, &fits, left, left), rows, "{left}");
        }
    }
}
