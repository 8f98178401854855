//! FE, financial equivalence, is the rule of the headline score. Each accepted answer has a reason,
//! and each rejected answer lists the changes that would have made it right
//! ([`diagnostic`](super::diagnostic)).

use serde::{Deserialize, Serialize};

use finqa_core::number::{asks_for_a_loss, asks_for_basis_points};

use super::diagnostic::{Diagnostic, diagnose};
use super::matching::{FeContext, FeReason, is_zero, match_reason};
use super::quantity::{Quantity, WrittenNumber};

/// FE's verdict on one answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeVerdict {
    /// True if the answer is right.
    pub accepted: bool,
    /// The reason why the answer is right; `None` if it is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<FeReason>,
    /// The changes that would make a wrong answer right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

/// Judges a prediction against gold.
///
/// ```
/// use finqa_score::score::{FeContext, FeReason, Quantity, financial_equivalence};
/// let context = FeContext { question: "what was the percentage change?", ..FeContext::default() };
/// let verdict = financial_equivalence(
///     &Quantity::parse("14.10%"), &Quantity::parse("0.1414"), &context);
/// assert_eq!(verdict.reason, Some(FeReason::PercentDecimal));
/// ```
pub fn financial_equivalence(
    gold: &Quantity,
    prediction: &Quantity,
    context: &FeContext<'_>,
) -> FeVerdict {
    let reason = match (gold, prediction) {
        (Quantity::YesNo(gold), Quantity::YesNo(prediction)) => {
            (gold == prediction).then_some(FeReason::YesNo)
        }
        (Quantity::Number(gold), Quantity::Number(prediction)) => {
            let factors = percent_factors(gold, prediction, context);
            // A loss in words ("loss of 45.2") has no sign if the question names a loss or a
            // deficit (docs/scoring.md).
            let as_sizes = || {
                let size = |it: &WrittenNumber| WrittenNumber {
                    value: if it.loss { -it.value } else { it.value },
                    ..*it
                };
                let asked = asks_for_a_loss(context.question);
                asked.then(|| numbers(&size(gold), &size(prediction), factors))?
            };
            let reason = numbers(gold, prediction, factors).or_else(as_sizes);
            if reason.is_none() {
                return FeVerdict {
                    diagnostics: diagnose(gold, prediction, !factors.is_empty(), context),
                    ..FeVerdict::default()
                };
            }
            reason
        }
        (Quantity::Word(gold), Quantity::Word(prediction)) => {
            let same = !gold.is_empty() && gold.eq_ignore_ascii_case(prediction);
            same.then_some(FeReason::Exact)
        }
        _ => None,
    };
    FeVerdict {
        accepted: reason.is_some(),
        reason,
        diagnostics: Vec::new(),
    }
}

/// The reason why two numbers are equal; `None` if they are not.
fn numbers(gold: &WrittenNumber, prediction: &WrittenNumber, factors: &[f64]) -> Option<FeReason> {
    match (gold.scale, prediction.scale) {
        // Both sides state their scale, so the scaled numbers must be equal.
        (Some(_), Some(_)) => as_written(&gold.scaled(), prediction.scaled().value, factors),
        (None, None) => as_written(gold, prediction.value, factors),
        // Only one side has a scale word. It may repeat the scale of the report's caption, in which
        // the other side is stated too, or it may state a different scale. Try both.
        _ => as_written(gold, prediction.value, factors)
            .or_else(|| as_written(&gold.scaled(), prediction.scaled().value, factors)),
    }
}

fn as_written(gold: &WrittenNumber, x: f64, factors: &[f64]) -> Option<FeReason> {
    match_reason(gold, x).or_else(|| {
        let factors = factors.iter().filter(|_| !is_zero(gold.value));
        let mut reasons = factors.filter_map(|factor| match_reason(gold, x * factor));
        reasons.next().map(|_| FeReason::PercentDecimal)
    })
}

/// The factors by which the two sides may differ because one is a percentage and the other a
/// fraction. Basis points are a unit, so only a number without a unit can be their fraction. Such a
/// number may itself be in basis points if gold or the question says so.
fn percent_factors(
    gold: &WrittenNumber,
    prediction: &WrittenNumber,
    context: &FeContext<'_>,
) -> &'static [f64] {
    match (gold.basis_points, prediction.basis_points) {
        (true, true) => &[],
        (true, false) if prediction.percent => &[],
        (false, true) if gold.percent => &[],
        (false, true) if !asks_for_basis_points(context.question) => &[0.01],
        (false, false) if !percent_cue(gold, prediction, context) => &[],
        _ => &[100.0, 0.01],
    }
}

/// True if percents may be meant: either side has a percent sign, the question has a percent sign
/// or a word such as "ratio", or gold is small and its program does not use `const_100`. Up to 1.5
/// is small, by FE's definition (docs/scoring.md).
fn percent_cue(gold: &WrittenNumber, prediction: &WrittenNumber, context: &FeContext<'_>) -> bool {
    gold.percent
        || prediction.percent
        || names_a_share(context.question)
        || (gold.value.abs() <= 1.5
            && context
                .gold_program
                .is_some_and(|program| !uses(program, "const_100")))
}

fn uses(program: &str, literal: &str) -> bool {
    program
        .split(['(', ')', ',', ' '])
        .any(|token| token == literal)
}

/// True if a question contains `%`, a word that starts with "percent", or one of a few words such
/// as "ratio". These must be whole words, because "operations" contains "ratio".
fn names_a_share(question: &str) -> bool {
    const WORDS: [&str; 9] = [
        "portion", "portions", "proportion", "proportions", "ratio", "ratios", "rate", "rates",
        "growth",
    ];
    question.contains('%')
        || question.split(|c: char| !c.is_alphanumeric()).any(|word| {
            word.get(..7)
                .is_some_and(|start| start.eq_ignore_ascii_case("percent"))
                || WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
        })
}

#[cfg(test)]
mod tests;
