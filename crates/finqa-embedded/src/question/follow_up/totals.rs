//! Follow-ups that add up: extended sums and averages.

use super::super::conversation::{EarlierTurn, is_bare};
use super::super::mention::span;
use super::super::plan::ProgramPlan;
use super::super::plan_question::PlanQuestion;
use super::super::reference::{SURE, TurnOperand, join};
use super::super::wording::Wording;
use crate::expr::Expr;
use crate::operations;
use finqa_core::number::UnitKind::Number;
use finqa_core::program::Op;

/// "And including the 2006 value?", "the total of all three years?"
pub(super) fn including(q: &PlanQuestion<'_>, last: &EarlierTurn) -> Option<ProgramPlan> {
    let cue = [
        "including", "adding", "plus", "includes", "is included", "included", "added",
    ]
    .iter()
    .find_map(|c| q.asked.split(c).map(|(a, b)| (*c, a, b)));
    let (connector, left, right) = cue?;
    let turns = q.state.turns.len();
    let sum = q.state.latest(Op::Add).or((turns == 1).then_some(last));
    let other = if span(&right).says_anything() {
        &right
    } else {
        &left
    };
    let part = Wording::read(other);
    let base = match sum {
        Some(turn) => turn.expr.clone(),
        None if connector == "plus" => last.expr.clone(),
        None => return None,
    };
    let dated = || part.years.is_empty() || part.years.len() >= 2 || part.years == last.years;
    let already = last.is_look_up()
        && turns >= 2
        && (!span(other).says_anything() || is_bare(&part) && dated());
    let added = if already {
        TurnOperand::Known(last.expr.clone())
    } else {
        TurnOperand::Open(Box::new(q.with(&part).query(other)))
    };
    Some(join("sum", Op::Add, TurnOperand::Known(base), added).free(SURE, Number))
}

/// "And the average per year?"
pub(super) fn average(q: &PlanQuestion<'_>, last: &EarlierTurn) -> Option<ProgramPlan> {
    if !q.asked.says(&["average", "mean"]) || !q.refers || q.asked.years.len() == 1 {
        return None;
    }
    let expr = match q.state.latest(Op::Add) {
        Some(turn) => {
            let n = u32::try_from(turn.expr.leaves().len()).ok()?;
            operations::ratio(turn.expr.clone(), Expr::constant(n))
        }
        None => {
            let before = q.state.back(1).filter(|t| t.is_look_up())?;
            let run = q.state.latest_look_ups();
            let count = if q.asked.says(&["three"]) {
                run.len().min(3)
            } else {
                2.min(run.len())
            };
            let run = run.iter().take(count).skip(2);
            let parts = [before, last].into_iter().chain(run.copied());
            let sum = operations::sum(parts.map(|turn| turn.expr.clone()))?;
            operations::ratio(sum, Expr::constant(u32::try_from(count).ok()?))
        }
    };
    Some(ProgramPlan::fixed("average", expr, Number))
}
