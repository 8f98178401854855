//! Plans for each likely shape, whatever the other rules make of the question. Their slots all ask
//! for the question as a whole, or they combine the values of earlier turns.

use super::super::conversation::EarlierTurns;
use super::super::plan::PlanExpr::Slot;
use super::super::plan::{LOW, PlanExpr, ProgramPlan, of_slots, step};
use super::super::plan_question::PlanQuestion;
use super::super::slot_scorer::SlotQuery;
use super::parts;
use crate::expr::Expr;
use crate::operations::{ratio, relative_change};
use crate::shape::SHAPES;
use finqa_core::number::UnitKind::{Number, Percent, YesNo};
use finqa_core::program::Op;

/// Minimum log-odds of a shape against the likeliest one. A shape that is less than 0.7 % as likely
/// gets no plan. Set by hand; a lower one would make more candidates for each question.
const LEAST: f64 = -5.0;

/// The plans for the likely shapes, the likeliest first: on a tie, the choice keeps this order
/// (`candidates`). `proposal` has the log-odds of each shape.
pub(crate) fn proposed(q: &PlanQuestion<'_>, proposal: &[f64; SHAPES.len()]) -> Vec<ProgramPlan> {
    let whole = q.whole().amount();
    let mut out = Vec::new();
    let compared = parts::comparison(q).is_some();
    let mut all: Vec<(usize, f64)> = proposal.iter().copied().enumerate().collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let likely = all.into_iter().filter(|(_, likely)| *likely >= LEAST);
    for name in likely.filter_map(|(i, _)| SHAPES.get(i).copied()) {
        let parts = match name {
            "difference" => Some((of_slots(Op::Subtract), 2, Number)),
            "relative change" => Some((relative_change(Slot(0), Slot(1)), 2, Percent)),
            "ratio" => Some((of_slots(Op::Divide), 2, Percent)),
            "sum" => Some((of_slots(Op::Add), 2, Number)),
            "sum of three or more" => Some((step(Op::Add, of_slots(Op::Add), Slot(2)), 3, Number)),
            "average" => Some((ratio(of_slots(Op::Add), PlanExpr::constant(2)), 2, Number)),
            "product" => Some((of_slots(Op::Multiply), 2, Number)),
            // Only if the rule for comparisons has made no such plan.
            "comparison" if !compared => Some((of_slots(Op::Greater), 2, YesNo)),
            "over a sum" => Some((ratio(Slot(0), of_slots(Op::Add)), 2, Percent)),
            "sum over" => Some((ratio(of_slots(Op::Add), Slot(2)), 3, Percent)),
            "difference over another" => Some((ratio(of_slots(Op::Subtract), Slot(2)), 3, Percent)),
            _ => None,
        };
        if let Some((expr, n, kind)) = parts {
            let plan = ProgramPlan::new("any parts", expr, vec![whole.clone(); n]);
            out.push(plan.paired_as_parts(LOW, kind));
        }
        if !q.state.turns.is_empty() {
            out.extend(of_turns(q.state, &whole, name));
        }
    }
    out
}

/// Number of latest turns whose values are combined: as many as a sketch tells apart.
const COMBINED: usize = 4;

/// The plans of a shape (`name`) for two earlier values, the older one first, and for one of the
/// last two values with a fact of the page.
fn of_turns(state: &EarlierTurns, whole: &SlotQuery, name: &str) -> Vec<ProgramPlan> {
    let (op, kind) = match name {
        "difference" | "difference of results" | "difference of ratios" => (Op::Subtract, Number),
        "ratio"
        | "over a sum"
        | "sum over"
        | "ratio of results"
        | "difference over another"
        | "relative change" => (Op::Divide, Percent),
        "sum" | "sum of three or more" | "sum of results" => (Op::Add, Number),
        "product" => (Op::Multiply, Number),
        _ => return Vec::new(),
    };
    let latest = state.turns.iter().rev().take(COMBINED);
    let latest: Vec<&Expr> = latest.map(|turn| &turn.expr).collect();
    let change = name == "relative change";
    let mut out = Vec::new();
    for (i, last) in latest.iter().copied().enumerate() {
        for before in latest.iter().copied().skip(i + 1) {
            let (a, b) = (before.clone(), last.clone());
            let expr = if change {
                relative_change(b, a)
            } else {
                Expr::step(op, a, b)
            };
            out.push(ProgramPlan::fixed("any turns", expr, kind));
        }
        if i < 2 && !change {
            let expr = step(op, PlanExpr::Fixed(last.clone()), Slot(0));
            let plan = ProgramPlan::new("any turns", expr, vec![whole.clone()]);
            out.push(plan.free(LOW, kind));
        }
    }
    out
}
