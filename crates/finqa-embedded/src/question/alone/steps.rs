//! Plans of several steps: what is left of a whole, compound growth, growth that
//! continues, a profit or a loss.

use super::super::mention::ratio_operands;
use super::super::operation_words::LEFT_OF_WHOLE;
use super::super::plan::PlanExpr::Slot;
use super::super::plan::{PlanExpr, ProgramPlan, of_slots, step};
use super::super::plan_question::PlanQuestion;
use super::super::slots::SlotQuery;
use super::amounts::{PROFITS, named};
use finqa_core::number::UnitKind::{Number, Percent, YesNo};
use finqa_core::program::Op;

/// The name of the plan for compound growth.
pub(crate) const COMPOUND_GROWTH: &str = "compound growth";

/// The name of the plan for a profit or a loss: its words are seldom those of the page.
pub(crate) const PROFIT: &str = "profit";

/// The name of the plan for what is left of a whole.
pub(crate) const COMPLEMENT: &str = "complement";

/// "What percentage of sales was not from A?": what is left of a whole.
pub(crate) fn complement(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.says(&LEFT_OF_WHOLE) || asked.change() || !(asked.percent() || asked.share()) {
        return None;
    }
    let named = ratio_operands(asked);
    let (part, whole) = named.unwrap_or_else(|| (asked.phrase.clone(), " total ".to_owned()));
    let rest = step(Op::Subtract, Slot(1), Slot(0));
    let expr = step(Op::Divide, rest, Slot(1));
    Some(ProgramPlan::new(COMPLEMENT, expr, q.parts_of(&part, &whole)).parts(0.4, Percent))
}

/// "What was the compound annual growth rate from 2015 to 2019?":
/// `(later / earlier) ^ (1 / years) - 1`
pub(crate) fn compound(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.compound() {
        return None;
    }
    let (late, mut early) = q.two_periods()?;
    if asked.years.len() < 2 {
        let span = asked.periods_named().and_then(|n| u16::try_from(n).ok());
        early = span.map_or(early, |n| late - n);
    }
    let base = q.whole().amount();
    let slots = vec![base.of_year(late), base.of_year(early)];
    let one = || PlanExpr::constant(1);
    let root = step(Op::Divide, one(), PlanExpr::constant((late - early).into()));
    let growth = step(Op::Exp, of_slots(Op::Divide), root);
    let expr = step(Op::Subtract, growth, one());
    Some(ProgramPlan::new(COMPOUND_GROWTH, expr, slots).periods(0.9, Percent))
}

/// The name of the plan for growth that continues.
pub(crate) const SAME_RATE: &str = "same rate";

/// The periods of a change that is to repeat: of the years that the question names, those of
/// which the page has numbers.
pub(super) fn known_periods(q: &PlanQuestion<'_>) -> Option<(SlotQuery, SlotQuery)> {
    let known = |year: &u16| q.facts.all.iter().any(|fact| fact.years.contains(year));
    let mut past = q.asked.clone();
    past.years.retain(known);
    q.with(&past).periods()
}

/// "If sales grow at the same rate, what will they be next year?": the later value times the
/// growth that led to it.
pub(crate) fn same_rate(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let continued = [
        "same rate", "same growth", "same growth rate", "same percent", "same trend", "same pace",
        "rate as", "trend as",
    ];
    if !q.asked.says(&continued) || q.asked.yes_no() {
        return None;
    }
    let (a, b) = known_periods(q)?;
    let growth = of_slots(Op::Divide);
    Some(
        ProgramPlan::new(SAME_RATE, step(Op::Multiply, growth, Slot(0)), vec![a, b])
            .periods(0.5, Number),
    )
}

/// "Did the company make a profit?": whether the profit is above zero.
pub(crate) fn profit(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    let (gain, loss) = (
        asked.says(&["profit", "profitable", "positive"]),
        asked.says(&["loss", "negative"]),
    );
    if gain == loss || asked.change() || !asked.asks_yes_no() {
        return None;
    }
    let profit = named(q.facts, &PROFITS)?;
    let of_page = q.query(&format!(" {profit} "));
    let sides = (Slot(0), PlanExpr::constant(0));
    let (a, b) = if gain { sides } else { (sides.1, sides.0) };
    Some(ProgramPlan::new(PROFIT, step(Op::Greater, a, b), vec![of_page]).free(0.8, YesNo))
}
