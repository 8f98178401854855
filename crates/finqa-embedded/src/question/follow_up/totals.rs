//! Plans for follow-ups that add up or divide by a count: sums, averages and prices per unit.

use super::super::conversation::{EarlierTurn, is_bare};
use super::super::mention::says_anything;
use super::super::plan::{HIGH, ProgramPlan};
use super::super::plan_question::PlanQuestion;
use super::super::reference::{TurnOperand, join};
use super::super::wording::Wording;
use crate::expr::Expr;
use crate::operations;
use finqa_core::number::UnitKind::Number;
use finqa_core::program::Op;

/// "And including the 2006 value?": adds a value to the latest sum. Without a sum, it is added to
/// the last value if that is the only earlier one or the question says "plus"; otherwise there is
/// no plan. The value added is a fact of the page, or the last value if that is a look-up after
/// other turns and the question names nothing else.
pub(super) fn including(q: &PlanQuestion<'_>, last: &EarlierTurn) -> Option<ProgramPlan> {
    let cue = [
        "including", "adding", "plus", "includes", "is included", "included", "added",
    ]
    .iter()
    .find_map(|c| q.asked.split(c).map(|(a, b)| (*c, a, b)));
    let (connector, left, right) = cue?;
    let turns = q.state.turns.len();
    let other = if says_anything(&right) { &right } else { &left };
    let part = Wording::read(other);
    let alone = (turns == 1 || connector == "plus").then_some(last);
    let base = TurnOperand::of(q.state.latest(Op::Add).or(alone)?);
    let dated = || part.years.is_empty() || part.years.len() >= 2 || part.years == last.years;
    let already =
        last.is_look_up() && turns >= 2 && (!says_anything(other) || is_bare(&part) && dated());
    let added = if already {
        TurnOperand::of(last)
    } else {
        TurnOperand::named(&q.with(&part), other)
    };
    Some(join("sum", Op::Add, base, added).free(HIGH, Number))
}

/// "What was, then, the average price of each?": the quotient of the last two values. The divisor
/// is the value whose question asked for a count. If neither or both did, it is the last value, but
/// only if the question has a word such as "each", and either "then" or a name that is new.
pub(super) fn unit_price(q: &PlanQuestion<'_>, last: &EarlierTurn) -> Option<ProgramPlan> {
    let asked = q.asked;
    let per = asked.says(&["per", "each", "for each", "apiece"]);
    let mean = asked.says(&["average"]) && asked.says(&["price", "cost", "value", "payment"]);
    if !(per || mean)
        || !asked.years.is_empty()
        || asked.says(&["per share", "per year", "annual", "percent"])
    {
        return None;
    }
    let before = q.state.back(1)?;
    let counts = |t: &EarlierTurn| t.asked.says(&["how many", "number of", "shares", "units"]);
    let (amount, count) = match (counts(before), counts(last)) {
        (false, true) => (before, last),
        (true, false) => (last, before),
        _ if per && (asked.says(&["then"]) || !q.refers) => (before, last),
        _ => return None,
    };
    let expr = operations::ratio(amount.expr.clone(), count.expr.clone());
    Some(ProgramPlan::fixed("unit price", expr, Number))
}

/// "And the average per year?": the latest sum over its number of values, or the average of the
/// last two values, or of three if the question says so. Values before a calculation do not count.
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
            let most = if q.asked.says(&["three"]) { 3 } else { 2 };
            let count = run.len().min(most);
            // The first two of the run are `last` and `before`.
            let run = run.iter().take(count).skip(2);
            let parts = [before, last].into_iter().chain(run.copied());
            let sum = operations::sum(parts.map(|turn| turn.expr.clone()))?;
            operations::ratio(sum, Expr::constant(u32::try_from(count).ok()?))
        }
    };
    Some(ProgramPlan::fixed("average", expr, Number))
}

/// "What is the sum of those values?": adds the last value to the latest sum, if the last turn is a
/// look-up. Otherwise adds all values since the last calculation ("all three"), or the last two
/// values.
pub(super) fn sum(q: &PlanQuestion<'_>, last: &EarlierTurn) -> Option<ProgramPlan> {
    let (asked, turns) = (q.asked, &q.state.turns);
    let known = |year: &u16| turns.iter().any(|t| t.is_look_up() && t.years == [*year]);
    let asked_years = asked.years.len() >= 2 && asked.years.iter().all(known);
    let several = asked.says(&["those", "these", "both", "two", "all", "three", "combined"]);
    let total = asked.says(&["total"]) && !asked.change() && (several || asked_years);
    let other = asked.says(&["percent", "divided", "over", "represent", "ratio"]);
    if !(asked.sum() || total) || !q.refers || other {
        return None;
    }
    let before = q.state.back(1)?;
    let run = q.state.latest_look_ups();
    let parts = if last.is_look_up()
        && let Some(sum) = q.state.latest(Op::Add)
    {
        vec![sum, last]
    } else if run.len() >= 3 && asked.says(&["all", "three", "four"]) {
        run.into_iter().rev().collect()
    } else {
        vec![before, last]
    };
    let sum = operations::sum(parts.into_iter().map(|turn| turn.expr.clone()))?;
    Some(ProgramPlan::fixed("sum", sum, Number))
}
