//! Questions that a label answers: which year, which quarter, which segment.

use super::axis::{AxisLabel, label_words};
use super::changes::FALLEN;
use super::compute::extreme_of;
use super::lines::{LabelQuery, Place, is_year};
use super::phrase::NamedOperand;
use super::quantities::is_measure;
use super::values::{DirectReader, NoReading, Reading, TableAmount};
use super::{DirectAnswer, WHICH};
use crate::expr::Expr;
use crate::question::operations::{CHANGE, LARGEST, SMALLEST};
use crate::reading::text::stem;
use finqa_core::number::UnitKind;
use finqa_core::page::period::CalendarSpan;
use finqa_core::program::Op;

const TIMES: [&str; 7] = [
    "year", "quarter", "month", "half", "period", "time", "season",
];

/// Words between the noun and the quantity.
const VERBS: [&str; 24] = [
    "which", "what", "in which", "when", "during", "for", "was", "were", "is", "are", "had", "has",
    "have", "did", "does", "do", "the", "at its", "at their", "reach", "reached", "of the", "show",
    "showed",
];

/// Words of the highest and lowest for which only this kind of question has a plan.
const MORE_LARGEST: [&str; 11] = [
    "best", "fastest", "peak", "peaked", "strongest", "top", "longest", "higher", "larger",
    "bigger", "greater",
];
const MORE_SMALLEST: [&str; 7] = [
    "worst", "slowest", "fewest", "weakest", "bottom", "lower", "smaller",
];

impl DirectReader<'_> {
    pub(super) fn which(&mut self) -> Reading<DirectAnswer> {
        let wording = &self.asked.wording;
        let most = wording.says(&MORE_LARGEST) || wording.says(&["dearest", "heaviest", "oldest"]);
        let least = wording.says(&MORE_SMALLEST) || wording.says(&["cheapest"]);
        let noun = self.noun();
        let largest = match (wording.extreme(), most, least) {
            (None, false, false) if wording.starts(&["when"]) => return self.day(),
            (None, false, false) => {
                let noun = noun.ok_or(NoReading::Open)?;
                return self.described_rows(&noun);
            }
            (Some(largest), false, false) => largest,
            (None, true, false) => true,
            (None, false, true) => false,
            _ => return Err(NoReading::Open),
        };
        if wording.says(&[
            "second", "third", "two", "three", "not", "except", "other than", "excluding",
        ]) {
            return Err(NoReading::Open);
        }
        let grows = wording.change()
            || wording.says(&["fastest", "slowest", "grown"])
            || wording.says(&FALLEN);
        let days = self.table.periods.iter().any(|span| span.day.is_some());
        let of_time = |noun: &str| {
            TIMES.contains(&noun)
                || days && self.table.keys.is_empty() && ["day", "date"].contains(&noun)
        };
        let time = wording.starts(&["when"]) || noun.as_deref().is_some_and(of_time);
        let nouns: Vec<&str> = noun.as_deref().into_iter().collect();
        let mut lists: Vec<&[&str]> = vec![
            &LARGEST, &SMALLEST, &MORE_LARGEST, &MORE_SMALLEST, &VERBS, &nouns,
        ];
        if grows {
            lists.extend([&CHANGE as &[&str], &FALLEN, &["absolute", "terms"]]);
        }
        let mut operand = self.whole(&lists);
        for word in &mut operand.words {
            *word = self.table.measured(word);
        }
        match (time, grows) {
            (true, true) => Err(NoReading::Open),
            (true, false) => self.when(&operand, largest),
            (false, true) => self.fastest(&operand, largest),
            (false, false) => self.greatest(&operand, largest),
        }
    }

    /// The noun after "which", or after a superlative if it heads the names of the rows: "what is
    /// the most expensive article".
    fn noun(&self) -> Option<String> {
        match self.asked.wording.starts(&WHICH) {
            true => noun_of_which(self.asked.text()),
            false => self.superlative_noun(),
        }
    }

    pub(super) fn superlative_noun(&self) -> Option<String> {
        let lists: [&[&str]; 4] = [&LARGEST, &SMALLEST, &MORE_LARGEST, &MORE_SMALLEST];
        let compared =
            |word: &str| is_measure(word) || lists.iter().any(|list| list.contains(&word));
        let words = self.asked.text().split_whitespace();
        let mut after = words
            .skip_while(|word| !compared(word))
            .skip_while(|word| compared(word));
        let noun = after.next()?;
        let noun = noun.trim_matches(|c: char| !c.is_alphanumeric());
        let heads = self.headed(&label_words(noun)).is_some();
        heads.then(|| noun.to_owned())
    }

    /// The period of the largest amount of a row.
    fn when(&mut self, operand: &NamedOperand, largest: bool) -> Reading<DirectAnswer> {
        let periods = self.series()?;
        let amounts = self.over(operand, &periods)?;
        let best = extreme_of(&amounts, largest).ok_or(NoReading::Open)?;
        let sizes = amounts.iter().map(|amount| amount.number);
        let named = sizes.zip(periods.iter().map(ToString::to_string));
        let tied = tie(best.number, named);
        self.doubts.extend(tied);
        let at = amounts.iter().position(|amount| amount.place == best.place);
        let period = at.and_then(|at| periods.get(at)).ok_or(NoReading::Open)?;
        let found = best.clone();
        let name = self.name_of(*period, found.place);
        // A season is not one year.
        let year = period.year.filter(|_| is_year(*period) && !period.season);
        if let Some(year) = year {
            let expr = Expr::literal(&year.to_string()).ok_or(NoReading::Open)?;
            return Ok(DirectAnswer::number("year of the extreme", expr));
        }
        Ok(self.labelled(&found, name))
    }

    /// "When does loan A mature?": the year or the day in the column that the verb names.
    fn day(&mut self) -> Reading<DirectAnswer> {
        let operand = self.whole(&[&VERBS]);
        let amount = self.amount(&operand, None)?;
        let dated = [
            "maturity", "matures", "due", "expiry", "expires", "end", "ends", "date",
        ];
        let is_dated = |label: &&AxisLabel| dated.iter().any(|word| label.writes(word));
        let year = (1900.0..2200.0).contains(&amount.number);
        let known = self.table.label_of(amount.place, is_dated);
        known.filter(|_| year).ok_or(NoReading::Open)?;
        Ok(DirectAnswer::number("look-up", amount.expr))
    }

    /// A period as the page writes it.
    fn name_of(&self, period: CalendarSpan, (row, column): (usize, usize)) -> String {
        let labels = [self.table.columns.get(column), self.table.rows.get(row)];
        let dated = labels.into_iter().flatten().find(|label| {
            label.words.is_empty() && label.span.is_some_and(|span| span.covers(period))
        });
        let whole = self
            .table
            .facts
            .columns
            .get(column)
            .map(|column| column.name.clone());
        dated.map_or_else(|| whole.unwrap_or_default(), |label| label.name.clone())
    }

    fn labelled(&self, amount: &TableAmount, label: String) -> DirectAnswer {
        DirectAnswer {
            label: Some(label),
            ..DirectAnswer::number("label of the extreme", amount.expr.clone())
        }
    }

    /// The parts that a question compares: the rows in the column that it names, or the columns
    /// of the row. Totals are not parts.
    fn parts(
        &mut self,
        operand: &NamedOperand,
        span: Option<CalendarSpan>,
    ) -> Reading<Vec<(TableAmount, String)>> {
        let span = span.map(|span| self.only_period(span)).transpose()?;
        let of = |words: &[String], label: &AxisLabel| {
            words.iter().filter(|word| label.says(word)).count()
        };
        let best = |labels: &[AxisLabel]| {
            labels
                .iter()
                .skip(1)
                .map(|label| of(&operand.words, label))
                .max()
                .unwrap_or(0)
        };
        let (in_rows, in_columns) = (best(&self.table.rows), best(&self.table.columns));
        // "Which region grew fastest?": all rows are of one quantity.
        let by_column = self
            .items_are_rows()
            .unwrap_or(in_rows <= in_columns || operand.words.is_empty());
        let query = |percent| LabelQuery {
            percent: Some(percent),
            parts: true,
            ..operand.query(span)
        };
        let noun = self.noun();
        if !self.table.keys.is_empty() {
            let of_any = LabelQuery {
                percent: None,
                ..query(false)
            };
            if let Some(groups) = self.by_key(noun.as_deref(), operand, &of_any)? {
                return Ok(groups);
            }
        }
        let doubts = self.doubts.len();
        let amounts = match operand.words.is_empty() {
            true => Ok(self.table.find(&query(false)).cells),
            false => self.cells(&query(false)),
        };
        let complete = amounts.is_ok() && self.doubts.len() == doubts;
        let cells = if complete {
            amounts?
        } else {
            self.doubts.truncate(doubts);
            self.cells(&query(true))?
        };
        let distinct = |of: fn(&Place) -> usize| {
            let mut lines: Vec<usize> = cells.iter().map(of).collect();
            lines.sort_unstable();
            lines.dedup();
            lines
        };
        let (rows, columns) = (distinct(|place| place.0), distinct(|place| place.1));
        // "Cloud revenue" and "Devices revenue" are both revenue: the rows that say it.
        let shared = !by_column && rows.len() > 1 && columns.len() == 1;
        let by_column = by_column || shared;
        let lines = match (by_column, operand.words.is_empty()) {
            (true, true) => self.columns_of(span),
            (true, false) => columns,
            (false, _) => rows,
        };
        let lines = match (by_column, lines.as_slice()) {
            (_, [_]) => lines,
            (true, _) if in_columns == 0 => totals(&self.table.columns),
            (false, _) if in_rows == 0 => totals(&self.table.rows),
            _ => lines,
        };
        let [line] = lines.as_slice() else {
            return Err(NoReading::Open);
        };
        let says_all = |label: &AxisLabel| of(&operand.words, label) == in_rows;
        let items = if by_column {
            &self.table.rows
        } else {
            &self.table.columns
        };
        let end = if by_column {
            self.table.end_of_parts()
        } else {
            usize::MAX
        };
        let mut out = Vec::new();
        for (at, label) in items
            .iter()
            .enumerate()
            .skip(1)
            .take_while(|(at, _)| *at < end)
        {
            let place = if by_column { (at, *line) } else { (*line, at) };
            let fits = span.is_none_or(|span| self.table.is_of(place, span));
            let other = shared && !says_all(label);
            let period = label.words.is_empty() && label.span.is_some();
            let unnamed = label.derived || label.name.is_empty();
            if label.total || unnamed || period || !fits || other {
                continue;
            }
            if let Some(amount) = self.table.amount_at(place) {
                out.push((amount, label.name.clone()));
            }
        }
        let sizes: Vec<f64> = out.iter().map(|(amount, _)| amount.number).collect();
        out.truncate(before_sum(&sizes));
        let percent = out.first().is_some_and(|(amount, _)| amount.percent);
        if out.len() < 2 || out.iter().any(|(amount, _)| amount.percent != percent) {
            return Err(NoReading::Open);
        }
        Ok(out)
    }

    /// Whether the noun of "which" names the rows or the columns, if the upper left cell says:
    /// "Region", "Sales by segment and region".
    fn items_are_rows(&self) -> Option<bool> {
        let noun = self.noun()?;
        let corner = self.table.facts.columns.first()?.name.to_lowercase();
        let words = label_words(&corner);
        let noun = stem(&noun).into_owned();
        let second = corner
            .split_once(" by ")
            .and_then(|(_, by)| by.split_once(" and "));
        let of_columns = second.is_some_and(|(_, second)| label_words(second).contains(&noun));
        words.contains(&noun).then_some(!of_columns)
    }

    /// The columns with amounts of a period.
    fn columns_of(&self, span: Option<CalendarSpan>) -> Vec<usize> {
        let amount = |column: usize| {
            (1..self.table.rows.len()).any(|row| {
                let amount = self.table.amount_at((row, column));
                let fits = span.is_none_or(|span| self.table.is_of((row, column), span));
                fits && amount.is_some_and(|amount| !amount.percent)
            })
        };
        let of_page = |column: &usize| !self.table.columns.get(*column).is_some_and(|c| c.derived);
        (1..self.table.columns.len())
            .filter(|column| of_page(column) && amount(*column))
            .collect()
    }

    /// The part with the largest amount.
    fn greatest(&mut self, operand: &NamedOperand, largest: bool) -> Reading<DirectAnswer> {
        if self.asked.spans().len() > 1 {
            return Err(NoReading::Open);
        }
        let span = self.asked.spans().first().copied();
        let parts = self.parts(operand, span)?;
        let mut amounts: Vec<TableAmount> =
            parts.iter().map(|(amount, _)| amount.clone()).collect();
        self.magnitudes(&mut amounts);
        // Who lost most of a gain or loss has the smallest.
        let losses = amounts.iter().any(|amount| amount.number < 0.0);
        let largest = largest != (losses && self.asked.wording.says(&["lost", "lose"]));
        let best = extreme_of(&amounts, largest)
            .ok_or(NoReading::Open)?
            .clone();
        let sizes = amounts.iter().map(|amount| amount.number);
        let named = sizes.zip(parts.iter().map(|(_, label)| label.clone()));
        self.doubts.extend(tie(best.number, named));
        let label = parts
            .into_iter()
            .find(|(amount, _)| amount.place == best.place);
        let (_, label) = label.ok_or(NoReading::Open)?;
        Ok(self.labelled(&best, label))
    }

    /// The part that grew fastest.
    fn fastest(&mut self, operand: &NamedOperand, largest: bool) -> Reading<DirectAnswer> {
        let (early, late) = match (self.asked.spans(), self.table.periods.as_slice()) {
            ([a, b], _) if a.order() < b.order() => (*a, *b),
            ([], [a, b]) => (*a, *b),
            ([_], _) => self.ends()?,
            _ => return Err(NoReading::Open),
        };
        let wording = &self.asked.wording;
        let relative = wording.says(&["fastest", "slowest", "rate", "percent", "%"]);
        // "Grew the most" may mean the amount or the rate.
        let most = !relative && wording.extreme().is_some() && !wording.says(&["absolute"]);
        // Who fell the most has the smallest change.
        let largest = largest != wording.says(&FALLEN);
        let mut operand = operand.clone();
        operand.spans.clear();
        let (before, after) = (
            self.parts(&operand, Some(early))?,
            self.parts(&operand, Some(late))?,
        );
        let mut pairs: Vec<(TableAmount, TableAmount, String)> = Vec::new();
        for (amount, label) in after {
            let mut of_name = before.iter().filter(|(_, other)| *other == label);
            match (of_name.next(), of_name.next()) {
                (Some((earlier, _)), None) => pairs.push((amount, earlier.clone(), label)),
                (Some(_), Some(_)) => return Err(NoReading::Open),
                (None, _) => self.doubt(format!("{label} has no figure of {early}")),
            }
        }
        let losses = pairs.iter().any(|(_, earlier, _)| earlier.number <= 0.0);
        if relative && losses {
            return Err(NoReading::Open);
        }
        let size = |relative: bool, (late, early, _): &(TableAmount, TableAmount, String)| {
            let change = late.number - early.number;
            if relative {
                change / early.number
            } else {
                change
            }
        };
        let sign = if largest { 1.0 } else { -1.0 };
        let leader = |relative: bool| {
            let by_size =
                |a: &&_, b: &&_| (sign * size(relative, a)).total_cmp(&(sign * size(relative, b)));
            pairs.iter().max_by(by_size)
        };
        let best = leader(relative).ok_or(NoReading::Open)?;
        let (late, earlier, label) = best;
        let sizes = pairs
            .iter()
            .map(|pair| (size(relative, pair), pair.2.clone()));
        let tied = tie(size(relative, best), sizes);
        let by_rate = leader(true).filter(|(.., other)| most && !losses && other != label);
        let by_rate = by_rate.map(|(.., other)| format!("{other} has the larger rate of change"));
        let difference = Expr::step(Op::Subtract, late.expr.clone(), earlier.expr.clone());
        let (expr, kind) = match relative {
            true => (
                Expr::step(Op::Divide, difference, earlier.expr.clone()),
                UnitKind::Percent,
            ),
            false => (difference, UnitKind::Number),
        };
        let label = Some(label.clone());
        self.doubts.extend(tied.or(by_rate));
        Ok(DirectAnswer {
            label,
            ..DirectAnswer::new("label of the extreme", expr, kind)
        })
    }
}

/// How many sizes come before one that is the sum of them all. Of three, one is often the sum
/// of the two others by chance.
fn before_sum(sizes: &[f64]) -> usize {
    let mut sum = 0.0;
    for (at, size) in sizes.iter().enumerate() {
        if at > 2 && (sum - size).abs() <= 1e-9 * size.abs() {
            return at;
        }
        sum += size;
    }
    sizes.len()
}

/// The doubt that several have the largest or smallest size.
fn tie(best: f64, named: impl IntoIterator<Item = (f64, String)>) -> Option<String> {
    // Shares such as 0.3 / 3 and 3 / 30 differ in their last digits.
    let near = 1e-9 * best.abs();
    let tied = named
        .into_iter()
        .filter(|(size, _)| (size - best).abs() <= near);
    let names: Vec<String> = tied.map(|(_, name)| name).collect();
    (names.len() > 1).then(|| format!("{} have the same value", names.join(" and ")))
}

/// The lines that are a total.
fn totals(labels: &[AxisLabel]) -> Vec<usize> {
    let labels = labels.iter().enumerate().skip(1);
    labels
        .filter(|(_, label)| label.total)
        .map(|(at, _)| at)
        .collect()
}

/// The noun after "which".
fn noun_of_which(text: &str) -> Option<String> {
    let mut words = text
        .split_whitespace()
        .skip_while(|word| !matches!(*word, "which" | "what"))
        .skip(1);
    let first = words.next()?;
    let skipped = matches!(first, "of" | "the" | "fiscal" | "calendar");
    let noun = if skipped { words.next()? } else { first };
    Some(noun.to_owned())
}
