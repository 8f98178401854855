//! Templates for calculations that a question describes in full: what part of a change has one
//! cause, and the return on a balance.

use super::super::mention::{ratio_operands, span};
use super::super::plan::ProgramPattern::Slot;
use super::super::plan::{ProgramPlan, of_slots, step};
use super::super::plan_question::PlanQuestion;
use super::super::wording::Wording;
use super::growth::SAME_RATE;
use super::margin::{PROFITS, named};
use finqa_core::number::UnitKind::Percent;
use finqa_core::program::Op;

const SHARE_OF_CHANGE: &str = "share of a change";
const RETURN_ON: &str = "return on";

/// The names of the plans whose wording leaves no other calculation, for a question without
/// earlier turns.
pub(crate) const DESCRIBED: [&str; 3] = [SAME_RATE, SHARE_OF_CHANGE, RETURN_ON];

/// The plans for a question without earlier turns. They come before the others, so that a
/// program that others give too counts for them.
pub(crate) fn described(q: &PlanQuestion<'_>) -> Vec<ProgramPlan> {
    if !q.state.turns.is_empty() {
        return Vec::new();
    }
    share_of_change(q).into_iter().chain(return_on(q)).collect()
}

/// Words that name a cause.
const CAUSES: [&str; 5] = [
    "due to", "attributable to", "attributed to", "caused by", "because of",
];

/// "What percent of the change in sales was due to prices?": the part over the difference of
/// the two periods.
fn share_of_change(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !(asked.percent() || asked.share()) || !asked.says(&CAUSES) {
        return None;
    }
    let (part, whole) = ratio_operands(asked)?;
    let changed = Wording::read(&whole);
    let named = span(&part).names() && !Wording::read(&part).change();
    if !changed.change() || !named {
        return None;
    }
    let (late, early) = q.with(&changed).periods()?;
    let part = q.query(&part).amount();
    let pattern = step(Op::Divide, Slot(2), of_slots(Op::Subtract));
    Some(ProgramPlan::new(SHARE_OF_CHANGE, pattern, vec![late, early, part]).free(0.5, Percent))
}

/// "What was the return on equity?": the profit over what it was earned on.
fn return_on(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    let (before, base) = asked.split("return on")?;
    let earning = [" asset", " equity", " capital ", " sales ", " revenue"];
    if asked.change() || !earning.iter().any(|word| base.contains(word)) {
        return None;
    }
    let profit = named(q.facts, &PROFITS)?;
    let years: Vec<String> = asked.years.iter().map(u16::to_string).collect();
    let earned = format!("{before}{profit} {} ", years.join(" "));
    Some(
        ProgramPlan::new(RETURN_ON, of_slots(Op::Divide), q.parts_of(&earned, &base))
            .parts(0.6, Percent),
    )
}
