//! Decides whether a figure of a PDF or of aligned text is confirmed: it is part of a sum in its
//! column, its row has a figure under each heading, or it occurs twice. A column that was found by
//! position may be wrong, so an answer from an unconfirmed figure is not sure.

use finqa_core::number;

use super::Document;
use crate::block::{Block, PrintedTable};

/// Minimum number of digits of a figure that counts as confirmed if it occurs twice. Figures with
/// fewer digits can be equal by chance. Set by hand.
const DIGITS: usize = 3;

/// Largest difference between a total and the sum of its rows, in units of the total's last digit.
/// Each row is rounded, so that the sum may differ. Set by hand.
const ROUNDED: f64 = 1.5;

impl Document {
    /// The reason to doubt an answer from these figures: the file may be cut off, or a figure's
    /// column may be wrong. `None` without a reason.
    pub fn doubt<'l>(&self, mut literals: impl Iterator<Item = &'l str>) -> Option<String> {
        if self.cut {
            return Some("the report may be cut off".to_owned());
        }
        let open = literals.find(|literal| self.placed && !self.confirms(literal))?;
        Some(format!(
            "no total adds up with {open} and it occurs once, so its column may be misread"
        ))
    }

    /// True if a printed figure with at least [`DIGITS`] digits occurs more than once, or if a
    /// figure is part of a sum in its column or has figures next to it under all other headings.
    fn confirms(&self, literal: &str) -> bool {
        let figure = bare(literal);
        let digits = figure.chars().filter(char::is_ascii_digit).count();
        let occurs = || {
            let of_block = |block: &Block| match block {
                Block::Text(text) => text
                    .split_whitespace()
                    .filter(|word| bare(word) == figure)
                    .count(),
                Block::Table(table) => table.places(&figure).count(),
            };
            self.blocks.iter().map(of_block).sum::<usize>()
        };
        digits >= DIGITS && occurs() > 1
            || self
                .tables()
                .any(|table| table.has_in_full_row(&figure) || table.adds_up_with(&figure))
    }
}

impl PrintedTable {
    /// The rows and columns in which a table has a figure.
    fn places(&self, figure: &str) -> impl Iterator<Item = (usize, usize)> {
        let rows = self.rows.iter().enumerate().skip(1);
        rows.flat_map(move |(row, cells)| {
            let found = cells.iter().enumerate().skip(1);
            let found = found.filter(move |(_, cell)| bare(&cell.text) == figure);
            found.map(move |(column, _)| (row, column))
        })
    }

    /// True if the figure is in a row with a figure under each heading, and all headings differ. It
    /// cannot belong to another column then.
    fn has_in_full_row(&self, figure: &str) -> bool {
        let mut heads: Vec<&str> = self.headings().collect();
        let named = heads.iter().all(|head| !head.is_empty());
        heads.sort_unstable();
        heads.dedup();
        let full = |row: usize| {
            let cells = self.rows.get(row).into_iter().flatten().skip(1);
            let figures = cells.filter(|cell| number::whole(&cell.text).is_ok());
            figures.count() == heads.len()
        };
        let apart = heads.len() > 1 && heads.len() == self.headings().count();
        named && apart && self.places(figure).any(|(row, _)| full(row))
    }

    /// True if the figure is a total in its column, or one of the rows of a total.
    fn adds_up_with(&self, figure: &str) -> bool {
        self.places(figure).any(|(row, column)| {
            let column: Vec<Option<f64>> = self
                .rows
                .iter()
                .skip(1)
                .map(|cells| number::read(&cells.get(column)?.text).map(|read| read.value))
                .collect();
            // `column` is without the header, which is row 0.
            adds_up(&column, row - 1)
        })
    }
}

/// The digits of a figure and its decimal point, without other marks and the sign.
fn bare(text: &str) -> String {
    let digits: String = text
        .chars()
        .filter(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    digits.trim_end_matches('.').to_owned()
}

/// True if the row is a total of at least two rows directly above it, or one of the rows of such a
/// total.
fn adds_up(column: &[Option<f64>], row: usize) -> bool {
    let totals = column.iter().enumerate().skip(row);
    totals
        .filter_map(|(at, total)| Some((at, (*total)?)))
        .any(|(at, total)| {
            // The total can be the sum of the rows above it, or the first of them minus the others,
            // as in a result after costs.
            let mut sum = 0.0;
            let mut rows = 0_u32;
            let above = column.iter().enumerate().take(at).rev();
            above
                .filter_map(|(at, value)| Some((at, (*value)?)))
                .any(|(first, value)| {
                    let rest = value - sum;
                    sum += value;
                    rows += 1;
                    let is_total = |of: f64| (of - total).abs() < ROUNDED * last_digit(total);
                    rows > 1 && (is_total(sum) || is_total(rest)) && first <= row
                })
        })
}

/// The value of one unit in the last digit of a number: 1, 0.1 or 0.01. Further decimals are
/// ignored. The tolerance of 1e-6 covers binary rounding.
fn last_digit(of: f64) -> f64 {
    let whole = |unit: &f64| (of / unit - (of / unit).round()).abs() < 1e-6;
    [1.0, 0.1].into_iter().find(whole).unwrap_or(0.01)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::spans::PrintedCell;

    #[test]
    fn a_total_confirms_itself_and_its_rows() {
        let column = [12.0, 1.0, 2.0, 4.0, 7.0, 7.5].map(Some);
        let confirmed: Vec<bool> = (0..6).map(|row| adds_up(&column, row)).collect();
        assert_eq!(confirmed, [false, true, true, true, true, false]);
        let gap = [Some(100.0), None, Some(-30.0), Some(70.1)];
        assert!(adds_up(&gap, 0));
        assert!(!adds_up(&[Some(70.0), Some(70.0)], 1));
        // Costs can be printed without a sign: revenue, cost and the difference.
        assert!(adds_up(&[Some(8410.5), Some(5046.3), Some(3364.2)], 1));
        assert!(!adds_up(&[Some(8410.5), Some(5046.3), Some(364.2)], 1));
    }

    #[test]
    fn a_figure_of_a_full_row_is_in_its_column() {
        let table = |rows: [[&str; 3]; 2]| PrintedTable {
            rows: rows
                .map(|row| {
                    row.map(|text| PrintedCell {
                        text: text.to_owned(),
                        ..PrintedCell::default()
                    })
                    .into()
                })
                .into(),
            ..PrintedTable::default()
        };
        for (rows, certain) in [
            ([["", "2031", "2030"], ["Staff", "4,310", "4,120"]], true),
            ([["", "2031", "2030"], ["Staff", "4,310", ""]], false),
            ([["", "2031", ""], ["Staff", "4,310", "4,120"]], false),
            ([["", "2031", "2031"], ["Staff", "4,310", "4,120"]], false),
        ] {
            assert_eq!(table(rows).has_in_full_row("4310"), certain, "{rows:?}");
        }
    }

    #[test]
    fn a_figure_that_occurs_twice_is_confirmed() {
        let filing = Document {
            blocks: vec![
                Block::Text("Sales rose to $1,204, costs to 35.".to_owned()),
                Block::Text("Sales of 1,204 and costs of 35.".to_owned()),
            ],
            ..Document::default()
        };
        for (figure, confirmed) in [
            ("$ 1,204", true),
            ("1204", true),
            ("204", false),
            ("35", false),
        ] {
            assert_eq!(filing.confirms(figure), confirmed, "{figure}");
        }
    }
}
