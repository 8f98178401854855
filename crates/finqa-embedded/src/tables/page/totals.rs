//! Decides by the figures which rows of a single table are totals. A label alone does not say it:
//! "Total Energies" can be a payee, and "All" a total.

use finqa_core::number::within;

use super::table::{ReportRow, ReportTable};
use crate::tables::words::{is_light, plain_stems};

/// Largest relative difference between a total and the sum of its parts, which may be rounded.
pub(crate) const ROUNDED: f64 = 0.001;

/// Maximum number of rows above a total that are added up, which limits the time.
const MOST_ROWS: usize = 1000;

impl ReportTable {
    /// Marks the rows that may be no totals although their labels say so, and those that sum up
    /// their section. A bare "All" becomes a total if it is a sum.
    pub(super) fn settle_totals(&self, rows: &mut [ReportRow]) {
        for at in 1..rows.len() {
            let (above, rest) = rows.split_at_mut(at);
            let Some(row) = rest.first_mut() else {
                return;
            };
            let all = row.label.name.eq_ignore_ascii_case("all");
            if !(row.label.total || all) || row.is_heading() {
                continue;
            }
            let heading = above.iter().rposition(ReportRow::is_heading).unwrap_or(0);
            let section = above.get(heading).map(|row| &row.label);
            let known = |word: &String| {
                let mut columns = self.columns.iter().map(|column| &column.label);
                let said = columns.any(|label| label.says(word))
                    || section.is_some_and(|label| label.says(word));
                said || is_light(word) || self.title.contains(word)
            };
            // A part of "Support, Total" is enough.
            let mut parts = row.printed.split(", ").map(plain_stems);
            let named = parts.any(|words| !words.is_empty() && words.iter().all(known));
            let starts = sums_up(row, above);
            row.label.total |= all && !starts.is_empty();
            row.may_be_name = row.label.has("total") && !named && starts.is_empty();
            row.sums_section = starts.contains(&(heading + 1)) || heading == 0;
        }
    }
}

/// The rows from which on all rows above a total add up to it, without the totals among them.
fn sums_up(total: &ReportRow, above: &[ReportRow]) -> Vec<usize> {
    let figures: Vec<(usize, f64)> = (total.cells.iter().enumerate())
        .filter_map(|(column, cell)| Some((column, cell.as_ref()?.value)))
        .collect();
    let mut sums = vec![0.0; figures.len()];
    let (mut count, mut out) = (0, Vec::new());
    let parts = above.iter().enumerate().skip(1).rev().take(MOST_ROWS);
    for (at, part) in parts.filter(|(_, part)| !part.label.total) {
        for (sum, (column, _)) in sums.iter_mut().zip(&figures) {
            let cell = part.cells.get(*column).and_then(Option::as_ref);
            *sum += cell.map_or(0.0, |cell| cell.value);
        }
        count += usize::from(!part.is_heading());
        let equal = |(sum, (_, value)): &(&f64, &(usize, f64))| {
            value.abs() > 0.0 && within(**sum, *value, ROUNDED)
        };
        // Averages and rates in a row of totals are no sums, so half of the columns suffice.
        let equal = sums.iter().zip(&figures).filter(equal).count();
        if count > 1 && equal > 0 && 2 * equal >= figures.len() {
            out.push(at);
        }
    }
    out
}
