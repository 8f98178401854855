//! A page, read once for all its questions: its table in typed cells, and the places of its
//! numbers.
//!
//! A [`Table`] keeps every cell as it was filed, alongside what it is read as: a
//! number (often written twice, `-2913 ( 2913 )`), a dash (often the lost
//! escape `2014`), text, or nothing. Reading repairs the header; Markdown shows dashes as
//! dashes and doubled numbers once, and numbers rows and columns so that a
//! cell can be cited as `r3c2`.
//!
//! It answers no question and knows no gold. In the order of reading: `text` is what is
//! read; `cell`, `caption`, `header` and `page_table` read the table, `places` the numbers.

mod caption;
mod cell;
mod header;
mod marks;
mod normalise;
mod page_table;
pub mod period;
mod places;
mod render;
mod rows;
mod statement;
mod text;
mod years;

pub use caption::Caption;
pub use cell::{Cell, CellKind, CellNumber, CellSource, TagKind, TagUnit};
pub use normalise::normalise_sentence;
pub use page_table::{Column, Table, TableRow};
pub use places::{NumberPlace, PagePlaces, is_percent_label};
pub use rows::{counts_things, has_no_scale};
pub use statement::Statement;
pub(crate) use text::PageText;
pub use text::{Cover, FigureTag, SheetPlaces, TableStart, column_name, position};
pub use years::{MONTHS, is_month, year_in_text, year_of, year_of_date, years_in};

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a page says, for everything that works on it.
#[derive(Debug)]
pub struct Page {
    /// The table, repaired; of several the first.
    pub table: Table,
    /// The other tables of an excerpt of a report.
    pub others: Vec<Table>,
}

static READ: AtomicUsize = AtomicUsize::new(0);

/// How many pages this process has read.
#[doc(hidden)]
pub fn pages_read() -> usize {
    READ.load(Ordering::Relaxed)
}

impl Page {
    fn read(text: &PageText<'_>) -> Self {
        READ.fetch_add(1, Ordering::Relaxed);
        let tables = text.each_table().into_iter();
        let mut tables = tables.map(|(first_row, alone)| Table::read(&alone, first_row));
        let table = tables.next().unwrap_or_else(|| Table::read(text, 0));
        Self {
            table,
            others: tables.collect(),
        }
    }

    /// Its tables, in their order.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        std::iter::once(&self.table).chain(&self.others)
    }

    /// The table that a row of the page is in, and which of its rows it is.
    pub fn table_of_row(&self, row: usize) -> Option<(&Table, usize)> {
        let tables = self.tables().filter(|table| table.first_row() <= row);
        let table = tables.last()?;
        Some((table, row - table.first_row()))
    }
}

/// The page of a document and the places of its numbers, each read when it is first asked for. A
/// copy of the document may be changed, so it reads its own.
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

/// Documents are compared by what is read, whether or not it has been read.
impl PartialEq for LazyPage {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
