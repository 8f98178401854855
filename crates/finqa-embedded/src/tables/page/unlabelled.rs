//! Names the rows that a report prints without a label: the total below its parts, and what a
//! deduction leaves of a figure. Older statements and press releases often have such rows.

use finqa_core::number::within;
use finqa_core::page::period::DayOrder;

use super::table::{ReportRow, ReportTable};
use crate::tables::words::plain_stems;

/// Largest relative difference between a total and the sum of its parts, for rounding in binary.
const EXACT: f64 = 1e-6;

/// What the name of such a row ends with, because it is not printed.
const MARK: &str = " (without a label)";

impl ReportTable {
    /// Names the rows without a label that follow from the rows above them. A name that another row
    /// of the table has is not given.
    pub(super) fn name_unlabelled(&self, rows: &mut [ReportRow], days: DayOrder) {
        let mut first = 1;
        for at in 1..rows.len() {
            let (above, rest) = rows.split_at(at);
            let Some(row) = rest.first() else { return };
            if row.cells.iter().all(Option::is_none) {
                first = at + 1;
            }
            let Some(above) = above.get(first..).filter(|_| row.printed.trim().is_empty()) else {
                continue;
            };
            let Some(name) = name_of(row, above) else {
                continue;
            };
            let stems = plain_stems(&name);
            let is_new = !rows.iter().any(|other| other.label.words.iter().eq(&stems));
            if let Some(row) = rows.get_mut(at).filter(|_| is_new) {
                *row = ReportRow {
                    label: ReportRow::read(&name, self, days).label,
                    printed: name + MARK,
                    ..std::mem::take(row)
                };
            }
        }
    }
}

/// The name of a row without a label below these rows: "Total operating expenses" if each of its
/// figures is the sum of all rows since the last heading, "Property and equipment, net" if it is
/// the difference of the two rows above, of which the second begins with "less". `None` otherwise.
fn name_of(row: &ReportRow, above: &[ReportRow]) -> Option<String> {
    let number = |of: &ReportRow, column: usize| {
        let cell = of.cells.get(column).and_then(Option::as_ref);
        cell.map_or(0.0, |cell| cell.value)
    };
    let is_each = |computed: &dyn Fn(usize) -> f64| {
        let cells = row.cells.iter().enumerate();
        let mut cells = cells.filter_map(|(column, cell)| Some((column, cell.as_ref()?.value)));
        cells.all(|(column, own)| within(computed(column), own, EXACT))
    };
    let has_figures = row.cells.iter().any(Option::is_some);
    let named = |row: &ReportRow| !row.printed.trim().is_empty();
    if !has_figures {
        return None;
    }
    if let [.., whole, less] = above
        && less.printed.trim().to_lowercase().starts_with("less")
        && is_each(&|column| number(whole, column) - number(less, column).abs())
    {
        let name = whole.printed.trim().trim_end_matches(MARK);
        return named(whole).then(|| format!("{name}, net"));
    }
    let sum = |column| above.iter().map(|part| number(part, column)).sum();
    let heading = row.section_text.trim().trim_end_matches(':');
    let is_total = above.iter().all(named) && above.len() > 1 && !heading.is_empty();
    (is_total && is_each(&sum)).then(|| format!("Total {heading}"))
}
