//! Plans for questions whose words leave one calculation only: a change that repeats, an assumed
//! rate, the part of a change that has one cause, and the return on a balance.

use super::super::mention::{names_quantity, ratio_operands};
use super::super::plan::Pairing::{Free, Parts, Periods};
use super::super::plan::{ProgramPlan, of_slots, slot};
use super::super::plan_question::PlanQuestion;
use super::super::wording::Wording;
use super::margin::{PROFITS, named};
use super::steps::{SAME_RATE, known_periods};
use crate::expr::Expr;
use crate::reading::facts::Fact;
use crate::reading::text::TokenKind;
use finqa_core::number::UnitKind::{Number, Percent};
use finqa_core::program::Op;

const SAME_CHANGE: &str = "same change";
const NAMED_RATE: &str = "named rate";
const SHARE_OF_CHANGE: &str = "share of a change";
const RETURN_ON: &str = "return on";

/// The names of these plans. In a question without earlier turns, their candidates win over all
/// others (`answering::candidates::OVERRIDES`). When this was added, 8 of the 711 FinQA dev
/// questions became right and none wrong.
pub(crate) const ONLY_CALCULATION: [&str; 5] = [
    SAME_RATE, SAME_CHANGE, NAMED_RATE, SHARE_OF_CHANGE, RETURN_ON,
];

/// The plans for a question without earlier turns; none for a turn. They must come before the
/// others, because a program that several plans make counts for the first.
pub(crate) fn only_calculation(q: &PlanQuestion<'_>) -> Vec<ProgramPlan> {
    if !q.earlier.is_empty() {
        return Vec::new();
    }
    let plans = [
        share_of_change(q),
        same_change(q),
        named_rate(q),
        return_on(q),
    ];
    plans.into_iter().flatten().collect()
}

/// Phrases that come before a cause.
const CAUSES: [&str; 5] = [
    "due to", "attributable to", "attributed to", "caused by", "because of",
];

/// "What percent of the change in sales was due to prices?": `part / (later - earlier)`.
fn share_of_change(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !(asked.percent() || asked.share()) || !asked.says(&CAUSES) {
        return None;
    }
    let (part, whole) = ratio_operands(asked)?;
    let changed = Wording::read(&whole);
    let named = names_quantity(&part) && !Wording::read(&part).change();
    if !changed.change() || !named {
        return None;
    }
    let (late, early) = q.with(&changed).periods()?;
    let part = q.query(&part).amount();
    let expr = Expr::step(Op::Divide, slot(2), of_slots(Op::Subtract));
    Some(
        ProgramPlan::new(SHARE_OF_CHANGE, expr, vec![late, early, part]).paired(Free, 0.5, Percent),
    )
}

/// "If costs rise by as much as they did in 2012, what will they be?": `(later - earlier) + later`.
fn same_change(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.says(&["as much as", "same amount", "same increase", "same change"])
        || !asked.says(&["if", "assuming", "would", "will"])
    {
        return None;
    }
    let (late, early) = known_periods(q)?;
    let expr = Expr::step(Op::Add, of_slots(Op::Subtract), slot(0));
    Some(ProgramPlan::new(SAME_CHANGE, expr, vec![late, early]).paired(Periods, 0.4, Number))
}

/// "Assuming a 5% return, what would the assets earn?": `amount * 5%`. Only for a rate that the
/// page does not have: a printed one is a fact, which can fill a slot.
fn named_rate(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.says(&["assuming", "assume"]) || asked.change() || asked.yes_no() {
        return None;
    }
    let rate = asked.tokens.windows(2).find_map(|pair| match pair {
        [number, mark] if number.kind == TokenKind::Number && mark.is("%") => {
            Expr::literal(&format!("{}%", number.text))
        }
        _ => None,
    })?;
    let value = rate.number()?;
    let printed = |fact: &Fact| fact.percent && (fact.value - value).abs() < 1e-9;
    if q.facts.all.iter().any(printed) {
        return None;
    }
    let expr = Expr::step(Op::Multiply, slot(0), rate);
    let amount = q.whole().amount();
    Some(ProgramPlan::new(NAMED_RATE, expr, vec![amount]).paired(Free, 0.4, Number))
}

/// "What was the return on equity?": `profit / equity`.
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
    let slots = q.parts_of(&earned, &base);
    Some(ProgramPlan::new(RETURN_ON, of_slots(Op::Divide), slots).paired(Parts, 0.6, Percent))
}
