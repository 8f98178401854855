//! A table of typed cells with labelled rows and columns, and the unit of each figure.

mod labels;
mod read;

use std::sync::Arc;

use super::caption::{Caption, scale_of_label};
use super::cell::{Cell, CellNumber};
use super::rows::{counts_shares, counts_things, has_no_scale, is_count, says};
use crate::number::{Scale, currency_of_label};

/// What the heading of a column says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The repaired label. Lower case, except in a document of the user.
    pub label: String,
    /// The year that the label names; `None` if it names none or several.
    pub year: Option<u16>,
}

/// A row's label, year and heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// The text of the first cell, with lost escapes repaired.
    pub label: String,
    /// The year that the label names; `None` if it names none or several.
    pub year: Option<u16>,
    /// The label of the nearest row above without values, because such a row is a heading.
    pub section: Option<Arc<str>>,
}

impl TableRow {
    /// True if the row's heading says that its figures are rates, e.g. "Earnings per share".
    /// The table's scale does not apply to them.
    pub fn is_of_rates(&self) -> bool {
        has_no_scale(self.section.as_deref().unwrap_or_default())
    }
}

/// A table of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    cells: Vec<Vec<Cell>>,
    columns: Vec<Column>,
    rows: Vec<TableRow>,
    caption: Option<Caption>,
    /// The unit in the label of each column. Empty for published tables.
    units: Vec<Option<Caption>>,
    /// True for a table of a report, in which any column heading may state the unit of the whole
    /// table.
    report: bool,
    headerless: bool,
    first_row: usize,
}

impl Table {
    /// Multiplies amounts by the power of ten by which their unit exceeds its [`Scale`]: a trillion
    /// is 10^3 billion, because [`Scale`] has no trillions.
    fn multiply_out(&mut self) {
        let captions = self.units.iter().flatten().chain(&self.caption);
        let labels = self.rows.iter().map(|row| scale_of_label(&row.label));
        if !captions
            .map(|one| one.power)
            .chain(labels.flatten().map(|(_, power)| power))
            .any(|power| power > 0)
        {
            return;
        }
        let places = self.cells.iter().enumerate();
        let places =
            places.flat_map(|(row, cells)| (1..cells.len()).map(move |column| (row, column)));
        let raised: Vec<(usize, usize, u32)> = places
            .filter_map(|(row, column)| Some((row, column, self.stated_scale(row, column)?.1)))
            .filter(|(row, _, power)| *row > 0 && *power > 0)
            .collect();
        for (row, column, power) in raised {
            let cell = self.cells.get_mut(row).and_then(|row| row.get_mut(column));
            let number = cell.and_then(|cell| cell.number.as_mut());
            // A number with its own scale word was multiplied when it was read.
            if let Some(number) = number.filter(|one| one.scale.is_none() && !one.percent) {
                number.raise(power);
            }
        }
    }

    /// The cell at `row` (0 is the header) and `column` (0 has the row labels).
    pub fn cell(&self, row: usize, column: usize) -> Option<&Cell> {
        self.cells.get(row)?.get(column)
    }

    /// All rows of cells, the header first. All have the same length.
    pub fn cells(&self) -> &[Vec<Cell>] {
        &self.cells
    }

    /// The row of the page that is the table's header. It is above 0 only on a page with several
    /// tables.
    pub fn first_row(&self) -> usize {
        self.first_row
    }

    /// All columns; the first has the row labels.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// All rows; the first is the header.
    pub fn rows(&self) -> &[TableRow] {
        &self.rows
    }

    /// The unit that the table or the sentence before it states, if any.
    pub fn caption(&self) -> Option<&Caption> {
        self.caption.as_ref()
    }

    /// The scale of the whole table. `None` if only a column label states a scale.
    pub fn scale(&self) -> Option<Scale> {
        let caption = self.caption.as_ref()?;
        let mut columns = self.columns.iter().skip(1);
        let of_column = columns.any(|column| column.label.contains(&caption.text));
        caption.scale.filter(|_| !of_column)
    }

    /// The scale that the table's caption gives to a row's amounts. It may differ between rows: "in
    /// millions, except per share amounts", "shares in thousands".
    pub fn scale_of(&self, row: usize) -> Option<Scale> {
        self.scale_in(row, "", self.caption.as_ref()?)
    }

    /// The scale of a figure: its own or its tag's, or else the scale that the label of its row or
    /// column or the table states. `None` if none of these states one. Labels do not apply to a
    /// percentage, and a tag may say that there is no scale.
    pub fn scale_at(&self, row: usize, column: usize) -> Option<Scale> {
        let number = self.cell(row, column)?.number.as_ref()?;
        if number.percent || number.settled {
            number.scale.filter(|_| number.settled)
        } else {
            number
                .scale
                .or_else(|| Some(self.stated_scale(row, column)?.0))
        }
    }

    /// True if a figure of money has no scale and its table states no unit, so that it may be in
    /// thousands or millions.
    pub fn lacks_scale(&self, row: usize, column: usize) -> bool {
        let number = self.cell(row, column).and_then(|cell| cell.number.as_ref());
        let money = number.is_some_and(|one| !one.percent && one.words().is_empty());
        let labels = self.rows.get(row);
        let names = labels.map(|row| row.label.as_str()).into_iter();
        let names = names.chain(self.columns.get(column).map(|one| one.label.as_str()));
        let counted = |name: &str| {
            let lower = name.to_lowercase();
            has_no_scale(name) || is_count(name) || says(&lower, &["shares", "number of"])
        };
        let rates = labels.is_some_and(TableRow::is_of_rates);
        let stated = self.caption.is_some() || self.scale_at(row, column).is_some();
        money && !stated && !rates && !names.clone().any(counted)
    }

    /// The scale that the labels or the table state for a figure, and the power of ten that is left
    /// over if the printed word is larger than every [`Scale`]: a trillion is 10^3 billion.
    /// The nearest statement counts: the row's label, its heading, a column "Unit", the column's
    /// label, the table.
    fn stated_scale(&self, row: usize, column: usize) -> Option<(Scale, u32)> {
        let labels = self.rows.get(row)?;
        let of_row = scale_of_label(&labels.label);
        let of_row = of_row.or_else(|| {
            let section = labels.section.as_deref()?;
            scale_of_label(section).filter(|_| !has_no_scale(&labels.label))
        });
        let of_column = || self.units.get(column)?.as_ref();
        let of_table = || {
            self.caption
                .as_ref()
                .filter(|_| self.report || self.scale().is_some())
        };
        let column_name = &self.columns.get(column)?.label;
        of_row
            .or_else(|| self.scale_of_unit_column(row))
            .or_else(|| {
                // Remove the unit from the name, because "2031 (in millions, except per share data)"
                // does not mean amounts per share.
                let unit = of_column().map_or("", |unit| unit.text.as_str());
                let name = if column_name == unit {
                    column_name.to_lowercase()
                } else {
                    column_name.replace(unit, "").to_lowercase()
                };
                if has_no_scale(&name) && !counts_shares(&name) {
                    return None;
                }
                let of_things = |unit: &&Caption| !is_apart(&name, unit);
                let caption = of_column().or_else(|| of_table().filter(of_things))?;
                Some((self.scale_in(row, &name, caption)?, caption.power))
            })
    }

    /// The scale that a column "Unit" states for a row, such as `EUR thousand`. `None` without such
    /// a column, and if its cell does not state a scale.
    fn scale_of_unit_column(&self, row: usize) -> Option<(Scale, u32)> {
        let is_unit =
            |label: &str| matches!(label.trim().to_lowercase().as_str(), "unit" | "units");
        let at = self
            .columns
            .iter()
            .position(|column| is_unit(&column.label))?;
        let unit = Caption::alone(&self.cells.get(row)?.get(at)?.raw)?;
        Some((unit.scale?, unit.power))
    }

    /// The scale that a caption states for a row, in a column of this name. `None` if the caption
    /// has no scale, or if it does not apply to the row: a rate, an amount per share, or shares
    /// that are counted one by one.
    fn scale_in(&self, row: usize, column: &str, caption: &Caption) -> Option<Scale> {
        let cells = self.cells.get(row)?;
        let row = self.rows.get(row)?;
        let section = row.section.as_deref().unwrap_or_default().to_lowercase();
        let label = row.label.to_lowercase();
        if has_no_scale(&label) && !counts_shares(&label) || is_apart(&label, caption) {
            return None;
        }
        // Money, although the row or its heading is about shares.
        let amount = says(&label, &["par value", "cost", "expense", "compensation"]);
        let named =
            counts_shares(&format!("{section} {label}")) || section.starts_with("denominator");
        let of_column = column.split_whitespace().next_back() == Some("shares");
        if of_column || named && !amount {
            // "per share" does not say what shares are counted in.
            let unit = caption.text.to_lowercase().replace("per share", "");
            let (_, of_shares) = unit.split_once("share").unwrap_or_default();
            let figures = cells.iter().filter_map(Cell::value);
            let in_units = figures.fold(0.0, f64::max) >= MOST_SCALED_SHARES;
            return match () {
                () if of_shares.contains("thousand") => Some(Scale::Thousand),
                () if of_shares.contains("million") => Some(Scale::Million),
                // Single shares: too many for a scale, or excepted by the caption.
                () if in_units || unit.contains("except") && unit.contains("share") => None,
                () => caption.scale,
            };
        }
        caption.scale.filter(|_| !row.is_of_rates())
    }

    /// True for a column of percentages: its first figure has a percent sign, and no figure exceeds
    /// 100 in size.
    pub fn is_of_percent(&self, column: usize) -> bool {
        let cells = self.cells.iter().skip(1).filter_map(|row| row.get(column));
        are_of_percent(cells.filter_map(Cell::alone))
    }

    /// True for a row of percentages, by the same rule, if `headed` is true for the columns of all
    /// its figures.
    pub fn is_row_of_percent(&self, row: usize, headed: &impl Fn(usize) -> bool) -> bool {
        let cells = self.cells.get(row).into_iter().flatten().enumerate();
        let figures = cells.skip(1).filter(|(_, cell)| cell.alone().is_some());
        let mut columns = figures.clone().map(|(at, _)| at);
        columns.all(headed) && are_of_percent(figures.filter_map(|(_, cell)| cell.alone()))
    }

    /// True if row 0 is data and not labels (`2003 | $ 268496`).
    pub fn is_headerless(&self) -> bool {
        self.headerless
    }
}

/// True if the first figure has a percent sign, and none exceeds 100 in size. The limit is set by
/// hand.
fn are_of_percent<'a>(figures: impl Iterator<Item = &'a CellNumber>) -> bool {
    let mut figures = figures.peekable();
    figures.peek().is_some_and(|first| first.percent) && figures.all(|one| one.value.abs() <= 100.0)
}

/// True if a row or column counts things to which the caption's scale does not apply: things that
/// no table counts in thousands, and all things if the caption names a currency.
fn is_apart(name: &str, caption: &Caption) -> bool {
    counts_things(name) || is_count(name) && currency_of_label(&caption.text).is_some()
}

/// Counts of shares of this size and more are single shares, because nobody prints as many
/// thousands of shares. Set by hand.
const MOST_SCALED_SHARES: f64 = 1e8;
