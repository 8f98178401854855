//! Finds the two figures of a share or a ratio, and the figures of a list, together in one table.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use finqa_core::page::period::Period;

use crate::tables::find::fit::FitFigure;
use crate::tables::find::{Amount, AmountKind, CLOSE, keep_latest, same};
use crate::tables::page::table::Place;
use crate::tables::page::{Doubt, TableResult, Tables, missing};
use crate::tables::question::operand::Operand;

/// Bonus for two figures in one column or one row, over two that are only in one table. Set by
/// hand, like the number below.
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
        let spans = operands.iter().flat_map(|of| &of.spans).copied();
        // One period for all operands: the last one with a day, otherwise the last.
        let common = spans.max_by_key(|one| one.end.day.is_some());
        let apart = |of: &Operand| !of.rows.is_empty() || !of.except.is_empty() || of.both_terms;
        if operands.iter().any(apart) {
            // Such an operand names whole rows, excludes a part or is a sum of two rows. It is
            // found without the other operands, in any statement.
            let found = operands.iter().map(|of| self.figure(of, common, None));
            let found: Vec<Amount> = found.collect::<TableResult<_>>()?;
            self.in_one_unit(&found)?;
            return Ok(found);
        }
        if let ([part, whole], false) = (operands, self.is_single_table()) {
            return self.paired(part, whole);
        }
        let figures = |near: Option<Place>| -> TableResult<Vec<Amount>> {
            let figure = |one: &Operand| self.figure(one, common, near);
            operands.iter().map(figure).collect()
        };
        let mut found = figures(None);
        // Try the row and the column of each figure that is found by itself.
        let alone = operands
            .iter()
            .filter_map(|of| self.figure(of, common, None).ok());
        for place in alone.filter_map(|one| one.place()) {
            let in_line = |one: &Amount| {
                let at = one.place();
                at.is_none_or(|at| at.row == place.row || at.column == place.column)
            };
            if let Ok(near) = figures(Some(place))
                && near.iter().all(in_line)
            {
                found = Ok(near);
                break;
            }
        }
        let found = found?;
        self.in_one_unit(&found)?;
        let places: BTreeSet<Place> = found.iter().filter_map(Amount::place).collect();
        let tables: BTreeSet<usize> = places.iter().map(|one| one.table).collect();
        let apart = places.len() == found.iter().filter(|one| one.at.is_some()).count();
        if apart && tables.len() < 2 {
            Ok(found)
        } else {
            Err(Doubt::Open)
        }
    }

    /// The figures of two operands about one part of the company, if each is sure and both rows
    /// have the same label: "operating income of the North" and its revenue.
    pub(crate) fn of_one_part(
        &self,
        pair: &[Operand; 2],
        asked: Option<Period>,
    ) -> Option<[Amount; 2]> {
        let words = |of: &Operand| -> Vec<String> {
            of.words.iter().map(|(stem, _)| stem.clone()).collect()
        };
        let [part, whole] = pair;
        if self.is_single_table() || part.words.is_empty() || words(part) != words(whole) {
            return None;
        }
        let figure = |of: &Operand| self.figure(of, asked, None).ok();
        let (part, whole) = figure(part).zip(figure(whole))?;
        let name = |one: &Amount| {
            let at = one.place().filter(|_| one.doubt.is_none())?;
            Some(self.row(at)?.label.words.clone())
        };
        let name_of_both = name(&part).filter(|own| name(&whole).as_ref() == Some(own));
        let alike = part.kind == AmountKind::Number && whole.kind == part.kind;
        (alike && name_of_both.is_some()).then_some([part, whole])
    }

    /// The part and the whole of a share, or the two sides of a ratio. On a page with a single
    /// table, the part must not be below zero and the whole must be above zero.
    pub(crate) fn share_operands(
        &self,
        operands: &[Operand],
        percent: bool,
    ) -> TableResult<[Amount; 2]> {
        let both = <&[Operand; 2]>::try_from(operands).ok();
        let spans = operands.iter().flat_map(|of| &of.spans).copied();
        // One period for both, chosen as in `listed`.
        let asked = spans.max_by_key(|one| one.end.day.is_some());
        if let Some(pair) = both.and_then(|pair| self.of_one_part(pair, asked)) {
            self.check_comparable(&pair)?;
            return Ok(pair);
        }
        let mut pair = match (self.listed(operands), operands) {
            // A whole without a row of its own is the sum of all rows.
            (Err(_), [part, whole]) if whole.total && self.is_single_table() => {
                let all = self.in_labels(whole, None)?;
                let near = all.first().and_then(|one| one.at);
                let place = near.map(|at| at.place);
                let period = near.and_then(|at| at.period);
                [self.figure(part, period, place)?, self.sum(&all)?]
            }
            // In a report, the two figures can be in different statements.
            (found, [part, whole]) if !self.is_single_table() => self.apart(found, part, whole)?,
            (found, _) => found?.try_into().map_err(|_| Doubt::Open)?,
        };
        self.check_comparable(&pair)?;
        let [a, b] = &mut pair;
        if !self.is_single_table() {
            // An allowance is printed as a negative number, but its share is positive, so the sign
            // is doubtful.
            let loses = |at| format!(" {} ", self.name_of(at).to_lowercase()).contains(" loss ");
            let odd = |at: &Place| !self.is_signed(*at) && !loses(*at);
            let odd = a.place().filter(|at| a.number() < 0.0 && odd(at));
            let why = odd.map(|at| format!("{} is below zero", self.full_name(at)));
            a.doubt = a.doubt.take().or(why.map(Doubt::Missing));
            return Ok(pair);
        }
        // No share is computed from percentages, nor from amounts of two kinds.
        if a.kind != b.kind || a.kind == AmountKind::Share {
            return Err(Doubt::Open);
        }
        if a.number() < 0.0 || b.number() <= 0.0 {
            return missing("a part of it is zero or below");
        }
        if percent && a.number() > b.number() && operands.iter().any(|of| of.total) {
            return missing("the part is larger than the whole");
        }
        Ok(pair)
    }

    /// The pair found in one table if it is sure; otherwise the two figures found independently, if
    /// these are surer.
    fn apart(
        &self,
        together: TableResult<Vec<Amount>>,
        part: &Operand,
        whole: &Operand,
    ) -> TableResult<[Amount; 2]> {
        let sure = |pair: &[Amount]| pair.iter().all(|one| one.doubt.is_none());
        let formula = part.formula().is_some() || whole.formula().is_some();
        if let Ok(pair) = &together
            && !formula
            && sure(pair)
        {
            return pair.clone().try_into().map_err(|_| Doubt::Open);
        }
        let spans = part.spans.iter().chain(&whole.spans).copied();
        // One period for both, chosen as in `listed`.
        let asked = spans.max_by_key(|one| one.end.day.is_some());
        let [mut alone, all] = [part, whole].map(|of| self.figure(of, asked, None));
        // "What share of sales came from the North?" asks for a part that adds up to the sales.
        if let Ok(all) = &all
            && all.doubt.is_none()
            && let Some(part) = self.part_of(all, part)
        {
            alone = self.amount(part).ok_or(Doubt::Open);
            let pair = [alone?, all.clone()];
            return Ok(pair);
        }
        if let (Ok(a), Ok(b)) = (alone, all) {
            // A figure of a note is a part of the whole only if the title or the labels name the
            // whole.
            let stated = |one: &Amount| {
                let Some(place) = one.place() else {
                    return true;
                };
                let Some(table) = self.table(place) else {
                    return false;
                };
                let section = table.rows.get(place.row).map(|row| &row.section);
                let column = table.columns.get(place.column).map(|column| &column.label);
                let says = |word: &String| {
                    table.title.contains(word)
                        || section.is_some_and(|section| section.contains(word))
                        || column.is_some_and(|label| label.words.contains(word))
                };
                let mut names = whole.readings().into_iter();
                table.statement.is_some() || names.any(|name| name.words.iter().all(says))
            };
            let alike = a.kind == b.kind && (formula || stated(&a) && stated(&b));
            let pair = [a, b];
            if alike && (sure(&pair) || formula || together.is_err()) {
                return Ok(pair);
            }
        }
        together?.try_into().map_err(|_| Doubt::Open)
    }

    /// The two figures in one table of a report that fit best together.
    pub(crate) fn paired(&self, part: &Operand, whole: &Operand) -> TableResult<Vec<Amount>> {
        let of = [part, whole];
        let spans = part.spans.iter().chain(&whole.spans).copied();
        // One period for both, chosen as in `listed`.
        let asked = spans.max_by_key(|one| one.end.day.is_some());
        let mut parts = self.candidates(part, asked);
        let mut wholes = self.candidates(whole, asked);
        self.is_read(part, asked, &parts)?;
        self.is_read(whole, asked, &wholes)?;
        parts.truncate(PAIRED);
        wholes.truncate(PAIRED);
        // The part decides the period: its whole is preferred in the same column or row.
        keep_latest(&mut parts, asked);
        let pairs = parts
            .iter()
            .flat_map(|part| wholes.iter().map(move |whole| (part, whole)));
        let one_period = part.spans == whole.spans;
        let pairs = pairs.filter(|(part, whole)| {
            let of_one_period = part.period == whole.period || !one_period;
            let (part, whole) = (part.place, whole.place);
            // The share of a row in the same row of another year is never asked for.
            let apart = part.row != whole.row || part.column != whole.column && of_one_period;
            part.table == whole.table && apart
        });
        let score = |(part, whole): &(&FitFigure, &FitFigure)| {
            let (a, b) = (part.place, whole.place);
            let together = a.column == b.column || a.row == b.row;
            part.score + whole.score + if together { TOGETHER } else { 0.0 }
        };
        let (part, whole) = pairs
            // On a tie, keep the first pair.
            .max_by(|a, b| score(a).total_cmp(&score(b)).then(Ordering::Greater))
            .ok_or(Doubt::Open)?;
        let end = |one: &FitFigure| one.period.map(|period| period.end);
        let rival = |all: &[FitFigure], one: &FitFigure| {
            let close = all
                .iter()
                .filter(|other| other.full && other.score >= one.score - CLOSE);
            close
                .filter(|other| end(other) == end(one))
                .any(|other| !same(other.value, one.value))
        };
        let names = || {
            let [part, whole] = [part, whole].map(|one| self.full_name(one.place));
            format!("{part} and {whole}")
        };
        let doubt = if !part.unqualified || !whole.unqualified {
            Some(format!("{} may not be what is meant", names()))
        } else if rival(&parts, part) || rival(&wholes, whole) {
            Some(format!("several figures fit as well as {}", names()))
        } else {
            None
        };
        let amount = |one: &FitFigure| self.amount(*one).ok_or(Doubt::Open);
        let doubt = doubt.map(Doubt::Missing);
        let doubt = doubt
            .or_else(|| self.unclear_year(part, asked))
            .or_else(|| self.is_change(of[0], part, asked))
            .or_else(|| self.is_change(of[1], whole, asked));
        let part = amount(part)?;
        Ok(vec![Amount { doubt, ..part }, amount(whole)?])
    }
}
