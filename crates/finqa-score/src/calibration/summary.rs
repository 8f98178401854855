//! The risk–coverage curve of a run, for its summary and its report.

use serde::Serialize;

use super::curve::{RiskCurve, ScoredAnswer};
use super::limit::ErrorLimit;

/// How wrong the likeliest answers of a run are, by financial equivalence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RiskSummary {
    #[serde(flatten)]
    pub curve: RiskCurve,
    /// What can be given at most wrong by 1, 2, 5 and 10 %.
    pub within: Vec<GivenWithin>,
}

/// The answers that can be given within a share of errors: with 95 % confidence, or, without
/// gold, by what is expected.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GivenWithin {
    /// From 0 to 1.
    pub max_error: f64,
    /// Answers that can be given.
    pub n: usize,
    /// These answers in all answers, from 0 to 1.
    pub share: f64,
    /// Why none can be given, if none can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
}

impl GivenWithin {
    /// What can be given of the answers of a curve.
    pub fn all(curve: &RiskCurve) -> Vec<Self> {
        let given = ErrorLimit::STATED.map(|limit| {
            let point = curve.within(limit.rate());
            Self {
                max_error: limit.rate(),
                n: point.map_or(0, |point| point.n),
                share: point.map_or(0.0, |point| point.share),
                needs: curve.needs(limit),
            }
        });
        given.to_vec()
    }
}

impl RiskSummary {
    /// The curve of a run's answers; `None` if none has a probability.
    pub fn of(answers: Vec<ScoredAnswer>) -> Option<Self> {
        let curve = RiskCurve::of(answers);
        (curve.answers > 0).then(|| Self {
            within: GivenWithin::all(&curve),
            curve,
        })
    }
}
