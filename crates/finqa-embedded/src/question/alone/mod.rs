//! Plans for a question without earlier turns, selected by its cues.
//!
//! Each returns a plan or nothing; `plans` keeps their order. References to earlier turns
//! are resolved in `follow_up`.

mod any;
mod balance;
mod due;
mod factors;
mod growth;
mod margin;
mod parts;
mod returns;
mod series;

pub(crate) use any::proposed;
pub(crate) use growth::COMPOUND_GROWTH;
use returns::index_return;

use super::mention::{operands, span};
use super::plan::PlanExpr::Slot;
use super::plan::ProgramPlan;
use super::plan_question::PlanQuestion;
use super::slots::SlotQuery;
use crate::operations;
use finqa_core::number::UnitKind::Percent;

/// The plans for a question without its conversation, best first.
pub(crate) fn plans(q: &PlanQuestion<'_>) -> Vec<ProgramPlan> {
    let mut out = Vec::new();
    let set_against = q.asked.says(&[
        "in relation to", "as a percent of", "as percent of", "divided by", "ratio of",
        "was due to", "were due to", "attributable to",
    ]);
    out.extend(super::arithmetic::constant(q));
    out.extend(index_return(q));
    if set_against {
        out.extend(parts::ratio(q));
    }
    out.extend(relative_change(q));
    if q.asked.says(&["sum of", "total sum", "combined"]) {
        out.extend(parts::sum(q));
    }
    if !set_against {
        out.extend(parts::ratio(q));
    }
    out.extend(parts::sum(q));
    out.push(ProgramPlan::look_up(q.whole()));
    out.extend(parts::both(q));
    out.extend(margin::margin(q));
    out.extend(balance::roll_forward(q));
    out.extend(series::series(q));
    out.extend(due::due(q));
    out.extend(growth::compound(q));
    out
}

/// `(later - earlier) / earlier`
pub(crate) fn relative_change(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.relative_change() {
        return None;
    }
    let (a, b) = q.periods()?;
    let sure = asked.years.len() >= 2 || asked.says(&["growth rate"]);
    Some(
        ProgramPlan::new(
            "relative change",
            operations::relative_change(Slot(0), Slot(1)),
            vec![a, b],
        )
        .periods(if sure { 0.95 } else { 0.8 }, Percent),
    )
}

/// What the operands of a share, a difference or a sum are by the wording, first and second;
/// and what the later and the earlier period are.
pub(crate) fn roles(q: &PlanQuestion<'_>) -> [Option<SlotQuery>; ROLES] {
    let named = || {
        let (a, b) = operands(
            q.asked,
            &[
                ("difference between", &["and"]),
                ("difference of", &["and"]),
                ("sum of", &["and", "plus"]),
                ("total of", &["and", "plus"]),
                ("product of", &["and", "by"]),
                (
                    "",
                    &[
                        "compared to", "compared with", "versus", "than", "less", "minus", "plus",
                        "times", "and",
                    ],
                ),
            ],
        )?;
        (span(&a).names() && span(&b).names()).then(|| q.parts_of(&a, &b))
    };
    let slots = parts::ratio(q).map(|plan| plan.slots);
    let mut parts = slots.or_else(named).unwrap_or_default().into_iter();
    let (late, early) = q.periods().unzip();
    [parts.next(), parts.next(), late, early]
}

/// How many roles [`roles`] tells apart.
pub(crate) const ROLES: usize = 4;
