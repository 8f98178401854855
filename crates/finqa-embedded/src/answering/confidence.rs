//! Computes the probability that an answer is right: a logistic model over its lead over the other
//! candidates, what is known about earlier turns, and the shape of its program.
//!
//! The trainer fits it on answers about pages that the other weights were not trained on.
//! `docs/embedded-analyst.md` says how well it is calibrated.

use super::filling::FilledPlan;
use crate::question::feature_values::{count, flag};
use crate::ranking::ChoiceContext;
use crate::reading::facts::Fact;
use crate::shape::{shape, shape_name};
use finqa_core::question::HistoryEntry;

/// The names of the inputs (signals), as in the weights file. "Lead" is the result of [`lead`],
/// and "score" is the network's score of the best candidate. "Shape not proposed" is the log-odds
/// of its shape against the likeliest one, at most 0. "No history" is true for a stand-alone
/// question and for the first turn of a conversation.
pub(crate) const SIGNAL_NAMES: [&str; 27] = [
    "no history", "own history", "given history", "lead, no history", "lead, own history",
    "lead, given history", "lead, look-up, no history", "own turns", "value of an own turn",
    "question words not covered", "words that the page lacks", "a year asked for is missing",
    "shape not proposed", "look-up", "ratio", "difference", "relative change", "sum", "average",
    "product", "more steps", "opens a conversation", "score, no history", "score, own history",
    "score, given history", "squared lead, no history", "squared lead, own history",
];

/// The signals of the best candidate, in the order of [`SIGNAL_NAMES`]; all 0 if there is none.
/// `ranked` has the scores and candidates, best first.
///
/// The limits of signals, here and in [`lead`], are set by hand. The weights are fitted to the
/// limited values, so other limits need new weights.
pub(crate) fn signals(
    context: &ChoiceContext<'_>,
    history: &[HistoryEntry],
    ranked: &[(f64, FilledPlan)],
) -> Vec<f64> {
    let Some((score, best)) = ranked.first() else {
        return vec![0.0; SIGNAL_NAMES.len()];
    };
    let (no_history, own_history) = (history.is_empty(), context.own_history);
    let lead = lead(ranked);
    let name = shape_name(&best.expr);
    let shape_odds = context.odds_of_shape(shape(&best.expr));
    let facts: Vec<(usize, &Fact)> = context.facts.of_expr(&best.expr).collect();
    let has = |year: &u16| facts.iter().any(|(_, fact)| fact.years.contains(year));
    let missing = !context.asked.years.iter().all(has);
    let mut leaves = best.expr.leaves().into_iter();
    let repeats = leaves.any(|leaf| context.is_earlier(&leaf.literal));
    let look_up = name.starts_with("look-up");
    let one_of = |names: &[&str]| flag(names.contains(&name));
    vec![
        flag(no_history),
        flag(own_history),
        flag(!no_history && !own_history),
        flag(no_history) * lead,
        flag(own_history) * lead,
        flag(!no_history && !own_history) * lead,
        flag(no_history && look_up) * lead,
        flag(own_history) * count(history.len().min(5)),
        flag(own_history && repeats),
        context.uncovered(&best.expr),
        context.unknown(),
        flag(missing),
        shape_odds.max(-6.0),
        flag(look_up),
        one_of(&["ratio"]),
        one_of(&["difference"]),
        one_of(&["relative change", "return on a constant"]),
        one_of(&["sum", "sum of three or more"]),
        one_of(&["average", "average of three or more"]),
        one_of(&["product"]),
        // More than two operations: two have at most five parts, two steps and three leaves.
        flag(best.expr.parts().len() > 5),
        flag(no_history && !context.as_stand_alone),
        flag(no_history) * score,
        flag(own_history) * score,
        flag(!no_history && !own_history) * score,
        // Even with a large lead, about one stand-alone answer in ten differs from gold. With own
        // history, an earlier answer can be wrong however large the lead is.
        flag(no_history) * lead * lead,
        flag(own_history) * lead * lead,
    ]
}

/// The logarithm of the odds that the value of the best candidate is right, limited to -4 to 6. The
/// scores are read as logarithms of probabilities, and the probabilities of candidates with the
/// same value are added up.
fn lead(ranked: &[(f64, FilledPlan)]) -> f64 {
    let top = ranked.first().map_or(0.0, |(score, _)| *score);
    let best = ranked.first().and_then(|(_, filled)| filled.expr.value());
    let (mut with, mut against) = (0.0, 0.0);
    for (score, filled) in ranked {
        let mass = libm::exp(score - top);
        if filled.expr.value() == best {
            with += mass;
        } else {
            against += mass;
        }
    }
    // `with` is at least 1, so below 1e-3 the result would be above 6 anyway.
    libm::log(with / f64::max(against, 1e-3)).clamp(-4.0, 6.0)
}

/// The probability by the logistic model. `libm` computes the same on every machine.
pub(crate) fn probability(signals: &[f64], weights: &[f64]) -> f64 {
    let z: f64 = signals.iter().zip(weights).map(|(s, w)| s * w).sum();
    1.0 / (1.0 + libm::exp(-z))
}
