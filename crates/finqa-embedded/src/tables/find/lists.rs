//! Finds the figures of several operands together, in one table or about one part of the company.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use finqa_core::page::period::Period;

use super::fit::FitFigure;
use super::periods::keep_latest;
use super::{Amount, AmountKind, CLOSE, common_period, same};
use crate::tables::page::table::Place;
use crate::tables::page::{Doubt, TableResult, Tables, open_if};
use crate::tables::question::operand::Operand;

/// Bonus for two figures in one column or one row, over two that are only in one table.
const TOGETHER: f64 = 0.3;

/// Number of best figures of each operand that are tried in pairs. The number of pairs is its
/// square.
const PAIRED: usize = 40;

impl Tables {
    /// The figures of several operands, if possible in one row or column, as in "sales and staff of
    /// the North". `Open` if they are in different tables, or if two operands are the same cell.
    /// Operands that name whole rows, exclude a part or are a sum of two rows are found one by one,
    /// in any table.
    pub(crate) fn listed(&self, operands: &[Operand]) -> TableResult<Vec<Amount>> {
        let common = common_period(operands);
        let figures = |near: Option<Place>| -> TableResult<Vec<Amount>> {
            let figures = operands.iter().map(|of| self.figure_near(of, common, near));
            figures.collect()
        };
        let by_itself =
            |of: &Operand| !of.rows.is_empty() || !of.except.is_empty() || of.both_terms;
        if operands.iter().any(by_itself) {
            let found = figures(None)?;
            self.in_one_unit(&found)?;
            return Ok(found);
        }
        if let ([part, whole], false) = (operands, self.is_single_table()) {
            return self.paired([part, whole], common);
        }
        // Try the row and the column of each figure that is found by itself.
        let places = operands.iter();
        let mut places = places.filter_map(|of| self.figure(of, common).ok()?.place());
        let together = places.find_map(|place| {
            let near = figures(Some(place)).ok();
            near.filter(|near| {
                let mut places = near.iter().filter_map(Amount::place);
                places.all(|at| at.is_in_line(place))
            })
        });
        let found = together.map_or_else(|| figures(None), Ok)?;
        self.in_one_unit(&found)?;
        let places: BTreeSet<Place> = found.iter().filter_map(Amount::place).collect();
        let tables: BTreeSet<usize> = places.iter().map(|one| one.table).collect();
        let differ = places.len() == found.iter().filter(|one| one.at.is_some()).count();
        open_if(!differ || tables.len() > 1)?;
        Ok(found)
    }

    /// The figures of exactly two operands, found as [`Self::listed`] finds them.
    pub(crate) fn listed_pair(&self, operands: &[Operand]) -> TableResult<[Amount; 2]> {
        self.listed(operands)?.try_into().map_err(|_| Doubt::Open)
    }

    /// The figures of two operands about one part of the company, if each is sure and both rows
    /// have the same label: "operating income of the North" and its revenue.
    pub(crate) fn of_one_part(
        &self,
        operands: &[Operand],
        asked: Option<Period>,
    ) -> Option<[Amount; 2]> {
        let [part, whole] = operands else { return None };
        let [own, of_whole] = [part, whole].map(|of| of.words.iter().map(|word| &word.stem));
        if self.is_single_table() || part.words.is_empty() || own.ne(of_whole) {
            return None;
        }
        let figure = |of: &Operand| self.figure(of, asked).ok();
        let (part, whole) = figure(part).zip(figure(whole))?;
        let name = |one: &Amount| {
            let at = one.place().filter(|_| one.doubt.is_none())?;
            Some(&self.row(at)?.label.words)
        };
        let one_name = name(&part).is_some() && name(&part) == name(&whole);
        let alike = part.kind == AmountKind::Number && whole.kind == part.kind;
        (alike && one_name).then_some([part, whole])
    }

    /// The two figures in one table of a report that fit best together.
    fn paired(&self, of: [&Operand; 2], asked: Option<Period>) -> TableResult<Vec<Amount>> {
        let mut found = of.map(|of| self.fitting_figures(of, asked));
        for (of, found) in of.into_iter().zip(&mut found) {
            self.check_read(of, asked, found)?;
            found.truncate(PAIRED);
        }
        let [mut parts, wholes] = found;
        // The part decides the period: its whole is preferred in the same column or row.
        keep_latest(&mut parts, asked);
        let pairs = parts
            .iter()
            .flat_map(|part| wholes.iter().map(move |whole| (part, whole)));
        let one_period = of[0].spans == of[1].spans;
        let pairs = pairs.filter(|(part, whole)| {
            let of_one_period = part.period == whole.period || !one_period;
            let (part, whole) = (part.place, whole.place);
            // The share of a row in the same row of another year is never asked for.
            let is_share = part.row != whole.row || part.column != whole.column && of_one_period;
            part.table == whole.table && is_share
        });
        let score = |(part, whole): &(&FitFigure, &FitFigure)| {
            let together = part.place.is_in_line(whole.place);
            part.score + whole.score + if together { TOGETHER } else { 0.0 }
        };
        let (part, whole) = pairs
            // On a tie, keep the first pair.
            .max_by(|a, b| score(a).total_cmp(&score(b)).then(Ordering::Greater))
            .ok_or(Doubt::Open)?;
        let end = |one: &FitFigure| one.period.map(|period| period.end);
        let rival = |all: &[FitFigure], one: &FitFigure| {
            all.iter().any(|other| {
                let close = other.full && other.score >= one.score - CLOSE;
                close && end(other) == end(one) && !same(other.value, one.value)
            })
        };
        let names = [part, whole]
            .map(|one| self.full_name(one.place))
            .join(" and ");
        let doubt = if !part.unqualified || !whole.unqualified {
            Some(format!("{names} may not be what is meant"))
        } else if rival(&parts, part) || rival(&wholes, whole) {
            Some(format!("several figures fit as well as {names}"))
        } else {
            None
        };
        let doubt = doubt.map(Doubt::missing);
        let doubt = doubt
            .or_else(|| self.unclear_year(part, asked))
            .or_else(|| self.may_be_change(of[0], part, asked))
            .or_else(|| self.may_be_change(of[1], whole, asked));
        let amount = |one: &FitFigure| self.amount(*one).ok_or(Doubt::Open);
        Ok(vec![amount(part)?.or_doubt(doubt), amount(whole)?])
    }
}
