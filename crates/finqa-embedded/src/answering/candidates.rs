//! Collects the candidates: the programs that can answer a question. The network chooses one.

use super::filling::{FilledPlan, JointChoices, fill};
use super::variants::variants;
use crate::expr::Expr;
use crate::question::by_words;
use crate::question::plan::ProgramPlan;
use crate::ranking::{Candidate, ChoiceContext};
use crate::shape::shape;
use finqa_core::program::Op;

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

/// Maximum number of candidates that the network compares. A stand-alone question names more than a
/// turn does, so its right facts often rank lower.
pub(crate) const fn most_compared(as_stand_alone: bool) -> usize {
    if as_stand_alone { 64 } else { 48 }
}

/// The fillings of the plans and their variants, at most `most`, sorted by their rough score. A
/// program that several plans make counts for the first of them.
pub(crate) fn candidates(
    context: &ChoiceContext<'_>,
    plans: &[ProgramPlan],
    most: usize,
) -> Vec<Candidate> {
    // When the numbers for a stand-alone question were raised from 8 fillings and 32 candidates,
    // the share of FinQA dev questions with a right candidate rose from 80.5 to 82.9 %, although
    // plans were removed at the same time.
    let fillings = if context.as_stand_alone { 20 } else { 8 };
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
                let behind_plan = best - filled.score;
                out.push(Candidate {
                    rough_score: rough_score(context, plan, &filled, behind_plan),
                    behind_plan,
                    votes: 0,
                    hash: hash(&filled.expr),
                    filled,
                });
            }
        }
    }
    // A stable sort: on a tie, the program of the earlier plan comes first.
    out.sort_by(|a, b| b.rough_score.total_cmp(&a.rough_score));
    // Taken before the cut, so that the candidates that are cut have votes too.
    let values: Vec<Option<f64>> = out.iter().map(|one| one.filled.expr.number()).collect();
    // An override decides without a score, so its candidates stay however low their scores are.
    let mut place = 0..;
    out.retain(|one| {
        let meets = |rule: &Rule| rule(context, plans, &one.filled);
        place.next().is_some_and(|at| at < most) || OVERRIDES.iter().any(meets)
    });
    for one in &mut out {
        let value = one.filled.expr.number();
        one.votes = values.iter().filter(|other| **other == value).count();
    }
    out
}

/// A score that decides which candidates the network compares: the prior of the plan, how well the
/// facts fit, the odds of shape and sketch, and less for a variant. The factors are set by hand,
/// close to those that a linear model of all traits had learned. With it, 76.8 % of 1,446
/// stand-alone questions have a right candidate among the compared, and 95.1 % of 1,705 turns; of
/// all candidates, 79.7 and 95.9 %.
fn rough_score(
    context: &ChoiceContext<'_>,
    plan: &ProgramPlan,
    filled: &FilledPlan,
    behind_plan: f64,
) -> f64 {
    let fit = if plan.slots.is_empty() {
        1.2
    } else {
        0.28 * filled.lowest + 0.04 * filled.score - 1.4 * behind_plan
    };
    let shape_odds = context.odds_of_shape(shape(&filled.expr)).max(-8.0);
    let sketch_odds = context.sketch_odds_of(&filled.expr).max(-8.0);
    let variant = if filled.variant == 0 { 0.0 } else { 0.6 };
    0.8 * libm::log(plan.prior.max(0.01)) + fit + 0.6 * shape_odds + 0.3 * sketch_odds - variant
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
