//! Collects the numbers of a page, each with its id.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::number;

use super::cell::CellKind;
use super::page_table::{Column, Table};
use super::text::PageText;
use super::years::years_in;

/// The cell, sentence, earlier answer or question that has a number. It is written as an evidence
/// id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberSource {
    /// `r3c2`
    Cell { row: u32, column: u32 },
    /// `t5`
    Sentence(u32),
    /// `h1`, an earlier answer.
    Earlier(u32),
    /// `question`
    Question,
}

impl NumberSource {
    /// The source with this id; `None` if a text is not an id as [`Self`] prints it.
    pub fn named(id: &str) -> Option<Self> {
        let number = |digits: &str| digits.parse::<u32>().ok();
        let (kind, rest) = id.split_at_checked(1)?;
        let source = match kind {
            "r" => {
                let (row, column) = rest.split_once('c')?;
                Self::Cell {
                    row: number(row)?,
                    column: number(column)?,
                }
            }
            "t" => Self::Sentence(number(rest)?),
            "h" => Self::Earlier(number(rest)?),
            _ => Self::Question,
        };
        // The comparison refuses other ids, and other spellings such as `r03c2`.
        (source.to_string() == id).then_some(source)
    }

    pub fn is_cell(self) -> bool {
        matches!(self, Self::Cell { .. })
    }
}

impl fmt::Display for NumberSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cell { row, column } => write!(f, "r{row}c{column}"),
            Self::Sentence(number) => write!(f, "t{number}"),
            Self::Earlier(number) => write!(f, "h{number}"),
            Self::Question => f.write_str("question"),
        }
    }
}

/// An index as a `u32`, so that many places take less memory. No page has more rows than fit into
/// it.
fn kept(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// A number, and the place on the page where it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberPlace {
    pub source: NumberSource,
    /// The absolute value as written: 14.1 for `14.1%`.
    pub magnitude: f64,
    /// The years in the labels of its row and column, or in its sentence.
    pub years: Arc<[u16]>,
    /// True if the number or the label of its row or column has a percent sign or word.
    pub percent: bool,
    /// True if the cell is a dash. `magnitude` is then 2013 or 2014 if the dataset has only these
    /// digits of the dash's escape (`\u2013`, `\u2014`), and otherwise 0.
    pub dash: bool,
}

impl NumberPlace {
    /// The numbers in a text. All of them get these years.
    pub fn in_text<'t>(
        source: NumberSource,
        text: &'t str,
        years: &'t Arc<[u16]>,
        percent: bool,
    ) -> impl Iterator<Item = Self> + 't {
        number::readings(text).map(move |reading| Self {
            source,
            magnitude: reading.value.abs(),
            years: Arc::clone(years),
            percent: percent || reading.percent,
            dash: false,
        })
    }
}

/// The numbers of a page and the years that it names. Numbers in cells come first.
#[derive(Debug)]
pub struct PagePlaces {
    pub numbers: Vec<NumberPlace>,
    /// The years in its labels, cells and sentences, and in its file name.
    pub years: BTreeSet<u16>,
}

impl PagePlaces {
    /// Collects the numbers. Sentences are counted over the text before and after the table.
    pub(super) fn read<'t>(page: &PageText<'_>, tables: impl Iterator<Item = &'t Table>) -> Self {
        let mut places = Self {
            numbers: Vec::new(),
            years: years_in(page.filename).into_iter().collect(),
        };
        tables.for_each(|table| places.add_table(table));
        for (at, sentence) in page.before.iter().chain(page.after).enumerate() {
            let years: Arc<[u16]> = years_in(sentence).into();
            places.years.extend(&*years);
            let source = NumberSource::Sentence(kept(at + 1));
            let found = NumberPlace::in_text(source, sentence, &years, false);
            places.numbers.extend(found);
        }
        places.numbers.shrink_to_fit();
        places
    }

    /// Adds the numbers of all cells, including those in the header and the labels.
    fn add_table(&mut self, table: &Table) {
        let labels = table.columns().iter().map(|column| column.label.as_str());
        self.years.extend(labels.flat_map(years_in));
        let percent_columns: Vec<bool> = table
            .columns()
            .iter()
            .map(|column| is_percent_label(&column.label))
            .collect();
        let own_years = |column: &Column| column.year.into_iter().collect();
        let column_years: Vec<Arc<[u16]>> = table.columns().iter().map(own_years).collect();
        for (row, (of_row, cells)) in table.rows().iter().zip(table.cells()).enumerate() {
            let row_percent = is_percent_label(&of_row.label);
            let columns = column_years.iter().zip(&percent_columns);
            for (column, (cell, (of_column, column_percent))) in
                cells.iter().zip(columns).enumerate()
            {
                let years: Arc<[u16]> = match of_row.year {
                    Some(year) => [year]
                        .into_iter()
                        .chain(of_column.iter().copied())
                        .collect(),
                    None => Arc::clone(of_column),
                };
                let source = NumberSource::Cell {
                    row: kept(table.first_row() + row),
                    column: kept(column),
                };
                // Row 0 and column 0 are labels. Their own numbers are not percentages.
                let percent = row > 0 && column > 0 && (row_percent || *column_percent);
                // A dash counts as 0. If only the digits of its escape are left (`2014`), they are
                // listed as a number, but not as a year of the page.
                if cell.kind == CellKind::Dash {
                    let reading = number::read(&cell.raw);
                    self.numbers.push(NumberPlace {
                        source,
                        magnitude: reading.map_or(0.0, |reading| reading.value.abs()),
                        years,
                        percent,
                        dash: true,
                    });
                } else {
                    self.years.extend(years_in(&cell.raw));
                    let found = NumberPlace::in_text(source, &cell.raw, &years, percent);
                    self.numbers.extend(found);
                    // A workbook calculates with the stored figure and a reader with the printed
                    // one, so both are listed.
                    let stored = cell.number.as_ref().filter(|one| one.printed().is_some());
                    self.numbers.extend(stored.map(|one| NumberPlace {
                        source,
                        magnitude: one.value.abs(),
                        years,
                        percent: percent || one.percent,
                        dash: false,
                    }));
                }
            }
        }
    }
}

/// True if a label says that its figures are percentages: `% of total`.
pub fn is_percent_label(label: &str) -> bool {
    let lower = label.to_lowercase();
    lower.contains('%') || lower.contains("percent") || lower.contains("per cent")
}
