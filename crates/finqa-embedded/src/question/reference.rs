//! Resolves references to earlier values: "that", "this change", "the 2005 one".

use super::conversation::{EarlierTurn, EarlierTurns, is_bare};
use super::plan::PlanExpr::Slot;
use super::plan::{PlanExpr, ProgramPlan, step};
use super::plan_question::PlanQuestion;
use super::slot_scorer::SlotQuery;
use super::slot_words::{known_share, weighted};
use super::wording::Wording;
use crate::expr::{Expr, PageLeaf};
use finqa_core::program::Op;

/// An operand of a follow-up.
pub(crate) enum TurnOperand {
    /// An earlier value, or a constant.
    Known(Expr),
    /// A fact of the page that is still to be found.
    Open(Box<SlotQuery>),
}

impl TurnOperand {
    /// The value of an earlier turn.
    pub(crate) fn of(turn: &EarlierTurn) -> Self {
        Self::Known(turn.expr.clone())
    }

    /// The fact that a part of the question names.
    pub(crate) fn named(q: &PlanQuestion<'_>, text: &str) -> Self {
        Self::Open(Box::new(q.query(text)))
    }
}

/// The plan `op(a, b)`, with a slot for each open operand.
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

/// Resolves a part of a follow-up to an earlier value, to a constant, or else to a fact of the
/// page.
pub(crate) fn resolve(q: &PlanQuestion<'_>, text: &str) -> TurnOperand {
    let part = Wording::read(text);
    let known = if let Some(turn) = by_operation(&part, q.state) {
        Some(TurnOperand::of(turn))
    } else if !is_bare(&part) {
        by_words(q, &part).map(TurnOperand::of)
    } else if part.says(&["100", "$100"]) {
        Some(TurnOperand::Known(Expr::constant(100)))
    } else if let [year] = part.years.as_slice() {
        by_year(q, *year).map(TurnOperand::Known)
    } else {
        let last = q.state.last().filter(|_| part.years.is_empty());
        last.map(TurnOperand::of)
    };
    known.unwrap_or_else(|| TurnOperand::named(q, text))
}

/// "This change", "that sum", "the product": the latest turn whose last step is this operation.
/// `None` if the words name no operation, or no turn has it.
fn by_operation<'a>(part: &Wording, state: &'a EarlierTurns) -> Option<&'a EarlierTurn> {
    if !part.says(&["that", "this", "the", "those", "these"]) {
        return None;
    }
    let changes = [
        "change", "difference", "increase", "decrease", "decline", "variation", "fluctuation",
        "reduction", "growth", "variance", "changed", "decreased", "increased",
    ];
    let operations: [(&[&str], Op); 4] = [
        (&changes, Op::Subtract),
        (&["sum", "combined"], Op::Add),
        (&["product"], Op::Multiply),
        (&["quotient"], Op::Divide),
    ];
    let total = || part.says(&["total"]) && is_bare(part) && part.years.is_empty();
    let named = operations.iter().find(|(words, _)| part.says(words));
    match named {
        Some((_, op)) => state.latest(*op),
        None => state.latest(Op::Add).filter(|_| total()),
    }
}

/// "The 2005 one": the latest look-up of that year, else the latest turn that asked for it, else
/// the latest number that an earlier turn used from that year. Otherwise `None`.
fn by_year(q: &PlanQuestion<'_>, year: u16) -> Option<Expr> {
    let turns = || q.state.turns.iter().rev();
    let look_up = turns().find(|t| t.is_look_up() && t.years == [year]);
    let turn = look_up.or_else(|| turns().find(|t| t.asked.years == [year]));
    let mut leaves = turns().flat_map(|turn| turn.expr.leaves());
    let of_year = |leaf: &PageLeaf| {
        let fact = q.facts.all.get(leaf.source?)?;
        (*fact.years == [year]).then(|| Expr::Leaf(leaf.clone()))
    };
    turn.map(|turn| turn.expr.clone())
        .or_else(|| leaves.find_map(of_year))
}

/// The look-up whose question named the most of these words, more than 70 % of them by weight; the
/// latest if several are as good. Its years must fit. With "that" or "this", it can also be a
/// calculation.
///
/// The 70 % are set by hand: with less, more questions would get an earlier value.
fn by_words<'a>(q: &PlanQuestion<'a>, part: &Wording) -> Option<&'a EarlierTurn> {
    let words = weighted(q.facts, &part.tokens);
    let years = part.years_or(&q.asked.years);
    let points = part.says(&["that", "this", "these", "those"]);
    let mut best: Option<(&EarlierTurn, f64)> = None;
    for turn in q.state.turns.iter().rev() {
        let dated = years.is_empty()
            || turn.years.is_empty()
            || years.iter().any(|y| turn.years.contains(y));
        let fits = dated && (turn.is_look_up() || points);
        // Later turns come first, and an earlier one replaces them only if it is better by more
        // than 0.01.
        let share = known_share(&words, |word| turn.names(word));
        if fits && share > 0.7 && best.is_none_or(|(_, s)| share > s + 0.01) {
            best = Some((turn, share));
        }
    }
    best.map(|(turn, _)| turn)
}

/// "And in the previous year?": the year before or after those of the last turn. `None` if the
/// question names a year, or asks for neither.
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

/// "And over the previous year?": the years at both ends of the period before or after that of the
/// last turn. `None` if the question names a year.
pub(crate) fn shifted_period(asked: &Wording, last: &EarlierTurn) -> Option<Vec<u16>> {
    if !asked.years.is_empty() {
        return None;
    }
    let (late, early) = (last.years.iter().max()?, last.years.iter().min()?);
    if asked.says(&["previous year", "year before", "previous period"]) {
        return Some(vec![early - 1, *early]);
    }
    if asked.says(&["following year", "year after", "following period"]) {
        return Some(vec![*late, late + 1]);
    }
    None
}
