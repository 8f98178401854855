//! Names the rows that a report prints without a label: the total below its parts, and what a
//! deduction leaves of a figure. Older statements and press releases often have such rows.

use std::collections::HashMap;

use finqa_core::number::within;
use finqa_core::page::Statement;
use finqa_core::page::period::DayOrder;

use super::table::{ReportRow, ReportTable};
use crate::tables::words::{lists, plain_stems};

/// Largest relative difference between a total and the sum of its parts, for rounding in binary.
const EXACT: f64 = 1e-6;

/// What the name of such a row ends with, because it is not printed.
const MARK: &str = " (without a label)";

/// What a figure can be net of and keep its name. A cost leaves another figure: a profit.
const DEDUCTED: &str =
    "accumulated depreciation amortization allowance allowances reserve returns discount discounts";

impl ReportTable {
    /// Names each row without a label whose figures can be computed from the rows above it. A name
    /// that another row has, or that two rows would get, is not given.
    pub(super) fn name_unlabelled(&self, rows: &mut [ReportRow], days: DayOrder) {
        // The subtotals of a balance sheet or of cash flows stop anywhere in a section.
        let cash = self.title.contains("cash");
        let of_income = self.statement == Some(Statement::Flows) && !cash;
        let mut names: HashMap<Vec<String>, Option<(usize, String)>> = HashMap::new();
        let mut first = 1;
        for at in 1..rows.len() {
            let (above, rest) = rows.split_at(at);
            let Some((row, behind)) = rest.split_first() else {
                return;
            };
            if row.is_heading() {
                first = at + 1;
            }
            let above = above.get(first..).unwrap_or_default();
            let ends = of_income || behind.first().is_none_or(ReportRow::is_heading);
            let Some(name) = name_of(row, above, ends) else {
                continue;
            };
            let only = names.entry(plain_stems(&name));
            only.and_modify(|only| *only = None)
                .or_insert(Some((at, name)));
        }
        for row in rows.iter() {
            names.remove(&row.label.words);
        }
        for (at, name) in names.into_values().flatten() {
            if let Some(row) = rows.get_mut(at) {
                row.label = ReportRow::read(&name, self, days).label;
                row.printed = name + MARK;
            }
        }
    }
}

/// The name of a row without a label below these rows: "Total operating expenses" if each of its
/// figures is the sum of all rows since the last heading and the section may end there, "Property
/// and equipment, net" if it is the difference of the two rows above. `None` otherwise.
fn name_of(row: &ReportRow, above: &[ReportRow], ends: bool) -> Option<String> {
    let named = |row: &ReportRow| !row.printed.trim().is_empty();
    if named(row) || row.is_heading() {
        return None;
    }
    let number = |of: &ReportRow, column: usize| {
        let cell = of.cells.get(column).and_then(Option::as_ref);
        cell.map_or(0.0, |cell| cell.value)
    };
    let is_each = |computed: &dyn Fn(usize) -> f64| {
        let cells = row.cells.iter().enumerate();
        let mut cells = cells.filter_map(|(column, cell)| Some((column, cell.as_ref()?.value)));
        cells.all(|(column, own)| within(computed(column), own, EXACT))
    };
    if let [.., whole, less] = above
        && named(whole)
        && is_deduction(&less.printed)
        && is_each(&|column| number(whole, column) - number(less, column).abs())
    {
        return Some(format!("{}, net", whole.printed.trim()));
    }
    let sum = |column| above.iter().map(|part| number(part, column)).sum();
    let heading = row.section_text.trim().trim_end_matches(':');
    let is_total = ends && above.len() > 1 && above.iter().all(named) && !heading.is_empty();
    (is_total && is_each(&sum)).then(|| format!("Total {heading}"))
}

/// True for a row such as "Less accumulated depreciation".
fn is_deduction(label: &str) -> bool {
    let lower = label.trim().to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    words.next() == Some("less") && words.any(|word| lists(DEDUCTED, word))
}
