//! Parses a page once for all of its questions. The result is its table in typed cells, and its
//! numbers with their ids.
//!
//! A [`Table`] keeps the published text of each cell together with its meaning: a number (often
//! written twice, `-2913 ( 2913 )`), a dash (often one that lost its escape, `2014`), text, or
//! nothing. The header is repaired. In Markdown, a table shows dashes as dashes, and numbers that
//! are written twice only once. Its rows and columns are numbered, so that a cell can be cited as
//! `r3c2`.
//!
//! The module answers no questions and knows no gold. Reading order: `text` is the input; `cell`,
//! `caption`, `header` and `page_table` read the table; `places` collects the numbers.

mod caption;
mod cell;
mod header;
mod marks;
mod normalise;
mod notes;
mod page_table;
pub mod period;
mod places;
mod render;
mod rows;
mod sides;
mod statement;
mod text;
mod years;

pub use caption::{Caption, without_unit};
pub use cell::{Cell, CellKind, CellNumber, CellSource, TagKind, TagUnit};
pub use marks::without_footnote;
pub use normalise::normalise_sentence;
pub use notes::names_notes;
pub use page_table::{Column, Table, TableRow};
pub use places::{NumberPlace, NumberSource, PagePlaces, is_percent_label};
pub use rows::{counts_things, has_no_scale, is_count};
pub use sides::{has_sides, split_side};
pub use statement::Statement;
pub(crate) use text::PageText;
pub use text::{Cover, FigureTag, SheetPlaces, TableStart, column_name, position};
pub use years::{MONTHS, is_month, year_in_text, year_of, year_of_date, years_in};

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A parsed page.
#[derive(Debug)]
pub struct Page {
    /// The first table, with its header repaired.
    pub table: Table,
    /// The other tables. Only an excerpt of a report has more than one table.
    pub others: Vec<Table>,
}

static READ: AtomicUsize = AtomicUsize::new(0);

/// The number of pages that this process has parsed. A test uses it to check that a page is parsed
/// only once.
pub fn pages_read() -> usize {
    READ.load(Ordering::Relaxed)
}

impl Page {
    /// Parses a page, and counts it in [`pages_read`].
    fn read(text: &PageText<'_>) -> Self {
        // Relaxed, because no other data depend on the counter.
        READ.fetch_add(1, Ordering::Relaxed);
        let tables = text.each_table().into_iter();
        let mut tables = tables.map(|(first_row, alone)| Table::read(&alone, first_row));
        let table = tables.next().unwrap_or_else(|| Table::read(text, 0));
        Self {
            table,
            others: tables.collect(),
        }
    }

    /// All tables, in order.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        std::iter::once(&self.table).chain(&self.others)
    }

    /// The table that contains a row of the page, and the row's index in that table.
    pub fn table_of_row(&self, row: usize) -> Option<(&Table, usize)> {
        let tables = self.tables().filter(|table| table.first_row() <= row);
        let table = tables.last()?;
        Some((table, row - table.first_row()))
    }
}

/// Caches the page of a document and its numbers. Each is computed on first use. A clone starts
/// with an empty cache, because the cloned document may be changed.
#[derive(Debug, Default)]
pub struct LazyPage {
    page: OnceLock<Page>,
    places: OnceLock<PagePlaces>,
}

impl LazyPage {
    pub(crate) fn page(&self, text: &PageText<'_>) -> &Page {
        self.page.get_or_init(|| Page::read(text))
    }

    pub(crate) fn places(&self, text: &PageText<'_>) -> &PagePlaces {
        let read = || PagePlaces::read(text, self.page(text).tables());
        self.places.get_or_init(read)
    }
}

impl Clone for LazyPage {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Two caches are always equal. Documents are equal if their texts are, whether or not one of them
/// has been parsed.
impl PartialEq for LazyPage {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
