//! Measures that a report need not print: sums of its figures, and one sum over another.

use finqa_core::number::Scale;
use finqa_core::page::period::Period;

use super::find::{Amount, AmountKind, FigureExpr};
use super::names::{Formula, Term};
use super::operand::Operand;
use super::page::{Doubt, Reading, Tables, missing};
use super::phrases::NamedStatement;
use super::table::Place;
use crate::expr::turn_sign;
use crate::operations;

impl Tables {
    /// A measure of a period, of the parts of the report that `rest` names.
    pub(super) fn measure(
        &self,
        formula: &Formula,
        rest: &Operand,
        asked: Option<Period>,
    ) -> Reading<Amount> {
        let above = self.sum_of(&formula.above, rest, asked)?;
        if formula.below.is_empty() {
            return Ok(above);
        }
        let below = self.sum_of(&formula.below, rest, asked)?;
        self.over(above, below)
    }

    /// One amount over another of the same scale, as a plain number.
    pub(super) fn over(&self, above: Amount, below: Amount) -> Reading<Amount> {
        if above.scale != below.scale {
            return missing("the figures may be in different units");
        }
        if below.number() <= 0.0 {
            return missing("what is divided by is not above zero");
        }
        Ok(Amount {
            expr: operations::ratio(above.expr, below.expr),
            kind: AmountKind::Ratio,
            at: None,
            turned: false,
            scale: None,
            name: String::new(),
            doubt: above.doubt.or(below.doubt),
        })
    }

    fn sum_of(&self, terms: &[Term], rest: &Operand, asked: Option<Period>) -> Reading<Amount> {
        let mut sum: Option<Amount> = None;
        for term in terms {
            let found = self.figure(&rest.of_term(term), asked, None);
            let found = match found {
                Ok(found) if !(term.optional && found.doubt.is_some()) => found,
                // Nothing is known to be missing: another figure had its name in part.
                Ok(_) | Err(_) if term.optional => continue,
                found => found?,
            };
            sum = Some(match sum {
                None => found,
                Some(sum) => self.add(sum, found, term.subtracted)?,
            });
        }
        sum.ok_or(Doubt::Open)
    }

    /// A sum or a difference of amounts of one scale.
    fn add(&self, sum: Amount, mut more: Amount, subtracted: bool) -> Reading<Amount> {
        let cells = |of: &FigureExpr| -> Vec<Place> {
            let leaves = of.leaves().into_iter();
            leaves.filter_map(|leaf| leaf.source).collect()
        };
        let known = cells(&sum.expr);
        if cells(&more.expr).iter().any(|cell| known.contains(cell)) {
            return missing("one row fits two parts of the calculation");
        }
        // A statement of cash flows may print what is paid below zero. An overdraft is no cash.
        if subtracted && more.number() < 0.0 {
            let is_in = |named: NamedStatement| {
                move |at: &Place| self.table(*at).is_some_and(|table| named.is(table))
            };
            let of = cells(&more.expr);
            let is_balance =
                |at: &Place| is_in(NamedStatement::Balances)(at) || self.is_closing(*at);
            if !of.iter().all(is_balance) {
                if !of.iter().all(is_in(NamedStatement::CashFlows)) {
                    return missing("what is subtracted is printed below zero");
                }
                more.expr.change_leaves(&mut turn_sign);
            }
        }
        let scale: Option<Scale> = sum.scale;
        if scale != more.scale || sum.kind != AmountKind::Plain || more.kind != AmountKind::Plain {
            return missing("the figures may be in different units");
        }
        let expr: FigureExpr = match subtracted {
            true => operations::difference(sum.expr, more.expr),
            false => operations::sum([sum.expr, more.expr]).ok_or(Doubt::Open)?,
        };
        Ok(Amount {
            expr,
            kind: AmountKind::Plain,
            at: None,
            turned: false,
            scale,
            name: String::new(),
            doubt: sum.doubt.or(more.doubt),
        })
    }
}
