//! Computes measures that a report need not print, such as EBITDA or net debt, from their formulas
//! in `concepts.txt`.

use finqa_core::number::Scale;
use finqa_core::page::Statement;
use finqa_core::page::period::Period;

use super::{Amount, AmountKind, FigureExpr};
use crate::expr::turn_sign;
use crate::operations;
use crate::reading::outflow::{names_cost, names_credit};
use crate::tables::page::table::{Place, brackets};
use crate::tables::page::{Doubt, TableResult, Tables, missing};
use crate::tables::question::names::{Formula, SumTerm};
use crate::tables::question::operand::Operand;
use crate::tables::question::phrases::NamedStatement;

impl Tables {
    /// A measure of a period. `rest` has the operand's other words, such as the name of a segment.
    pub(crate) fn measure(
        &self,
        formula: &Formula,
        rest: &Operand,
        asked: Option<Period>,
    ) -> TableResult<Amount> {
        let above = self.sum_of(&formula.above, rest, asked)?;
        if formula.below.is_empty() {
            return Ok(above);
        }
        let below = self.sum_of(&formula.below, rest, asked)?;
        self.over(above, below)
    }

    /// Prefers a printed row to its formula, except a row outside the balance sheet from which the
    /// balance sheet's value differs: "Debt" under interest expense, or the total of a note.
    pub(crate) fn unless_computed(
        &self,
        of: &Operand,
        asked: Option<Period>,
        printed: TableResult<Amount>,
    ) -> TableResult<Amount> {
        let balances = |place: Place| {
            self.table(place)
                .is_some_and(|table| table.statement == Some(Statement::Balances))
        };
        let (Ok(found), Some((formula, rest))) = (&printed, of.formula()) else {
            return printed;
        };
        if self.is_single_table() || found.place().is_none_or(balances) {
            return printed;
        }
        let computed = self.measure(formula, &rest, asked).ok().filter(|one| {
            let mut leaves = one.expr.leaves().into_iter();
            // Up to half a printed unit counts as rounding.
            let differs = (one.number() - found.number()).abs() > 0.5;
            differs && leaves.all(|leaf| leaf.source.is_some_and(balances))
        });
        computed.map_or(printed, Ok)
    }

    /// The reason for doubt if the sign of a cost may be reversed: the row is called a credit, or
    /// it is below zero while other costs are not.
    pub(crate) fn may_be_credit(&self, one: &Amount) -> Option<Doubt> {
        let at = one.place()?;
        let table = self
            .table(at)
            .filter(|table| !NamedStatement::CashFlows.is(table))?;
        // "Loss before income taxes" names a cost, but is a total.
        let is_total = |name: &str| name.contains(" before ") || name.contains(" after ");
        let costs = table.rows.iter().filter(|row| {
            let name = row.printed.to_lowercase();
            names_cost(&name) && !is_total(&name)
        });
        let mut costs = costs.filter_map(|row| row.cells.get(at.column)?.as_ref());
        let name = brackets(&table.rows.get(at.row)?.printed).0;
        let called = names_credit(&name) && !one.turned;
        (called || one.turned && costs.any(|cell| cell.number > 0.0)).then(|| self.unclear(at))
    }

    /// One amount divided by another of the same scale, as a plain number.
    pub(crate) fn over(&self, above: Amount, below: Amount) -> TableResult<Amount> {
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

    /// The sum of a formula's terms; a doubt if they are not all in one statement.
    fn sum_of(
        &self,
        terms: &[SumTerm],
        rest: &Operand,
        asked: Option<Period>,
    ) -> TableResult<Amount> {
        let mut sum: Option<Amount> = None;
        let mut statements = Vec::new();
        for term in terms {
            let found = self.figure(&rest.of_term(term), asked, None);
            let found = match found {
                Ok(found) if !(term.optional && found.doubt.is_some()) => found,
                // The optional term is not in the report; the uncertain figure only shares a word
                // with it.
                Ok(_) | Err(_) if term.optional => continue,
                found => found?,
            };
            let of = cells(&found.expr).into_iter();
            statements.extend(of.filter_map(|place| self.kind_of(place)));
            sum = Some(match sum {
                None => found,
                Some(sum) => self.add(sum, found, term.subtracted)?,
            });
        }
        let mut sum = sum.ok_or(Doubt::Open)?;
        let leaves = sum.expr.leaves().len();
        let doubted = match leaves {
            // One part alone is not the sum, because the other part may be in a note.
            1 => terms.len() > 1 && !statements.is_empty(),
            // The terms must be in one statement: a figure of a note does not complete the debt of
            // the balance sheet.
            _ => {
                let mut pairs = statements.windows(2);
                statements.len() != leaves || pairs.any(|pair| pair.first() != pair.last())
            }
        };
        if doubted {
            let cell = cells(&sum.expr).first().copied();
            sum.doubt = sum.doubt.or(cell.map(|cell| self.unclear(cell)));
        }
        Ok(sum)
    }

    /// The kind of statement that a cell belongs to. "Cash at end of year" is a balance even in a
    /// statement of cash flows.
    fn kind_of(&self, place: Place) -> Option<Statement> {
        let statement = self.table(place)?.statement?;
        Some(if self.is_closing(place) {
            Statement::Balances
        } else {
            statement
        })
    }

    /// The sum or the difference of two amounts of one scale; a doubt if they share a cell.
    pub(crate) fn add(
        &self,
        sum: Amount,
        mut more: Amount,
        subtracted: bool,
    ) -> TableResult<Amount> {
        let known = cells(&sum.expr);
        if cells(&more.expr).iter().any(|cell| known.contains(cell)) {
            return missing("one row fits two parts of the calculation");
        }
        // Payments in a statement of cash flows can be printed below zero, so their sign is turned.
        // A negative balance, such as an overdraft of cash, keeps its sign.
        if subtracted && more.number() < 0.0 {
            let of = cells(&more.expr);
            let is_balance = |at: &Place| self.kind_of(*at) == Some(Statement::Balances);
            let is_paid = |at: &Place| {
                self.table(*at)
                    .is_some_and(|table| NamedStatement::CashFlows.is(table))
            };
            if !of.iter().all(is_balance) {
                if !of.iter().all(is_paid) {
                    return missing("what is subtracted is printed below zero");
                }
                more.expr.change_leaves(&mut turn_sign);
            }
        }
        let scale: Option<Scale> = sum.scale;
        if scale != more.scale || sum.kind != AmountKind::Number || more.kind != AmountKind::Number
        {
            return missing("the figures may be in different units");
        }
        let expr: FigureExpr = if subtracted {
            operations::difference(sum.expr, more.expr)
        } else {
            operations::sum([sum.expr, more.expr]).ok_or(Doubt::Open)?
        };
        Ok(Amount {
            expr,
            kind: AmountKind::Number,
            at: None,
            turned: false,
            scale,
            name: String::new(),
            doubt: sum.doubt.or(more.doubt),
        })
    }
}

/// The cells that an expression is computed from.
fn cells(of: &FigureExpr) -> Vec<Place> {
    let leaves = of.leaves().into_iter();
    leaves.filter_map(|leaf| leaf.source).collect()
}
