//! All features of the network for a candidate: its position among the others, its facts, its
//! traits, and the cues of the question.

use std::sync::OnceLock;

use super::candidate::Candidate;
use super::context::{ChoiceContext, PLAN_NAMES, plan_index, size};
use super::network_input::{Feature, NetworkInput};
use super::operands::{self, OF_BOTH, OF_EACH, Operands};
use super::question_features::{CUES, cues};
use super::traits::TRAITS;
use crate::answering::variants::VARIANTS;
use crate::distinct;
use crate::question::feature_values::{count, flag};
use crate::question::plan::{Pairing, ProgramPlan};
use crate::reading::facts::Fact;
use crate::shape::SHAPES;
use crate::sketch::SKETCHES;

/// The first features; those of the facts, the traits and the cues follow. Their order is part of
/// `weights/network.json`. The values for what is missing, such as -1, are set by hand, and the
/// weights are fitted to them.
#[rustfmt::skip] // A table: rustfmt would give most of its rows four lines.
const FIRST: [Feature; 53] = [
    ("rough score", |s| s.candidate.rough_score),
    ("behind the best rough score", |s| s.best - s.candidate.rough_score),
    ("rank by rough score", |s| count(s.rank)),
    ("candidates of the same value", |s| count(s.candidate.votes)),
    ("shape as proposed", |s| s.context.odds_of_shape(s.shape)),
    ("rank of the shape", |s| {
        let odds = s.context.odds_of_shape(s.shape);
        count(s.context.shape_odds.iter().filter(|other| **other > odds).count())
    }),
    ("lead of the likeliest shape", |s| lead(&s.context.shape_odds)),
    ("look-up as proposed", |s| s.context.odds_of_shape(0)),
    ("shape", |s| count(s.shape)),
    ("variant", |s| count(s.candidate.filled.variant)),
    ("plan", |s| count(plan_index(s.plan).unwrap_or(PLAN_NAMES.len()))),
    ("pairing", |s| match s.plan.pairing {
        Pairing::Free => 0.0,
        Pairing::Periods => 1.0,
        Pairing::Parts => 2.0,
    }),
    ("slot score", |s| s.candidate.filled.score),
    ("lowest slot score", |s| s.candidate.filled.lowest),
    ("numbers", |s| count(s.leaves.len())),
    ("distinct numbers", |s| count(distinct(s.leaves.iter().map(|leaf| &*leaf.literal)).len())),
    ("cells", |s| s.count_of(|fact| fact.cell().is_some())),
    ("percentages", |s| s.count_of(|fact| fact.percent)),
    ("amounts of money", |s| s.count_of(|fact| fact.dollar)),
    ("rows", |s| count(distinct(s.cells().map(|(row, _)| row)).len())),
    ("columns", |s| count(distinct(s.cells().map(|(_, column)| column)).len())),
    ("rows apart", |s| s.apart(|(row, _)| row)),
    ("columns apart", |s| s.apart(|(_, column)| column)),
    ("first from a total row", |s| flag(s.fact(0).is_some_and(|fact| fact.total))),
    ("second from a total row", |s| flag(s.fact(1).is_some_and(|fact| fact.total))),
    ("first row", |s| s.cell(0).map_or(-1.0, |(row, _)| count(row))),
    ("first column", |s| s.cell(0).map_or(-1.0, |(_, column)| count(column))),
    ("last row of all", |s| flag(s.cells().any(|(row, _)| row + 1 == s.context.facts.rows.len()))),
    ("last column of all", |s| {
        flag(s.cells().any(|(_, column)| column + 1 == s.context.facts.columns.len()))
    }),
    ("years apart", |s| {
        let latest = |k| s.fact(k).and_then(Fact::latest_year);
        latest(0).zip(latest(1)).map_or(-50.0, |(a, b)| f64::from(a) - f64::from(b))
    }),
    ("first fact's rank", |s| s.rank(0)),
    ("second fact's rank", |s| s.rank(1)),
    ("first fact's score", |s| s.score(0)),
    ("second fact's score", |s| s.score(1)),
    ("best fact's score", |s| s.top()),
    ("best fact not used", |s| {
        let best = s.context.best_facts.first();
        flag(!best.is_some_and(|(best, _)| s.used.iter().any(|(index, _)| index == best)))
    }),
    ("size", |s| size(s.value)),
    ("whole number", |s| flag(s.value.is_some_and(|v| v.fract().abs() <= 0.0))),
    ("negative", |s| flag(s.value.is_some_and(|v| v < 0.0))),
    ("years asked for", |s| count(s.context.asked.years.len())),
    ("words", |s| count(s.context.words.len())),
    ("earlier turns", |s| count(s.context.earlier.len())),
    ("stand-alone", |s| flag(s.context.as_stand_alone)),
    ("value on the page", |s| flag(s.used.len() > 1 && s.value.is_some_and(|v| s.is_printed(v)))),
    ("words of no number's label", |s| s.context.uncovered(&s.candidate.filled.expr)),
    ("own history", |s| flag(s.context.own_history)),
    ("last answer behind its best fact", |s| s.context.misfits[0]),
    ("answer before behind its best fact", |s| s.context.misfits[1]),
    ("largest or smallest asked for", |s| s.extreme()),
    ("sketch as proposed", |s| s.sketch.map_or(0.0, |sketch| sketch.odds)),
    ("rank of the sketch", |s| s.sketch.map_or(0.0, |sketch| count(sketch.likelier))),
    ("lead of the likeliest sketch", |s| s.context.sketch_odds.as_ref().map_or(0.0, |all| lead(all))),
    // The last number is for a stand-alone question.
    ("sketch", |s| count(s.sketch.map_or(SKETCHES.len(), |sketch| sketch.index))),
];

/// The features whose values number categories: shape, variant, plan and sketch. Each entry has the
/// feature's index and the number of its values. The last plan is any that is not listed.
pub(crate) const CATEGORIES: [(usize, usize); 4] = [
    (8, SHAPES.len()),
    (9, VARIANTS.len()),
    (10, PLAN_NAMES.len() + 1),
    (52, SKETCHES.len() + 1),
];

/// Number of features.
pub(crate) const NETWORK_FEATURES: usize =
    FIRST.len() + 2 * OF_EACH.len() + OF_BOTH.len() + TRAITS.len() + CUES.len() + COMPARED;

/// Features for which the network also sees the difference from the highest value of all
/// candidates.
const BELOW: [&str; 13] = [
    "sketch as proposed", "shape as proposed", "slot score", "lowest slot score",
    "first fact's score", "second fact's score", "first fact: question words",
    "second fact: question words", "first fact: share of its label",
    "second fact: share of its label", "both facts: words of both labels",
    "both facts: as the things named", "both facts: as the periods",
];
/// Features for which the network also sees the difference from the lowest value of all candidates.
const ABOVE: [&str; 4] = [
    "words of no number's label", "both facts: words of neither",
    "first fact: label words not asked for", "second fact: label words not asked for",
];

/// The names of all features, in order.
pub(crate) fn names() -> Vec<String> {
    let own = FIRST.iter().map(|(name, _)| (*name).to_owned());
    let of = |which: &str| OF_EACH.map(|name| format!("{which} fact: {name}"));
    let each = ["first", "second"].into_iter().flat_map(of);
    let both = OF_BOTH.iter().map(|name| format!("both facts: {name}"));
    let own = own.chain(each).chain(both);
    let traits = TRAITS.iter().map(|(name, _)| format!("trait: {name}"));
    let cues = CUES.iter().map(|(name, _)| format!("cue: {name}"));
    let below = BELOW.iter().map(|name| format!("below: {name}"));
    let above = ABOVE.iter().map(|name| format!("above: {name}"));
    let own = own.chain(traits).chain(cues);
    own.chain(below).chain(above).collect()
}

/// Number of features that compare a candidate with the others; they come last.
const COMPARED: usize = BELOW.len() + ABOVE.len();

/// The features of the candidates: [`NETWORK_FEATURES`] numbers for each, one after the other.
pub(crate) fn network_features(
    context: &ChoiceContext<'_>,
    plans: &[ProgramPlan],
    candidates: &[Candidate],
) -> Vec<f64> {
    let operands = Operands::new(context, candidates.iter().map(|one| &one.filled.expr));
    let cues = cues(context);
    let mut out = Vec::with_capacity(candidates.len() * NETWORK_FEATURES);
    let best = candidates.first().map_or(0.0, |one| one.rough_score);
    for (rank, one) in candidates.iter().enumerate() {
        if let Some(plan) = plans.get(one.filled.plan) {
            let seen = NetworkInput::new(context, plan, one, &operands, (rank, best));
            of(&seen, &cues, &mut out);
        }
    }
    compare(&mut out);
    out
}

/// Fills the last features of each candidate, which compare it with the others. `candidates` has
/// [`NETWORK_FEATURES`] numbers for each candidate.
fn compare(candidates: &mut [f64]) {
    static PLACES: OnceLock<Vec<(usize, bool)>> = OnceLock::new();
    let places = PLACES.get_or_init(|| {
        let names = names();
        let place = |name: &&str| names.iter().position(|known| known == name);
        let below = BELOW.iter().filter_map(place).map(|at| (at, true));
        let above = ABOVE.iter().filter_map(place).map(|at| (at, false));
        below.chain(above).collect()
    });
    for (to, (at, highest)) in (NETWORK_FEATURES - COMPARED..).zip(places) {
        let rows = candidates.chunks_exact(NETWORK_FEATURES);
        let values = rows.filter_map(|one| one.get(*at).copied());
        let end = if *highest {
            values.fold(f64::MIN, f64::max)
        } else {
            values.fold(f64::MAX, f64::min)
        };
        for one in candidates.chunks_exact_mut(NETWORK_FEATURES) {
            let value = one.get(*at).copied().unwrap_or_default();
            if let Some(slot) = one.get_mut(to) {
                *slot = value - end;
            }
        }
    }
}

/// Appends the features of a candidate; those that [`compare`] fills are zero.
fn of(seen: &NetworkInput<'_>, cues: &[f64], out: &mut Vec<f64>) {
    out.extend(FIRST.iter().map(|(_, value)| value(seen)));
    operands::of(seen.context, seen.plan, &seen.used, seen.operands, out);
    out.extend(TRAITS.iter().map(|(_, value)| value(seen)));
    out.extend(cues);
    out.resize(out.len() + COMPARED, 0.0);
}

/// The log-odds of the second likeliest class; the lower they are, the clearer the likeliest one
/// leads. At least -20.
fn lead(odds: &[f64]) -> f64 {
    let others = odds.iter().copied().filter(|p| *p < 0.0);
    others.fold(-20.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_its_own_name() {
        let mut names = names();
        let all = names.len();
        assert_eq!(all, NETWORK_FEATURES);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
        let categories = CATEGORIES.map(|(at, _)| FIRST[at].0);
        assert_eq!(categories, ["shape", "variant", "plan", "sketch"]);
        assert_eq!(SHAPES.first(), Some(&"look-up"), "`look-up as proposed`");
    }
}
