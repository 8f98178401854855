//! Reads a table into typed cells with labelled rows and columns.

use std::sync::Arc;

use super::{Column, Table, TableRow, labels};
use crate::page::caption::Caption;
use crate::page::cell::{Cell, CellKind, CellNumber, CellSource, TableOrigin};
use crate::page::header;
use crate::page::normalise::normalise_label;
use crate::page::notes::mark_notes;
use crate::page::rows::is_in_percent;
use crate::page::sides::read_sides;
use crate::page::text::PageText;
use crate::page::years::single_year;

impl Table {
    /// Reads a table that begins at row `first_row` of the page. Short rows are padded with empty
    /// cells.
    pub(crate) fn read(page: &PageText<'_>, first_row: usize) -> Self {
        let origin = page.origin();
        let mut cells = typed_cells(page, first_row);
        // The first row of a user's table is always its header.
        let headerless = origin == TableOrigin::Published && is_headerless(&cells);
        if origin == TableOrigin::Published {
            repair_labels(&mut cells);
            mark_lost_dashes(&mut cells, headerless);
        }
        let columns = columns(page, headerless);
        let caption = caption(&cells, page.before.last().map(String::as_str), page.own);
        // The scale of a number format counts only if the cell's text has the scale word too or the
        // table states no scale, so this needs the caption.
        let stated = caption.as_ref().and_then(|caption| caption.scale);
        with_sources(&mut cells, page.sources, first_row, |cell, source| {
            let by_format = source
                .scale
                .filter(|_| source.scale_in_text || stated.is_none());
            if let Some(number) = &mut cell.number {
                number.scale = number.scale.or(by_format);
            }
        });
        let units = columns
            .iter()
            .map(|column| Caption::of_column(&column.label));
        let mut read = Self {
            rows: rows(&cells, origin),
            caption,
            units: units.filter(|_| page.own).collect(),
            report: page.report,
            cells,
            columns,
            headerless,
            first_row,
        };
        if page.own {
            read.mark_percents();
            read.multiply_out();
            // Tags come last, because they are compared with the printed scale.
            for source in page.sources {
                read.settle(source);
            }
        }
        read
    }

    /// Marks the figures as percentages whose row, or whole table, is in percent by its label.
    fn mark_percents(&mut self) {
        let corner = self.columns.first().map_or("", |corner| &corner.label);
        let shares = is_in_percent(corner) || corner.contains("% of ");
        let rows = self.rows.iter().zip(&mut self.cells).skip(1);
        let rows = rows.filter(|(row, _)| shares || is_in_percent(&row.label));
        let figures = rows.flat_map(|(_, cells)| cells.iter_mut().skip(1));
        let figures = figures.filter_map(|cell| cell.number.as_mut());
        figures.for_each(CellNumber::mark_percent);
    }

    /// Gives a tagged figure the unit of its tag. `None` if the figure or the tag is not there.
    fn settle(&mut self, source: &CellSource) -> Option<()> {
        let row = source.row.checked_sub(self.first_row)?;
        let printed = self.scale_at(row, source.column);
        let cell = self.cells.get_mut(row)?.get_mut(source.column)?;
        cell.number.as_mut()?.settle(source.tag?, printed);
        Some(())
    }
}

/// Reads the cells of a table, one by one and with what the file states about them.
fn typed_cells(page: &PageText<'_>, first_row: usize) -> Vec<Vec<Cell>> {
    let (table, origin) = (page.table, page.origin());
    let width = table.iter().map(Vec::len).max().unwrap_or(0);
    let falls = table.iter().flatten().any(|raw| raw.contains(['▼', '▽']));
    let mut cells: Vec<Vec<Cell>> = table
        .iter()
        .map(|row| {
            let blanks = width - row.len();
            row.iter()
                .map(|raw| Cell::read_among(raw, origin, falls))
                .chain((0..blanks).map(|_| Cell::read("")))
                .collect()
        })
        .collect();
    if page.own {
        read_sides(&mut cells);
        let figures = cells
            .iter_mut()
            .skip(1)
            .flat_map(|row| row.iter_mut().skip(1));
        figures.for_each(Cell::check);
    }
    with_sources(&mut cells, page.sources, first_row, Cell::add);
    if page.own {
        mark_notes(&mut cells);
    }
    cells
}

/// Repairs the lost escapes in the labels of the rows.
fn repair_labels(cells: &mut [Vec<Cell>]) {
    for label in cells.iter_mut().filter_map(|row| row.first_mut()) {
        if label.kind == CellKind::Text {
            let repaired: Box<str> = normalise_label(label.raw.trim()).into();
            label.show(repaired);
        }
    }
}

/// Reads the headings of the columns.
fn columns(page: &PageText<'_>, headerless: bool) -> Vec<Column> {
    let width = page.table.iter().map(Vec::len).max().unwrap_or(0);
    let mut labels = if headerless {
        let first = page.table.first().into_iter().flatten();
        first.map(|cell| cell.trim().to_owned()).collect()
    } else {
        header::labels(page.table, page.table_ori, page.origin())
    };
    labels.resize(width, String::new());
    labels
        .into_iter()
        .map(|label| Column {
            // If row 0 is data, its cells are not labels of the columns.
            year: single_year(&label).filter(|_| !headerless),
            label,
        })
        .collect()
}

/// Calls `add` for each cell about which the file states more than its text.
fn with_sources(
    cells: &mut [Vec<Cell>],
    sources: &[CellSource],
    first_row: usize,
    add: impl Fn(&mut Cell, &CellSource),
) {
    for source in sources {
        let row = source.row.checked_sub(first_row);
        let row = row.and_then(|row| cells.get_mut(row));
        if let Some(cell) = row.and_then(|row| row.get_mut(source.column)) {
            add(cell, source);
        }
    }
}

/// True if row 0 is data. It then has an amount after its label that cannot be a label itself, such
/// as `$ 268496` or a doubled number.
fn is_headerless(cells: &[Vec<Cell>]) -> bool {
    let Some((corner, rest)) = cells.first().and_then(|row| row.split_first()) else {
        return false;
    };
    // A row of data has a label.
    if corner.raw.trim().is_empty() {
        return false;
    }
    let amounts = rest
        .iter()
        .filter(|cell| cell.value().is_some() && !cell.is_year())
        .count();
    amounts > 0
        && rest
            .iter()
            .all(|cell| cell.value().is_none() || !cell.is_year())
}

/// Turns lost dashes back into dashes: a lone `2013` or `2014` among the values, unless the other
/// values of its column are mostly years.
fn mark_lost_dashes(cells: &mut [Vec<Cell>], headerless: bool) {
    let first = usize::from(!headerless);
    let width = cells.first().map_or(0, Vec::len);
    for column in 1..width {
        let (mut years, mut others) = (0, 0);
        for cell in cells.iter().skip(first).filter_map(|row| row.get(column)) {
            if !cell.is_lost_dash() {
                years += usize::from(cell.is_year());
                others += usize::from(cell.value().is_some() && !cell.is_year());
            }
        }
        // One year alone does not make a column of years.
        let of_years = years >= 2 && years > others;
        for (index, row) in cells.iter_mut().enumerate() {
            let Some(cell) = row.get_mut(column).filter(|cell| cell.is_lost_dash()) else {
                continue;
            };
            let in_header = index < first;
            let bare = cell.is_year();
            // In the header and in a column of years, the bare digits are a year.
            if bare && (in_header || of_years) {
                continue;
            }
            let read = std::mem::replace(cell, Cell::read(""));
            *cell = read.into_dash();
        }
    }
}

/// Reads the labels of the rows. A row without values is the heading of the rows below it.
fn rows(cells: &[Vec<Cell>], origin: TableOrigin) -> Vec<TableRow> {
    let mut section: Option<Arc<str>> = None;
    let labels = match origin {
        TableOrigin::Published => {
            let first = cells
                .iter()
                .map(|row| row.first().map_or("", |cell| &cell.raw));
            first
                .map(|label| normalise_label(label.trim()).into_owned())
                .collect()
        }
        TableOrigin::Own => labels::of_rows(cells),
    };
    cells
        .iter()
        .zip(labels)
        .enumerate()
        .map(|(index, (row, label))| {
            let out = TableRow {
                year: single_year(&label),
                section: section.clone(),
                label,
            };
            // In a user's table, a heading may have a note or a currency in other cells.
            let is_blank = |cell: &Cell| match origin {
                TableOrigin::Published => cell.raw.trim().is_empty(),
                TableOrigin::Own => matches!(cell.kind, CellKind::Text | CellKind::Empty),
            };
            let blank = row.iter().skip(1).all(is_blank);
            if index > 0 && blank && !out.label.is_empty() && row.len() > 1 {
                section = Some(out.label.as_str().into());
            }
            out
        })
        .collect()
}

/// Finds the caption in the header, in rows without values, or in the sentence directly before the
/// table. `None` if none of these states a unit.
fn caption(cells: &[Vec<Cell>], before: Option<&str>, own: bool) -> Option<Caption> {
    let header = cells.first().into_iter().flatten();
    let headings = cells
        .iter()
        .skip(1)
        .filter(|row| row.iter().skip(1).all(|cell| cell.value().is_none()))
        .flatten();
    // "($000)" is read as the number zero, but it states a unit.
    let words = |cell: &&Cell| cell.value().is_none_or(|value| value.abs() <= 0.0);
    let of = |cell: &Cell| Caption::in_label(&cell.raw);
    let above = || before.and_then(Caption::in_sentence);
    let mut header = header.filter(words);
    let mut headings = headings.filter(words);
    let of_header = header.next().and_then(of);
    if own {
        // The corner and the sentence above are about the whole table, so they come first. The
        // heading of a column may be about that column only, and a line below the header only about
        // the rows below it.
        of_header
            .or_else(above)
            .or_else(|| header.find_map(of))
            .or_else(|| before.and_then(Caption::at_end))
            .or_else(|| headings.find_map(of))
    } else {
        of_header
            .or_else(|| header.find_map(of))
            .or_else(|| headings.find_map(of))
            .or_else(above)
    }
}
