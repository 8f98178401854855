//! The plan for compound growth.

use super::super::plan::{PlanExpr, ProgramPlan, of_slots, step};
use super::super::plan_question::PlanQuestion;
use finqa_core::number::UnitKind::Percent;
use finqa_core::program::Op;

/// The name of the plan for compound growth.
pub(crate) const COMPOUND_GROWTH: &str = "compound growth";

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
