//! Cells and series of a labelled table as expressions, and why there are none.

use std::collections::BTreeSet;

use super::axis::{AxisLabel, same_word};
use super::figure_list::PROFITS;
use super::lines::{CellMatch, LabelQuery, LabelledTable, Place};
use super::periods::PagePeriod;
use super::phrase::{AskedPhrase, NamedOperand};
use crate::expr::{Expr, turn_sign};
use crate::reading::outflow::{is_outflow, names_cost};
use crate::reading::text::stem;
use finqa_core::page::period::CalendarSpan;
use finqa_core::program::Op;

/// Why a question is not answered from the labels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NoReading {
    /// It is not understood in full, or not unique.
    Open,
    /// Several cells fit alike.
    Several(String),
    /// The page lacks what it asks for.
    Missing(String),
    /// The figure does not exist.
    Undefined(String),
}

pub(crate) type Reading<T> = Result<T, NoReading>;

/// An amount of the table.
#[derive(Clone, Debug)]
pub(crate) struct TableAmount {
    pub(crate) expr: Expr,
    pub(crate) number: f64,
    pub(crate) percent: bool,
    /// Of a composed period that of its first part, of several rows `NO_PLACE`.
    pub(crate) place: Place,
}

impl TableAmount {
    /// The amount with the other sign.
    pub(crate) fn turn(&mut self) {
        self.number = -self.number;
        self.expr.change_leaves(&mut turn_sign);
    }
}

/// The place of what is in no single cell.
pub(crate) const NO_PLACE: Place = (usize::MAX, usize::MAX);

/// A question, its table, and the doubts that reading it leaves.
pub(crate) struct DirectReader<'a> {
    pub(crate) table: LabelledTable<'a>,
    pub(crate) asked: AskedPhrase,
    pub(crate) doubts: Vec<String>,
}

/// Words of a question about the last day of a period.
const AT_END: [&str; 5] = ["end of", "year end", "period end", "close of", "closing"];

/// Nouns that a question adds to a row's name: "research expense", "operating cash flow".
const LOOSE: [&str; 12] = [
    "expense", "cost", "spend", "charge", "flow", "people", "person", "staff", "due", "payable",
    "matur", "payment",
];

/// Whether a stem is of a noun that a question adds.
pub(super) fn is_loose(word: &str) -> bool {
    LOOSE.iter().any(|noun| stem(noun) == word)
}

impl DirectReader<'_> {
    pub(super) fn doubt(&mut self, why: String) {
        if !self.doubts.contains(&why) {
            self.doubts.push(why);
        }
    }

    /// The cell that an operand names; its own period comes before the question's.
    pub(crate) fn amount(
        &mut self,
        operand: &NamedOperand,
        span: Option<CalendarSpan>,
    ) -> Reading<TableAmount> {
        let mut total = self.single(operand, span)?;
        let first = total.place;
        if !operand.terms.is_empty() && self.asked.wording.says(&["net of"]) {
            self.doubt_net_already(first);
        }
        for (op, term) in &operand.terms {
            let mut next = self.single(term, span)?;
            self.doubt_other_rows(first, next.place);
            if next.percent != total.percent || next.place == total.place {
                return Err(NoReading::Open);
            }
            if *op == Op::Subtract {
                self.subtracted(&mut next);
                next.number = -next.number;
            }
            total = TableAmount {
                number: total.number + next.number,
                expr: Expr::step(*op, total.expr, next.expr),
                percent: total.percent,
                place: NO_PLACE,
            };
        }
        Ok(total)
    }

    /// "Units times price for A" may find A's units and the price of the total.
    pub(super) fn doubt_other_rows(&mut self, a: Place, b: Place) {
        if a.0 != b.0 && a.1 != b.1 {
            self.doubt("its figures are of other rows and columns".to_owned());
        }
    }

    /// "Net sales net of refunds": the row may already be without them.
    fn doubt_net_already(&mut self, place: Place) {
        const LEFT_OVER: [&str; 6] = ["net", "after", "profit", "income", "earnings", "result"];
        let is_net = |label: &&AxisLabel| LEFT_OVER.iter().any(|word| label.writes(word));
        if let Some(name) = self.table.label_of(place, is_net) {
            self.doubt(format!("{name} may be net of it already"));
        }
    }

    /// The cell of an operand without its further terms.
    fn single(
        &mut self,
        operand: &NamedOperand,
        span: Option<CalendarSpan>,
    ) -> Reading<TableAmount> {
        let span = operand.spans.first().copied().or(span);
        match span.map(|span| (span, self.table.period(span))) {
            None => {
                let doubts = self.doubts.len();
                if !self.table.keys.is_empty() && (self.table.lists_days() || self.says_sum()) {
                    match self.cell(&operand.query(None)) {
                        Err(NoReading::Open | NoReading::Several(_)) => {}
                        found => return found,
                    }
                    self.doubts.truncate(doubts);
                }
                let found = self.table.find(&operand.query(None)).cells;
                let spans = found.iter().map(|place| self.table.span_of(*place));
                let mut spans: Vec<Option<CalendarSpan>> = spans.collect();
                spans.sort_by_key(|span| span.map(CalendarSpan::order));
                let several = spans.first() != spans.last() && !self.table.lists_days();
                let latest = spans.last().copied().flatten().filter(|_| several);
                if let Some(latest) = latest {
                    self.doubt(format!("the question names no period; this is {latest}"));
                }
                self.cell(&operand.query(latest))
            }
            Some((_, PagePeriod::One(period))) => {
                if let Some(row) = self.empty_row(&operand.words, period) {
                    let why = format!("{row} has no figure of {period}");
                    return Err(NoReading::Missing(why));
                }
                self.undated(&operand.query(None))
                    .map_or_else(|| self.cell(&operand.query(Some(period))), Ok)
            }
            Some((_, PagePeriod::InText)) => Err(NoReading::Open),
            Some((span, PagePeriod::Missing)) => {
                let part = self.table.only_part(span);
                let part = part.ok_or_else(|| self.table.lacks(span))?;
                self.doubt(format!("of {span}, the page has only the {part}"));
                self.cell(&operand.query(Some(part)))
            }
            Some((span, PagePeriod::Open)) if span.year.is_some() => Err(NoReading::Open),
            Some((span, PagePeriod::Open)) => {
                let fits = |period: &&CalendarSpan| period.range() == span.range();
                let latest = self.table.periods.iter().rev().find(fits).copied();
                let latest = latest.ok_or(NoReading::Open)?;
                self.doubt(format!("the question names no year; this is {latest}"));
                self.cell(&operand.query(Some(latest)))
            }
            Some((span, PagePeriod::Composed(more, less))) => {
                let last = more.last().copied().filter(|last| last.ends_with(span));
                if let Some(last) = last.filter(|_| self.asked.wording.says(&AT_END)) {
                    return self.cell(&operand.query(Some(last)));
                }
                let mut amounts = Vec::new();
                for period in more.iter().chain(&less) {
                    amounts.push(self.cell(&operand.query(Some(*period)))?);
                }
                let first = amounts.first().ok_or(NoReading::Open)?;
                for amount in &amounts {
                    self.check_accumulates(amount, span)?;
                }
                let mut total = first.clone();
                for (at, amount) in amounts.into_iter().enumerate().skip(1) {
                    let op = if at < more.len() {
                        Op::Add
                    } else {
                        Op::Subtract
                    };
                    let sign = if at < more.len() { 1.0 } else { -1.0 };
                    total.number += sign * amount.number;
                    total.expr = Expr::step(op, total.expr, amount.expr);
                }
                Ok(total)
            }
        }
    }

    /// The cell of a row or column without a period, if a table with periods has what a question
    /// names nowhere else.
    fn undated(&mut self, query: &LabelQuery) -> Option<TableAmount> {
        let found = self.table.find(query);
        let [place] = *found.cells.as_slice() else {
            return None;
        };
        let undated = self.table.span_of(place).is_none() && found.missing.is_empty();
        let amount = self.table.amount_at(place).filter(|_| undated)?;
        let name = self.table.label_of(place, |label| !label.words.is_empty());
        self.doubt(format!("{} has no period", name.unwrap_or_default()));
        Some(amount)
    }

    /// The cells that a query names best; words that nothing on the page has leave a doubt.
    pub(crate) fn cells(&mut self, query: &LabelQuery) -> Reading<Vec<Place>> {
        let found = self.table.find(query);
        let of_corner = found.found == 0 && (query.words.is_empty() || !found.missing.is_empty());
        if found.cells.is_empty() || of_corner {
            return Err(NoReading::Open);
        }
        let labels = found
            .cells
            .iter()
            .flat_map(|place| self.table.labels_of(*place));
        let doubts: Vec<String> = labels.filter_map(|label| label.doubt.clone()).collect();
        doubts.into_iter().for_each(|doubt| self.doubt(doubt));
        if let Some(why) = self.loosely_named(query, &found) {
            self.doubt(why);
        }
        for word in &found.missing {
            let names_row = || {
                self.table
                    .rows
                    .iter()
                    .any(|row| row.words == [word.as_str()])
            };
            // What "actually" was, is what the table has.
            let loose = is_loose(word) || word == "actual";
            if found.found > 0
                && loose
                && !names_row()
                && !self.table.is_of_another(word, query, &found)
            {
                continue;
            }
            if self.table.facts.vocabulary.get(word).is_some() && !self.table.knows(word) {
                // The page's text may say more of it.
                return Err(NoReading::Open);
            }
            let of_figure =
                |(_, words): &&(String, Vec<String>)| words == std::slice::from_ref(word);
            let figure = self.table.aliases.iter().find(of_figure);
            let known = figure.is_none() && self.table.knows(word);
            let word = figure.map_or(self.asked.wording.spelled(word), |(name, _)| name);
            self.doubt(match known {
                true => format!("what was found is not of {word:?}"),
                false => format!("the page does not mention {word:?}"),
            });
        }
        Ok(found.cells)
    }

    /// Why a row is only a guess: it has words that nobody asked for, and words of the question
    /// are only in its section, or are only synonyms of its own.
    fn loosely_named(&self, query: &LabelQuery, found: &CellMatch) -> Option<String> {
        let [(row, column)] = found.cells.as_slice() else {
            return None;
        };
        let (row, column) = (self.table.rows.get(*row)?, self.table.columns.get(*column)?);
        let more = query.leaves_out(row);
        let own = |word: &String| {
            let mut all = row.words.iter().chain(&row.aside);
            column.says(word) || self.table.corner_says(word) || all.any(|own| same_word(own, word))
        };
        let mut words = query.words.iter();
        let known = |word: &&String| !found.missing.contains(word);
        let loose = words.any(|word| known(&word) && !own(word));
        (more && loose && row.keys.is_empty())
            .then(|| format!("{} may not be what is meant", row.name))
    }

    fn cell(&mut self, query: &LabelQuery) -> Reading<TableAmount> {
        let mut cells = self.cells(query)?;
        // Of a variance and a variance in percent, the one that is asked for.
        let percent = self.asked.wording.percent();
        let of_kind = |place: &Place| self.table.is_percent(*place) == percent;
        let name = |place: &Place| -> Vec<String> {
            let labels = self.table.labels_of(*place);
            labels.map(|label| label.name.clone()).collect()
        };
        let names: BTreeSet<_> = cells.iter().map(name).collect();
        if names.len() == cells.len() && cells.iter().any(of_kind) {
            cells.retain(of_kind);
        }
        self.table.keep_actual(&mut cells);
        match cells.as_slice() {
            [place] => self.table.amount_at(*place).ok_or(NoReading::Open),
            cells => match self.summed(query, cells) {
                Some(total) => Ok(total),
                None => Err(self.several(cells)),
            },
        }
    }

    /// Whether only its table has figures: a text may decide between cells, or fill them.
    fn is_table_alone(&self) -> bool {
        let mut facts = self.table.facts.all.iter();
        facts.all(|fact| fact.cell().is_some())
    }

    fn several(&self, cells: &[Place]) -> NoReading {
        let (rows, columns): (BTreeSet<usize>, BTreeSet<usize>) = cells.iter().copied().unzip();
        let (what, labels, places) = match (rows.len(), columns.len()) {
            (2.., 1) => ("rows", &self.table.rows, rows),
            (1, 2..) => ("columns", &self.table.columns, columns),
            _ => return NoReading::Open,
        };
        if !self.is_table_alone() {
            return NoReading::Open;
        }
        let named = places.into_iter().filter_map(|at| labels.get(at)).take(3);
        let mut names: Vec<&str> = named.map(|label| label.name.as_str()).collect();
        names.dedup();
        NoReading::Several(format!("several {what} fit: {}", names.join(" and ")))
    }

    /// The row that the words name, if it and all others that they name have no figure of a
    /// period.
    fn empty_row(&self, words: &[String], period: CalendarSpan) -> Option<&str> {
        let rows = self.table.rows.iter().enumerate().skip(1);
        let of_row = |word: &&String| rows.clone().any(|(_, label)| label.says(word));
        let words: Vec<&String> = words.iter().filter(of_row).collect();
        let all = |label: &AxisLabel| words.iter().all(|word| label.says(word));
        let named: Vec<(usize, &AxisLabel)> =
            rows.clone().filter(|(_, label)| all(label)).collect();
        let filled = |row: usize| {
            (1..self.table.columns.len())
                .map(|column| (row, column))
                .any(|place| self.table.fact_at(place).is_some() && self.table.is_of(place, period))
        };
        let none = named.iter().all(|(row, _)| !filled(*row));
        let known = !words.is_empty() && none && self.is_table_alone();
        let first = named.first().filter(|_| known);
        first.map(|(_, label)| label.name.as_str())
    }

    /// Whether a row has figures below zero alone, so that their sign is part of its name.
    fn is_negative(&self, row: usize) -> bool {
        let facts = self.table.facts.all.iter();
        let mut of_row = facts.filter(|fact| fact.cell().is_some_and(|(r, _)| r == row));
        of_row.all(|fact| fact.number < 0.0)
    }

    /// Amounts without the minus sign that only repeats their row's name, if all are such.
    pub(crate) fn magnitudes(&mut self, amounts: &mut [TableAmount]) {
        let repeats = |amount: &TableAmount| {
            let facts = self.table.facts;
            let leaf = amount
                .expr
                .leaves()
                .into_iter()
                .find_map(|leaf| facts.all.get(leaf.source?));
            let row = leaf.and_then(|fact| Some((fact, fact.cell()?.0)));
            amount.number < 0.0
                && row.is_some_and(|(fact, row)| is_outflow(facts, fact) && self.is_negative(row))
        };
        let below = amounts.iter().filter(|amount| repeats(amount)).count();
        if below == amounts.len() {
            for amount in amounts {
                amount.turn();
            }
            return;
        }
        // The page writes some costs with a minus sign and others without.
        let is_cost = |amount: &TableAmount| {
            let row = self.table.rows.get(amount.place.0);
            row.is_some_and(|row| names_cost(&row.name))
        };
        if below > 0 && amounts.iter().all(is_cost) {
            self.doubt("some of these costs are below zero".to_owned());
        }
    }

    /// Each without a sign that repeats its name, or that all of its row have: a cost.
    pub(crate) fn as_costs(&self, amounts: &mut [TableAmount]) {
        for amount in amounts {
            if amount.number < 0.0 && self.is_negative(amount.place.0) {
                amount.turn();
            }
        }
    }

    /// What "A less B" subtracts: the size of a cost that the page prints below zero.
    pub(crate) fn subtracted(&mut self, amount: &mut TableAmount) {
        let (row, _) = amount.place;
        if amount.number >= 0.0 || !self.is_negative(row) {
            return;
        }
        let name = self.table.rows.get(row).map(|label| label.name.clone());
        let name = name.unwrap_or_default();
        if names_cost(&name) {
            amount.turn();
        } else {
            self.doubt(format!("{name} is below zero"));
        }
    }

    /// Whether an amount is of a row that is below zero throughout and no profit: a cost. It is a
    /// guess unless the row or the question says so.
    pub(crate) fn is_cost_below_zero(&mut self, amount: &TableAmount) -> bool {
        let row = amount.place.0;
        let Some(label) = self.table.rows.get(row).filter(|_| self.is_negative(row)) else {
            return false;
        };
        if PROFITS.iter().any(|word| label.writes(word)) || label.writes("loss") {
            return false;
        }
        let said =
            names_cost(&label.name) || self.asked.wording.says(&["cost", "costs", "expenses"]);
        let doubt = (!said).then(|| format!("{} is below zero", label.name));
        doubt.into_iter().for_each(|why| self.doubt(why));
        true
    }

    /// The amounts of an operand over periods.
    pub(crate) fn over(
        &mut self,
        operand: &NamedOperand,
        periods: &[CalendarSpan],
    ) -> Reading<Vec<TableAmount>> {
        let operand = NamedOperand {
            spans: Vec::new(),
            ..operand.clone()
        };
        let mut amounts = Vec::new();
        for period in periods {
            amounts.push(self.amount(&operand, Some(*period))?);
        }
        self.magnitudes(&mut amounts);
        Ok(amounts)
    }
}

/// The sum of amounts.
pub(crate) fn sum(amounts: &[TableAmount]) -> Option<Expr> {
    let exprs = amounts.iter().map(|amount| amount.expr.clone());
    exprs.reduce(|sum, next| Expr::step(Op::Add, sum, next))
}
