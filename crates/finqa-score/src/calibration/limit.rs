//! Withholds answers whose probability is too low for the share of wrong answers that the user
//! accepts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use finqa_agents::pair::Solution;
use finqa_core::stats::answers_needed;
use finqa_core::text::counted;

use super::curve::RiskCurve;
use super::error::CalibrationError;
use super::inputs::inputs_of;
use super::stored::{Calibration, Scope};

/// A share of wrong answers (`--max-error`), written `5%`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "toml::Value", into = "String")]
pub struct ErrorLimit(f64);

impl ErrorLimit {
    /// The limits that reports list, each with the number of answers that can be given within it.
    /// Set by hand.
    pub(crate) const STATED: [Self; 4] = [Self(0.01), Self(0.02), Self(0.05), Self(0.1)];

    /// The share, from 0 to 1.
    pub fn rate(self) -> f64 {
        self.0
    }
}

impl FromStr for ErrorLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let percent = text.trim().strip_suffix('%').map(str::trim_end);
        match percent.map(str::parse) {
            // 0 % would withhold every answer, and 100 % none.
            Some(Ok(percent)) if 0.0 < percent && percent < 100.0 => Ok(Self(percent / 100.0)),
            _ => Err(format!(
                "`{text}` is not a share of wrong answers, such as 5%"
            )),
        }
    }
}

// A settings file or a variable may contain a number. It is refused with the same message as a
// text.
impl TryFrom<toml::Value> for ErrorLimit {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        match value {
            toml::Value::String(text) => text.parse(),
            other => other.to_string().parse(),
        }
    }
}

impl From<ErrorLimit> for String {
    fn from(limit: ErrorLimit) -> Self {
        limit.to_string()
    }
}

impl fmt::Display for ErrorLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Four decimals, because the share in percent has errors of the division by 100.
        write!(f, "{}%", (self.0 * 1e6).round() / 1e4)
    }
}

impl RiskCurve {
    /// If no answers can be given at this limit: the reason, or how many answers it would take.
    /// `None` if some can be given.
    pub fn needs(&self, limit: ErrorLimit) -> Option<String> {
        let first = self.points.first();
        let Some(first) = first.filter(|_| self.within(limit.rate()).is_none()) else {
            return if self.points.is_empty() {
                Some("no answer has a probability".to_owned())
            } else {
                None
            };
        };
        let Some(measured) = first.measured else {
            return Some(format!(
                "{:.1} % expected to be wrong among the likeliest {}",
                100.0 * first.expected_error,
                counted(first.n, "answer")
            ));
        };
        let wrong = measured.rate();
        let percent = 100.0 * wrong;
        // Answers on one page are not independent; `effective` is the number of independent answers
        // that carry as much information.
        let worth = measured.effective / measured.n as f64;
        Some(match answers_needed(wrong, limit.rate()) {
            Some(needed) => format!(
                "needs about {} given answers if {percent:.1} % are wrong, instead of {}",
                10.0 * (needed as f64 / worth / 10.0).ceil(),
                measured.n
            ),
            None => format!(
                "{percent:.1} % wrong among the likeliest {}",
                counted(measured.n, "answer")
            ),
        })
    }
}

/// A calibration in use. It sets the probability of answers, and withholds those below a limit.
#[derive(Clone, Debug)]
pub struct Calibrator {
    calibration: Calibration,
    limit: Option<(ErrorLimit, f64)>,
}

impl Calibrator {
    /// Uses a calibration for answers of `scope`. `limit` is `--max-error`.
    ///
    /// # Errors
    /// Only with a limit: if the calibration is for another scope, or if even its most probable
    /// answers exceed the limit.
    pub fn new(
        calibration: Calibration,
        scope: &Scope,
        limit: Option<ErrorLimit>,
    ) -> Result<Self, CalibrationError> {
        let Some(most) = limit else {
            return Ok(Self {
                calibration,
                limit: None,
            });
        };
        if let Some(difference) = calibration.difference(scope) {
            return Err(CalibrationError::Differs {
                name: calibration.name(),
                difference,
            });
        }
        let curve = &calibration.curve;
        let point = curve.within(most.rate());
        // Errors that are only expected have no bound, which a limit needs.
        let point = point.filter(|point| point.measured.is_some());
        let unmeasured = || "not all of its answers are judged".to_owned();
        let least = point.ok_or_else(|| CalibrationError::NothingPasses {
            most: most.to_string(),
            reason: curve.needs(most).unwrap_or_else(unmeasured),
        })?;
        let limit = Some((most, least.probability));
        Ok(Self { calibration, limit })
    }

    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// Sets the probability of an answer, and withholds the answer if the probability is too low
    /// for the limit.
    pub fn judge(&self, solution: Solution) -> Solution {
        let probability = self.probability(&solution);
        self.apply(solution, probability)
    }

    /// The probability that the model's answer is right; `None` without an answer, or if
    /// arbitration replaced it.
    pub fn probability(&self, solution: &Solution) -> Option<f64> {
        let inputs = inputs_of(solution)?;
        Some(self.calibration.model.probability(&inputs))
    }

    /// Sets the probability of a solution. With a limit, withholds the answer if the probability is
    /// too low or unknown.
    pub fn apply(&self, mut solution: Solution, probability: Option<f64>) -> Solution {
        solution.probability = probability;
        if solution.answer.is_none() {
            return solution;
        }
        let Some((most, least)) = self.limit else {
            return solution;
        };
        let error = match solution.probability {
            Some(probability) if probability >= least => return solution,
            Some(probability) => format!(
                "the probability {probability:.3} is below {least:.3}, the least for --max-error {most}"
            ),
            None => format!("its probability is not known, which --max-error {most} needs"),
        };
        solution.withhold(error)
    }
}

#[cfg(test)]
mod tests {
    use super::super::curve::{CurvePoint, ScoredAnswer};
    use super::*;
    use finqa_agents::pair::{Answer, StopReason};
    use finqa_core::outcome::Outcome;

    #[test]
    fn a_limit_is_a_share_of_wrong_answers() {
        for (text, rate) in [("5%", 0.05), ("5 %", 0.05), ("2.5%", 0.025)] {
            let limit: ErrorLimit = text.parse().unwrap();
            assert!((limit.rate() - rate).abs() < 1e-12, "{text}");
            assert_eq!(limit.to_string().parse(), Ok(limit), "{text}");
        }
        for text in ["", "5", "0.05", "100%", "-1%", "NaN%", "five", "%"] {
            assert!(text.parse::<ErrorLimit>().is_err(), "{text}");
        }
    }

    /// A curve of `n` answers on one page each; the first `wrong` of them are wrong.
    fn curve(n: u32, wrong: u32) -> RiskCurve {
        let answer = |at: u32| ScoredAnswer {
            group: (at.into(), at.into()),
            probability: 0.9,
            right: Some(at >= wrong),
        };
        RiskCurve::of((0..n).map(answer).collect())
    }

    #[test]
    fn a_refusal_says_how_many_answers_it_takes() {
        let needs = |n, wrong| curve(n, wrong).needs(ErrorLimit(0.05)).unwrap_or_default();
        assert_eq!(needs(336, 10), "");
        assert_eq!(
            needs(50, 1),
            "needs about 170 given answers if 2.0 % are wrong, instead of 50"
        );
        assert_eq!(needs(90, 9), "10.0 % wrong among the likeliest 90 answers");
        assert_eq!(needs(1, 1), "100.0 % wrong among the likeliest 1 answer");
        assert_eq!(needs(0, 0), "no answer has a probability");
    }

    fn scope(model: &str) -> Scope {
        Scope {
            model: model.to_owned(),
            ..Scope::default()
        }
    }

    /// A calibration whose model gives every answer the probability 0.5.
    fn calibration(least: f64) -> Calibration {
        let point = CurvePoint {
            probability: least,
            ..curve(400, 0).points[0]
        };
        Calibration {
            scope: Some(scope("a")),
            curve: RiskCurve {
                answers: 400,
                points: vec![point],
            },
            ..Calibration::default()
        }
    }

    #[test]
    fn an_answer_below_the_limit_is_withheld_and_keeps_its_text() {
        let given = Solution {
            answer: Some(Answer {
                printed: "12.5".to_owned(),
                ..Answer::default()
            }),
            ..Solution::new(Outcome::Answered, StopReason::Accepted)
        };
        let judged = |least| {
            let limit = Some(ErrorLimit(0.05));
            let judge = Calibrator::new(calibration(least), &scope("a"), limit).unwrap();
            judge.judge(given.clone())
        };
        let kept = judged(0.5);
        assert_eq!(
            (kept.outcome, kept.probability),
            (Outcome::Answered, Some(0.5))
        );
        let withheld = judged(0.6);
        assert_eq!(
            (withheld.outcome, &withheld.answer),
            (Outcome::Abstained, &None)
        );
        assert_eq!(withheld.answer_or_withheld(), given.answer.as_ref());
        assert_eq!(
            withheld.error.as_deref(),
            Some("the probability 0.500 is below 0.600, the least for --max-error 5%")
        );
        let none = Solution::new(Outcome::Refusal, StopReason::Failed);
        let judge = Calibrator::new(calibration(0.6), &scope("a"), Some(ErrorLimit(0.05))).unwrap();
        assert_eq!(
            judge.judge(none.clone()),
            none,
            "it has no answer to withhold"
        );
    }

    #[test]
    fn a_calibration_of_other_answers_or_not_all_judged_is_refused() {
        let refused = |calibration, model| {
            let judge = Calibrator::new(calibration, &scope(model), Some(ErrorLimit(0.05)));
            let error = judge.err().map(|error| error.to_string());
            error.unwrap_or_default()
        };
        assert_eq!(refused(calibration(0.5), "a"), "");
        let other = refused(calibration(0.5), "b");
        assert!(other.contains("its model is a, not b"), "{other}");
        let mut unjudged = calibration(0.5);
        unjudged.curve.points[0].measured = None;
        unjudged.curve.points[0].expected_error = 0.01;
        let unjudged = refused(unjudged, "a");
        assert!(unjudged.contains("not all of its answers"), "{unjudged}");
    }
}
