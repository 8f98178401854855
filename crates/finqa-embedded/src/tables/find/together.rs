//! Finds the figures of several operands together, in one table or about one part of the company.

use std::collections::BTreeSet;

use finqa_core::page::period::Period;

use super::{Amount, AmountKind, common_period};
use crate::tables::page::table::Place;
use crate::tables::page::{Doubt, TableResult, Tables, open_if};
use crate::tables::question::operand::Operand;

impl Tables {
    /// The figures of several operands, by the first of these cases:
    ///
    /// 1. An operand names whole rows, excludes a part or is a sum of two rows: each figure is
    ///    found by itself, in any table.
    /// 2. Otherwise: in one row or column if possible, as in "sales and staff of the North", and if
    ///    possible without a doubt. `Open` if they are in different tables, or if two operands are
    ///    the same cell.
    pub(crate) fn found_together(&self, operands: &[Operand]) -> TableResult<Vec<Amount>> {
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
        // Try the row and the column of each figure that is found by itself. The figure keeps the
        // doubt that it has by itself, because it chooses the table.
        let in_line = |(at, of): (usize, &Operand)| -> Option<Vec<Amount>> {
            let alone = self.figure(of, common).ok()?;
            let place = alone.place()?;
            let mut near = figures(Some(place)).ok()?;
            let one = near.get_mut(at)?;
            one.doubt = one.doubt.take().or(alone.doubt);
            let mut places = near.iter().filter_map(Amount::place);
            places.all(|at| at.is_in_line(place)).then_some(near)
        };
        let sure = |all: &Vec<Amount>| all.iter().all(|one| one.doubt.is_none());
        let mut lines = operands.iter().enumerate().filter_map(in_line);
        // The second search is needed only if the first is in doubt.
        let together = match lines.next() {
            Some(first) if !sure(&first) => Some(lines.find(sure).unwrap_or(first)),
            first => first,
        };
        let found = together.map_or_else(|| figures(None), Ok)?;
        self.in_one_unit(&found)?;
        let places: BTreeSet<Place> = found.iter().filter_map(Amount::place).collect();
        let tables: BTreeSet<usize> = places.iter().map(|one| one.table).collect();
        let differ = places.len() == found.iter().filter(|one| one.at.is_some()).count();
        open_if(!differ || tables.len() > 1)?;
        Ok(found)
    }

    /// The figures of exactly two operands, found as [`Self::found_together`] finds them.
    pub(crate) fn pair_together(&self, operands: &[Operand]) -> TableResult<[Amount; 2]> {
        self.found_together(operands)?
            .try_into()
            .map_err(|_| Doubt::Open)
    }

    /// The figures of two operands with the same words about one part of the company; the second is
    /// in doubt if neither a row nor a column shows that both belong together. `None` if they are in
    /// two tables whose rows have different labels.
    pub(crate) fn of_same_words(
        &self,
        operands: &[Operand; 2],
        asked: Option<Period>,
    ) -> Option<[Amount; 2]> {
        let [part, whole] = match self.of_one_part(operands, asked) {
            Some(pair) => pair,
            None => self.pair_together(operands).ok()?,
        };
        let places = part.place().zip(whole.place());
        let crossed = places.filter(|(a, b)| a.table == b.table && !a.is_in_line(*b));
        let doubt = crossed.map(|(_, at)| self.unclear(at));
        Some([part, whole.or_doubt(doubt)])
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
}
