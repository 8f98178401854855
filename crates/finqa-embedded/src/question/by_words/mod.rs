//! Rules that make plans by the words of the question. They repeat no answer of an earlier turn;
//! only what their slots ask for can come from the last turn (`PlanQuestion::query`). `follow_up`
//! and `sketch_plans` make the plans that repeat something.
//!
//! Each rule returns a plan, or nothing if the question lacks its words. The rules for changes are
//! in this file, those for shares, sums, averages and comparisons in `parts`, for whole rows in
//! `series`, and for special kinds in the others. `shape_plans` makes plans by the likely shapes.

mod balance;
mod margin;
mod only_calculation;
mod parts;
mod returns;
mod series;
mod shape_plans;
mod steps;

pub(crate) use only_calculation::{ONLY_CALCULATION, only_calculation};
use returns::index_return;
pub(crate) use shape_plans::shape_plans;
pub(crate) use steps::COMPOUND_GROWTH;

use super::mention::quantities;
use super::plan::Pairing::{Parts, Periods};
use super::plan::{ProgramPlan, of_slots, slot};
use super::plan_question::PlanQuestion;
use super::slot_scorer::SlotQuery;
use crate::operations;
use finqa_core::number::UnitKind::{Number, Percent};
use finqa_core::program::Op;

/// The plans by the words of a question. The order matters: a program that several plans make
/// counts for the first, and `analyst::plans` raises the prior of the first plan.
pub(crate) fn plans(q: &PlanQuestion<'_>) -> Vec<ProgramPlan> {
    let mut out = Vec::new();
    // With these phrases, a ratio comes before a change: "the increase divided by sales".
    let set_against = q.asked.says(&[
        "in relation to", "as a percent of", "as percent of", "divided by", "ratio of",
        "was due to", "were due to", "attributable to",
    ]);
    out.extend(super::arithmetic::constant(q));
    out.extend(parts::comparison(q));
    out.extend(index_return(q));
    if set_against {
        out.extend(parts::ratio(q));
    }
    out.extend(relative_change(q));
    if q.asked.says(&["sum of", "total sum", "combined"]) {
        out.extend(parts::sum(q));
    }
    out.extend(parts::average(q));
    if !set_against {
        out.extend(parts::ratio(q));
    }
    out.extend(difference(q));
    out.extend(parts::sum(q));
    out.push(ProgramPlan::look_up(q.whole()));
    out.extend(parts::any_share(q));
    out.extend(parts::both(q));
    out.extend(margin::margin(q));
    out.extend(balance::roll_forward(q));
    out.extend(series::series(q));
    out.extend(steps::compound(q));
    out.extend(steps::same_rate(q));
    out
}

/// "By what percentage did rent grow?": `(later - earlier) / earlier`.
pub(crate) fn relative_change(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.relative_change() {
        return None;
    }
    let (a, b) = q.periods()?;
    let two_years = asked.years.len() >= 2;
    let change = operations::relative_change(slot(0), slot(1));
    let plan = ProgramPlan::new("relative change", change, vec![a, b]);
    let likely = two_years || asked.says(&["growth rate"]);
    Some(plan.paired(Periods, if likely { 0.95 } else { 0.8 }, Percent))
}

/// "What was the change in rent?": `later - earlier`, or the difference of two things that the
/// question names, unless it also names two years.
pub(crate) fn difference(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.change()
        && !asked.says(&[
            "less", "minus", "how much more", "how much higher", "how much greater", "exceed",
            "outperform", "higher", "excluding", "without",
        ])
    {
        return None;
    }
    let connectors = [
        "less", "minus", "excluding", "without", "compared to", "compared with", "versus", "than",
    ];
    let forms: [(&str, &[&str]); 3] = [
        ("difference between", &["and"]),
        ("difference of", &["and"]),
        ("", &connectors),
    ];
    if asked.years.len() < 2
        && let Some((a, b)) = quantities(asked, &forms)
    {
        let plan = ProgramPlan::new("difference", of_slots(Op::Subtract), q.parts_of(&a, &b));
        return Some(plan.paired(Parts, 0.7, Number));
    }
    let (a, b) = q.periods()?;
    let two_years = asked.years.len() >= 2;
    let plan = ProgramPlan::new("difference", of_slots(Op::Subtract), vec![a, b]);
    Some(plan.paired(Periods, if two_years { 0.9 } else { 0.5 }, Number))
}

/// Queries for the operands that a question describes: the first and the second thing named, and
/// the question as a whole in the later and the earlier period. `None` for an operand that the
/// words do not describe. The network compares facts with these queries, whichever plan used them.
pub(crate) fn roles(q: &PlanQuestion<'_>) -> [Option<SlotQuery>; ROLES] {
    let connectors = [
        "compared to", "compared with", "versus", "than", "less", "minus", "plus", "times", "and",
    ];
    let forms: [(&str, &[&str]); 6] = [
        ("difference between", &["and"]),
        ("difference of", &["and"]),
        ("sum of", &["and", "plus"]),
        ("total of", &["and", "plus"]),
        ("product of", &["and", "by"]),
        ("", &connectors),
    ];
    let named = || quantities(q.asked, &forms).map(|(a, b)| q.parts_of(&a, &b));
    let slots = parts::ratio(q).map(|plan| plan.slots);
    let mut parts = slots.or_else(named).unwrap_or_default().into_iter();
    let (late, early) = q.periods().unzip();
    [parts.next(), parts.next(), late, early]
}

/// The number of operands that [`roles`] describes.
pub(crate) const ROLES: usize = 4;
