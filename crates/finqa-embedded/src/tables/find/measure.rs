//! Computes measures that a report need not print, such as EBITDA or net debt, from their formulas
//! in `concepts.txt`.

use std::collections::HashSet;

use finqa_core::page::Statement;
use finqa_core::page::period::Period;

use super::fit::FitFigure;
use super::{Amount, AmountKind, places};
use crate::expr::turn_sign;
use crate::operations;
use crate::reading::outflow::{names_cost, names_credit};
use crate::tables::page::table::{Label, Place};
use crate::tables::page::{Doubt, TableResult, Tables};
use crate::tables::question::named_statement::NamedStatement;
use crate::tables::question::names::SumTerm;
use crate::tables::question::operand::Operand;
use crate::tables::words::{Stems, brackets, is_light, lists_stem};

/// Stems of what a company owes with interest.
static DEBTS: Stems = Stems::new(
    "debt loan loans borrowing borrowings overdraft bond bonds note notes mortgage lease leases card",
);

/// First words of the names of costs that a table can have several of.
const COSTS: [&str; 2] = ["interest", "depreciation amortization"];

/// Words of rows that begin like such a cost, and are none: "Interest income".
static NO_COSTS: Stems = Stems::new("income received receivable cover coverage rate");

impl Tables {
    /// A measure of a period, computed by its formula. `None` for other operands, or if a part of
    /// it is missing or does not fit the others.
    pub(crate) fn measure(&self, of: &Operand, asked: Option<Period>) -> Option<Amount> {
        let (formula, rest) = of.formula()?;
        let above = self.sum_of(&formula.above, &rest, asked)?;
        if formula.below.is_empty() {
            return Some(above);
        }
        above.over(self.sum_of(&formula.below, &rest, asked)?)
    }

    /// Prefers a printed row to its formula, except a row outside the balance sheet from which the
    /// balance sheet's value differs: "Debt" under interest expense, or the total of a note.
    pub(crate) fn unless_computed(
        &self,
        of: &Operand,
        asked: Option<Period>,
        printed: TableResult<Amount>,
    ) -> TableResult<Amount> {
        let balances = |place: Place| self.is_in(NamedStatement::Balances, place);
        let Ok(found) = &printed else {
            return printed;
        };
        if found.place().is_none_or(balances) {
            return printed;
        }
        let computed = self.measure(of, asked).filter(|one| {
            // Up to half a printed unit counts as rounding.
            let differs = (one.number() - found.number()).abs() > 0.5;
            differs && places(&one.expr).all(balances)
        });
        computed.map_or(printed, Ok)
    }

    /// The measure that a printed figure is only a term of: the current portion of "long-term debt
    /// including the current portion". `None` for other figures.
    pub(crate) fn with_term(
        &self,
        of: &Operand,
        asked: Option<Period>,
        printed: Place,
    ) -> Option<Amount> {
        let sum = self.measure(of, asked)?;
        let terms: Vec<Place> = places(&sum.expr).collect();
        (terms.len() > 1 && terms.contains(&printed)).then_some(sum)
    }

    /// True if a figure of a single table has the name of a measure only together with its heading:
    /// "Equity" under "Net debt" is not the ratio of both.
    pub(crate) fn is_lent(&self, of: &Operand, one: &FitFigure) -> bool {
        let measures = self.is_single_table() && of.formula().is_some();
        let says = |word: &String| {
            let mut labels = self.labels_of(one.place);
            is_light(word) || labels.any(|label| label.says(word))
        };
        let readings = of.meant_readings();
        measures && !readings.iter().any(|words| words.iter().all(says))
    }

    /// The reason for doubt if the sign of a cost may be reversed: the row is called a credit, or
    /// it is below zero while other costs are not.
    pub(crate) fn may_be_credit(&self, one: &Amount) -> Option<Doubt> {
        let at = one.place()?;
        if self.is_in(NamedStatement::CashFlows, at) {
            return None;
        }
        // "Loss before income taxes" names a cost, but is a total.
        let is_total = |name: &str| name.contains(" before ") || name.contains(" after ");
        let costs = self.table(at)?.rows.iter().filter(|row| {
            let name = row.printed.to_lowercase();
            names_cost(&name) && !is_total(&name)
        });
        let mut costs = costs.filter_map(|row| row.cells.get(at.column)?.as_ref());
        let name = brackets(&self.row(at)?.printed).0;
        let called = names_credit(&name) && !one.turned;
        (called || one.turned && costs.any(|cell| cell.value > 0.0)).then(|| self.unclear(at))
    }

    /// The sum of a formula's terms, with a doubt if they are not all in one statement.
    fn sum_of(&self, terms: &[SumTerm], rest: &Operand, asked: Option<Period>) -> Option<Amount> {
        let mut found = Vec::new();
        for term in terms {
            let one = self.figure(&rest.of_term(term.name), asked).ok();
            // An optional term that is uncertain is not in the report; the figure only shares a
            // word with it.
            match one.filter(|one| !(term.optional && one.doubt.is_some())) {
                Some(one) => found.push((one, term.subtracted)),
                None if term.optional => {}
                None => return None,
            }
        }
        let of_all = |term: &SumTerm| {
            ["borrowings", "total debt"]
                .iter()
                .any(|all| term.name.contains(all))
        };
        let owed = self.is_single_table() && terms.iter().any(of_all);
        let negative = owed && found.iter().any(|(one, _)| one.number() < 0.0);
        let sum = self.add_up(found)?;
        let negative = negative.then(|| Doubt::missing("a figure of the measure is below zero"));
        let used: Vec<Place> = places(&sum.expr).collect();
        let sum = sum.or_doubt(negative.or_else(|| self.lacks_similar(&used, owed)));
        let kinds: Vec<Option<Statement>> =
            places(&sum.expr).map(|cell| self.kind_of(cell)).collect();
        // In a report, the terms must be in one statement: a figure of a note does not complete the
        // debt of the balance sheet.
        let of_term = |cell: Place| {
            let label = self.row(cell).map(|row| &row.label);
            label.is_some_and(|label| label.says("current") || label.says("noncurrent"))
        };
        let apart = |kind: &Option<Statement>| kind.is_none() || Some(kind) != kinds.first();
        let doubted = match kinds.as_slice() {
            // One part alone is not the sum, because the other part may be in a note.
            [only] => {
                let stated = only.is_some() || self.is_single_table();
                terms.len() > 1 && (stated || places(&sum.expr).any(of_term))
            }
            all => self.is_report() && all.iter().any(apart),
        };
        let first = places(&sum.expr).next().filter(|_| doubted);
        let unclear = first.map(|cell| self.unclear(cell));
        Some(sum.or_doubt(unclear))
    }

    /// The doubt that a total lacks a row of a single table that is like a row of it: "Other income"
    /// for "Income", "Interest on leases" for "Interest expense". If `owed`, the total is of debts,
    /// whose rows need not have the names of a balance sheet: "Overdraft", "Loan from owner".
    pub(crate) fn lacks_similar(&self, used: &[Place], owed: bool) -> Option<Doubt> {
        let at = *used.first().filter(|_| self.is_single_table())?;
        // A number before the name is that of an account.
        let named = |label: &Label| -> Vec<String> {
            let words = label.words.iter().filter(|word| !is_light(word));
            words.cloned().collect()
        };
        let alike = |own: &Label, other: &Label| {
            let (words, others) = (named(own), named(other));
            let first = |words: &[String], list: &str| {
                words.first().is_some_and(|own| lists_stem(list, own))
            };
            let costs = |list: &&str| first(&words, list) && first(&others, list);
            let both = |list: &HashSet<String>| own.is_one_of(list) && other.is_one_of(list);
            let rest = others.split_first().filter(|(first, _)| *first == "other");
            owed && both(&DEBTS)
                || COSTS.iter().any(costs) && !other.is_one_of(&NO_COSTS)
                || rest.is_some_and(|(_, rest)| rest == words)
        };
        let rows = || used.iter().filter_map(|at| self.row(*at));
        let mut body = self.table(at)?.body();
        let (other, _) = body.find(|(at, row)| {
            let counted = row.label.total || used.iter().any(|cell| cell.row == *at);
            !counted && rows().any(|own| !own.label.total && alike(&own.label, &row.label))
        })?;
        let other = Place { row: other, ..at };
        Some(self.doubt_about(other, "may be a part of it"))
    }

    /// The sum of amounts, each with whether it is subtracted; `None` without amounts, or if they
    /// do not fit each other.
    pub(crate) fn add_up(&self, terms: Vec<(Amount, bool)>) -> Option<Amount> {
        let mut terms = terms.into_iter();
        let (first, _) = terms.next()?;
        terms.try_fold(first, |sum, (one, subtracted)| {
            self.add(sum, one, subtracted)
        })
    }

    /// The kind of statement that a cell belongs to. "Cash at end of year" is a balance even in a
    /// statement of cash flows.
    fn kind_of(&self, place: Place) -> Option<Statement> {
        let closing = self.is_closing(place).then_some(Statement::Balances);
        closing.or(self.table(place)?.statement)
    }

    /// The sum or the difference of two amounts of one scale; `None` if they share a cell.
    fn add(&self, sum: Amount, mut more: Amount, subtracted: bool) -> Option<Amount> {
        if places(&more.expr).any(|cell| places(&sum.expr).any(|known| known == cell)) {
            return None;
        }
        // Payments in a statement of cash flows can be printed below zero, so their sign is turned.
        // A negative balance, such as an overdraft of cash, keeps its sign.
        if subtracted && more.number() < 0.0 {
            let is_balance = |at: Place| self.kind_of(at) == Some(Statement::Balances);
            if !places(&more.expr).all(is_balance) {
                let is_paid = |at: Place| self.is_in(NamedStatement::CashFlows, at);
                if !places(&more.expr).all(is_paid) {
                    return None;
                }
                more.expr.change_leaves(&mut turn_sign);
            }
        }
        let plain = [sum.kind, more.kind] == [AmountKind::Number; 2];
        if sum.scale != more.scale || !plain {
            return None;
        }
        let expr = if subtracted {
            operations::difference(sum.expr, more.expr)
        } else {
            operations::sum([sum.expr, more.expr])?
        };
        let doubt = sum.doubt.or(more.doubt);
        Some(Amount::computed(expr, AmountKind::Number, sum.scale).or_doubt(doubt))
    }
}

impl Amount {
    /// This amount divided by one of the same scale, as a plain number.
    pub(crate) fn over(self, below: Self) -> Option<Self> {
        (self.scale == below.scale && below.number() > 0.0).then(|| {
            let ratio = operations::ratio(self.expr, below.expr);
            let doubt = self.doubt.or(below.doubt);
            Self::computed(ratio, AmountKind::Ratio, None).or_doubt(doubt)
        })
    }
}
