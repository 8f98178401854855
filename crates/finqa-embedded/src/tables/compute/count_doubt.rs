//! Doubts the scale of a figure, mostly because its row may count things although the caption of
//! the table states money: "Aircraft" under "USD in millions". No list has all things that are
//! counted, so the digits and the name of a row decide.

use crate::reading::outflow::names_cost;
use crate::tables::find::Amount;
use crate::tables::find::statements::{BALANCES, FLOWS};
use crate::tables::page::table::{ReportRow, ReportTable};
use crate::tables::page::{Doubt, Tables};
use crate::tables::question::names::amount_named;
use crate::tables::words::lists;
use finqa_core::number::Scale;
use finqa_core::page::{CellNumber, without_unit};

/// Plurals that do not end like one.
const PLURALS: &str = "aircraft people cattle sheep fish livestock";

impl Tables {
    /// The reason to doubt the scale of a figure: that of the table may not apply, because the row
    /// may count things, or a column "Unit" has one that is not read, as in "thousand m3".
    pub(crate) fn scale_doubt(&self, one: &Amount) -> Option<Doubt> {
        let place = one.place()?;
        let (table, row) = (self.table(place)?, self.row(place)?);
        if one.scale.is_none() {
            let unit = row.unit.to_lowercase();
            let rate = unit.contains("per ") || unit.contains('/');
            let scaled = !rate && Scale::ALL.iter().any(|scale| unit.contains(scale.word()));
            let why = format!("the unit of {} is \"{}\"", row.printed, row.unit);
            return scaled.then(|| Doubt::missing(why));
        }
        // A tag or a unit says what the figure is.
        let stated = self.tags.contains_key(&place)
            || !row.unit.is_empty()
            || without_unit(&row.printed).is_some();
        if stated || table.statement.is_some() || !table.may_count(row) {
            return None;
        }
        let name = &row.printed;
        let why = format!("{name} may be a number of things, without the scale of the table");
        Some(Doubt::missing(why))
    }
}

impl ReportTable {
    /// True if the figures of a row may be numbers of things, to which the scale of the table does
    /// not apply. False if the row is named like an amount of money. Otherwise the digits decide,
    /// then the form of its name.
    fn may_count(&self, row: &ReportRow) -> bool {
        let is_money = |words: &[String]| {
            let lasts = |word: &String| FLOWS.contains(word) || BALANCES.contains(word);
            words.iter().any(lasts) || names_cost(&words.join(" "))
        };
        let is_known = |row: &ReportRow| {
            amount_named(&row.label.words).is_some() || is_money(&row.label.words)
        };
        if is_known(row) {
            return false;
        }
        let scaled = |row: &ReportRow| -> Vec<bool> {
            let figures = row.cells.iter().flatten();
            let figures = figures.filter(|cell: &&CellNumber| cell.scale.is_some());
            figures.map(|cell| cell.literal.contains('.')).collect()
        };
        let others = self.rows.iter().filter(|other| !std::ptr::eq(*other, row));
        let others = others.map(scaled).filter(|cells| !cells.is_empty());
        let others: Vec<Vec<bool>> = others.collect();
        let decimals = others.iter().filter(|cells| cells.contains(&true)).count();
        let whole = !scaled(row).contains(&true);
        // Money has the same decimals in all rows.
        if whole && decimals > 0 && 2 * decimals >= others.len() {
            return true;
        }
        // Otherwise the row is money if its title or section names an amount ("Pumps" under "Net
        // sales by product"), if the table has a total, or if no row is known to be money.
        let title: Vec<String> = self.title.iter().chain(&*row.section).cloned().collect();
        let is_sum = |row: &ReportRow| row.label.total && !row.cells.iter().all(Option::is_none);
        let lower = row.printed.trim().to_lowercase();
        let plural = lower.ends_with('s') && !lower.ends_with("ss") || lists(PLURALS, &lower);
        whole
            && plural
            && lower.chars().all(char::is_alphabetic)
            && !is_money(&title)
            && !self.rows.iter().any(is_sum)
            && self.rows.iter().any(is_known)
    }
}
