//! Look-ups, sums, averages, medians and extremes of a table's rows and columns.

use super::DirectAnswer;
use super::axis::AxisLabel;
use super::lines::{LabelQuery, Place};
use super::phrase::NamedOperand;
use super::quantities::{counts, has_no_sum};
use super::values::{DirectReader, NoReading, Reading, TableAmount, sum};
use crate::expr::Expr;
use crate::question::operations::{AVERAGE, LARGEST, SMALLEST, SUM};
use finqa_core::number::UnitKind;
use finqa_core::program::Op;

/// Words around a quantity that say over which periods.
pub(super) const SPANNING: [&str; 13] = [
    "over the life", "over the years", "per year", "per quarter", "per month", "a year", "annual",
    "yearly", "each year", "quarterly", "years", "quarters", "months",
];

impl DirectReader<'_> {
    pub(super) fn look_up(&mut self) -> Reading<DirectAnswer> {
        let operand = self.asked.terms(&self.table, self.asked.text(), &[]);
        // "A and B" may ask for both.
        if operand.terms.iter().any(|(op, _)| *op == Op::Add) {
            let counts = self.asked.wording.says(&["how many"]);
            return if counts {
                self.total()
            } else {
                Err(NoReading::Open)
            };
        }
        let span = self.asked.spans().first().copied();
        let mut amounts = [self.amount(&operand, span)?];
        self.magnitudes(&mut amounts);
        let [amount] = amounts;
        let wording = &self.asked.wording;
        if !amount.percent && (wording.percent() || wording.says(&["%", "rate"])) {
            // Which share of what is meant, the labels do not say.
            return Err(NoReading::Open);
        }
        // Two periods and nothing said of what to do with them.
        if self.asked.spans().len() > 1 {
            return Err(NoReading::Open);
        }
        let name = if matches!(amount.expr, Expr::Leaf(_)) {
            "look-up"
        } else {
            "parts of a year"
        };
        Ok(DirectAnswer::number(name, amount.expr))
    }

    /// The whole question as one operand.
    pub(super) fn whole(&self, operations: &[&[&str]]) -> NamedOperand {
        self.asked
            .operand(&self.table, self.asked.text(), operations)
    }

    pub(super) fn says_average(&self) -> bool {
        let wording = &self.asked.wording;
        wording.says(&AVERAGE) && !wording.says(&["weighted average"])
    }

    pub(super) fn average(&mut self) -> Reading<DirectAnswer> {
        let text = self.asked.text().to_owned();
        // "The average sales per store"
        if let Some((part, whole)) = per(&text) {
            let known = self.asked.operand(&self.table, &whole, &[]).words;
            if known.iter().any(|word| self.table.knows(word)) {
                return self.quotient(&part, &whole, UnitKind::Ratio, &[&AVERAGE]);
            }
        }
        let operand = self.whole(&[&AVERAGE, &SPANNING]);
        let amounts = self.run(&operand)?;
        let count = u32::try_from(amounts.len()).map_err(|_| NoReading::Open)?;
        let total = sum(&amounts).ok_or(NoReading::Open)?;
        let mean = Expr::step(Op::Divide, total, Expr::constant(count));
        Ok(DirectAnswer::number("average", mean))
    }

    /// The amounts of an operand over the question's periods, else of the operands in a list.
    fn run(&mut self, operand: &NamedOperand) -> Reading<Vec<TableAmount>> {
        if let Some(list) = self.listed(&[&AVERAGE, &SUM, &SPANNING, &["total"]])? {
            return Ok(list);
        }
        // The capacity of all sites, where only their output has periods.
        if self.asked.spans().is_empty() && self.table.periods.len() > 1 {
            let doubts = self.doubts.len();
            let found = self.alike(operand, true);
            let undated = |amount: &TableAmount| self.table.span_of(amount.place).is_none();
            match found {
                Ok(amounts) if amounts.iter().all(undated) => return Ok(amounts),
                _ => self.doubts.truncate(doubts),
            }
        }
        match self.series() {
            // The days or shops of a table without periods.
            Err(NoReading::Open)
                if self.table.periods.len() < 2 || self.asked.spans().len() == 1 =>
            {
                self.alike(operand, true)
            }
            periods => self.over(operand, &periods?),
        }
    }

    pub(super) fn median(&mut self) -> Reading<DirectAnswer> {
        let operand = self.whole(&[&["median"], &SPANNING]);
        let mut amounts = self.run(&operand)?;
        amounts.sort_by(|a, b| a.number.total_cmp(&b.number));
        let middle = amounts.len() / 2;
        let at = |index: usize| amounts.get(index).map(|amount| amount.expr.clone());
        let expr = if amounts.len() % 2 == 1 {
            at(middle)
        } else {
            let pair = at(middle.saturating_sub(1)).zip(at(middle));
            pair.map(|(a, b)| Expr::step(Op::Divide, Expr::step(Op::Add, a, b), Expr::constant(2)))
        };
        let expr = expr.ok_or(NoReading::Open)?;
        Ok(DirectAnswer::number("median", expr))
    }

    /// The largest or smallest amount of a row over time.
    pub(super) fn extreme(&mut self) -> Reading<DirectAnswer> {
        let largest = self.asked.wording.extreme().ok_or(NoReading::Open)?;
        let operand = self.whole(&[&LARGEST, &SMALLEST, &SPANNING]);
        let periods = self.series()?;
        let amounts = self.over(&operand, &periods)?;
        let found = extreme_of(&amounts, largest).ok_or(NoReading::Open)?;
        Ok(DirectAnswer::number("extreme", found.expr.clone()))
    }

    pub(super) fn says_sum(&self) -> bool {
        let wording = &self.asked.wording;
        let several = self.asked.spans().len() > 1 || wording.periods_named().is_some();
        wording.sum()
            || wording.says(&["total", "all", "both", "in all"])
            || several && wording.says(&["and", "over"])
    }

    /// A sum of several rows, of one row over time, or of all cells that fit alike: "total
    /// borrowings" of short-term and long-term borrowings.
    pub(super) fn total(&mut self) -> Reading<DirectAnswer> {
        let as_total = |amounts: &[TableAmount]| {
            let total = sum(amounts).ok_or(NoReading::Open)?;
            Ok(DirectAnswer::number("sum", total))
        };
        if let Some(list) = self.listed(&[&SUM, &SPANNING])? {
            return as_total(&list);
        }
        let mut operand = self.whole(&[&SUM, &SPANNING, &["aggregate", "in all"]]);
        let wording = &self.asked.wording;
        let over = self.asked.spans_through()
            || self.asked.spans().len() > 1
            || wording.periods_named().is_some()
            || wording.says(&[
                "all years", "the years", "all quarters", "all months", "both years",
                "both quarters", "both months", "over the life",
            ]);
        if over {
            let periods = self.series()?;
            let amounts = self.over(&operand, &periods)?;
            for (amount, period) in amounts.iter().zip(&periods) {
                self.check_accumulates(amount, *period)?;
            }
            return as_total(&amounts);
        }
        // The page's own total comes first.
        if self.asked.wording.says(&["total"]) && self.table.knows("total") {
            operand.context.push("total".to_owned());
        }
        let doubts = self.doubts.len();
        match self.amount(&operand, None) {
            Err(NoReading::Open | NoReading::Several(_)) => self.doubts.truncate(doubts),
            other => {
                let mut amounts = [other?];
                self.doubt_parts_left_out(&operand, &amounts);
                self.doubt_of_one(&amounts);
                self.magnitudes(&mut amounts);
                return as_total(&amounts);
            }
        }
        let mut amounts = self.alike(&operand, false)?;
        self.magnitudes(&mut amounts);
        as_total(&amounts)
    }

    /// All amounts that fit an operand alike, in one row or one column, or the `parts` among
    /// them, which are not totals.
    fn alike(&mut self, operand: &NamedOperand, parts: bool) -> Reading<Vec<TableAmount>> {
        let span = match self.asked.spans() {
            [] if parts || self.table.periods.len() < 2 => None,
            [span] => Some(self.only_period(*span)?),
            _ => return Err(NoReading::Open),
        };
        let query = LabelQuery {
            context: Vec::new(),
            percent: Some(false),
            parts,
            ..operand.query(span)
        };
        let mut cells = self.cells(&query)?;
        if parts {
            let end = self.table.end_of_parts();
            cells.retain(|(row, _)| *row < end);
        }
        let one = |of: fn(&Place) -> usize| {
            let first = cells.first().map(of);
            cells.iter().all(|cell| Some(of(cell)) == first)
        };
        let total = |place: &Place| self.table.labels_of(*place).any(|label| label.total);
        // One says "current" itself and another by its heading: they are not of one kind.
        let own = |(row, _): &Place| -> Vec<&String> {
            let label = self.table.rows.get(*row);
            let said = |word: &&String| label.is_some_and(|label| label.words.contains(word));
            operand.words.iter().filter(said).collect()
        };
        let alike = cells
            .iter()
            .all(|cell| Some(own(cell)) == cells.first().map(own));
        let line = one(|place| place.0) || one(|place| place.1) && alike;
        if !line || cells.len() < 2 || cells.iter().any(total) {
            return Err(NoReading::Open);
        }
        if !one(|place| place.1) {
            let columns: Vec<usize> = cells.iter().map(|(_, column)| *column).collect();
            self.check_one_kind(&columns)?;
        }
        let amounts = cells.iter().map(|place| self.table.amount_at(*place));
        let amounts: Option<Vec<TableAmount>> = amounts.collect();
        let amounts = amounts.ok_or(NoReading::Open)?;
        let column = cells
            .first()
            .and_then(|(_, column)| self.table.columns.get(*column));
        let rate = column.filter(|label| parts && has_no_sum(label));
        if let Some(name) = rate.map(|label| label.name.clone()) {
            self.doubt(format!("{name} may need weights"));
        }
        self.doubt_parts_left_out(operand, &amounts);
        self.doubt_total_among(&amounts);
        Ok(amounts)
    }

    /// An error if one of several columns has no sum, such as a price; a doubt if their headings
    /// name quantities that differ, such as a revenue and a cost.
    fn check_one_kind(&mut self, columns: &[usize]) -> Reading<()> {
        let labels = columns.iter().filter_map(|at| self.table.columns.get(*at));
        let labels: Vec<&AxisLabel> = labels.collect();
        if labels.iter().any(|label| has_no_sum(label)) {
            return Err(NoReading::Open);
        }
        let common = |word: &String| labels.iter().all(|label| label.says(word));
        let differs = |label: &&AxisLabel| {
            let mut own = label.words.iter().filter(|word| !common(word)).peekable();
            own.peek().is_some() && counts(label)
        };
        if labels.iter().any(differs) {
            self.doubt("its columns may not be of one kind".to_owned());
        }
        Ok(())
    }

    /// Of rows that say the same words of the question, those with the fewest others fit best;
    /// a total may be of all of them.
    fn doubt_parts_left_out(&mut self, operand: &NamedOperand, amounts: &[TableAmount]) {
        let rows = &self.table.rows;
        let Some((row, column)) = amounts.first().map(|amount| amount.place) else {
            return;
        };
        let said = |label: &AxisLabel| -> Vec<&String> {
            let words = operand.words.iter();
            words.filter(|word| label.says(word)).collect()
        };
        let Some((label, common)) = rows.get(row).map(|label| (label, said(label))) else {
            return;
        };
        let in_full = label.total || label.words.len() <= common.len();
        let used = |row: usize| amounts.iter().any(|amount| amount.place.0 == row);
        let mut others = rows.iter().enumerate().skip(1);
        let left = others.find(|(at, other)| {
            let filled = self.table.fact_at((*at, column)).is_some();
            !used(*at) && filled && !other.total && said(other) == common
        });
        let left = left.filter(|_| !common.is_empty() && !in_full);
        if let Some((_, other)) = left {
            let why = format!("{} may be a part of the total too", other.name);
            self.doubt(why);
        }
    }

    /// "The total weight" next to a column of quantities: a cell may be that of a single piece.
    fn doubt_of_one(&mut self, amounts: &[TableAmount]) {
        let counts = |label: &&AxisLabel| ["quantity", "qty"].iter().any(|word| label.writes(word));
        let column = amounts
            .first()
            .and_then(|amount| self.table.columns.get(amount.place.1));
        let pieces = self.table.columns.iter().any(|label| counts(&label));
        let total = |amount: &TableAmount| {
            let row = self.table.rows.get(amount.place.0);
            row.is_some_and(|row| row.total)
        };
        let leaf = amounts
            .iter()
            .all(|amount| matches!(amount.expr, Expr::Leaf(_)) && !total(amount));
        let column = column.filter(|label| pieces && leaf && !counts(label) && !label.total);
        if let Some(name) = column.map(|label| label.name.clone()) {
            self.doubt(format!("{name} may be of one piece"));
        }
    }

    /// The first or the last row may be the total of the others without its name.
    pub(super) fn doubt_total_among(&mut self, amounts: &[TableAmount]) {
        let all: f64 = amounts.iter().map(|amount| amount.number).sum();
        let ends = [amounts.first(), amounts.last()];
        let whole = ends.into_iter().flatten().find(|amount| {
            amounts.len() > 2 && (all - 2.0 * amount.number).abs() <= 1e-9 * all.abs()
        });
        let name = whole.and_then(|amount| self.table.rows.get(amount.place.0));
        if let Some(name) = name.map(|label| label.name.clone()) {
            self.doubt(format!("{name} is the sum of the others"));
        }
    }

    /// The amounts of "A, B and C", if the question lists several quantities.
    fn listed(&mut self, operations: &[&[&str]]) -> Reading<Option<Vec<TableAmount>>> {
        let text = self
            .asked
            .text()
            .replace(" , ", " and ")
            .replace(" plus ", " and ");
        let parts: Vec<&str> = text.split(" and ").collect();
        let operands: Vec<NamedOperand> = parts
            .into_iter()
            .map(|part| self.asked.operand(&self.table, part, operations))
            .filter(|operand| !operand.words.is_empty() || !operand.spans.is_empty())
            .collect();
        let named = operands
            .iter()
            .filter(|operand| !operand.words.is_empty())
            .count();
        if named < 2 {
            return Ok(None);
        }
        let all: Vec<String> = operands
            .iter()
            .flat_map(|operand| operand.words.clone())
            .collect();
        let mut amounts = Vec::new();
        for operand in &operands {
            let mut operand = operand.clone();
            operand.context.retain(|word| word != "total");
            operand.context.extend(
                all.iter()
                    .filter(|word| !operand.words.contains(word))
                    .cloned()
                    .collect::<Vec<_>>(),
            );
            let span = self.asked.spans().first().copied();
            amounts.push(self.amount(&operand, span)?);
        }
        let places: Vec<(usize, usize)> = amounts.iter().map(|amount| amount.place).collect();
        let distinct = places
            .iter()
            .enumerate()
            .all(|(at, place)| !places.iter().take(at).any(|other| other == place));
        if !distinct || self.asked.spans().len() > 1 {
            return Err(NoReading::Open);
        }
        self.magnitudes(&mut amounts);
        Ok(Some(amounts))
    }
}

/// The largest or smallest of amounts, the last of those that have it; `None` without any.
pub(super) fn extreme_of(amounts: &[TableAmount], largest: bool) -> Option<&TableAmount> {
    let sign = if largest { 1.0 } else { -1.0 };
    let by_size =
        |a: &&TableAmount, b: &&TableAmount| (sign * a.number).total_cmp(&(sign * b.number));
    amounts.iter().max_by(by_size)
}

/// The parts of "sales per store".
pub(super) fn per(text: &str) -> Option<(String, String)> {
    let (part, whole) = text
        .split_once(" per ")
        .or_else(|| text.split_once(" for each "))?;
    let time = ["year", "quarter", "month", "annum", "cent", "day", "week"];
    let first = whole.split_whitespace().next()?;
    (!time.contains(&first)).then(|| (part.to_owned(), whole.to_owned()))
}
