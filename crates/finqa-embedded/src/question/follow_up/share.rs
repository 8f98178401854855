//! Plans for follow-ups that ask for a share, a ratio or a product.

use super::super::conversation::EarlierTurn;
use super::super::mention::{operands, ratio_operands, says_anything};
use super::super::plan::{HIGH, ProgramPlan};
use super::super::plan_question::PlanQuestion;
use super::super::reference::{TurnOperand, join};
use super::change::pair;
use crate::operations;
use finqa_core::number::UnitKind::Number;
use finqa_core::program::Op;

/// "What percentage does this represent of that total?": divides the part by the whole that the
/// question names, or else the smaller of the last two values by the larger.
pub(super) fn ratio(q: &PlanQuestion<'_>, last: &EarlierTurn) -> Option<ProgramPlan> {
    let asked = q.asked;
    let over = asked.split("over").filter(|(_, b)| {
        !b.starts_with(" the year") && says_anything(b) && asked.says(&["value", "previous"])
    });
    let cue = asked.share() || asked.percent() || over.is_some();
    if !cue {
        return None;
    }
    let kind = asked.quotient_kind();
    if let Some((a, b)) = over
        .or_else(|| ratio_operands(asked))
        .or_else(|| operands(asked, &[("", &["over"])]))
    {
        let implied = b.trim() == "total";
        let (mut one, mut two) = pair(q, &a, &b);
        let points =
            |text: &str| !says_anything(text) && (text.contains(" it ") || text.contains(" them "));
        if let Some((Op::Divide, part, whole)) = last.expr.top() {
            // After a ratio, "it" is its denominator in "as a portion of it", and its numerator in
            // "does it represent".
            if points(&b) && !points(&a) {
                two = TurnOperand::Known(whole.clone());
            } else if points(&a) && !points(&b) && matches!(two, TurnOperand::Open(_)) {
                one = TurnOperand::Known(part.clone());
            }
        }
        if implied {
            // The question names no whole.
            two = whole(q, last, &one);
        }
        return Some(join("ratio", Op::Divide, one, two).paired_as_parts(HIGH, kind));
    }
    if !q.refers {
        return None;
    }
    let before = q.state.back(1)?;
    let (x, y) = (before.expr.number()?, last.expr.number()?);
    let (small, large) = if x.abs() <= y.abs() {
        (before, last)
    } else {
        (last, before)
    };
    let expr = operations::ratio(small.expr.clone(), large.expr.clone());
    Some(ProgramPlan::fixed("ratio", expr, kind))
}

/// The whole that a question leaves out: the denominator of the last turn if it is a quotient, else
/// the last value, or the one before it if the last is the part.
fn whole(q: &PlanQuestion<'_>, last: &EarlierTurn, part: &TurnOperand) -> TurnOperand {
    match (last.expr.top(), part) {
        (Some((Op::Divide, _, denominator)), _) => TurnOperand::Known(denominator.clone()),
        (_, TurnOperand::Known(expr)) if *expr == last.expr => {
            TurnOperand::of(q.state.back(1).unwrap_or(last))
        }
        _ => TurnOperand::of(last),
    }
}

/// "What is the product of the change and that price?": `a * b`.
pub(super) fn product(q: &PlanQuestion<'_>, _: &EarlierTurn) -> Option<ProgramPlan> {
    let (a, b) = operands(
        q.asked,
        &[
            ("product of", &["and", "by", "with"]),
            ("", &["times", "multiplied by"]),
        ],
    )
    // `operands` needs a name or a year on both sides, which "this times that" lacks.
    .or_else(|| q.asked.split("times"))
    .or_else(|| q.asked.split("multiplied by"))?;
    let (a, b) = pair(q, &a, &b);
    Some(join("product", Op::Multiply, a, b).paired_as_parts(HIGH, Number))
}
