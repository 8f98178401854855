//! Follow-ups that ask for a share or ratio.

use super::super::conversation::EarlierTurn;
use super::super::mention::{ratio_operands, span};
use super::super::plan::ProgramPlan;
use super::super::plan_question::PlanQuestion;
use super::super::reference::{SURE, TurnOperand, join};
use super::change::pair;
use finqa_core::number::UnitKind::{Percent, Ratio};
use finqa_core::program::Op;

/// "What percentage does this represent of that total?"
pub(super) fn ratio(q: &PlanQuestion<'_>, last: &EarlierTurn) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !(asked.share() || asked.percent()) {
        return None;
    }
    let kind = match asked.says(&["ratio", "divided by", "times"]) {
        true => Ratio,
        false => Percent,
    };
    let (a, b) = ratio_operands(asked)?;
    let (mut one, mut two) = pair(q, &a, &b);
    let points = |text: &str| {
        !span(text).says_anything() && (text.contains(" it ") || text.contains(" them "))
    };
    if let Some((Op::Divide, part, whole)) = last.expr.top() {
        // "… as a portion of it": the last ratio's whole; "does it represent …": its part.
        if points(&b) && !points(&a) {
            two = TurnOperand::Known(whole.clone());
        } else if points(&a) && !points(&b) && matches!(two, TurnOperand::Open(_)) {
            one = TurnOperand::Known(part.clone());
        }
    }
    Some(join("ratio", Op::Divide, one, two).parts(SURE, kind))
}
