//! A guess sent back: the best alternative without what was objected to.
//!
//! The objections come from deterministic checks elsewhere; here they only pick
//! among programs the rules had considered anyway.

use crate::number::{UnitKind, Value};

use super::solve::{Alternative, Guess};

/// What a check found wrong with a guess.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    /// A literal of the program stands in no cited evidence.
    LiteralNotInEvidence,
    /// Years of the question that none of the evidence is for.
    PeriodMissing {
        /// The years.
        years: Vec<u16>,
    },
    /// The earlier period stands where the later one should.
    PeriodOrder,
    /// The unit is not the one asked for.
    Unit,
    /// A yes or no was asked for and a number given, or the reverse.
    YesNo,
    /// A share above 1.5, a change above tenfold.
    Magnitude,
}

/// How far behind an alternative may be and still be taken, by objection.
const REACH: f64 = 3.0;

/// The guess that answers the objections best, or `None` to keep it: the first
/// alternative within reach to which none of them applies.
#[must_use]
pub fn revise(guess: &Guess, objections: &[Objection]) -> Option<Guess> {
    if objections.is_empty() {
        return None;
    }
    let chosen = guess.alternatives.iter().position(|other| {
        guess.score - other.score <= REACH && objections.iter().all(|o| answers(o, guess, other))
    })?;
    let other = guess.alternatives.get(chosen)?.clone();
    let mut rest = guess.alternatives.clone();
    rest.remove(chosen);
    Some(Guess {
        program: other.program,
        template: other.template,
        unit: other.unit,
        label: other.label,
        evidence: other.evidence,
        steps: other.steps,
        years: other.years,
        value: other.value,
        chronological: other.chronological,
        score: other.score,
        confidence: guess.confidence * 0.7,
        signals: guess.signals.clone(),
        alternatives: rest,
    })
}

/// Whether the objection does not apply to the alternative.
fn answers(objection: &Objection, guess: &Guess, other: &Alternative) -> bool {
    match objection {
        Objection::LiteralNotInEvidence => {
            other.evidence.len()
                >= other
                    .steps
                    .iter()
                    .filter(|s| s.starts_with("Take "))
                    .count()
        }
        Objection::PeriodMissing { years } => years.iter().all(|y| other.years.contains(y)),
        Objection::PeriodOrder => other.chronological != Some(false),
        Objection::Unit => other.unit.kind != guess.unit.kind,
        Objection::YesNo => {
            matches!(other.value, Value::Text(_)) != matches!(guess.value, Value::Text(_))
        }
        Objection::Magnitude => plausible(other.unit.kind, &other.value),
    }
}

/// Whether a share or change has a magnitude that reports have.
#[must_use]
pub fn plausible(kind: UnitKind, value: &Value) -> bool {
    match (kind, value.number()) {
        (UnitKind::Percent, Some(x)) => x.abs() <= 1.5 && x.abs() >= 0.001,
        _ => true,
    }
}
