//! Chooses the part of a report that a chat model is shown for a question: the tables and
//! paragraphs that fit the question best, within a number of tokens, in the order of the report.
//!
//! The weights and factors below are set by hand. `.ci/filings` prints how many excerpts have the
//! figures of the answer.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use finqa_core::page::position;
use finqa_core::question;
use finqa_documents::{Block, Document, PrintedCell, PrintedTable, Shown};
use finqa_embedded::{Passage, Passages};

/// Characters that count as one token for `--page-tokens`. Set by hand: an estimate, because each
/// model has its own tokenizer. With a larger number, a model is shown more of a report.
const CHARACTERS: usize = 3;

/// Characters added to each cell and paragraph for the marks around its text.
const MARKS: usize = 3;

/// Largest share of the excerpt that the rows of one table may take, so that other tables and
/// paragraphs fit too.
const MOST_OF_ROOM: f64 = 0.6;

/// Weight of the second and third best row in the fit of their table. Larger values favour tables
/// in which several rows fit over tables with the best single row.
const OTHER_ROWS: f64 = 0.15;

/// Factor for a primary statement, so that it precedes a note with the same rows.
const STATEMENT: f64 = 1.15;

/// Factor for a paragraph, because its words need not describe one figure, as all words of a row
/// do.
const PARAGRAPH: f64 = 0.7;

/// Fit that is set for a passage that must be shown, so that its block precedes all others.
const NEEDED: f64 = 1e6;

/// A report and the index of its passages, which is built when the first excerpt is chosen.
#[derive(Debug)]
pub(super) struct ReadDocument {
    document: Document,
    passages: OnceLock<BlockPassages>,
}

/// The passages of a report: its paragraphs, and the rows of its tables without their headers.
#[derive(Debug)]
struct BlockPassages {
    all: Passages,
    /// For each block, the indices of its first passage and of the one after its last.
    places: Vec<(usize, usize)>,
}

/// How well a block fits a question.
struct FitBlock {
    /// The index of the block in the document.
    at: usize,
    fit: f64,
    /// The fit of each row of a table, without the header; for a paragraph, one entry: its own fit.
    rows: Vec<f64>,
}

impl BlockPassages {
    /// Makes a passage of each paragraph and of each row below a table's header.
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

    /// The blocks with a fit above zero, the best first; the others have nothing in common with the
    /// question. Those with a needed passage precede all others; on a tie, the earlier block comes
    /// first.
    fn ranked(&self, question: &str, needed: &[usize]) -> Vec<FitBlock> {
        let blocks = &self.document.blocks;
        let passages = self.passages();
        let mut fits = passages.all.fit(question);
        for at in needed {
            if let Some(fit) = fits.get_mut(*at) {
                *fit = NEEDED;
            }
        }
        let blocks = blocks.iter().zip(&passages.places).enumerate();
        let mut ranked: Vec<FitBlock> = blocks
            .filter_map(|(at, (block, (first, end)))| {
                let rows = fits.get(*first..*end)?.to_vec();
                // A copy, because `rows` must keep the order of the table for `best_rows`.
                let mut sorted = rows.clone();
                sorted.sort_by(|a, b| b.total_cmp(a));
                // A table with only a header has no passages, and is not shown.
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
    /// The page that a model sees for a question: the rows and paragraphs at `places` of the whole
    /// document, and the best other tables and paragraphs, within `tokens` and in the order of the
    /// report. A block that no longer fits is skipped, and the next best one is tried.
    pub(super) fn excerpt<'p>(
        &self,
        question: &str,
        places: impl Iterator<Item = &'p str>,
        tokens: usize,
    ) -> question::Document {
        let needed: Vec<usize> = places.filter_map(|id| self.passage_at(id)).collect();
        let room = tokens.saturating_mul(CHARACTERS);
        let mut left = room;
        let mut shown: BTreeMap<usize, Shown<'_>> = BTreeMap::new();
        let ranked = self.ranked(question, &needed);
        // First the needed rows of every block, so that no block takes their room; then the other
        // rows.
        let least = ranked.iter().filter(|block| block.fit >= NEEDED);
        let rounds = least.map(|block| (block, true));
        for (block, least) in rounds.chain(ranked.iter().map(|block| (block, false))) {
            let before = shown.get(&block.at).map_or(0, size);
            let room_here = left + before;
            let part = match self.document.blocks.get(block.at) {
                Some(Block::Text(text)) => Shown::Text(text),
                Some(Block::Table(table)) => {
                    let rows = if least {
                        needed_rows(table, &block.rows)
                    } else {
                        best_rows(table, &block.rows, room_here, room)
                    };
                    Shown::Rows(table, rows)
                }
                None => continue,
            };
            let size = size(&part);
            // Skip a block that adds nothing to what is shown of it, or does not fit.
            if size <= before || size > room_here {
                continue;
            }
            left = room_here - size;
            shown.insert(block.at, part);
        }
        self.document.page(shown.into_values())
    }

    fn passages(&self) -> &BlockPassages {
        let blocks = &self.document.blocks;
        self.passages.get_or_init(|| BlockPassages::read(blocks))
    }

    /// The index of the passage that contains a cell or a sentence, given its id in the whole
    /// document. `None` for the sentence about the cover, and for ids that the document lacks.
    fn passage_at(&self, id: &str) -> Option<usize> {
        let cell = position(id);
        let sentence = || id.strip_prefix('t')?.parse::<usize>().ok()?.checked_sub(1);
        // The page may begin with a sentence about the cover, which is not a block.
        let cover = usize::from(self.document.page([]).sentences().next().is_some());
        let mut before = match cell {
            Some((row, _)) => row,
            None => sentence()?.checked_sub(cover)?,
        };
        let blocks = self.document.blocks.iter().zip(&self.passages().places);
        for (block, (first, _)) in blocks {
            let size = match (block, cell) {
                (Block::Table(table), Some(_)) => table.rows.len(),
                (Block::Text(_), None) => 1,
                _ => 0,
            };
            if before < size {
                // The header of a table is not among the passages. Its cells count as those of the
                // first row.
                return Some(first + before.saturating_sub(usize::from(cell.is_some())));
            }
            before -= size;
        }
        None
    }
}

/// The characters that a part takes in a prompt; 0 for a table of which only the header is left.
fn size(part: &Shown<'_>) -> usize {
    match part {
        Shown::Text(text) => text.chars().count() + MARKS,
        Shown::Rows(_, rows) if rows.len() < 2 => 0,
        Shown::Rows(table, rows) => size_of_rows(table, rows),
    }
}

/// True if a row has only a label. Such a row is the heading of a section of its table.
fn heads_rows(row: &[PrintedCell]) -> bool {
    row.iter().skip(1).all(|cell| cell.text.is_empty())
}

/// For each row below the header: its label, and the other words that describe it, which are the
/// table's title, the header row and the heading of its section.
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

/// The indices of the rows to show. These are all rows if the table fits into `left` characters and
/// into its largest share of the excerpt's `room`; otherwise the header and as many of the best
/// rows as fit, each with the heading of its section, in the order of the table. `fits` has no
/// entry for the header.
fn best_rows(table: &PrintedTable, fits: &[f64], left: usize, room: usize) -> Vec<usize> {
    let all = all_rows(table);
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "characters of a page"
    )]
    let left = left.min((room as f64 * MOST_OF_ROOM) as usize);
    if size_of_rows(table, &all) <= left {
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
        // Stop at the first row that does not fit, so that no row is shown without a better one.
        if size_of_rows(table, &more) > left {
            break;
        }
        rows = more;
    }
    rows
}

/// The indices of the header, the rows that must be shown, and the headings of their sections.
fn needed_rows(table: &PrintedTable, fits: &[f64]) -> Vec<usize> {
    let needed = fits.iter().enumerate().filter(|(_, fit)| **fit >= NEEDED);
    let needed = needed.flat_map(|(at, _)| [Some(at + 1), heading_of(table, at + 1)]);
    let mut rows: Vec<usize> = [0].into_iter().chain(needed.flatten()).collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// The nearest row above `row` that is the heading of a section; `None` without one.
fn heading_of(table: &PrintedTable, row: usize) -> Option<usize> {
    let above = table.rows.iter().enumerate().take(row).skip(1);
    let mut headings = above.filter(|(_, cells)| heads_rows(cells));
    Some(headings.next_back()?.0)
}

/// The number of characters that these rows and the lines above the table take in a prompt.
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
            assert_eq!(best_rows(&table, &fits, left, 2 * left), rows, "{left}");
        }
    }
}
