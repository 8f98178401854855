//! Finds the two figures of a share or a ratio.

use finqa_core::page::period::Period;

use crate::tables::find::fit::FitFigure;
use crate::tables::find::statements::rounds_alike;
use crate::tables::find::{Amount, AmountKind, common_period};
use crate::tables::page::table::Place;
use crate::tables::page::{Doubt, TableResult, Tables, missing_if, open_if};
use crate::tables::question::operand::Operand;

impl Tables {
    /// The part and the whole of a share, or the two sides of a ratio: the first of these pairs
    /// that is found.
    ///
    /// 1. In a report, two sure figures of one part of the company (`of_one_part`).
    /// 2. Two figures found together (`pair_together`). In a report, both must be sure, and neither
    ///    operand a measure with a formula.
    /// 3. In a report (`surer_pair`): a part of a group that adds up to the sure whole (`part_of`);
    ///    two figures found one by one; or the pair of 2 with its doubt.
    /// 4. In a single table, for a total without a row of its own, the sum of all rows.
    ///
    /// In a single table, the part must not be below zero and the whole must be above zero.
    pub(crate) fn share_operands(
        &self,
        operands: &[Operand],
        percent: bool,
    ) -> TableResult<[Amount; 2]> {
        let period = common_period(operands);
        if let Some(pair) = self.of_one_part(operands, period) {
            self.check_comparable(&pair)?;
            return Ok(pair);
        }
        let mut pair = match (self.pair_together(operands), operands) {
            // A whole without a row of its own is the sum of all rows.
            (Err(_), [part, whole]) if whole.total && self.is_single_table() => {
                let all = self.in_labels(whole, None)?;
                let near = all.first().and_then(|one| one.at);
                let place = near.map(|at| at.place);
                let period = near.and_then(|at| at.period);
                [self.figure_near(part, period, place)?, self.sum(&all)?]
            }
            // In a report, the two figures can be in different statements.
            (found, [part, whole]) if self.is_report() => {
                self.surer_pair(found, [part, whole], period)?
            }
            (found, _) => found?,
        };
        self.check_comparable(&pair)?;
        let [a, b] = &mut pair;
        if self.is_report() {
            // An allowance is printed as a negative number, but its share is positive, so the sign
            // is doubtful.
            let loses = |at| format!(" {} ", self.name_of(at).to_lowercase()).contains(" loss ");
            let odd = |at: &Place| !self.is_signed(*at) && !loses(*at);
            let odd = a.place().filter(|at| a.number() < 0.0 && odd(at));
            let why = odd.map(|at| self.doubt_about(at, "is below zero"));
            a.doubt = a.doubt.take().or(why);
            return Ok(pair);
        }
        // No share is computed from percentages, nor from amounts of two kinds.
        open_if(a.kind != b.kind || a.kind == AmountKind::Share)?;
        let below = a.number() < 0.0 || b.number() <= 0.0;
        missing_if(below, "a part of it is zero or below")?;
        let larger = percent && a.number() > b.number() && operands.iter().any(|of| of.total);
        missing_if(larger, "the part is larger than the whole")?;
        Ok(pair)
    }

    /// The pair found in one table if it is sure; otherwise a part that adds up to the sure whole
    /// (`part_of`); otherwise the two figures found independently, if these are surer.
    fn surer_pair(
        &self,
        together: TableResult<[Amount; 2]>,
        of: [&Operand; 2],
        period: Option<Period>,
    ) -> TableResult<[Amount; 2]> {
        let sure = |pair: &[Amount; 2]| pair.iter().all(|one| one.doubt.is_none());
        let formula = of.iter().any(|of| of.formula().is_some());
        let [part, whole] = of;
        let all = self.figure(whole, period);
        // The net sales of a note may be those of one segment.
        let of_note = |pair: &[Amount; 2]| {
            let stated = |at: FitFigure| self.statement_of(&at).is_some();
            let other = |all: &Amount| {
                let clear = all.doubt.is_none() && all.at.is_some_and(stated);
                clear && !rounds_alike(all.number(), pair[1].number())
            };
            !pair[1].at.is_some_and(stated) && all.as_ref().is_ok_and(other)
        };
        if !formula
            && let Ok(pair) = &together
            && sure(pair)
        {
            let doubt = of_note(pair).then(|| pair[1].place().map(|at| self.unclear(at)));
            return together.map(|[a, b]| [a, b.or_doubt(doubt.flatten())]);
        }
        // "What share of sales came from the North?" asks for a part that adds up to the sales.
        if let Ok(all) = &all
            && all.doubt.is_none()
            && let Some(part) = self.part_of(all, &part.words)
        {
            return Ok([self.amount(part).ok_or(Doubt::Open)?, all.clone()]);
        }
        if let (Ok(a), Ok(b)) = (self.figure(part, period), all) {
            // A figure of a note is a part of the whole only if the title or the labels name the
            // whole.
            let stated = |at: FitFigure| {
                let (table, row) = (self.table(at.place), self.row(at.place));
                let column = self.column(at.place);
                let says = |word: &String| {
                    table.is_some_and(|table| table.title.contains(word))
                        || row.is_some_and(|row| row.section.contains(word))
                        || column.is_some_and(|column| column.label.words.contains(word))
                };
                let mut names = whole.readings().into_iter();
                self.statement_of(&at).is_some() || names.any(|one| one.words.iter().all(says))
            };
            let stated = || a.at.is_none_or(stated) && b.at.is_none_or(stated);
            let alike = a.kind == b.kind && (formula || stated());
            let pair = [a, b];
            if alike && (sure(&pair) || formula || together.is_err()) {
                return Ok(pair);
            }
        }
        together
    }
}
