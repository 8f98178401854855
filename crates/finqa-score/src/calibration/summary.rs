//! The risk–coverage curve of a run, for its summary and its report.

use serde::Serialize;

use super::curve::{RiskCurve, ScoredAnswer};
use super::limit::ErrorLimit;

/// The errors among a run's most probable answers, judged by financial equivalence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RiskSummary {
    #[serde(flatten)]
    pub curve: RiskCurve,
    /// The number of answers that can be given if at most 1, 2, 5 or 10 % of them may be wrong.
    pub within: Vec<GivenWithin>,
}

/// The answers that can be given within a limit on the share of wrong ones. With gold, the limit is
/// kept with 95 % confidence; without gold, it applies to the errors that the probabilities
/// predict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GivenWithin {
    /// The limit, from 0 to 1.
    pub max_error: f64,
    /// The number of answers that can be given.
    pub n: usize,
    /// The share of these answers in all answers, from 0 to 1.
    pub share: f64,
    /// If no answer can be given: the reason, or how many more answers are needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
}

impl GivenWithin {
    /// The answers of a curve that can be given at each limit of `ErrorLimit::STATED`.
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
