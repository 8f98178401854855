//! The programs that may answer a question, and what the choice knows of each.

use super::filling::{FilledPlan, JointChoices, fill};
use super::variants::variants;
use crate::expr::Expr;
use crate::question::alone;
use crate::question::plan::ProgramPlan;
use crate::ranking::{self, ChoiceContext, LinearRank, Operands};
use crate::shape::shape;
use finqa_core::program::Op;

/// How many candidates there are.
struct Breadth {
    /// The most fillings of a plan.
    fillings: usize,
    /// The most candidates that the network compares.
    compared: usize,
    /// How far one that is compared may be behind the best by the linear model.
    behind: f64,
}

impl Breadth {
    /// For a question by itself, which names more than a turn does, the right facts come later.
    /// Of 5,750 on FinQA's training pages the network chose a candidate farther behind for two.
    fn of(context: &ChoiceContext<'_>) -> Self {
        let (fillings, compared, behind) = match context.alone {
            true => (20, 64, 5.0),
            false => (8, 32, f64::INFINITY),
        };
        Self {
            fillings,
            compared,
            behind,
        }
    }
}

type Wanted = fn(&ChoiceContext<'_>, &ProgramPlan, &FilledPlan) -> bool;

/// What answers whatever the network prefers, if a candidate does it: yes or no is answered by a
/// comparison, a compound rate and what is described in full by their plans.
pub(crate) const WANTED: [Wanted; 3] = [
    |context, _, filled| {
        let compares = matches!(filled.expr.top(), Some((Op::Greater, ..)));
        compares && context.asked.asks_yes_no()
    },
    |_, plan, _| plan.name == alone::COMPOUND_GROWTH,
    |context, plan, _| context.state.turns.is_empty() && alone::DESCRIBED.contains(&plan.name),
];

/// A program that may answer, and what the choice knows of it.
pub(crate) struct Candidate {
    pub(crate) filled: FilledPlan,
    mark: u64,
    /// Its features that are not zero.
    pub features: Vec<(usize, f64)>,
    pub(crate) rank: LinearRank,
}

/// What the network sees of each candidate: its [`ranking::FEATURES`], then those of the next.
pub(crate) fn details(
    context: &ChoiceContext<'_>,
    plans: &[ProgramPlan],
    compared: &[Candidate],
) -> Vec<f64> {
    let operands = Operands::new(context, compared.iter().map(|one| &one.filled.expr));
    let mut out = Vec::with_capacity(compared.len() * ranking::FEATURES);
    for one in compared {
        if let Some(plan) = plans.get(one.filled.plan) {
            let (filled, rank) = (&one.filled, &one.rank);
            let features = &one.features;
            ranking::detail(context, plan, filled, features, rank, &operands, &mut out);
        }
    }
    ranking::compare(&mut out);
    out
}

/// The fillings of all plans and their variants, best by the linear model first: `all`, or those
/// that the network compares. A program that several plans give counts for the first.
pub(crate) fn candidates(
    context: &ChoiceContext<'_>,
    plans: &[ProgramPlan],
    linear: &[f64],
    all: bool,
) -> Vec<Candidate> {
    let mut out: Vec<Candidate> = Vec::new();
    let scale = context.asked.of_all().scale;
    let breadth = Breadth::of(context);
    let mut choices = JointChoices::default();
    for (i, plan) in plans.iter().enumerate() {
        let filled = fill(context.facts, plan, i, breadth.fillings, &mut choices);
        let best = filled.first().map_or(0.0, |f| f.score);
        for filled in filled {
            // What another plan gave has the same variants, which were added with it.
            if seen(&out, &filled.expr).is_some_and(|one| one.filled.variant == 0) {
                continue;
            }
            let others = variants(context.facts, &filled, scale);
            for filled in std::iter::once(filled).chain(others) {
                if seen(&out, &filled.expr).is_some() {
                    continue;
                }
                let features = ranking::features(context, plan, &filled, best);
                let rank = LinearRank {
                    linear: ranking::score(&features, linear),
                    ..LinearRank::default()
                };
                out.push(Candidate {
                    mark: mark(&filled.expr),
                    filled,
                    features,
                    rank,
                });
            }
        }
    }
    out.sort_by(|a, b| b.rank.linear.total_cmp(&a.rank.linear));
    let values: Vec<Option<f64>> = out.iter().map(|one| one.filled.expr.number()).collect();
    let top = out.first().map_or(0.0, |one| one.rank.linear);
    if !all {
        out.truncate(breadth.compared);
    }
    let mut shapes: Vec<(usize, f64, usize)> = Vec::new();
    for (rank, one) in out.iter_mut().enumerate() {
        let value = values.get(rank).copied().flatten();
        let shape = shape(&one.filled.expr);
        match shapes.iter_mut().find(|(known, ..)| *known == shape) {
            Some((_, best, seen)) => {
                one.rank.rank_in_shape = *seen;
                one.rank.behind_shape = *best - one.rank.linear;
                *seen += 1;
            }
            None => shapes.push((shape, one.rank.linear, 1)),
        }
        one.rank.behind = top - one.rank.linear;
        one.rank.rank = rank;
        one.rank.votes = values.iter().filter(|other| **other == value).count();
    }
    if !all {
        out.retain(|one| {
            let plan = plans.get(one.filled.plan);
            let is = |wanted: &Wanted| plan.is_some_and(|plan| wanted(context, plan, &one.filled));
            one.rank.behind <= breadth.behind || WANTED.iter().any(is)
        });
    }
    out
}

/// The candidate that has an expression.
fn seen<'a>(candidates: &'a [Candidate], expr: &Expr) -> Option<&'a Candidate> {
    let mark = mark(expr);
    let mut alike = candidates.iter().filter(|one| one.mark == mark);
    alike.find(|one| one.filled.expr == *expr)
}

/// A hash of an expression: most differ by it, which is faster to see than by their literals.
fn mark(expr: &Expr) -> u64 {
    let mix = |a: u64, b: u64| (a ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    match expr {
        Expr::Leaf(leaf) => mix(
            leaf.value.to_bits(),
            leaf.source.map_or(u64::MAX, |source| source as u64),
        ),
        Expr::Step(op, a, b) => mix(mix(*op as u64, mark(a)), mark(b)),
    }
}
