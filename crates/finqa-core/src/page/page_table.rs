//! The table: typed cells, labelled columns and rows, and its unit.

use super::caption::Caption;
use super::cell::{Cell, CellKind, CellSource, TableOrigin};
use super::header;
use super::normalise::normalise_label;
use super::text::PageText;
use super::years::single_year;
use crate::number::Scale;

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The label, repaired; lower case unless the document is the user's own.
    pub label: String,
    /// The one year that the label names.
    pub year: Option<u16>,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// The text of the first cell, lost escapes repaired.
    pub label: String,
    /// The one year that the label names.
    pub year: Option<u16>,
    /// The label of the last row above that has no values: a heading.
    pub section: Option<String>,
}

impl TableRow {
    /// Whether its heading says that its figures are rates, "Earnings per share", to which no
    /// scale of the table applies.
    pub fn is_of_rates(&self) -> bool {
        is_rate(&self.section.as_deref().unwrap_or_default().to_lowercase())
    }
}

/// Whether a label in lower case is of a rate or of a time in years.
fn is_rate(label: &str) -> bool {
    let says = [" per ", "(in years", "(years)"];
    says.iter().any(|words| label.contains(words)) || label.ends_with("in years")
}

/// A report page's table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    cells: Vec<Vec<Cell>>,
    columns: Vec<Column>,
    rows: Vec<TableRow>,
    caption: Option<Caption>,
    headerless: bool,
    first_row: usize,
}

impl Table {
    /// Reads a table that begins in a row of the page. Rows shorter than the widest are filled
    /// up with empty cells.
    pub(crate) fn read(page: &PageText<'_>, first_row: usize) -> Self {
        let (table, origin) = (page.table, page.origin());
        let width = table.iter().map(Vec::len).max().unwrap_or(0);
        let mut cells: Vec<Vec<Cell>> = table
            .iter()
            .map(|row| {
                let blanks = width - row.len();
                row.iter()
                    .map(|raw| Cell::read_as(raw, origin))
                    .chain((0..blanks).map(|_| Cell::read("")))
                    .collect()
            })
            .collect();
        with_sources(&mut cells, page.sources, first_row, Cell::add);
        // The first row of a user's table is its header.
        let headerless = origin == TableOrigin::Published && is_headerless(&cells);
        if origin == TableOrigin::Published {
            for label in cells.iter_mut().filter_map(|row| row.first_mut()) {
                if label.kind == CellKind::Text {
                    label.text = normalise_label(label.raw.trim()).into_owned();
                }
            }
            mark_lost_dashes(&mut cells, headerless);
        }
        let mut labels = match headerless {
            false => header::labels(table, page.table_ori, origin),
            true => {
                let first = table.first().into_iter().flatten();
                first.map(|cell| cell.trim().to_owned()).collect()
            }
        };
        labels.resize(width, String::new());
        let columns = labels
            .into_iter()
            .map(|label| Column {
                // The cells of a first row of data are not labels of the columns under them.
                year: single_year(&label).filter(|_| !headerless),
                label,
            })
            .collect();
        let caption = caption(&cells, page.before.last().map(String::as_str));
        let stated = caption.as_ref().and_then(|caption| caption.scale);
        with_sources(&mut cells, page.sources, first_row, |cell, source| {
            let by_format = source
                .scale
                .filter(|_| source.scale_in_text || stated.is_none());
            if let Some(number) = &mut cell.number {
                number.scale = number.scale.or(by_format);
            }
        });
        Self {
            rows: rows(&cells, origin),
            caption,
            cells,
            columns,
            headerless,
            first_row,
        }
    }

    /// The cell at `row` (0 is the header) and `column` (0 holds the row labels).
    pub fn cell(&self, row: usize, column: usize) -> Option<&Cell> {
        self.cells.get(row)?.get(column)
    }

    /// All rows of cells, the header first; all of one length.
    pub fn cells(&self) -> &[Vec<Cell>] {
        &self.cells
    }

    /// The row of the page that its header is in: 0 but for an excerpt of a report.
    pub fn first_row(&self) -> usize {
        self.first_row
    }

    /// The columns, the one of the row labels first.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The rows, the header first.
    pub fn rows(&self) -> &[TableRow] {
        &self.rows
    }

    /// The unit the table is stated in, if it or the sentence before it says so.
    pub fn caption(&self) -> Option<&Caption> {
        self.caption.as_ref()
    }

    /// The scale that it states; what one column is stated in is not that of the table.
    pub fn scale(&self) -> Option<Scale> {
        let caption = self.caption.as_ref()?;
        let mut columns = self.columns.iter().skip(1);
        let of_column = columns.any(|column| column.label.contains(&caption.text));
        caption.scale.filter(|_| !of_column)
    }

    /// The scale of a row's amounts, where its table is "in millions, except per share amounts"
    /// or has "shares in thousands".
    pub fn scale_of(&self, row: usize) -> Option<Scale> {
        let caption = self.caption.as_ref()?;
        let cells = self.cells.get(row)?;
        let row = self.rows.get(row)?;
        let section = row.section.as_deref().unwrap_or_default().to_lowercase();
        let label = without_figures(&row.label.to_lowercase());
        let says = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
        let counts = |text: &str| {
            says(text, &["shares", "units"]) && says(text, &SHARE_COUNTS)
                || text.contains("dilutive awards")
        };
        if is_rate(&label) && !counts(&label) || counts_things(&label) {
            return None;
        }
        let shares = counts(&format!("{section} {label}")) || section.starts_with("denominator");
        if shares && !says(&label, &["par value", "cost", "expense", "compensation"]) {
            let unit = caption.text.to_lowercase().replace("per share", "");
            let (_, of_shares) = unit.split_once("share").unwrap_or_default();
            let figures = cells.iter().filter_map(Cell::value);
            let in_units = figures.fold(0.0, f64::max) >= MOST_SCALED_SHARES;
            return match () {
                () if of_shares.contains("thousand") => Some(Scale::Thousand),
                () if of_shares.contains("million") => Some(Scale::Million),
                () if in_units || unit.contains("except") && unit.contains("share") => None,
                () => caption.scale,
            };
        }
        caption.scale.filter(|_| !is_rate(&section))
    }

    /// Whether a column is of percentages, whose sign only the first of them may have.
    pub fn is_of_percent(&self, column: usize) -> bool {
        let cells = self.cells.iter().skip(1).filter_map(|row| row.get(column));
        let mut numbers = cells.filter_map(Cell::alone).peekable();
        numbers.peek().is_some_and(|first| first.percent)
            && numbers.all(|one| one.value.abs() <= 100.0)
    }

    /// True if row 0 holds data instead of labels (`2003 | $ 268496`).
    pub fn is_headerless(&self) -> bool {
        self.headerless
    }
}

/// Gives cells what the file says of them beyond their text.
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

/// Whether the name of a row or column is that of things which no table states in thousands:
/// "Number of employees", "Stores".
pub fn counts_things(name: &str) -> bool {
    let name = name.trim().to_lowercase();
    let bare = ["number of ", "total ", "full-time "];
    let name = bare
        .iter()
        .fold(&*name, |name, start| name.trim_start_matches(start));
    let name = name.split(" at ").next().unwrap_or_default();
    let things = [
        "employees", "headcount", "staff", "stores", "shops", "restaurants", "hotels", "outlets",
        "customers", "locations", "branches", "offices",
    ];
    things.contains(&name)
}

/// Words of a row that counts shares.
const SHARE_COUNTS: [&str; 6] = [
    "weighted", "outstanding", "used in", "used to", "number of", "dilutive",
];

/// A label without the brackets that hold figures: "Dividends ($0.16 per share)" are no rate.
fn without_figures(label: &str) -> String {
    let parts = label
        .split_inclusive(')')
        .map(|part| match part.split_once('(') {
            Some((before, inside)) if inside.contains(|c: char| c.is_ascii_digit()) => before,
            _ => part,
        });
    parts.collect()
}

/// Nobody prints as many thousands of shares: they are shares.
const MOST_SCALED_SHARES: f64 = 1e8;

/// True if row 0 is data: an amount that no label would be, e.g. `$ 268496` or a doubled
/// number, follows the row's label.
fn is_headerless(cells: &[Vec<Cell>]) -> bool {
    let Some((corner, rest)) = cells.first().and_then(|row| row.split_first()) else {
        return false;
    };
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

/// Turns cells that are left of a lost dash into dashes: a lone `2013` or
/// `2014` among the values, unless its column holds other years.
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
        // A single value that may be a year makes no column of years.
        let of_years = years >= 2 && years > others;
        for (index, row) in cells.iter_mut().enumerate() {
            let Some(cell) = row.get_mut(column).filter(|cell| cell.is_lost_dash()) else {
                continue;
            };
            let in_header = index < first;
            let bare = cell.is_year();
            if bare && (in_header || of_years) {
                continue;
            }
            let read = std::mem::replace(cell, Cell::read(""));
            *cell = read.into_dash();
        }
    }
}

fn rows(cells: &[Vec<Cell>], origin: TableOrigin) -> Vec<TableRow> {
    let mut section: Option<String> = None;
    cells
        .iter()
        .enumerate()
        .map(|(index, row)| {
            let label = row
                .first()
                .map(|cell| match origin {
                    TableOrigin::Published => normalise_label(cell.raw.trim()).into_owned(),
                    TableOrigin::Own => cell.raw.trim().to_owned(),
                })
                .unwrap_or_default();
            let out = TableRow {
                year: single_year(&label),
                section: section.clone(),
                label,
            };
            // A heading in a user's table may have a note or a currency in its other cells.
            let is_blank = |cell: &Cell| match origin {
                TableOrigin::Published => cell.raw.trim().is_empty(),
                TableOrigin::Own => matches!(cell.kind, CellKind::Text | CellKind::Empty),
            };
            let blank = row.iter().skip(1).all(is_blank);
            if index > 0 && blank && !out.label.is_empty() && row.len() > 1 {
                section = Some(out.label.clone());
            }
            out
        })
        .collect()
}

/// From the header, else from row labels without values, else from the
/// sentence right before the table.
fn caption(cells: &[Vec<Cell>], before: Option<&str>) -> Option<Caption> {
    let header = cells.first().into_iter().flatten();
    let headings = cells
        .iter()
        .skip(1)
        .filter(|row| row.iter().skip(1).all(|cell| cell.value().is_none()))
        .flatten();
    header
        .chain(headings)
        .filter(|cell| cell.value().is_none())
        .find_map(|cell| Caption::in_label(&cell.raw))
        .or_else(|| before.and_then(Caption::in_sentence))
}
