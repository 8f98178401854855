//! The choice among candidates: a linear model over how well a candidate's facts fit,
//! what kind of calculation it is, what the question says, and which values earlier turns
//! have given.
//!
//! `slots` ranks facts for a slot; this ranks whole programs. Its weights are in
//! `data/offline_weights.json`, fitted by `examples/offline_train`.

mod cues;
mod shape;
mod traits;

use super::filling::FilledPlan;
use crate::offline::question::conversation::EarlierTurns;
use crate::offline::question::plan::ProgramPlan;
use crate::offline::question::slots::weighted;
use crate::offline::question::wording::Wording;
use crate::offline::reading::facts::Facts;

use cues::CUES;
use shape::{SHAPES, shape};
use traits::TRAITS;

pub(crate) const VARIANTS: [&str; 7] = [
    "as planned",
    "difference swapped",
    "change on the other base",
    "change swapped",
    "ratio swapped",
    "other sign",
    "in the scale asked for",
];

/// Names of the rules, which identify their plans.
const RULES: [&str; 24] = [
    "look-up",
    "relative change",
    "difference",
    "ratio",
    "sum",
    "average",
    "product",
    "comparison",
    "return",
    "difference of returns",
    "constant",
    "conversion",
    "same again",
    "unit price",
    "difference of changes",
    "roll-forward",
    "margin",
    "count times price",
    "difference over",
    "both",
    "series sum",
    "series average",
    "series range",
    "another",
];

/// The features' names, in order.
pub(crate) fn names() -> Vec<String> {
    let crossed = SHAPES.iter().chain(VARIANTS.iter().skip(1));
    let mut out: Vec<String> = crossed
        .flat_map(|what| CUES.iter().map(move |(cue, _)| format!("{what}, {cue}")))
        .collect();
    out.extend(TRAITS.iter().map(|name| (*name).to_owned()));
    for place in ["follow-up", "by itself"] {
        out.extend(RULES.iter().map(|rule| format!("rule: {rule}, {place}")));
    }
    out
}

/// A question in its conversation, read once for all candidates.
pub(crate) struct ChoiceContext<'a> {
    pub facts: &'a Facts,
    pub asked: &'a Wording,
    pub state: &'a EarlierTurns,
    /// Its content words and their weights.
    pub words: Vec<(u32, f64)>,
    /// It names nothing that the last turns did not name.
    pub(crate) refers: bool,
    /// It names no thing at all.
    pub bare: bool,
    /// How many plans belong to a follow-up; they come first.
    pub(crate) follow_ups: usize,
    pub percent: bool,
    /// Literals of earlier turns, without their minus signs.
    pub(crate) earlier_literals: Vec<String>,
    cues: Vec<usize>,
}

impl<'a> ChoiceContext<'a> {
    pub fn new(
        facts: &'a Facts,
        asked: &'a Wording,
        state: &'a EarlierTurns,
        follow_ups: usize,
    ) -> Self {
        let bare = crate::offline::question::conversation::is_bare(asked);
        let mut context = Self {
            facts,
            asked,
            state,
            words: weighted(facts, &asked.content()).0,
            refers: !state.turns.is_empty()
                && (bare
                    || crate::offline::question::follow_up::names_the_same(facts, asked, state)),
            bare,
            follow_ups,
            percent: asked.percent(),
            earlier_literals: state
                .turns
                .iter()
                .flat_map(|turn| turn.expr.leaves())
                .map(|leaf| leaf.literal.trim_start_matches('-').to_owned())
                .collect(),
            cues: Vec::new(),
        };
        context.cues = CUES
            .iter()
            .enumerate()
            .filter(|(_, (_, holds))| holds(&context))
            .map(|(i, _)| i)
            .collect();
        context
    }

    /// The features of a candidate that are not zero; `best` is the slot score of
    /// its plan's best filling.
    pub fn features(
        &self,
        plan: &ProgramPlan,
        filled: &FilledPlan,
        best: f64,
    ) -> Vec<(usize, f64)> {
        let mut out: Vec<(usize, f64)> = Vec::with_capacity(48);
        let shape = shape(&filled.expr);
        out.extend(self.cues.iter().map(|cue| (shape * CUES.len() + cue, 1.0)));
        if let Some(variant) = filled.variant.checked_sub(1) {
            let from = (SHAPES.len() + variant) * CUES.len();
            out.extend(self.cues.iter().map(|cue| (from + cue, 1.0)));
        }
        let from = (SHAPES.len() + VARIANTS.len() - 1) * CUES.len();
        let traits = traits::of(self, plan, filled, best, shape);
        out.extend(
            traits
                .into_iter()
                .enumerate()
                .filter(|(_, value)| value.abs() > 0.0)
                .map(|(i, value)| (from + i, value)),
        );
        let rule = RULES
            .iter()
            .position(|rule| *rule == plan.name)
            .unwrap_or(RULES.len() - 1);
        let place = if filled.plan < self.follow_ups {
            0
        } else {
            RULES.len()
        };
        out.push((from + TRAITS.len() + place + rule, 1.0));
        out
    }
}

pub(crate) fn score(features: &[(usize, f64)], weights: &[f64]) -> f64 {
    features
        .iter()
        .map(|(i, value)| value * weights.get(*i).copied().unwrap_or_default())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many features there are: shape by cue, variant by cue, traits, and the
    /// rules, for follow-ups and for questions by themselves.
    const FEATURES: usize =
        (SHAPES.len() + VARIANTS.len() - 1) * CUES.len() + TRAITS.len() + 2 * RULES.len();

    #[test]
    fn every_feature_has_its_own_name() {
        let mut names = names();
        assert_eq!(names.len(), FEATURES);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), FEATURES);
    }
}
