//! Plans for compound growth, and for growth that continues at the same rate.

use super::super::plan::Pairing::Periods;
use super::super::plan::{ProgramPlan, of_slots, slot};
use super::super::plan_question::PlanQuestion;
use super::super::slot_scorer::SlotQuery;
use crate::expr::Expr;
use crate::operations;
use finqa_core::number::UnitKind::{Number, Percent};
use finqa_core::program::Op;

/// The name of the plan for compound growth. Its candidates win over all others
/// (`answering::candidates::OVERRIDES`).
pub(crate) const COMPOUND_GROWTH: &str = "compound growth";

/// "What was the compound annual growth rate from 2015 to 2019?":
/// `(later / earlier) ^ (1 / years) - 1`.
pub(crate) fn compound(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.compound() {
        return None;
    }
    let (late, mut early) = q.two_periods()?;
    // With one year, a named span says how far back the earlier one is.
    if asked.years.len() < 2 {
        let span = asked.periods_named().and_then(|n| u16::try_from(n).ok());
        early = span.map_or(early, |n| late - n);
    }
    let base = q.whole().amount();
    let slots = vec![base.of_year(late), base.of_year(early)];
    let expr = operations::compound_growth(slot(0), slot(1), (late - early).into());
    Some(ProgramPlan::new(COMPOUND_GROWTH, expr, slots).paired(Periods, 0.9, Percent))
}

/// The name of the plan for growth that continues.
pub(crate) const SAME_RATE: &str = "same rate";

/// The later and the earlier period of a change that is to repeat, from the years of the question
/// for which the page has numbers. A year ahead would otherwise become the later period.
pub(super) fn known_periods(q: &PlanQuestion<'_>) -> Option<(SlotQuery, SlotQuery)> {
    let known = |year: &u16| q.facts.all.iter().any(|fact| fact.years.contains(year));
    let mut past = q.asked.clone();
    past.years.retain(known);
    q.with(&past).periods()
}

/// "If sales grow at the same rate, what will they be next year?": `later / earlier * later`.
pub(crate) fn same_rate(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let continued = [
        "same rate", "same growth", "same growth rate", "same percent", "same trend", "same pace",
        "rate as", "trend as",
    ];
    if !q.asked.says(&continued) || q.asked.yes_no() {
        return None;
    }
    let (a, b) = known_periods(q)?;
    let expr = Expr::step(Op::Multiply, of_slots(Op::Divide), slot(0));
    Some(ProgramPlan::new(SAME_RATE, expr, vec![a, b]).paired(Periods, 0.5, Number))
}
