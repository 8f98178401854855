//! The traits: features of a candidate's program. They say how its facts fit, what it repeats from
//! earlier turns, what it leaves out of the question, and whether its value is plausible.

use std::cmp::Ordering;

use super::context::same_size;
use super::network_input::{Feature, NetworkInput};
use crate::expr::Expr;
use crate::question::feature_values::{count, flag};
use crate::reading::facts::Fact;
use crate::shape::{alike, difference};

/// Words with which a question asks for an outflow; "positive" asks for it without its minus.
const OUTFLOW: [&str; 14] = [
    "spent", "used", "positive", "spending", "loss", "losses", "payments", "paid", "decrease",
    "reduction", "charge", "expense", "expenses", "repurchases",
];

/// The traits. "Refers" means `PlanQuestion::names_nothing_new`. The limits and divisors are set by
/// hand, and the weights are fitted to the results.
#[rustfmt::skip] // A table: rustfmt would give most of its rows four lines.
pub(super) const TRAITS: [Feature; 45] = [
    ("prior of the plan", |s| s.plan.prior),
    ("logarithm of the prior", |s| libm::log(s.plan.prior.max(0.01))),
    ("mean slot score", |s| flag(!s.plan.slots.is_empty()) * s.candidate.filled.score / 5.0),
    ("lowest slot score", |s| flag(!s.plan.slots.is_empty()) * s.candidate.filled.lowest / 5.0),
    ("behind the plan's best filling", |s| {
        flag(!s.plan.slots.is_empty()) * s.candidate.behind_plan
    }),
    ("no open slot", |s| flag(s.plan.slots.is_empty())),
    ("two or more open slots", |s| flag(s.plan.slots.len() > 1)),
    ("value of an earlier turn", |s| flag(s.is_repeated())),
    ("look-up of an earlier turn's value", |s| flag(s.is_repeated() && s.looks_up())),
    ("same as the turn before", |s| {
        let last = s.context.earlier.last();
        flag(last.is_some_and(|turn| alike(&turn.expr, &s.candidate.filled.expr)))
    }),
    ("contains the last value", |s| flag(s.contains_turn(0))),
    ("contains the value before the last", |s| flag(s.contains_turn(1))),
    ("contains both", |s| flag(s.contains_turn(0) && s.contains_turn(1))),
    ("refers, but no earlier fact", |s| flag(s.context.names_nothing_new && s.known == 0)),
    ("refers, only earlier facts", |s| {
        flag(s.context.names_nothing_new && s.all_known() && !s.looks_up())
    }),
    ("does not refer, only earlier facts", |s| {
        flag(!s.context.names_nothing_new && s.all_known() && !s.looks_up())
    }),
    ("names nothing, yet new facts", |s| flag(s.context.bare && s.known < s.leaves.len())),
    ("question words not covered", uncovered),
    ("question words not covered, open slots", |s| flag(!s.plan.slots.is_empty()) * uncovered(s)),
    ("years asked for not covered", years_missing),
    ("years not asked for", years_too_many),
    ("earlier year first", |s| flag(order(s) == Some(Ordering::Less))),
    ("later year first", |s| flag(order(s) == Some(Ordering::Greater))),
    ("share above one", |s| flag(s.is_shape(RATIOS) && number(s).abs() > 1.0)),
    ("share below zero", |s| flag(s.is_shape(RATIOS) && number(s) < 0.0)),
    ("percent asked, look-up above one", |s| {
        flag(s.context.asked.common().percent && s.looks_up() && number(s).abs() > 1.0)
    }),
    ("percent asked, above one and a half", |s| {
        flag(s.context.asked.common().percent && !s.looks_up() && number(s).abs() > 1.5)
    }),
    ("zero", |s| flag(number(s).abs() <= 0.0)),
    ("one literal on both sides", |s| {
        let top = s.candidate.filled.expr.top();
        flag(matches!(top, Some((_, a @ Expr::Leaf(_), b)) if alike(a, b)))
    }),
    ("look-up, minus kept", |s| flag(s.looks_up() && s.minus)),
    ("look-up, minus dropped", |s| flag(s.looks_up() && s.dropped)),
    ("calculated, minus kept", |s| flag(!s.looks_up() && s.minus)),
    ("calculated, minus dropped", |s| flag(!s.looks_up() && s.dropped)),
    ("outflow, minus kept", |s| flag(s.is_outflow() && s.minus)),
    ("outflow, minus dropped", |s| flag(s.is_outflow() && s.dropped)),
    ("inflow, minus kept", |s| flag(!s.is_outflow() && s.minus)),
    ("outflow asked, minus dropped", |s| flag(s.dropped && s.context.asked.says(&OUTFLOW))),
    // Some of the facts are cells, but not all.
    ("table and text mixed", |s| flag((1..s.used.len()).contains(&s.cells().count()))),
    ("sum or ratio across columns", |s| flag(s.is_shape(&["ratio", "sum"]) && crosses_columns(s))),
    ("plan by follow_up", |s| flag(s.candidate.filled.plan < s.context.follow_ups)),
    // The likeliest shape and the likeliest sketch have log-odds 0, all others less.
    ("shape as proposed", |s| s.context.odds_of_shape(s.shape).max(-8.0) / 4.0),
    ("shape proposed first", |s| flag(s.context.odds_of_shape(s.shape) >= 0.0)),
    ("sketch as proposed", |s| s.sketch.map_or(0.0, |sketch| sketch.odds.max(-8.0) / 4.0)),
    ("sketch proposed first", |s| flag(s.sketch.is_some_and(|sketch| sketch.odds >= 0.0))),
    ("constant as asked", constant_as_asked),
];

/// The shapes whose value is a share or a ratio.
const RATIOS: &[&str] = &["ratio", "over a sum", "sum over", "ratio of results"];

/// The value of the program. Yes and no have no size: with 0.5, none of the traits about the size
/// is set.
fn number(seen: &NetworkInput<'_>) -> f64 {
    seen.value.unwrap_or(0.5)
}

/// 1 if the last step calculates with a constant that the question names, -1 for another constant,
/// 0 without a constant.
fn constant_as_asked(seen: &NetworkInput<'_>) -> f64 {
    let operands = seen.candidate.filled.expr.top().map(|(_, a, b)| [a, b]);
    let mut operands = operands.into_iter().flatten();
    let constant = operands.find(|operand| operand.is_constant());
    constant.and_then(Expr::number).map_or(0.0, |constant| {
        let mut said = seen.context.numbers_said.iter();
        let said = said.any(|number| same_size(f64::from(*number), constant));
        if said { 1.0 } else { -1.0 }
    })
}

/// Number of years of the question that none of its facts has, at most 4, which is set by hand like
/// the limits above.
fn years_missing(seen: &NetworkInput<'_>) -> f64 {
    let has = |year: &u16| seen.used.iter().any(|(_, f)| f.years.contains(year));
    let missing = seen.context.asked.years.iter().filter(|year| !has(year));
    count(missing.count().min(4))
}

/// Number of its facts that have only years that the question does not name, at most 4.
fn years_too_many(seen: &NetworkInput<'_>) -> f64 {
    let asked = &seen.context.asked.years;
    if asked.is_empty() {
        return 0.0;
    }
    let other_years = |(_, f): &&(usize, &Fact)| !f.years.is_empty() && !f.is_of(asked);
    count(seen.used.iter().filter(other_years).count().min(4))
}

/// True if two of its facts that follow each other are cells of different columns.
fn crosses_columns(seen: &NetworkInput<'_>) -> bool {
    seen.used.windows(2).any(|pair| {
        matches!(pair, [(_, a), (_, b)] if a.cell().zip(b.cell()).is_some_and(|(x, y)| x.1 != y.1))
    })
}

/// The share of the question's words, by weight, that name none of its facts and are not in the
/// table's upper left cell.
fn uncovered(seen: &NetworkInput<'_>) -> f64 {
    let context = seen.context;
    let total: f64 = context.words.iter().map(|(_, weight)| weight).sum();
    let of_fact = |k: usize, (index, fact): &(usize, &Fact)| {
        context.words_of(*index, fact).get(k) == Some(&true)
    };
    let named = |k: usize, word: &u32| {
        context.facts.corner.contains(word) || seen.used.iter().any(|of| of_fact(k, of))
    };
    let words = context.words.iter().enumerate();
    let covered = words.filter(|(k, (word, _))| named(*k, word));
    let covered: f64 = covered.map(|(_, (_, weight))| weight).sum();
    if total > 0.0 {
        1.0 - covered / total
    } else {
        0.0
    }
}

/// Compares the latest years of the two sides of a difference: `Less` if the first side is the
/// earlier one. `None` for other programs, and if a side has no year.
fn order(seen: &NetworkInput<'_>) -> Option<Ordering> {
    let latest = |side: &Expr| {
        let used = seen.context.facts.of_expr(side);
        used.filter_map(|(_, fact)| fact.latest_year()).max()
    };
    let (a, b) = difference(&seen.candidate.filled.expr)?;
    Some(latest(a)?.cmp(&latest(b)?))
}
