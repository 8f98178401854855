//! Plans over several things: shares, sums, averages, products, comparisons.

use super::super::mention::{operands, ratio_operands, span};
use super::super::plan::PlanExpr::Slot;
use super::super::plan::{LOW, PlanExpr, ProgramPlan, of_slots};
use super::super::plan_question::PlanQuestion;
use super::super::slots::SlotQuery;
use super::super::wording::Wording;
use crate::operations;
use finqa_core::number::UnitKind::{Number, Percent, Ratio};
use finqa_core::program::Op;

/// A share of a whole, or a ratio of two things.
pub(crate) fn ratio(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.share() && !asked.percent() {
        return None;
    }
    let kind = if asked.says(&["ratio", "divided by", "times"]) {
        Ratio
    } else {
        Percent
    };
    let (a, b) = ratio_operands(asked)?;
    let slots = q.parts_of(&a, &b);
    let years = Wording::read(&a).years.len() == 1 && Wording::read(&b).years.len() == 1;
    let plan = ProgramPlan::new("ratio", of_slots(Op::Divide), slots);
    Some(match years {
        true => plan.periods(0.75, kind),
        false => plan.parts(0.75, kind),
    })
}

/// A sum over years or over things.
pub(crate) fn sum(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    let base = q.whole();
    let cue = asked.sum();
    let total = asked.says(&["total", "aggregate"]);
    if asked.percent() || !(cue || total && asked.years.len() >= 2) {
        return None;
    }
    let slots: Vec<SlotQuery> = if asked.years.len() >= 2 {
        asked.years.iter().map(|y| base.of_year(*y)).collect()
    } else {
        let (a, b) = operands(
            asked,
            &[
                ("sum of", &["and", "plus", "with"]),
                ("total of", &["and", "plus"]),
                ("combined", &["and"]),
                ("", &["plus", "and"]),
            ],
        )?;
        q.parts_of(&a, &b)
    };
    let prior = if cue { 0.8 } else { 0.6 };
    let plan = ProgramPlan::new("sum", added(slots.len())?, slots);
    Some(match asked.years.len() {
        0 | 1 => plan.parts(prior, Number),
        _ => plan.periods(prior, Number),
    })
}

/// `add(s0, s1), add(#0, s2) …`
pub(super) fn added(n: usize) -> Option<PlanExpr> {
    operations::sum((0..n).map(Slot)).filter(|_| n >= 2)
}

/// "The total of A and B": two things that the question joins by `and`.
pub(crate) fn both(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    let joined = asked.sum() || asked.says(&["total", "both", "altogether", "aggregate"]);
    if !joined || asked.percent() || asked.share() {
        return None;
    }
    let (a, b) = asked.split("and")?;
    if !(span(&a).names() && span(&b).names()) {
        return None;
    }
    Some(ProgramPlan::new("both", added(2)?, q.parts_of(&a, &b)).parts(LOW, Number))
}
