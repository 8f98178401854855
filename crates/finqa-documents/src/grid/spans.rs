//! Builds a printed table from cells with spans, as in HTML. A number, its currency sign and its
//! bracket can be in separate cells, some cells are only spacing, and the cells of one period can
//! have different indexes in different rows. Cells therefore belong to one column if they overlap,
//! not if they have the same index.

use std::cmp::Reverse;

use serde::Serialize;

use crate::cells::{closes, is_duration, is_figure, is_year, names_period, opens, whole_year};
use crate::source::SheetCell;
use crate::tags::Tag;

/// A cell of the file, with the columns of the layout that it covers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SpannedCell {
    pub(crate) start: usize,
    /// The index after its last column.
    pub(crate) end: usize,
    pub(crate) content: PrintedCell,
}

/// A cell as printed, with the tags of its figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PrintedCell {
    pub text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Tag>,
    /// The cell of a workbook; `None` in other documents.
    #[serde(skip)]
    pub source: Option<Box<SheetCell>>,
}

/// A column of the printed table: the layout columns that its figures cover, from the first to one
/// past the last.
type Span = (usize, usize);

impl SpannedCell {
    fn span(&self) -> Span {
        (self.start, self.end)
    }

    fn text(&self) -> &str {
        &self.content.text
    }

    /// True for a number or a dash that is not in the column of labels.
    pub(crate) fn is_figure(&self) -> bool {
        let source = self.content.source.as_ref();
        self.start > 0
            && (!self.content.tags.is_empty()
                || source.is_some_and(|source| source.is_figure())
                || is_figure(self.text()))
    }

    /// Joins the next cell to this one, with a space except after an open bracket and before a
    /// closing sign.
    fn append(&mut self, next: Self) {
        let blank = !self.text().is_empty() && !self.text().ends_with('(') && !closes(next.text());
        let text = &mut self.content.text;
        if blank {
            text.push(' ');
        }
        text.push_str(next.text());
        self.end = self.end.max(next.end);
        self.content.tags.extend(next.content.tags);
        // Keep the source of the figure, because it has a value and the sign next to it has none.
        let own = self.content.source.as_ref();
        if own.is_none_or(|own| !own.is_figure()) {
            self.content.source = next.content.source.or(self.content.source.take());
        }
    }
}

/// The printed table, its header first, with rows of one length; `None` if it has no figures.
pub(crate) fn grid(rows: Vec<Vec<SpannedCell>>) -> Option<Vec<Vec<PrintedCell>>> {
    let rows = rows.into_iter().map(join_signs);
    let rows: Vec<Vec<SpannedCell>> = rows.filter(|row| !row.is_empty()).collect();
    let above = rows.iter().take_while(|row| is_header(row)).count();
    let (above, _) = rows.split_at_checked(above)?;
    // A single label directly above the figures is the heading of their section and not of a
    // column. The first row is always part of the header.
    let headings = above
        .iter()
        .skip(1)
        .rev()
        .take_while(|row| is_label(row))
        .count();
    let header = above.len() - headings;
    let (above, body) = rows.split_at_checked(header)?;
    let columns = columns(body);
    columns.first()?;
    let mut grid = vec![header_row(above, &columns)];
    let body = rows.into_iter().skip(header);
    grid.extend(body.map(|row| placed(row, &columns)));
    Some(grid)
}

/// Joins `$`, `(`, `)` and `%` with the number to which they belong.
fn join_signs(row: Vec<SpannedCell>) -> Vec<SpannedCell> {
    let mut joined: Vec<SpannedCell> = Vec::new();
    for cell in row.into_iter().filter(|cell| !cell.text().is_empty()) {
        match joined.last_mut() {
            Some(last)
                if opens(last.text()) && !closes(cell.text())
                    || closes(cell.text()) && is_figure(last.text()) =>
            {
                last.append(cell);
            }
            _ => joined.push(cell),
        }
    }
    joined
}

/// True for a row above the figures, which has only words and years.
fn is_header(row: &[SpannedCell]) -> bool {
    !row.iter()
        .any(|cell| cell.is_figure() && !is_year(cell.text()) || is_duration(cell.text()))
}

/// True for a row that is only a label.
fn is_label(row: &[SpannedCell]) -> bool {
    matches!(row, [cell] if cell.start == 0 && !cell.text().starts_with('(') && !names_period(cell.text()))
}

/// The columns of figures, and of words after the rows' labels, such as maturity dates.
fn columns(body: &[Vec<SpannedCell>]) -> Vec<Span> {
    let cells = || body.iter().flatten();
    let mut counted: Vec<(Span, usize)> = Vec::new();
    for cell in cells().filter(|cell| cell.is_figure()) {
        match counted.iter_mut().find(|(span, _)| *span == cell.span()) {
            Some((_, count)) => *count += 1,
            None => counted.push((cell.span(), 1)),
        }
    }
    // The most frequent spans become columns; on a tie, the narrower and then the left one. A rarer
    // span belongs to the column that it overlaps.
    counted.sort_by_key(|((start, end), count)| (Reverse(*count), end - start, *start));
    let mut columns: Vec<Span> = Vec::new();
    for (span, _) in counted {
        if columns.iter().all(|column| overlap(*column, span) == 0) {
            columns.push(span);
        }
    }
    // Words after a row's label, such as a maturity date, get a column of their own.
    let words = body
        .iter()
        .flat_map(|row| row.iter().skip(1))
        .filter(|cell| !cell.is_figure());
    for cell in words {
        if columns
            .iter()
            .all(|column| overlap(*column, cell.span()) == 0)
        {
            columns.push(cell.span());
        }
    }
    columns.sort_unstable();
    columns
}

fn overlap(one: Span, other: Span) -> usize {
    one.1.min(other.1).saturating_sub(one.0.max(other.0))
}

/// The number of layout columns between two spans.
fn distance(one: Span, other: Span) -> usize {
    one.0.max(other.0).saturating_sub(one.1.min(other.1))
}

/// The heading of each column, joined from the top down, with the corner first.
pub(super) fn header_row(rows: &[Vec<SpannedCell>], columns: &[Span]) -> Vec<PrintedCell> {
    let first = columns.first().map_or(0, |column| column.0);
    let mut header = vec![PrintedCell::default(); columns.len() + 1];
    for cell in rows.iter().flatten() {
        let met = columns
            .iter()
            .enumerate()
            .filter(|(_, column)| overlap(**column, cell.span()) > 0);
        let mut met: Vec<usize> = met.map(|(at, _)| at + 1).collect();
        // A text that begins left of the columns and is above all of them is a title, unless it
        // names their period.
        let over_all = cell.start < first && met.len() == columns.len();
        if cell.start < first && met.is_empty() || over_all && !names_period(cell.text()) {
            met = vec![0];
        } else if met.is_empty() {
            // The heading overlaps no column, because it is above a spacing column next to its own.
            // It belongs to the nearest column.
            let nearest = columns
                .iter()
                .enumerate()
                .min_by_key(|(_, column)| distance(**column, cell.span()));
            met.extend(nearest.map(|(at, _)| at + 1));
        }
        for at in met {
            // A line that repeats the heading above it is not added again.
            if let Some(name) = header.get_mut(at).map(|heading| &mut heading.text)
                && !name.ends_with(cell.text())
            {
                if !name.is_empty() {
                    name.push(' ');
                }
                name.push_str(whole_year(cell.text()).unwrap_or(cell.text()));
            }
        }
    }
    header
}

/// The cells of a row in the order of the columns, its label first.
fn placed(row: Vec<SpannedCell>, columns: &[Span]) -> Vec<PrintedCell> {
    let mut cells = vec![SpannedCell::default(); columns.len() + 1];
    for cell in row {
        let met = columns
            .iter()
            .enumerate()
            // On a tie, the left one.
            .max_by_key(|(at, column)| (overlap(**column, cell.span()), Reverse(*at)));
        let at = match met {
            Some((at, column)) if cell.start > 0 && overlap(*column, cell.span()) > 0 => at + 1,
            _ if cell.start == 0 => 0,
            // A text between columns joins the last column that begins before its end; without such
            // a column, the label.
            _ => columns
                .iter()
                .take_while(|column| column.0 < cell.end)
                .count(),
        };
        if let Some(place) = cells.get_mut(at) {
            place.append(cell);
        }
    }
    cells.into_iter().map(|cell| cell.content).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of `text@start..end` cells; `text` alone takes the next column.
    fn row(cells: &[(&str, usize, usize)]) -> Vec<SpannedCell> {
        let cell = |(text, start, end): &(&str, usize, usize)| SpannedCell {
            start: *start,
            end: *end,
            content: PrintedCell {
                text: (*text).to_owned(),
                ..PrintedCell::default()
            },
        };
        cells.iter().map(cell).collect()
    }

    fn texts(rows: Vec<Vec<SpannedCell>>) -> Vec<Vec<String>> {
        let grid = grid(rows).unwrap();
        let row = |row: Vec<PrintedCell>| row.into_iter().map(|cell| cell.text).collect();
        grid.into_iter().map(row).collect()
    }

    #[test]
    fn signs_in_cells_of_their_own_belong_to_their_number() {
        let rows = texts(vec![
            row(&[("", 0, 3), ("2031", 3, 6), ("", 6, 7), ("2030", 7, 10)]),
            row(&[
                ("Sales", 0, 3),
                ("$", 3, 4),
                ("1,204", 4, 5),
                ("$", 7, 8),
                ("987", 8, 9),
            ]),
            row(&[
                ("Loss", 0, 3),
                ("(12", 3, 5),
                (")", 5, 6),
                ("(", 7, 8),
                ("3", 8, 9),
                (")", 9, 10),
            ]),
            row(&[
                ("Margin", 0, 3),
                ("4.5", 3, 5),
                ("%", 5, 6),
                ("—", 7, 9),
                ("%", 9, 10),
            ]),
        ]);
        assert_eq!(
            rows,
            [
                ["", "2031", "2030"],
                ["Sales", "$ 1,204", "$ 987"],
                ["Loss", "(12)", "(3)"],
                ["Margin", "4.5%", "—%"]
            ]
        );
    }

    #[test]
    fn a_column_is_what_overlaps() {
        let rows = texts(vec![
            row(&[
                ("Three months ended June 30,", 2, 8),
                ("Six months ended June 30,", 9, 15),
            ]),
            row(&[
                ("2031", 2, 5),
                ("2030", 6, 8),
                ("2031", 9, 12),
                ("2030", 13, 15),
            ]),
            row(&[
                ("Rent", 0, 1),
                ("5", 3, 5),
                ("4", 7, 8),
                ("9", 10, 12),
                ("8", 14, 15),
            ]),
            row(&[
                ("Fees", 0, 1),
                ("1", 2, 5),
                ("2", 6, 8),
                ("3", 9, 12),
                ("4", 13, 15),
            ]),
        ]);
        let heads = [
            "", "Three months ended June 30, 2031", "Three months ended June 30, 2030",
            "Six months ended June 30, 2031", "Six months ended June 30, 2030",
        ];
        assert_eq!(rows[0], heads);
        assert_eq!(
            rows[1..],
            [["Rent", "5", "4", "9", "8"], ["Fees", "1", "2", "3", "4"]]
        );
    }

    #[test]
    fn a_period_over_the_whole_table_names_every_column_and_a_unit_none() {
        let rows = texts(vec![
            row(&[("Years ended March 31,", 0, 5)]),
            row(&[("(In millions)", 0, 5)]),
            row(&[("2031", 1, 2), ("2030", 3, 4)]),
            row(&[("Costs:", 0, 1)]),
            row(&[("Rent", 0, 1), ("5", 1, 2), ("4", 3, 4)]),
        ]);
        assert_eq!(
            rows,
            [
                [
                    "(In millions)", "Years ended March 31, 2031", "Years ended March 31, 2030"
                ],
                ["Costs:", "", ""],
                ["Rent", "5", "4"]
            ]
        );
    }

    #[test]
    fn a_row_of_durations_is_no_header() {
        let rows = texts(vec![
            row(&[("2031", 1, 2), ("2030", 2, 3)]),
            row(&[
                ("Remaining term", 0, 1),
                ("11.3 years", 1, 2),
                ("12.0 years", 2, 3),
            ]),
            row(&[("Rate", 0, 1), ("6.5%", 1, 2), ("6.4%", 2, 3)]),
        ]);
        assert_eq!(rows[0], ["", "2031", "2030"]);
        assert_eq!(rows[1], ["Remaining term", "11.3 years", "12.0 years"]);
    }

    #[test]
    fn words_between_figures_have_a_column() {
        let rows = texts(vec![
            row(&[("Notes", 0, 1), ("Due", 1, 2), ("Amount", 2, 3)]),
            row(&[("First", 0, 1), ("May 2035", 1, 2), ("12", 2, 3)]),
            row(&[("Second", 0, 1), ("2036 to 2039", 1, 2), ("15", 2, 3)]),
        ]);
        assert_eq!(rows[0], ["Notes", "Due", "Amount"]);
        assert_eq!(rows[2], ["Second", "2036 to 2039", "15"]);
    }

    #[test]
    fn a_table_without_figures_is_none() {
        assert_eq!(
            grid(vec![row(&[("Item 1", 0, 1), ("Business", 1, 2)])]),
            None
        );
    }
}
