//! References: which earlier value "that", "this change" or "the 2005 one" means.

use super::conversation::{EarlierTurn, EarlierTurns};
use super::mention::span;
use super::plan::PlanExpr::Slot;
use super::plan::{PlanExpr, ProgramPlan, step};
use super::plan_question::PlanQuestion;
use super::slots::SlotQuery;
use super::wording::Wording;
use crate::expr::Expr;
use finqa_core::program::Op;

pub(crate) enum TurnOperand {
    Known(Expr),
    Open(Box<SlotQuery>),
}

/// The prior of a plan whose operands the follow-up names.
pub(crate) const SURE: f64 = 0.9;

/// `op(a, b)` as a plan.
pub(crate) fn join(name: &'static str, op: Op, a: TurnOperand, b: TurnOperand) -> ProgramPlan {
    let mut slots = Vec::new();
    let mut expr = |operand: TurnOperand| match operand {
        TurnOperand::Known(expr) => PlanExpr::Fixed(expr),
        TurnOperand::Open(query) => {
            slots.push(*query);
            Slot(slots.len() - 1)
        }
    };
    let (a, b) = (expr(a), expr(b));
    ProgramPlan::new(name, step(op, a, b), slots)
}

/// What a part of a follow-up means.
pub(crate) fn resolve(q: &PlanQuestion<'_>, text: &str) -> TurnOperand {
    let part = Wording::read(text);
    let turn = by_operation(&part, q.state);
    let bare = turn.is_none() && !span(text).names();
    if bare && part.says(&["100", "$100", "$ 100"]) {
        return TurnOperand::Known(Expr::constant(100));
    }
    let last = q.state.last().filter(|_| bare && part.years.is_empty());
    match turn.or(last) {
        Some(turn) => TurnOperand::Known(turn.expr.clone()),
        None => TurnOperand::Open(Box::new(q.query(text))),
    }
}

/// What results of operations are called.
const RESULTS: [(&[&str], Op); 4] = [
    (
        &[
            "change", "difference", "increase", "decrease", "decline", "variation", "fluctuation",
            "reduction", "growth", "variance", "changed", "decreased", "increased",
        ],
        Op::Subtract,
    ),
    (&["sum", "combined"], Op::Add),
    (&["product"], Op::Multiply),
    (&["quotient"], Op::Divide),
];

/// "This change", "that sum", "the product": the latest turn of that operation.
fn by_operation<'a>(part: &Wording, state: &'a EarlierTurns) -> Option<&'a EarlierTurn> {
    if !part.says(&["that", "this", "the", "those", "these"]) {
        return None;
    }
    let named = RESULTS.iter().find(|(names, _)| part.says(names));
    let bare_total = || part.says(&["total"]) && !span(&part.phrase).says_anything();
    let op = named.map(|(_, op)| *op);
    state.latest(op.or_else(|| bare_total().then_some(Op::Add))?)
}

/// "And in the previous year?": the year meant, counted from the last turn's.
pub(crate) fn shifted_year(asked: &Wording, last: &EarlierTurn) -> Option<u16> {
    if !asked.years.is_empty() {
        return None;
    }
    if asked.says(&[
        "previous year", "year before", "year earlier", "year previous",
    ]) {
        return last.years.iter().min().map(|y| y - 1);
    }
    if asked.says(&["following year", "year after", "year later"]) {
        return last.years.iter().max().map(|y| y + 1);
    }
    None
}
