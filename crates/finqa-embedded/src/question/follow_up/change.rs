//! Plans for follow-ups about a change: a difference, a relative change, and a change compared with
//! another value.

use super::super::alone;
use super::super::conversation::{EarlierTurn, is_bare};
use super::super::mention::{names_quantity, says_anything};
use super::super::plan::{HIGH, ProgramPlan};
use super::super::plan_question::PlanQuestion;
use super::super::reference::{TurnOperand, join, resolve, shifted_period};
use super::super::slot_words::{known_share, weighted};
use super::super::wording::Wording;
use crate::expr::Expr;
use crate::operations;
use finqa_core::number::UnitKind::{Number, Percent};
use finqa_core::program::Op;

/// "How much does that change represent in relation to the 2005 value?": the latest difference over
/// the value that is named. `None` if a time follows the connector, as in "over the year".
pub(super) fn relation(q: &PlanQuestion<'_>, last: &EarlierTurn) -> Option<ProgramPlan> {
    let difference = q.state.latest(Op::Subtract)?;
    let (_, a, b) = difference.expr.top()?;
    let (left, rest) = [
        "in relation to", "as a percent of", "as percent of", "as a portion of",
        "as a proportion of", "divided by", "over the", "over", "relative to",
    ]
    .iter()
    .find_map(|c| q.asked.split(c))?;
    // "Over the year" names a time, not a divisor.
    let time = [
        "the year", "the years", "year", "the period", "the following", "the previous", "the same",
        "this period", "that period", "time", "the time", "the month", "the quarter", "those",
        "these",
    ];
    if time.iter().any(|t| rest.starts_with(&format!(" {t} "))) {
        return None;
    }
    let left = Wording::read(&left);
    let points = left.says(&["that", "this", "the", "net", "change", "it"])
        && left.change()
        && is_bare(&left);
    let back = is_bare(&left) && left.years.is_empty() && last.ends_in(Op::Subtract);
    // Without "represent", a question for a relative change is left to `relative_change`.
    if !(points || back) || left.relative_change() && !left.says(&["represent", "represents"]) {
        return None;
    }
    let base = base(q, a, b, &rest);
    let change = TurnOperand::of(difference);
    Some(join("relative change", Op::Divide, change, base).free(HIGH, Percent))
}

/// The value with which a change is compared. If the text names nothing new (earlier turns named
/// more than 60 % of its words, by weight), this is the second operand of the difference, or the
/// first one if only the first is of a year that the text names. Otherwise it is a fact of the
/// page.
fn base(q: &PlanQuestion<'_>, a: &Expr, b: &Expr, rest: &str) -> TurnOperand {
    let part = Wording::read(rest);
    let dated = |e: &Expr| {
        let mut facts = q.facts.of_expr(e);
        facts.any(|(_, fact)| fact.is_of(&part.years))
    };
    let words = weighted(q.facts, &part.tokens);
    let named = |word: u32| q.state.turns.iter().any(|turn| turn.names(word));
    if !is_bare(&part) && known_share(&words, named) <= 0.6 {
        return TurnOperand::named(q, rest);
    }
    if !part.years.is_empty() && dated(a) && !dated(b) {
        return TurnOperand::Known(a.clone());
    }
    TurnOperand::Known(b.clone())
}

/// "What is the difference between the two returns?": the difference between the last two
/// quotients, the earlier one minus the later one.
pub(super) fn of_results(q: &PlanQuestion<'_>, last: &EarlierTurn) -> Option<ProgramPlan> {
    let results = q.asked.says(&[
        "percent", "percents", "return", "returns", "representation", "changes", "ratios", "rates",
        "growth",
    ]) || q.refers;
    if !q.asked.says(&["difference", "outperform", "higher"])
        || !results
        || !last.ends_in(Op::Divide)
    {
        return None;
    }
    let mut earlier = q.state.turns.iter().rev().skip(1);
    let before = earlier.find(|t| t.ends_in(Op::Divide) && t.expr != last.expr)?;
    let expr = operations::difference(before.expr.clone(), last.expr.clone());
    Some(ProgramPlan::fixed("difference of changes", expr, Percent))
}

/// "And the percentage change?": the latest difference over its second operand, or the relative
/// change of the last two values. `None` for two years or more of which one is new: its value is
/// not among those of earlier turns.
pub(super) fn relative_change(q: &PlanQuestion<'_>, _: &EarlierTurn) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.relative_change() && !asked.says(&["growth rate", "rate of return", "return"]) {
        return None;
    }
    if !q.refers
        && !asked.points_to_span()
        && !asked.says(&[
            "this represent", "that represent", "this value", "that value",
        ])
    {
        return None;
    }
    if asked.years.len() >= 2 && q.state.lack_one_of(&asked.years) {
        return None;
    }
    let expr = if let Some(turn) = q.state.latest(Op::Subtract)
        && let Some((_, _, base)) = turn.expr.top()
    {
        operations::ratio(turn.expr.clone(), base.clone())
    } else {
        let (late, early) = two_values(q)?;
        operations::relative_change(late, early)
    };
    Some(ProgramPlan::fixed("relative change", expr, Percent))
}

/// The last two values. If the years say which is later, it comes first; otherwise the older turn
/// does.
fn two_values(q: &PlanQuestion<'_>) -> Option<(Expr, Expr)> {
    let (one, two) = (q.state.back(1)?, q.state.back(0)?);
    let year = |t: &EarlierTurn| t.years.iter().max().copied();
    let later = year(one).is_some() && year(two) > year(one);
    let (late, early) = if later { (two, one) } else { (one, two) };
    Some((late.expr.clone(), early.expr.clone()))
}

/// "What was, then, the change?", "what is that less the 2004 value?": a difference. Its operands
/// are the things named around "less" or a similar word, else the last two values, else the last
/// value and the 100 with which an index starts. If none of these fit, the difference is planned as
/// in a question without earlier turns, with the years of the last turn.
pub(super) fn difference(q: &PlanQuestion<'_>, last: &EarlierTurn) -> Option<ProgramPlan> {
    let asked = q.asked;
    for connector in ["less", "minus", "subtracted by", "excluding", "without"] {
        if let Some((a, b)) = asked.split(connector)
            && (says_anything(&a) || asked.says(&["that", "this", "it"]))
        {
            let (a, b) = pair(q, &a, &b);
            return Some(join("difference", Op::Subtract, a, b).paired_as_parts(HIGH, Number));
        }
    }
    if !asked.change() || asked.share() || asked.percent() {
        return None;
    }
    let less = |a: Expr, b: Expr| {
        let expr = operations::difference(a, b);
        Some(ProgramPlan::fixed("difference", expr, Number))
    };
    if asked.says(&["number one", "and one", "and 1"]) {
        return less(last.expr.clone(), Expr::constant(1));
    }
    let look_ups = last.is_look_up() && q.state.back(1).is_some_and(EarlierTurn::is_look_up);
    let both = look_ups || asked.says(&["these", "those", "two", "both", "them", "net difference"]);
    if !q.state.lack_one_of(&asked.years)
        && both
        && (q.refers || asked.points_to_span() && look_ups)
        && let Some((late, early)) = two_values(q)
    {
        return less(late, early);
    }
    let start = asked.says(&["initial", "original", "invested", "originally"])
        || asked.says(&["investment"]) && asked.says(&["100", "$100"]);
    if alone::starts_at_hundred(q.facts) && last.is_look_up() && start {
        return less(last.expr.clone(), Expr::constant(100));
    }
    let mut dated = asked.clone();
    if asked.years.len() == 1 && q.refers && last.is_look_up() {
        let others = last.years.iter().filter(|y| !asked.years.contains(y));
        dated.years.extend(others);
    }
    if let Some(years) = shifted_period(asked, last) {
        dated.years = years;
    }
    let q = q.with(&dated);
    alone::index_return(&q).or_else(|| alone::difference(&q))
}

/// The operands that two parts of a follow-up mean. If both resolve to the same earlier value, one
/// of them must mean something else. Then a part that names a quantity means a fact of the page
/// (only the first part, if both name one). If neither names a quantity, or only the second does
/// and points back ("that rent"), the first part means the turn before the last.
pub(super) fn pair(q: &PlanQuestion<'_>, a: &str, b: &str) -> (TurnOperand, TurnOperand) {
    let (one, two) = (resolve(q, a), resolve(q, b));
    let same = matches!((&one, &two), (TurnOperand::Known(x), TurnOperand::Known(y)) if x == y);
    if !same {
        return (one, two);
    }
    let before = q.state.back(1).map(TurnOperand::of);
    let definite = || Wording::read(b).says(&["that", "this", "those", "these"]);
    match (names_quantity(a), names_quantity(b)) {
        (true, _) => (TurnOperand::named(q, a), two),
        (false, false) => (before.unwrap_or(one), two),
        (false, true) => match before.filter(|_| definite()) {
            Some(before) => (before, two),
            None => (one, TurnOperand::named(q, b)),
        },
    }
}
