//! Finds the table at the start of some lines: rows whose figures are below each other. A column is
//! where figures overlap, and the header is the text that is centred above the columns. The
//! distances, lengths and weights are set by hand.

use finqa_core::page::years_in;

use super::positioned::{LINES_APART, PlacedLine, PlacedPiece};
use crate::cells::{self};
use crate::grid::spans::{self, PrintedCell, SpannedCell};
use crate::text::printed;

/// Maximum distance, in line heights, between the rows and between the lines of the header.
const ROWS_APART: f64 = 4.0;
const HEADER_APART: f64 = 3.0;

/// Maximum number of lines without figures between two rows.
const BETWEEN_ROWS: usize = 6;

/// Maximum length of a label in bytes. A longer text counts as part of a sentence.
const LABEL: usize = 60;

/// The start and the end of a column of figures.
pub(super) type ColumnSpan = (usize, usize);

impl PlacedPiece {
    /// Twice the middle of the piece, which avoids fractions.
    fn middle(&self) -> usize {
        self.start + self.end
    }

    fn meets(&self, column: ColumnSpan) -> bool {
        self.start < column.1 && column.0 < self.end
    }
}

impl PlacedLine {
    /// True for a single piece to the left of the figures.
    fn is_label(&self, columns: &[ColumnSpan]) -> bool {
        let left = |first: &ColumnSpan| self.start() < first.0 && self.end() <= first.1;
        columns.first().is_none_or(left) && self.pieces.len() == 1
    }

    /// True if the line continues the label of the line above, because it begins in lower case.
    fn continues_label(&self) -> bool {
        let first = self.pieces.first();
        first.is_some_and(|piece| piece.text.starts_with(|c: char| c.is_lowercase()))
    }

    /// True for a line that is entirely in brackets, such as "(In millions)", at any position.
    fn is_remark(&self) -> bool {
        let whole = |piece: &PlacedPiece| piece.text.starts_with('(') && piece.text.ends_with(')');
        self.pieces.iter().all(whole)
    }

    /// The number of pieces of a header line that are to the left of the columns.
    fn labels(&self, columns: &[ColumnSpan]) -> usize {
        // Half of the maximum, because it is doubled below.
        let first = columns.first().map_or(usize::MAX / 2, |column| column.0);
        let is_period = |piece: &PlacedPiece| cells::names_period(&piece.text);
        if self.pieces.len() == columns.len() && self.pieces.iter().all(is_period) {
            0
        } else if self.dates_each(columns) {
            1
        } else {
            let left = |piece: &&PlacedPiece| piece.middle() < 2 * first;
            self.pieces.iter().take_while(left).count()
        }
    }

    /// True for a label and then a year for each of several columns. A year can be left of its
    /// column, because headings may be centred above figures that end at the right of their cells.
    /// Above a single column, such a line may be a sentence.
    fn dates_each(&self, columns: &[ColumnSpan]) -> bool {
        let ([first, _, ..], Some((label, years))) = (columns, self.pieces.split_first()) else {
            return false;
        };
        let is_dated = |piece: &PlacedPiece| !years_in(&piece.text).is_empty();
        let in_order = |(at, piece): (usize, &PlacedPiece)| {
            let before = at.checked_sub(1).and_then(|before| columns.get(before));
            let after = columns.get(at + 1);
            before.is_none_or(|column| 2 * column.1 <= piece.middle())
                && after.is_none_or(|column| piece.middle() <= 2 * column.0)
        };
        years.len() == columns.len()
            && label.middle() < 2 * first.0
            && !is_dated(label)
            && years.iter().all(is_dated)
            && years.iter().enumerate().all(in_order)
    }

    /// True if the line has words or years above the columns, and no figures.
    fn is_header(&self, columns: &[ColumnSpan]) -> bool {
        let count = self.pieces.len() - self.labels(columns);
        let figures = self.pieces.iter().any(PlacedPiece::is_figure);
        // A single piece that begins at the left is a sentence or a title. One label can precede
        // headings.
        let first = columns.first().map_or(0, |column| column.0);
        let one = self.pieces.len() == 1 && 2 * self.start() < first;
        let labels = self.pieces.len() - count;
        count > 0 && labels <= 1 && !one && !self.is_remark() && !figures
    }
}

/// Adds the positions of a row's figures to the columns, and joins columns that overlap.
fn add_columns(columns: &mut Vec<ColumnSpan>, line: &PlacedLine) {
    let figures = line.pieces.iter().enumerate();
    let figures = figures.filter(|(at, piece)| {
        piece.is_figure() && (*at > 0 || columns.iter().any(|column| piece.meets(*column)))
    });
    let found: Vec<ColumnSpan> = figures.map(|(_, piece)| (piece.start, piece.end)).collect();
    columns.extend(found);
    columns.sort_unstable();
    columns.dedup_by(|next, last| {
        let joined = next.0 < last.1;
        if joined {
            last.1 = last.1.max(next.1);
        }
        joined
    });
}

/// The number of lines of the table that begins with the first line, and its columns.
pub(super) fn extent(lines: &[PlacedLine]) -> (usize, Vec<ColumnSpan>) {
    let mut columns = Vec::new();
    let mut length = 0;
    let mut between = 0;
    let mut last: Option<&PlacedLine> = None;
    for (at, line) in lines.iter().enumerate() {
        let apart = last.is_some_and(|last| line.below(last) > ROWS_APART);
        let of_figures = line
            .pieces
            .iter()
            .all(|piece| piece.is_figure() && columns.iter().any(|column| piece.meets(*column)));
        // Another table begins with a line that names periods above the columns, or, below a gap,
        // with a line that has a heading for each column, and at least two.
        let is_period = |piece: &PlacedPiece| cells::names_period(&piece.text);
        let gap = last.is_some_and(|last| line.below(last) > LINES_APART);
        let each = || gap && line.pieces.len() - line.labels(&columns) >= columns.len().max(2);
        let other = line.is_header(&columns) && (line.pieces.iter().any(is_period) || each());
        if apart || other {
            break;
        }
        if line.is_row() || of_figures {
            add_columns(&mut columns, line);
            (length, between) = (at + 1, 0);
        } else if line.is_label(&columns) && between < BETWEEN_ROWS {
            // A line that continues the label of the last row belongs to the table.
            if between == 0 && line.continues_label() {
                length = at + 1;
            } else {
                between += 1;
            }
        } else if line.pieces.len() > 1 && between < BETWEEN_ROWS {
            between += 1;
        } else {
            break;
        }
        last = Some(line);
    }
    (length, columns)
}

/// The number of lines directly above a table that belong to it: its header, or, if the table
/// continues from the page before, its first labels.
pub(super) fn header(above: &[PlacedLine], table: &[PlacedLine], columns: &[ColumnSpan]) -> usize {
    let mut length = 0;
    let mut below = table.first();
    // If only short labels are above the figures, the table continues from the page before.
    let short = |line: &PlacedLine| line.is_label(columns) && line.text().len() <= LABEL;
    if above.len() <= BETWEEN_ROWS && above.iter().all(short) {
        return above.len();
    }
    for (at, line) in above.iter().rev().enumerate() {
        let apart = below.is_some_and(|below| below.below(line) > HEADER_APART);
        if apart || line.is_row() {
            break;
        }
        if line.is_header(columns) {
            length = at + 1;
        } else if !line.is_remark() && (length > 0 || !line.is_label(columns)) || at >= BETWEEN_ROWS
        {
            break;
        }
        below = Some(line);
    }
    length
}

/// The printed table. The first `header` lines are its header. `None` without figures.
pub(super) fn cells(
    lines: &[PlacedLine],
    header: usize,
    columns: &[ColumnSpan],
) -> Option<Vec<Vec<PrintedCell>>> {
    let first = columns.first()?.0;
    let mut rows: Vec<Vec<SpannedCell>> = Vec::new();
    let mut open_label = false;
    let mut last: Option<&PlacedLine> = None;
    for (at, line) in lines.iter().enumerate() {
        let heading = at < header && line.is_header(columns);
        let row: Vec<SpannedCell> = if heading {
            headings(line, columns)
        } else if line.is_remark() && at < header {
            line.pieces
                .iter()
                .map(|piece| spanned(piece, (0, first)))
                .collect()
        } else {
            line.pieces
                .iter()
                .map(|piece| cell(piece, columns))
                .collect()
        };
        let alone = !heading && line.is_label(columns);
        // The first line below the header does not continue it.
        let next = last.is_some_and(|last| {
            line.below(last) <= LINES_APART && !(at <= header && last.is_header(columns))
        });
        let more = next && line.continues_label();
        match rows.last_mut() {
            // A label in two lines. The figures of its row are in the first or the second line.
            Some(above) if more && (open_label || alone && above.len() > 1) => {
                join_label(above, row);
            }
            _ => rows.push(row),
        }
        // A label with a colon is the heading of a section, so the next line is a row of its own.
        open_label = alone && !line.text().ends_with(':');
        last = Some(line);
    }
    let mut grid = spans::grid(rows)?;
    // A table that continues from the page before has no header, so its first label must not become
    // one.
    if !lines
        .iter()
        .take(header)
        .any(|line| line.is_header(columns))
        && let Some(corner) = grid
            .first()
            .filter(|row| row.iter().skip(1).all(|cell| cell.text.is_empty()))
    {
        grid.insert(0, vec![PrintedCell::default(); corner.len()]);
    }
    Some(grid)
}

/// Joins a label with its second line, which can have the figures of the row.
fn join_label(row: &mut Vec<SpannedCell>, rest: Vec<SpannedCell>) {
    let mut rest = rest.into_iter();
    if let (Some(label), Some(more)) = (row.first_mut(), rest.next()) {
        label.content.text = format!("{} {}", label.content.text, more.content.text);
    }
    row.extend(rest);
}

/// A piece as a cell. A figure gets the position of its column, and a label begins at the left.
fn cell(piece: &PlacedPiece, columns: &[ColumnSpan]) -> SpannedCell {
    let first = columns.first().map_or(0, |column| column.0);
    let mut columns = columns.iter();
    let column = columns.find(|column| piece.is_figure() && piece.meets(**column));
    let place = match column {
        Some(column) => *column,
        // Cut at the first column, so that a long label does not cover it.
        None if piece.start < first => (0, piece.end.clamp(1, first)),
        None => (piece.start, piece.end),
    };
    spanned(piece, place)
}

/// The headings of a line, each above its columns. If there is a heading for each column, or if the
/// columns can be divided evenly and every heading is above its share of them, they are taken in
/// order. Otherwise each heading gets the adjacent columns that it fits best.
fn headings(line: &PlacedLine, columns: &[ColumnSpan]) -> Vec<SpannedCell> {
    let labels = line.labels(columns);
    let (labels, headings) = line.pieces.split_at_checked(labels).unwrap_or_default();
    let mut cells: Vec<SpannedCell> = labels.iter().map(|label| cell(label, columns)).collect();
    // The number of columns below each heading, if it is the same for all.
    let each = columns.len() / headings.len().max(1);
    let in_order: Vec<(&PlacedPiece, ColumnSpan)> = headings
        .iter()
        .zip(columns.chunks(each.max(1)))
        .filter_map(|(piece, group)| Some((piece, (group.first()?.0, group.last()?.1))))
        .collect();
    let centred = |(piece, group): &(&PlacedPiece, ColumnSpan)| {
        let apart = (group.0 + group.1).abs_diff(piece.middle());
        // A single heading must be twice as close to the middle.
        let apart = if headings.len() == 1 {
            2 * apart
        } else {
            apart
        };
        cells::names_period(&piece.text) && 2 * apart <= group.1 - group.0
    };
    // Headings are also taken in order if each is above its own group of columns, and at least one
    // is between two columns: "Group" and "Company" above two dates each.
    let above = |(piece, group): &(&PlacedPiece, ColumnSpan)| {
        (2 * group.0..=2 * group.1).contains(&piece.middle())
    };
    let between = |(piece, _): &(&PlacedPiece, ColumnSpan)| {
        let mut columns = columns.iter();
        !columns.any(|column| (2 * column.0..=2 * column.1).contains(&piece.middle()))
    };
    let spread = || in_order.iter().all(above) && in_order.iter().any(between);
    let even = each * headings.len() == columns.len();
    if even && (each == 1 || in_order.iter().all(centred) || spread()) {
        cells.extend(
            in_order
                .into_iter()
                .map(|(piece, group)| spanned(piece, group)),
        );
        return cells;
    }
    let groups = columns.iter().enumerate().flat_map(|(at, from)| {
        let to = columns.iter().skip(at);
        to.map(|to| (from.0, to.1))
    });
    for piece in headings {
        // The distance between the middles counts more than the difference in width.
        let misfit = |group: &ColumnSpan| {
            let wide = (group.1 - group.0).abs_diff(piece.end - piece.start);
            2 * (group.0 + group.1).abs_diff(piece.middle()) + wide
        };
        let group = groups.clone().min_by_key(misfit);
        cells.push(spanned(piece, group.unwrap_or((piece.start, piece.end))));
    }
    cells
}

fn spanned(piece: &PlacedPiece, (start, end): ColumnSpan) -> SpannedCell {
    SpannedCell {
        start,
        end,
        content: PrintedCell {
            text: printed(&piece.text),
            ..PrintedCell::default()
        },
    }
}
