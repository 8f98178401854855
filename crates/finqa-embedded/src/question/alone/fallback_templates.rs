//! Plans for each likely shape, whatever the other rules make of the question. Their slots all ask
//! for the question as a whole, or they combine the values of earlier turns.

use super::super::conversation::EarlierTurns;
use super::super::plan::PlanExpr::Slot;
use super::super::plan::{LOW, PlanExpr, ProgramPlan, of_slots, step};
use super::super::plan_question::PlanQuestion;
use super::super::slots::SlotQuery;
use super::parts;
use super::parts::added;
use crate::expr::Expr;
use crate::operations;
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
        let over = |a, b| step(Op::Divide, a, b);
        let parts = match name {
            "difference" => Some((of_slots(Op::Subtract), 2, Number)),
            "relative change" => Some((operations::relative_change(Slot(0), Slot(1)), 2, Percent)),
            "ratio" => Some((of_slots(Op::Divide), 2, Percent)),
            "sum" => Some((of_slots(Op::Add), 2, Number)),
            "sum of three or more" => added(3).map(|sum| (sum, 3, Number)),
            "average" => {
                let two = PlanExpr::constant(2);
                Some((over(of_slots(Op::Add), two), 2, Number))
            }
            "product" => Some((of_slots(Op::Multiply), 2, Number)),
            // Only if the rule for comparisons has made no such plan.
            "comparison" if !compared => Some((of_slots(Op::Greater), 2, YesNo)),
            "over a sum" => Some((over(Slot(0), of_slots(Op::Add)), 2, Percent)),
            "sum over" => Some((over(of_slots(Op::Add), Slot(2)), 3, Percent)),
            "difference over another" => Some((over(of_slots(Op::Subtract), Slot(2)), 3, Percent)),
            _ => None,
        };
        if let Some((expr, n, kind)) = parts {
            let plan = ProgramPlan::new("any parts", expr, vec![whole.clone(); n]);
            out.push(plan.parts(LOW, kind));
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
    let latest: Vec<&Expr> = state
        .turns
        .iter()
        .rev()
        .take(COMBINED)
        .map(|t| &t.expr)
        .collect();
    let mut out = Vec::new();
    let fixed = |expr| ProgramPlan::fixed("any turns", expr, kind);
    for (i, last) in latest.iter().enumerate() {
        for before in latest.iter().skip(i + 1) {
            let (a, b) = ((*before).clone(), (*last).clone());
            if name == "relative change" {
                let change = Expr::step(Op::Subtract, b, a.clone());
                out.push(fixed(Expr::step(Op::Divide, change, a)));
            } else {
                out.push(fixed(Expr::step(op, a, b)));
            }
        }
        if i < 2 && name != "relative change" {
            let known = PlanExpr::Fixed((*last).clone());
            out.push(
                ProgramPlan::new("any turns", step(op, known, Slot(0)), vec![whole.clone()])
                    .free(LOW, kind),
            );
        }
    }
    out
}
