//! Chooses among candidates. A linear model scores all of them by their shape, how well their facts
//! fit, and what they repeat from earlier turns; a neural network then ranks the best of them
//! again.
//!
//! `question::slot_scorer` ranks facts for a slot; this ranks whole programs. The trainer fits the
//! weights in `weights/weights.json` (`choice`) and `weights/network.json`.
//!
//! Reading order: `context` is the question as all features see it. `traits` has the features of a
//! candidate that both models see. `question_features`, `operands` and `network_features` have
//! those that only the network sees, and `network` computes its scores. The functions
//! `linear_features` and `network_features` compute all that a model sees.
//!
//! The limits of features, and their values for what a candidate lacks (such as -20 for the score
//! of a missing fact), are set by hand. The weights are fitted to these values, so other ones need
//! new weights.

mod candidate;
mod context;
pub(crate) mod network;
mod network_features;
mod operands;
mod question_features;
mod traits;

use crate::answering::filling::FilledPlan;
use crate::answering::variants::VARIANTS;
use crate::question::plan::ProgramPlan;
use crate::shape::{SHAPES, shape};
pub(crate) use candidate::{Candidate, LinearRank};
pub(crate) use context::ChoiceContext;
use context::{FIRST_TRAIT, PLAN_NAMES, plan_index};
pub(crate) use network_features::{NETWORK_FEATURES, names as network_names, network_features};
use traits::TRAITS;

/// The names of the features of the linear model, in order.
pub(crate) fn linear_names() -> Vec<String> {
    // In the weights file, a shape or a variant is a "kind", and a plan is a "rule". "By itself" is
    // each plan that `question::follow_up` has not made, also that of a sketch in a conversation.
    let shapes = SHAPES.iter().chain(VARIANTS.iter().skip(1));
    let mut out: Vec<String> = shapes.map(|shape| format!("kind: {shape}")).collect();
    out.extend(TRAITS.iter().map(|name| (*name).to_owned()));
    for place in ["follow-up", "by itself"] {
        let names = PLAN_NAMES.iter();
        out.extend(names.map(|name| format!("rule: {name}, {place}")));
    }
    out
}

/// The non-zero features of a candidate for the linear model: index and value. `best` is the slot
/// score of its plan's best filling.
pub(crate) fn linear_features(
    context: &ChoiceContext<'_>,
    plan: &ProgramPlan,
    filled: &FilledPlan,
    best: f64,
) -> Vec<(usize, f64)> {
    // Enough for all: a shape, a variant, 45 traits and a plan.
    let mut out: Vec<(usize, f64)> = Vec::with_capacity(48);
    let shape = shape(&filled.expr);
    out.push((shape, 1.0));
    if let Some(variant) = filled.variant.checked_sub(1) {
        out.push((SHAPES.len() + variant, 1.0));
    }
    let traits = traits::of(context, plan, filled, best, shape);
    let traits = (FIRST_TRAIT..).zip(traits);
    out.extend(traits.filter(|(_, value)| value.abs() > 0.0));
    // The last name is "another".
    let name = plan_index(plan).unwrap_or(PLAN_NAMES.len() - 1);
    let by_itself = usize::from(filled.plan >= context.follow_ups);
    let names = FIRST_TRAIT + TRAITS.len() + by_itself * PLAN_NAMES.len();
    out.push((names + name, 1.0));
    out
}

/// The score of the linear model. A feature without a weight counts nothing.
pub(crate) fn linear_score(features: &[(usize, f64)], weights: &[f64]) -> f64 {
    let weight = |i: usize| weights.get(i).copied().unwrap_or_default();
    features.iter().map(|(i, value)| value * weight(*i)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of features: the shapes, the variants, the traits, and the plans twice, for
    /// follow-ups and for questions by themselves.
    const NAMES: usize = FIRST_TRAIT + TRAITS.len() + 2 * PLAN_NAMES.len();

    #[test]
    fn every_feature_has_its_own_name() {
        let mut names = linear_names();
        assert_eq!(names.len(), NAMES);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), NAMES);
    }
}
