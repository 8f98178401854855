//! Plans for each likely shape, whatever the other rules make of the question. Their slots all ask
//! for the question as a whole.

use super::super::plan::Pairing::Parts;
use super::super::plan::{LOW, ProgramPlan, of_slots, slot};
use super::super::plan_question::PlanQuestion;
use super::super::proposal::{ShapeOdds, likely};
use super::parts;
use crate::expr::Expr;
use crate::operations::{ratio, relative_change};
use crate::shape::SHAPES;
use finqa_core::number::UnitKind::{Number, Percent, YesNo};
use finqa_core::program::Op;

/// The plans for the likely shapes, the likeliest first: on a tie, the choice keeps this order
/// (`candidates`). All have the name "any parts".
pub(crate) fn shape_plans(q: &PlanQuestion<'_>, odds: &ShapeOdds) -> Vec<ProgramPlan> {
    let whole = q.whole().amount();
    let mut out = Vec::new();
    let compared = parts::comparison(q).is_some();
    for name in likely(odds).filter_map(|i| SHAPES.get(i).copied()) {
        let parts = match name {
            "difference" => Some((of_slots(Op::Subtract), 2, Number)),
            "relative change" => Some((relative_change(slot(0), slot(1)), 2, Percent)),
            "ratio" => Some((of_slots(Op::Divide), 2, Percent)),
            "sum" => Some((of_slots(Op::Add), 2, Number)),
            "sum of three or more" => {
                Some((Expr::step(Op::Add, of_slots(Op::Add), slot(2)), 3, Number))
            }
            "average" => Some((ratio(of_slots(Op::Add), Expr::constant(2)), 2, Number)),
            "product" => Some((of_slots(Op::Multiply), 2, Number)),
            // Only if the rule for comparisons has made no such plan.
            "comparison" if !compared => Some((of_slots(Op::Greater), 2, YesNo)),
            "over a sum" => Some((ratio(slot(0), of_slots(Op::Add)), 2, Percent)),
            "sum over" => Some((ratio(of_slots(Op::Add), slot(2)), 3, Percent)),
            "difference over another" => Some((ratio(of_slots(Op::Subtract), slot(2)), 3, Percent)),
            _ => None,
        };
        if let Some((expr, n, kind)) = parts {
            let plan = ProgramPlan::new("any parts", expr, vec![whole.clone(); n]);
            out.push(plan.paired(Parts, LOW, kind));
        }
    }
    out
}
