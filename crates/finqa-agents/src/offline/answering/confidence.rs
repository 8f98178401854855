//! The probability that an answer is right: a logistic model over a few signals.
//!
//! Fitted on the solver's own runs, so that an answer built on an earlier one carries the
//! earlier one's doubt too; `docs/offline.md` has the reliability table.

use super::filling::FilledPlan;
use crate::offline::question::conversation::EarlierTurns;
use crate::offline::question::plan::ProgramPlan;
use crate::offline::question::wording::Wording;
use crate::offline::reading::facts::Facts;
use finqa_core::number::{UnitKind, Value};

pub(crate) const SIGNAL_NAMES: [&str; 14] = [
    "always",
    "margin over the next best choice",
    "score of the choice",
    "nothing to be found on the page",
    "slots",
    "earlier turns",
    "all from the table",
    "a year asked for is missing",
    "implausible magnitude",
    "look-up",
    "ratio",
    "difference",
    "relative change",
    "constant",
];

/// The signals of the best of the ranked fillings, in the order of [`SIGNAL_NAMES`].
pub(crate) fn signals(
    facts: &Facts,
    asked: &Wording,
    state: &EarlierTurns,
    plans: &[ProgramPlan],
    ranked: &[(f64, FilledPlan)],
) -> Vec<f64> {
    let flag = |condition: bool| f64::from(u8::from(condition));
    let Some((_, best)) = ranked.first() else {
        return vec![0.0; SIGNAL_NAMES.len()];
    };
    let Some(plan) = plans.get(best.plan) else {
        return vec![0.0; SIGNAL_NAMES.len()];
    };
    let open = !plan.slots.is_empty();
    let rival = ranked
        .iter()
        .skip(1)
        .find(|(_, other)| other.plan == best.plan && other.expr.number() != best.expr.number());
    let margin = rival.map_or(3.0, |(_, other)| (best.score - other.score).clamp(0.0, 3.0));
    let years: Vec<u16> = best
        .expr
        .leaves()
        .into_iter()
        .filter_map(|l| facts.all.get(l.source?))
        .flat_map(|f| f.years.iter().copied())
        .collect();
    let in_table = best
        .expr
        .leaves()
        .into_iter()
        .filter_map(|l| facts.all.get(l.source?))
        .all(|f| f.cell().is_some());
    #[allow(
        clippy::cast_precision_loss,
        reason = "a conversation has a handful of turns"
    )]
    let (slots, turns) = (plan.slots.len() as f64, state.turns.len() as f64);
    vec![
        1.0,
        flag(open) * margin,
        flag(open) * best.score.clamp(-5.0, 15.0) / 10.0,
        flag(!open),
        slots.min(4.0),
        turns.min(5.0),
        flag(in_table),
        flag(!asked.years.is_empty() && asked.years.iter().any(|y| !years.contains(y))),
        best.expr
            .value()
            .map_or(0.0, |v| flag(!plausible(plan.kind, &v))),
        flag(plan.name == "look-up"),
        flag(plan.name == "ratio"),
        flag(plan.name == "difference"),
        flag(plan.name == "relative change"),
        flag(matches!(plan.name, "constant" | "conversion")),
    ]
}

pub(crate) fn probability(signals: &[f64], weights: &[f64]) -> f64 {
    let z: f64 = signals.iter().zip(weights).map(|(s, w)| s * w).sum();
    1.0 / (1.0 + (-z).exp())
}

/// Whether a share or change has a size that reports have.
fn plausible(kind: UnitKind, value: &Value) -> bool {
    match (kind, value.number()) {
        (UnitKind::Percent, Some(x)) => (0.001..=1.5).contains(&x.abs()),
        _ => true,
    }
}
