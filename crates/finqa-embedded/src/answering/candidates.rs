//! Collects the candidates: the programs that can answer a question, with their features and ranks
//! for the choice.

use super::filling::{FilledPlan, JointChoices, fill};
use super::variants::variants;
use crate::expr::Expr;
use crate::question::by_words;
use crate::question::plan::ProgramPlan;
use crate::ranking::{self, Candidate, ChoiceContext, LinearRank};
use crate::shape::shape;
use finqa_core::program::Op;

/// The candidates to collect.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    /// All candidates. The linear model learns from them.
    All,
    /// A fixed number of candidates with the best scores of the linear model. The network learns
    /// from them.
    Best,
    /// The best candidates whose scores are close to the first one's. The network compares them to
    /// choose the answer.
    Compared,
}

/// Maximum number of facts that are tried for a slot. Set by hand. It matters only for stand-alone
/// questions, because a turn has fewer `fillings`. The trainer's examples use another number,
/// `training::EXAMPLE_FACTS`.
const FACTS_PER_SLOT: usize = 14;

/// True if a candidate meets the rule.
type Rule = fn(&ChoiceContext<'_>, &[ProgramPlan], &FilledPlan) -> bool;

/// Rules that override the network: if a candidate meets one, the others are dropped. A yes/no
/// question is answered by a comparison; a compound rate, and a question whose words leave one
/// calculation only, are answered by the plans made for them.
///
/// The network only compares scores, so without the first rule it could answer yes or no with a
/// number. The third made 8 of the 711 FinQA dev questions right and none wrong
/// ([`by_words::ONLY_CALCULATION`]). The second has no recorded measurement.
pub(crate) const OVERRIDES: [Rule; 3] = [
    |context, _, filled| {
        let compares = matches!(filled.expr.top(), Some((Op::Greater, ..)));
        compares && context.asked.asks_yes_no()
    },
    |_, plans, filled| plan_name(plans, filled) == by_words::COMPOUND_GROWTH,
    |context, plans, filled| {
        let first = context.earlier.is_empty();
        first && by_words::ONLY_CALCULATION.contains(&plan_name(plans, filled))
    },
];

fn plan_name(plans: &[ProgramPlan], filled: &FilledPlan) -> &'static str {
    plans.get(filled.plan).map_or("", |plan| plan.name)
}

/// The fillings of the plans and their variants, sorted by the score of the linear model (`weights`
/// are its weights). A program that several plans make counts for the first of them.
pub(crate) fn candidates(
    context: &ChoiceContext<'_>,
    plans: &[ProgramPlan],
    weights: &[f64],
    pool: Pool,
) -> Vec<Candidate> {
    // A stand-alone question names more than a turn does, so its right facts often rank lower. When
    // its limits were raised from 8 and 32, the share of FinQA dev questions with a right candidate
    // rose from 80.5 to 82.9 %, although plans were removed at the same time.
    let (fillings, most) = if context.as_stand_alone {
        (20, 64)
    } else {
        (8, 32)
    };
    // Comparing only those that are at most 5.0 behind saves time: for only two of 5,750 questions
    // did the network choose a candidate farther behind. A turn compares all of its 32.
    let (most, farthest) = match pool {
        Pool::All => (usize::MAX, f64::INFINITY),
        Pool::Compared if context.as_stand_alone => (most, 5.0),
        Pool::Best | Pool::Compared => (most, f64::INFINITY),
    };
    let mut out: Vec<Candidate> = Vec::new();
    let scale = context.asked.common().scale;
    let mut choices = JointChoices::new(fillings.min(FACTS_PER_SLOT), fillings);
    for (i, plan) in plans.iter().enumerate() {
        let filled = fill(context.facts, plan, i, &mut choices);
        let best = filled.first().map_or(0.0, |f| f.score);
        for filled in filled {
            // A filling that an earlier plan made too is skipped; its variants were added then. One
            // that is so far only a variant of another still gets variants of its own.
            if seen(&out, &filled.expr).is_some_and(|one| one.filled.variant == 0) {
                continue;
            }
            let others = variants(context.facts, &filled, scale);
            for filled in std::iter::once(filled).chain(others) {
                if seen(&out, &filled.expr).is_some() {
                    continue;
                }
                let features = ranking::linear_features(context, plan, &filled, best);
                let linear = LinearRank {
                    score: ranking::linear_score(&features, weights),
                    ..LinearRank::default()
                };
                out.push(Candidate {
                    hash: hash(&filled.expr),
                    filled,
                    features,
                    linear,
                });
            }
        }
    }
    // A stable sort: on a tie, the program of the earlier plan comes first.
    out.sort_by(|a, b| b.linear.score.total_cmp(&a.linear.score));
    // Taken before the cut, so that the candidates that are cut have votes too.
    let values: Vec<Option<f64>> = out.iter().map(|one| one.filled.expr.number()).collect();
    out.truncate(most);
    set_ranks(&mut out, &values);
    // A rule decides without a score, so its candidates stay however far behind they are.
    out.retain(|one| {
        let meets = |rule: &Rule| rule(context, plans, &one.filled);
        one.linear.behind <= farthest || OVERRIDES.iter().any(meets)
    });
    out
}

/// Sets the ranks of candidates that are sorted by score, and how far they are behind the best.
/// `values` has the values of all candidates in the same order, also of those that were cut.
fn set_ranks(sorted: &mut [Candidate], values: &[Option<f64>]) {
    let top = sorted.first().map_or(0.0, |one| one.linear.score);
    let mut shapes: Vec<(usize, f64, usize)> = Vec::new();
    for (rank, one) in sorted.iter_mut().enumerate() {
        let value = values.get(rank).copied().flatten();
        let shape = shape(&one.filled.expr);
        match shapes.iter_mut().find(|(known, ..)| *known == shape) {
            Some((_, best, seen)) => {
                one.linear.rank_in_shape = *seen;
                one.linear.behind_shape = *best - one.linear.score;
                *seen += 1;
            }
            None => shapes.push((shape, one.linear.score, 1)),
        }
        one.linear.behind = top - one.linear.score;
        one.linear.rank = rank;
        one.linear.votes = values.iter().filter(|other| **other == value).count();
    }
}

/// The candidate that has an expression.
fn seen<'a>(candidates: &'a [Candidate], expr: &Expr) -> Option<&'a Candidate> {
    let hash = hash(expr);
    let mut alike = candidates.iter().filter(|one| one.hash == hash);
    alike.find(|one| one.filled.expr == *expr)
}

/// A hash of an expression, because comparing hashes is faster than comparing literals. Different
/// expressions may have equal hashes: [`seen`] compares the expressions too. The multiplier is 2^64
/// over the golden ratio, as in Fibonacci hashing; the rotation is set by hand.
fn hash(expr: &Expr) -> u64 {
    let mix = |a: u64, b: u64| (a ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    match expr {
        Expr::Leaf(leaf) => mix(
            leaf.value.to_bits(),
            leaf.source.map_or(u64::MAX, |source| source as u64),
        ),
        Expr::Step(op, a, b) => mix(mix(*op as u64, hash(a)), hash(b)),
    }
}
