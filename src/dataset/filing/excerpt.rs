//! The part of a report that a question is about, as a page: the best tables and paragraphs that
//! fit into a number of tokens, each table with its title, in their order.

use std::sync::OnceLock;

use finqa_core::page::{FigureTag, TableStart};
use finqa_core::question::Document;
use finqa_embedded::{Passage, Passages};

use super::block::{FiledBlock, FiledTable};
use super::report::Filing;
use super::spans::FiledCell;

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
pub(crate) struct ReadFiling {
    filing: Filing,
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
    fn read(blocks: &[FiledBlock]) -> Self {
        let mut texts: Vec<(&str, String)> = Vec::new();
        let mut places = Vec::new();
        for block in blocks {
            let first = texts.len();
            match block {
                FiledBlock::Text(text) => texts.push((text, String::new())),
                FiledBlock::Table(table) => texts.extend(table.rows_in_words()),
            }
            places.push((first, texts.len()));
        }
        let all = Passages::read(texts.iter().map(|(text, above)| Passage { text, above }));
        Self { all, places }
    }
}

impl ReadFiling {
    pub(crate) fn new(filing: Filing) -> Self {
        Self {
            filing,
            passages: OnceLock::new(),
        }
    }

    /// The blocks by how well they fit a question, the best first.
    fn ranked(&self, question: &str) -> Vec<FitBlock> {
        let blocks = &self.filing.blocks;
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
                    FiledBlock::Text(_) => best * PARAGRAPH,
                    FiledBlock::Table(table) if table.is_statement() => {
                        (best + others * OTHER_ROWS) * STATEMENT
                    }
                    FiledBlock::Table(_) => best + others * OTHER_ROWS,
                };
                (fit > 0.0).then_some(FitBlock { at, fit, rows })
            })
            .collect();
        ranked.sort_by(|a, b| b.fit.total_cmp(&a.fit).then(a.at.cmp(&b.at)));
        ranked
    }
}

impl ReadFiling {
    /// The page that a model is shown for a question: the best tables and paragraphs within
    /// `tokens`, in their order.
    pub(crate) fn excerpt(&self, question: &str, tokens: usize) -> Document {
        let room = tokens.saturating_mul(CHARACTERS);
        let mut left = room;
        let mut shown: Vec<(usize, Part<'_>)> = Vec::new();
        for block in self.ranked(question) {
            let part = match self.filing.blocks.get(block.at) {
                Some(FiledBlock::Text(text)) => Part::Text(text),
                Some(FiledBlock::Table(table)) => {
                    Part::Rows(table, table.best_rows(&block.rows, left, room))
                }
                None => continue,
            };
            let size = part.size();
            if size == 0 || size > left {
                continue;
            }
            left -= size;
            shown.push((block.at, part));
        }
        shown.sort_by_key(|(at, _)| *at);
        self.page(shown.into_iter().map(|(_, part)| part))
    }

    /// The reason to doubt an answer from these figures.
    pub(crate) fn doubt<'l>(&self, literals: impl Iterator<Item = &'l str>) -> Option<String> {
        self.filing.doubt(literals)
    }

    pub(crate) fn name(&self) -> &str {
        &self.filing.name
    }

    /// All tables, for the embedded analyst.
    pub(crate) fn tables(&self) -> Document {
        let tables = self.filing.tables();
        self.page(tables.map(|table| Part::Rows(table, table.all_rows())))
    }

    fn page<'f>(&self, parts: impl IntoIterator<Item = Part<'f>>) -> Document {
        let mut document = Document {
            id: self.filing.name.clone(),
            filename: self.filing.name.clone(),
            own: true,
            pre_text: self.filing.in_words().into_iter().collect(),
            cover: Some(self.filing.cover.clone()),
            ..Document::default()
        };
        for part in parts {
            match part {
                Part::Text(text) => document.pre_text.push(text.to_owned()),
                Part::Rows(table, rows) => {
                    let first = document.table.len();
                    document.tables.push(TableStart {
                        row: first,
                        above: table.above(),
                        tags: table.tags(&rows, first),
                    });
                    document
                        .table
                        .extend(rows.iter().filter_map(|row| table.printed_row(*row)));
                }
            }
        }
        document
    }
}

/// What is shown of a block.
enum Part<'f> {
    Text(&'f str),
    /// Rows of a table, the header first.
    Rows(&'f FiledTable, Vec<usize>),
}

impl Part<'_> {
    fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.chars().count() + MARKS,
            Self::Rows(_, rows) if rows.len() < 2 => 0,
            Self::Rows(table, rows) => table.size(rows),
        }
    }
}

/// Whether a row is only a label.
fn heads_rows(row: &[FiledCell]) -> bool {
    row.iter().skip(1).all(|cell| cell.text.is_empty())
}

impl FiledTable {
    /// Each row's label, and the headings above it.
    fn rows_in_words(&self) -> Vec<(&str, String)> {
        let mut heading = "";
        let mut words = Vec::new();
        let head: Vec<&str> = self
            .rows
            .iter()
            .take(1)
            .flatten()
            .map(|cell| cell.text.as_str())
            .collect();
        let head = head.join(" ");
        for row in self.rows.iter().skip(1) {
            let label = row.first().map_or("", |label| label.text.as_str());
            words.push((label, format!("{} {head} {heading}", self.title)));
            if heads_rows(row) {
                heading = label;
            }
        }
        words
    }

    fn all_rows(&self) -> Vec<usize> {
        (0..self.rows.len()).collect()
    }

    /// All rows if they fit well, otherwise the header and the best ones that do, in their order.
    fn best_rows(&self, fits: &[f64], left: usize, room: usize) -> Vec<usize> {
        let all = self.all_rows();
        #[allow(clippy::cast_precision_loss, reason = "characters of a page")]
        let large = self.size(&all) as f64 > room as f64 * MOST_OF_ROOM;
        if self.size(&all) <= left && !large {
            return all;
        }
        let mut order: Vec<usize> = (1..self.rows.len()).collect();
        let fit = |row: usize| fits.get(row - 1).copied().unwrap_or(0.0);
        order.sort_by(|a, b| fit(*b).total_cmp(&fit(*a)).then(a.cmp(b)));
        let mut rows = vec![0];
        for row in order {
            let mut more = rows.clone();
            more.extend([Some(row), self.heading_of(row)].into_iter().flatten());
            more.sort_unstable();
            more.dedup();
            if self.size(&more) > left {
                break;
            }
            rows = more;
        }
        rows
    }

    /// The row that heads the section of another one.
    fn heading_of(&self, row: usize) -> Option<usize> {
        let above = self.rows.iter().enumerate().take(row).skip(1);
        let mut headings = above.filter(|(_, cells)| heads_rows(cells));
        Some(headings.next_back()?.0)
    }

    /// The characters that rows take in a prompt.
    fn size(&self, rows: &[usize]) -> usize {
        let cells = rows.iter().filter_map(|row| self.rows.get(*row)).flatten();
        let text: usize = cells.map(|cell| cell.text.chars().count() + MARKS).sum();
        text + self
            .above()
            .iter()
            .map(|line| line.chars().count())
            .sum::<usize>()
    }

    /// The first tags of figures, of rows that a page has from `first`.
    fn tags(&self, rows: &[usize], first: usize) -> Vec<FigureTag> {
        let cells = rows.iter().zip(first..).flat_map(|(row, at)| {
            let cells = self.rows.get(*row).into_iter().flatten();
            cells
                .enumerate()
                .map(move |(column, cell)| (at, column, cell))
        });
        let tags = cells.filter_map(|(row, column, cell)| {
            let tag = cell.tags.first()?;
            Some(FigureTag {
                row,
                column,
                concept: tag.concept.clone(),
                period: tag.period.in_words(),
                unit: tag.unit.clone(),
                scale: tag.scale,
            })
        });
        tags.collect()
    }

    fn printed_row(&self, row: usize) -> Option<Vec<String>> {
        Some(
            self.rows
                .get(row)?
                .iter()
                .map(|cell| cell.text.clone())
                .collect(),
        )
    }

    /// Whether it is one of the primary statements, by its title.
    fn is_statement(&self) -> bool {
        let title = self.title.to_lowercase();
        title.contains("balance sheet")
            || title.contains("statement")
                && title.len() < 120
                && ["operations", "income", "cash flows", "earnings", "equity"]
                    .iter()
                    .any(|of| title.contains(of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_rows_have_the_heading_of_their_section() {
        let rows = [
            "", "North:", "Revenue", "Costs", "South:", "Revenue", "Costs",
        ];
        let table = FiledTable {
            rows: rows
                .iter()
                .map(|label| {
                    let figure = if label.ends_with(':') { "" } else { "1,204" };
                    [*label, figure]
                        .map(|text| FiledCell {
                            text: text.to_owned(),
                            tags: Vec::new(),
                        })
                        .to_vec()
                })
                .collect(),
            ..FiledTable::default()
        };
        let fits = [0.0, 0.0, 0.0, 0.0, 2.0, 1.0];
        for (left, rows) in [(45, vec![0, 4, 5]), (60, vec![0, 4, 5, 6]), (30, vec![0])] {
            assert_eq!(table.best_rows(&fits, left, left), rows, "{left}");
        }
    }
}
