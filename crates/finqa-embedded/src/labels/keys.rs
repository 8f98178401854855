//! Rows that several columns name together: an id and a name, a segment and a region. A question
//! may name some of these columns only; then it is about all rows that have these names.

use super::axis::{AxisLabel, same_word};
use super::lines::{LabelQuery, LabelledTable, Place};
use super::phrase::NamedOperand;
use super::quantities::{counts, has_no_sum};
use super::values::{DirectReader, NO_PLACE, NoReading, Reading, TableAmount, sum};
use crate::reading::cell;
use crate::reading::facts::Facts;
use crate::reading::text::stem;
use finqa_core::page::period::spans;

/// The most words of a cell that names a row; more are a remark.
const LONGEST: usize = 5;

/// One in this many names may begin with a number.
const MOST: usize = 4;

/// Headings of remarks, and of columns whose numbers are names.
const REMARKS: [&str; 6] = ["note", "notes", "comment", "comments", "remark", "remarks"];
pub(super) const NUMBERED: [&str; 14] = [
    "id", "code", "sku", "no", "no.", "#", "account", "year", "fiscal year", "fy", "quarter",
    "month", "date", "period",
];

/// The columns that name a table's rows, the first one among them; none if it alone does.
pub(super) fn columns(facts: &Facts) -> Vec<usize> {
    let Some((header, body)) = facts.written.split_first() else {
        return Vec::new();
    };
    let is_key = |column: &usize| {
        let heading = header.get(*column).map(|name| name.trim().to_lowercase());
        let heading = heading.unwrap_or_default();
        let cells = || {
            let cells = body.iter().filter_map(|row| row.get(*column));
            cells
                .map(|cell| cell.trim())
                .filter(|cell| cell.chars().any(char::is_alphanumeric))
        };
        let named = |cell: &str| {
            let period = is_period(cell);
            let numbered = NUMBERED.contains(&heading.as_str());
            let wordy = cell.chars().any(char::is_alphabetic) && cell::read(cell, true).is_none();
            let short = cell.split_whitespace().count() <= LONGEST;
            let blank = matches!(&*cell.to_lowercase(), "n/a" | "na" | "nm" | "n.a." | "n.m.");
            (wordy && short && !blank) || numbered || period && !heading.contains("matur")
        };
        // "25 m hose" is a name among others that have no number.
        let numbered = |cell: &str| cell::read(cell, true).is_some_and(|n| !n.words.is_empty());
        let (odd, amounts): (Vec<&str>, Vec<&str>) = cells()
            .filter(|cell| !named(cell))
            .partition(|cell| numbered(cell));
        let filled = cells().count();
        filled > 1
            && 2 * filled > body.len()
            && amounts.is_empty()
            && MOST * odd.len() <= filled
            && !REMARKS.contains(&heading.as_str())
    };
    let others: Vec<usize> = (1..header.len()).filter(is_key).collect();
    if others.is_empty() || others.len() + 1 >= header.len() {
        return Vec::new();
    }
    std::iter::once(0).chain(others).collect()
}

/// Whether all cells of a column are periods.
pub(super) fn is_dated(facts: &Facts, column: usize) -> bool {
    let cells = facts
        .written
        .iter()
        .skip(1)
        .filter_map(|row| row.get(column));
    let mut cells = cells
        .map(|cell| cell.trim())
        .filter(|cell| !cell.is_empty());
    cells.all(is_period)
}

/// Whether a cell names a period and nothing else.
fn is_period(cell: &str) -> bool {
    let named = spans(&cell.to_lowercase());
    matches!(named.as_slice(), [one] if one.at.len() == cell.len())
}

impl LabelledTable<'_> {
    /// Whether only the heading of a column that names rows has a word: "all items".
    pub(super) fn is_heading(&self, word: &str) -> bool {
        let heads = self
            .keys
            .iter()
            .filter_map(|column| self.columns.get(*column));
        let mut rows = self.rows.iter().skip(1);
        heads.into_iter().any(|head| head.says(word)) && !rows.any(|row| row.says(word))
    }

    /// The sum of the cells that a query names alike, if they are of all rows with the same
    /// names in the columns that it speaks of.
    fn group(&self, query: &LabelQuery, cells: &[Place]) -> Option<Vec<usize>> {
        let (first, column) = *cells.first()?;
        let asked = |label: &AxisLabel, key: usize| {
            let words = label.keys.get(key).map(|key| key.words.as_slice());
            let mut words = words.unwrap_or_default().iter();
            words.any(|own| query.words.iter().any(|word| same_word(own, word)))
        };
        let label = self.rows.get(first)?;
        let named: Vec<usize> = (0..label.keys.len())
            .filter(|key| asked(label, *key))
            .collect();
        let alike = cells.iter().all(|(row, of_cell)| {
            self.rows.get(*row).is_some_and(|other| {
                let same = |key: usize| {
                    let of = |label: &AxisLabel| label.keys.get(key).map(|key| key.name.clone());
                    asked(other, key) == named.contains(&key)
                        && (!named.contains(&key) || of(other) == of(label))
                };
                !other.total && (0..other.keys.len()).all(same)
            }) && *of_cell == column
        });
        let rows = cells.iter().map(|(row, _)| *row).collect();
        (alike && cells.len() > 1 && !label.keys.is_empty()).then_some(rows)
    }
}

impl DirectReader<'_> {
    /// The sum over the rows that a query leaves open, of a quantity that has one.
    pub(super) fn summed(&mut self, query: &LabelQuery, cells: &[Place]) -> Option<TableAmount> {
        let rows = self.table.group(query, cells)?;
        let named = rows.len() < self.table.rows.iter().filter(|row| !row.total).count() - 1;
        if !named && query.span.is_none() && !self.says_sum() {
            return None;
        }
        let amounts = cells.iter().map(|place| self.table.amount_at(*place));
        let amounts: Option<Vec<TableAmount>> = amounts.collect();
        self.total_of(&amounts?).ok()
    }

    /// The sum of amounts of one column.
    fn total_of(&mut self, amounts: &[TableAmount]) -> Reading<TableAmount> {
        let first = amounts.first().ok_or(NoReading::Open)?;
        if amounts.len() == 1 {
            return Ok(first.clone());
        }
        let column = self.table.columns.get(first.place.1);
        let column = column.ok_or(NoReading::Open)?.clone();
        let years = amounts
            .iter()
            .all(|amount| (1900.0..2100.0).contains(&amount.number));
        if first.percent || years || has_no_sum(&column) {
            return Err(NoReading::Several(format!(
                "{} has several rows",
                column.name
            )));
        }
        if !counts(&column) && !self.says_sum() {
            self.doubt(format!("{} may not add up over its rows", column.name));
        }
        let spans: Vec<_> = amounts
            .iter()
            .map(|a| self.table.span_of(a.place))
            .collect();
        if spans
            .iter()
            .any(|span| *span != spans.first().copied().flatten())
        {
            for (amount, span) in amounts.iter().zip(&spans) {
                self.check_accumulates(amount, span.unwrap_or_default())?;
            }
        }
        Ok(TableAmount {
            expr: sum(amounts).ok_or(NoReading::Open)?,
            number: amounts.iter().map(|amount| amount.number).sum(),
            percent: false,
            place: (NO_PLACE.0, first.place.1),
        })
    }

    /// What "which" compares where several columns name the rows: the sums of the rows with one
    /// name each in the column of its noun.
    pub(super) fn by_key(
        &mut self,
        noun: Option<&str>,
        operand: &NamedOperand,
        query: &LabelQuery,
    ) -> Reading<Option<Vec<(TableAmount, String)>>> {
        let heads = self.table.keys.clone();
        let Some(key) = noun.and_then(|noun| {
            let noun = stem(noun);
            // Of "Store ID" and "Store", the store is the latter.
            let others = |column: &usize| {
                let written = self.table.facts.columns.get(*column)?;
                let words = written.name.split_whitespace().map(str::to_lowercase);
                let of = |word: &String| stem(word) == noun || noun == "day" && word == "date";
                words.clone().any(|word| of(&word)).then(|| words.count())
            };
            let named = heads.iter().enumerate();
            let named = named.filter_map(|(key, column)| Some((others(column)?, key)));
            named.min().map(|(_, key)| key)
        }) else {
            return Ok(None);
        };
        let cells = match operand.words.is_empty() {
            true => self.table.find(query).cells,
            false => self.cells(query)?,
        };
        let column = cells.first().map(|(_, column)| column);
        if cells.iter().any(|(_, of_cell)| Some(of_cell) != column) {
            return Ok(None);
        }
        let mut groups: Vec<(String, Vec<TableAmount>)> = Vec::new();
        for place in cells {
            let name = self
                .table
                .rows
                .get(place.0)
                .and_then(|row| row.keys.get(key));
            let Some(name) = name
                .map(|key| key.name.clone())
                .filter(|name| name.chars().any(char::is_alphanumeric))
            else {
                continue;
            };
            let amount = self.table.amount_at(place).ok_or(NoReading::Open)?;
            match groups.iter_mut().find(|(other, _)| *other == name) {
                Some((_, group)) => group.push(amount),
                None => groups.push((name, vec![amount])),
            }
        }
        let mut out = Vec::new();
        for (name, group) in groups {
            let single = group.len() == 1;
            let mut amount = self.total_of(&group)?;
            if !single {
                // Each group has a place of its own.
                amount.place.0 = NO_PLACE.0 - 1 - out.len();
            }
            out.push((amount, name));
        }
        Ok((out.len() > 1).then_some(out))
    }
}
