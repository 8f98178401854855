//! What the trees see of a candidate: its place among the others, how its facts are related,
//! its traits, and the cues of the question.

use std::sync::OnceLock;

use super::cues::CUES;
use super::operands::{self, OF_BOTH, OF_EACH, Operands};
use super::traits::TRAITS;
use super::{ChoiceContext, LinearRank, RULES, VARIANTS, flag};
use crate::answering::filling::FilledPlan;
use crate::expr::PageLeaf;
use crate::question::plan::{Pairing, ProgramPlan};
use crate::reading::facts::{Fact, Facts};
use crate::shape::{SHAPES, shape};

/// The features by themselves, before the traits and the cues.
const DETAILS: [&str; 54] = [
    "linear score", "behind the best linear score", "rank by linear score",
    "candidates of the same value", "kind as proposed", "rank of the kind",
    "lead of the likeliest kind", "look-up as proposed", "kind", "variant", "rule", "pairing",
    "slot score", "lowest slot score", "numbers", "distinct numbers", "cells", "percentages",
    "amounts of money", "rows", "columns", "rows apart", "columns apart", "first from a total row",
    "second from a total row", "first row", "first column", "last row of all",
    "last column of all", "years apart", "first fact's rank", "second fact's rank",
    "first fact's score", "second fact's score", "best fact's score", "best fact not used", "size",
    "whole number", "negative", "years asked for", "words", "earlier turns", "asked by itself",
    "rank in its kind", "behind the best of its kind", "value on the page",
    "words of no number's label", "own history", "last answer behind its best fact",
    "answer before behind its best fact", "largest or smallest asked for", "sketch as proposed",
    "rank of the sketch", "lead of the likeliest sketch",
];

/// The features that number the values of a category, each with how many values there are:
/// kind, variant and rule.
pub(crate) const CATEGORIES: [(usize, usize); 3] = [
    (8, SHAPES.len()),
    (9, VARIANTS.len()),
    (10, RULES.len() + 1),
];

/// How many features there are.
pub(crate) const FEATURES: usize =
    DETAILS.len() + 2 * OF_EACH.len() + OF_BOTH.len() + TRAITS.len() + CUES.len() + COMPARED;

/// Features of which the trees also see how far a candidate is below the highest, or above the
/// lowest.
const BELOW: [&str; 13] = [
    "sketch as proposed", "kind as proposed", "slot score", "lowest slot score",
    "first fact's score", "second fact's score", "first fact: question words",
    "second fact: question words", "first fact: share of its label",
    "second fact: share of its label", "both facts: words of both labels",
    "both facts: as the things named", "both facts: as the periods",
];
const ABOVE: [&str; 4] = [
    "words of no number's label", "both facts: words of neither",
    "first fact: label words not asked for", "second fact: label words not asked for",
];

/// The names of the features, in order.
pub(crate) fn names() -> Vec<String> {
    let own = DETAILS.iter().map(|name| (*name).to_owned());
    let each = ["first", "second"].into_iter().flat_map(|which| {
        OF_EACH
            .iter()
            .map(move |name| format!("{which} fact: {name}"))
    });
    let both = OF_BOTH.iter().map(|name| format!("both facts: {name}"));
    let own = own.chain(each).chain(both);
    let traits = TRAITS.iter().map(|name| format!("trait: {name}"));
    let cues = CUES.iter().map(|(name, _)| format!("cue: {name}"));
    let below = BELOW.iter().map(|name| format!("below: {name}"));
    let above = ABOVE.iter().map(|name| format!("above: {name}"));
    let own = own.chain(traits).chain(cues);
    own.chain(below).chain(above).collect()
}

/// How many features compare a candidate with the others; they come last.
const COMPARED: usize = BELOW.len() + ABOVE.len();

/// Says in the last of each candidate's [`FEATURES`] how some compare with the other candidates'.
pub(crate) fn compare(candidates: &mut [f64]) {
    static PLACES: OnceLock<Vec<(usize, bool)>> = OnceLock::new();
    let places = PLACES.get_or_init(|| {
        let names = names();
        let place = |name: &&str| names.iter().position(|known| known == name);
        let below = BELOW.iter().filter_map(place).map(|at| (at, true));
        let above = ABOVE.iter().filter_map(place).map(|at| (at, false));
        below.chain(above).collect()
    });
    for (to, (at, highest)) in (FEATURES - COMPARED..).zip(places) {
        let rows = candidates.chunks_exact(FEATURES);
        let values = rows.filter_map(|one| one.get(*at).copied());
        let end = if *highest {
            values.fold(f64::MIN, f64::max)
        } else {
            values.fold(f64::MAX, f64::min)
        };
        for one in candidates.chunks_exact_mut(FEATURES) {
            let value = one.get(*at).copied().unwrap_or_default();
            if let Some(slot) = one.get_mut(to) {
                *slot = value - end;
            }
        }
    }
}

/// Adds the value of every feature; those that [`compare`] fills are zero.
pub(super) fn of(
    context: &ChoiceContext<'_>,
    plan: &ProgramPlan,
    filled: &FilledPlan,
    sparse: &[(usize, f64)],
    place: &LinearRank,
    operands: &Operands,
    out: &mut Vec<f64>,
) {
    let facts = context.facts;
    let shape = shape(&filled.expr);
    let all = filled.expr.leaves();
    let leaves: Vec<&PageLeaf> = all.into_iter().filter(|leaf| !leaf.is_constant()).collect();
    let used: Vec<(usize, &Fact)> = leaves
        .iter()
        .filter_map(|leaf| Some((leaf.source?, facts.all.get(leaf.source?)?)))
        .collect();
    let lines = |pick: &dyn Fn(&Fact) -> Option<usize>| {
        let picked = used.iter().filter_map(|(_, fact)| pick(fact));
        count(distinct(picked))
    };
    let count_of =
        |holds: &dyn Fn(&Fact) -> bool| count(used.iter().filter(|(_, fact)| holds(fact)).count());
    let nth = |k: usize| used.get(k).copied();
    let cell = |k: usize| nth(k).and_then(|(_, fact)| fact.cell());
    let apart = |pick: &dyn Fn((usize, usize)) -> usize| {
        cell(0)
            .zip(cell(1))
            .map_or(-20.0, |(a, b)| count(pick(b)) - count(pick(a)))
    };
    let total = |k: usize| flag(nth(k).is_some_and(|(_, fact)| fact.total));
    let latest = |k: usize| nth(k).and_then(|(_, fact)| fact.years.iter().max().copied());
    let rank = |k: usize| {
        nth(k).map_or(-1.0, |(index, _)| {
            let at = context.best_facts.iter().position(|(i, _)| *i == index);
            count(at.unwrap_or(context.best_facts.len()))
        })
    };
    let top = context.best_facts.first().map_or(0.0, |(_, score)| *score);
    let score = |k: usize| {
        nth(k).map_or(-20.0, |(index, _)| {
            let found = context.best_facts.iter().find(|(i, _)| *i == index);
            found.map_or(-10.0, |(_, score)| score - top)
        })
    };
    let best_used = context
        .best_facts
        .first()
        .is_some_and(|(best, _)| used.iter().any(|(index, _)| index == best));
    let kind = |i: usize| context.proposal.get(i).copied().unwrap_or_default();
    let better = context
        .proposal
        .iter()
        .filter(|p| **p > kind(shape))
        .count();
    let lead = |proposal: &[f64]| {
        let others = proposal.iter().copied().filter(|p| *p < 0.0);
        others.fold(-20.0, f64::max)
    };
    let second = lead(&context.proposal);
    let (sketch, likelier) = context
        .sketch(&filled.expr)
        .map_or((0.0, 0.0), |(odds, likelier)| (odds, count(likelier)));
    let value = filled.expr.number();
    out.extend([
        place.linear,
        place.behind,
        count(place.rank),
        count(place.votes),
        kind(shape),
        count(better),
        second,
        kind(0),
        count(shape),
        count(filled.variant),
        count(context.rule(filled).unwrap_or(RULES.len())),
        match plan.pairing {
            Pairing::Free => 0.0,
            Pairing::Periods => 1.0,
            Pairing::Parts => 2.0,
        },
        filled.score,
        filled.lowest,
        count(leaves.len()),
        count(distinct(leaves.iter().map(|leaf| &*leaf.literal))),
        count_of(&|fact| fact.cell().is_some()),
        count_of(&|fact| fact.percent),
        count_of(&|fact| fact.dollar),
        lines(&|fact| fact.cell().map(|(row, _)| row)),
        lines(&|fact| fact.cell().map(|(_, col)| col)),
        apart(&|(row, _)| row),
        apart(&|(_, col)| col),
        total(0),
        total(1),
        cell(0).map_or(-1.0, |(row, _)| count(row)),
        cell(0).map_or(-1.0, |(_, col)| count(col)),
        flag(
            used.iter()
                .any(|(_, f)| f.cell().is_some_and(|(r, _)| r + 1 == facts.rows.len())),
        ),
        flag(
            used.iter()
                .any(|(_, f)| f.cell().is_some_and(|(_, c)| c + 1 == facts.columns.len())),
        ),
        latest(0)
            .zip(latest(1))
            .map_or(-50.0, |(a, b)| f64::from(a) - f64::from(b)),
        rank(0),
        rank(1),
        score(0),
        score(1),
        top,
        flag(!best_used),
        size(value),
        flag(value.is_some_and(|v| v.fract().abs() <= 0.0)),
        flag(value.is_some_and(|v| v < 0.0)),
        count(context.asked.years.len()),
        count(context.words.len()),
        count(context.state.turns.len()),
        flag(context.alone),
        count(place.rank_in_kind),
        place.behind_kind,
        flag(used.len() > 1 && value.is_some_and(|v| printed(facts, v))),
        context.unnamed(|i, _| used.iter().any(|(index, _)| operands.has_word(*index, i))),
        flag(context.own),
        context.behind[0],
        context.behind[1],
        match (context.extreme, used.as_slice()) {
            (Some(largest), [(index, _)]) => {
                let sign = if largest { 1.0 } else { -1.0 };
                operands
                    .extremes(*index)
                    .iter()
                    .map(|end| end * sign)
                    .fold(-1.0, f64::max)
            }
            _ => 0.0,
        },
        sketch,
        likelier,
        context.sketches.as_ref().map_or(0.0, |all| lead(all)),
    ]);
    operands::of(context, plan, &used, operands, out);
    let from = out.len();
    out.resize(from + TRAITS.len(), 0.0);
    let first = super::first_trait();
    for (i, value) in sparse {
        let at = i.checked_sub(first).filter(|at| *at < TRAITS.len());
        if let Some(slot) = at.and_then(|at| out.get_mut(from + at)) {
            *slot = *value;
        }
    }
    let cues = out.len();
    out.resize(cues + CUES.len(), 0.0);
    for cue in &context.cues {
        if let Some(slot) = out.get_mut(cues + cue) {
            *slot = 1.0;
        }
    }
    out.resize(out.len() + COMPARED, 0.0);
}

/// How many of a few values differ.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T> + Clone) -> usize {
    let new = |(i, value): &(usize, T)| !values.clone().take(*i).any(|other| other == *value);
    values.clone().enumerate().filter(new).count()
}

/// Whether a calculated value is a number of the table.
fn printed(facts: &Facts, value: f64) -> bool {
    let same = |fact: &Fact| (fact.number.abs() - value.abs()).abs() <= 1e-9 * value.abs();
    facts
        .all
        .iter()
        .any(|fact| fact.cell().is_some() && same(fact))
}

pub(super) fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

/// The binary order of magnitude.
pub(super) fn size(value: Option<f64>) -> f64 {
    let Some(value) = value else { return -30.0 };
    let exponent = (value.to_bits() >> 52) & 0x7ff;
    f64::from(u16::try_from(exponent).unwrap_or(0)) - 1023.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_its_own_name() {
        let mut names = names();
        let all = names.len();
        assert_eq!(all, FEATURES);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
        let categories = CATEGORIES.map(|(at, _)| DETAILS[at]);
        assert_eq!(categories, ["kind", "variant", "rule"]);
        assert_eq!(SHAPES.first(), Some(&"look-up"), "`look-up as proposed`");
    }
}
