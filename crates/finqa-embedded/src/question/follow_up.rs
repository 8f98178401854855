//! Rules that make plans for follow-ups by their words: the last calculation again with other facts
//! ("and in 2012?"), a look-up, numbers in the question ("that times 100"), and conversions. Often
//! none applies.
//!
//! A calculation with earlier answers and at most one new fact ("that divided by sales") is planned
//! by `sketch_plans`.

use super::arithmetic;
use super::conversation::{EarlierTurn, is_bare};
use super::plan::Pairing::{Parts, Periods};
use super::plan::{LOW, ProgramPlan, slot_leaf};
use super::plan_question::PlanQuestion;
use super::slot_scorer::SlotQuery;
use super::wording::Wording;
use crate::expr::Expr;
use finqa_core::number::UnitKind::{Number, Percent};
use finqa_core::program::Op;

/// The plans for a follow-up, in the order of the rules; empty without earlier turns or if no rule
/// applies. The order decides the priors: 0.95 for the first, and for each other plan 0.7 times the
/// prior before it.
pub(crate) fn plans(q: &PlanQuestion<'_>) -> Vec<ProgramPlan> {
    let Some(last) = q.earlier.last() else {
        return Vec::new();
    };
    let rules: [fn(&PlanQuestion<'_>, &EarlierTurn) -> Option<ProgramPlan>; 5] = [
        arithmetic::numbers_only,
        arithmetic::constant_step,
        arithmetic::convert,
        redo,
        look_up,
    ];
    let mut out: Vec<ProgramPlan> = rules.iter().filter_map(|rule| rule(q, last)).collect();
    let mut prior = 0.95;
    for plan in &mut out {
        plan.prior = prior;
        prior *= 0.7;
    }
    out
}

/// "And in 2012?", "what about for canada?": the last calculation again, with other facts. `None`
/// after a look-up, and after a calculation without facts of the page.
fn redo(q: &PlanQuestion<'_>, last: &EarlierTurn) -> Option<ProgramPlan> {
    if last.is_look_up() || last.facts.is_empty() {
        return None;
    }
    let asked = q.asked;
    let named = !is_bare(asked);
    let elsewhere = asked.starts(&[
        "and for", "what about for", "how about for", "and what about for", "what was it for",
        "and what was it for",
    ]);
    let again = asked.starts(&[
        "what about", "how about", "and in", "and for", "and what about", "and what was it",
        "what was it", "and what is it", "what is it", "and what were they", "what were they",
    ]);
    let points = asked.says(&[
        "that change", "this change", "that percent", "this percent", "that ratio",
        "that variation", "that average", "that difference", "this difference", "that fluctuation",
        "that portion",
    ]);
    if !(again && !named || elsewhere || points) || asked.says(&["value"]) {
        return None;
    }
    let base = q.whole();
    let slot = |index: &usize| {
        let fact = q.facts.all.get(*index)?;
        let label = fact.label.iter().map(|w| (*w, q.facts.weight(*w)));
        Some(SlotQuery {
            words: if named {
                base.words.clone()
            } else {
                label.collect()
            },
            years: asked.years_or(&fact.years).to_vec(),
            anchors: [*index].into(),
            bare: !named,
            ..SlotQuery::default()
        })
    };
    let slots: Option<Vec<SlotQuery>> = last.facts.iter().map(slot).collect();
    let divided = last.ends_in(Op::Divide);
    let kind = if divided { Percent } else { Number };
    let pairing = if named { Periods } else { Parts };
    let plan = ProgramPlan::new("same again", opened(last), slots?);
    Some(plan.paired(pairing, LOW, kind))
}

/// The turn's expression with a slot instead of each of its facts.
fn opened(turn: &EarlierTurn) -> Expr {
    let mut expr = turn.expr.clone();
    expr.change_leaves(&mut |leaf| {
        let index = turn
            .facts
            .iter()
            .position(|fact| leaf.source == Some(*fact));
        if let Some(index) = index {
            *leaf = slot_leaf(index);
        }
    });
    expr
}

/// Looks up a value of the page, unless the question asks for a calculation and names something
/// that the last turns did not. "What was the change?" names nothing new, so it gets this plan too.
/// "The year before" is read as the year before that of the last turn.
fn look_up(q: &PlanQuestion<'_>, last: &EarlierTurn) -> Option<ProgramPlan> {
    let asked = q.asked;
    let relative = asked.relative_change() && asked.years.len() >= 2;
    let calculates = asked.change() || asked.share() || asked.sum() || asked.percent();
    if !q.names_nothing_new && (relative || calculates) {
        return None;
    }
    let mut query = q.whole();
    if let Some(year) = shifted_year(asked, last) {
        query.years = vec![year];
    }
    Some(ProgramPlan::look_up(query))
}

/// "And in the previous year?": the year before or after those of the last turn. `None` if the
/// question names a year, or asks for neither.
fn shifted_year(asked: &Wording, last: &EarlierTurn) -> Option<u16> {
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
