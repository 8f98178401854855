//! Looks up a cell of the tables by its place, names it, and finds its period.

use finqa_core::page::period::Period;
use finqa_core::page::{Cell, CellKind, CellNumber, TableRow};

use super::Tables;
use super::table::{Label, Place, ReportColumn, ReportRow, ReportTable};
use crate::tables::words::same_word;

impl Place {
    /// True if both cells are in one row.
    pub(crate) fn shares_row(self, other: Self) -> bool {
        (self.table, self.row) == (other.table, other.row)
    }
}

impl Tables {
    pub(crate) fn table(&self, place: Place) -> Option<&ReportTable> {
        self.tables.get(place.table)
    }

    pub(crate) fn row(&self, place: Place) -> Option<&ReportRow> {
        self.table(place)?.rows.get(place.row)
    }

    pub(crate) fn column(&self, place: Place) -> Option<&ReportColumn> {
        self.table(place)?.columns.get(place.column)
    }

    pub(crate) fn cell(&self, place: Place) -> Option<&CellNumber> {
        self.row(place)?.cells.get(place.column)?.as_ref()
    }

    /// The reason why a cell that looks like a figure could not be read; `None` for other cells.
    pub(crate) fn why_unread(&self, place: Place) -> Option<&str> {
        let mut unread = self.row(place)?.unread.iter();
        let (_, why) = unread.find(|(column, _)| *column == place.column)?;
        Some(why)
    }

    /// The labels of a cell's row and column.
    pub(crate) fn labels_of(&self, place: Place) -> impl Iterator<Item = &Label> {
        let row = self.row(place).map(|row| &row.label);
        let column = self.column(place).map(|column| &column.label);
        row.into_iter().chain(column)
    }

    /// True if the label or the section of a cell's row has the word, or the label of its column.
    pub(crate) fn is_labelled(&self, place: Place, word: &str) -> bool {
        self.row(place).is_some_and(|row| row.says(word))
            || self
                .column(place)
                .is_some_and(|column| column.label.says(word))
    }

    /// The name of a cell's row, or of its column if the row has only a period.
    pub(crate) fn name_of(&self, place: Place) -> String {
        let mut labels = self.labels_of(place);
        let name = labels.find(|label| !label.words.is_empty());
        name.map_or_else(String::new, |label| label.name.clone())
    }

    /// The printed row and column of a cell, for messages: "Revenue · 2031".
    pub(crate) fn full_name(&self, place: Place) -> String {
        let row = self.row(place).map_or("", |row| row.printed.as_str());
        let column = self.column(place).map_or("", |one| one.printed.as_str());
        format!("{row} · {column}")
    }

    /// The period of a cell; `None` without one.
    pub(crate) fn period_at(&self, place: Place) -> Option<Period> {
        self.table(place)?.period_of(place.row, place.column)
    }

    /// The names of a cell's row and column, as evidence shows them.
    pub(crate) fn cell_name(&self, place: Place) -> String {
        let row = self.row(place).map(|row| row.printed.trim());
        let column = self.column(place).map(|column| column.printed.as_str());
        let names = [row, column].into_iter().flatten();
        let names = names.filter(|name| !name.is_empty());
        names.collect::<Vec<_>>().join(", ")
    }

    /// The id of a cell on the page of a report.
    pub(crate) fn cell_id(&self, place: Place) -> String {
        let first = self.table(place).map_or(0, |table| table.first_row);
        format!("r{}c{}", first + place.row, place.column)
    }
}

impl ReportColumn {
    /// True if the heading is a period and says nothing else.
    pub(super) fn is_headed_by_period(&self) -> bool {
        self.label.words.is_empty() && self.label.period.is_some() && !self.is_dated_by_title
    }
}

impl ReportRow {
    /// True if the row's label or its section has the word.
    pub(crate) fn says(&self, word: &str) -> bool {
        self.label.says(word) || self.section.iter().any(|own| same_word(own, word))
    }

    /// True for a row without figures, which is a heading of the rows below it. A row of dashes is
    /// not one.
    pub(crate) fn is_heading(&self) -> bool {
        self.dashes.is_empty() && self.cells.iter().all(Option::is_none) && self.unread.is_empty()
    }
}

impl ReportTable {
    /// The rows below the header, each with its index.
    pub(crate) fn body(&self) -> impl Iterator<Item = (usize, &ReportRow)> + Clone {
        self.rows.iter().enumerate().skip(1)
    }

    /// The texts of all rows that are no labels, each with its column.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (usize, &str)> {
        let texts = self.body().flat_map(|(_, row)| &row.texts);
        texts.map(|(at, text)| (*at, &**text))
    }

    /// The texts of a row that are neither its label nor its unit.
    pub(super) fn texts_of(
        &self,
        row: &TableRow,
        cells: &[Cell],
        unit: Option<usize>,
    ) -> Vec<(usize, Box<str>)> {
        // The label can be in two columns.
        let first = cells.first().map_or("", |cell| cell.raw.trim());
        let behind = if row.label == first { 1 } else { 2 };
        let texts = cells.iter().enumerate().skip(behind).filter(|(at, cell)| {
            self.single && unit != Some(*at) && cell.kind == CellKind::Text && cell.number.is_none()
        });
        texts
            .map(|(at, cell)| (at, cell.raw.trim().into()))
            .collect()
    }

    /// The columns behind that of the labels, each with its index.
    pub(crate) fn figure_columns(&self) -> impl Iterator<Item = (usize, &ReportColumn)> {
        self.columns.iter().enumerate().skip(1)
    }

    pub(crate) fn place(&self, row: usize, column: usize) -> Place {
        Place {
            table: self.index,
            row,
            column,
        }
    }

    /// The period of a cell, from its column or its row; `None` if neither names one.
    pub(crate) fn period_of(&self, row: usize, column: usize) -> Option<Period> {
        let (row, column) = (self.rows.get(row)?.label.period, self.columns.get(column)?);
        match (column.label.period, row) {
            // The row completes a heading without a year, such as "Q1".
            (Some(own), Some(row)) if own.end.year.is_none() || self.single => Some(own.or(row)),
            // The title of a schedule names the day from which it counts, its rows name the years.
            (Some(_), Some(row)) if column.is_dated_by_title => Some(row),
            (own, row) => own.or(row),
        }
    }
}
