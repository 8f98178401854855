//! Estimates a model's accuracy without gold. If the model and the embedded analyst disagree, the
//! estimate decides between their answers (`--second-opinion arbitrate`).
//!
//! Wrong answers rarely coincide, so the two agree mostly if both are right. If errors are
//! independent, a model of accuracy m and an analyst of (calibrated) confidence c agree on a share
//! c × m of the questions. If they disagree, the odds of the analyst against the model are c (1 -
//! m) to (1 - c) m, which favours the analyst if c > m. Questions that are hard for both make the
//! estimate of m too large, and the upper end of its interval is used; both effects keep more of
//! the model's answers.

use finqa_core::stats::wilson;
use serde::{Deserialize, Serialize};

use super::opinion::SecondOpinion;

/// Counts how often a model's answers agree with the embedded analyst's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgreementCount {
    /// The number of answers with a second opinion.
    pub answers: usize,
    /// The number of these answers that agree with the second opinion.
    pub agreed: usize,
    /// The number of answers that the embedded analyst is expected to have right, which is the sum
    /// of its confidences.
    pub expected: f64,
}

impl AgreementCount {
    /// Counts an answer. Does nothing if there is no answer or no opinion.
    pub fn add(&mut self, opinion: Option<&SecondOpinion>) {
        if let Some(opinion) = opinion
            && let Some(agrees) = opinion.agrees
        {
            self.answers += 1;
            self.agreed += usize::from(agrees);
            self.expected += opinion.confidence;
        }
    }

    /// The upper end of the 95 % interval of the model's accuracy; 1 if no answer was counted.
    pub fn model_accuracy(&self) -> f64 {
        if self.expected <= 0.0 {
            return 1.0;
        }
        let answers = self.answers as f64;
        // More agreement than the confidences explain must not raise the accuracy above 1.
        let estimate = (self.agreed as f64 / self.expected).min(1.0);
        // The interval of the share of agreement, divided by the share of agreement that an
        // accuracy of 1 would give.
        let most = wilson(self.agreed as f64 / answers, answers).1 * answers / self.expected;
        most.clamp(estimate, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use finqa_core::number::Value;

    fn opinion(confidence: f64, agrees: Option<bool>) -> SecondOpinion {
        SecondOpinion {
            value: Value::Number(1.0),
            printed: "1".to_owned(),
            program: "1".to_owned(),
            evidence: Vec::new(),
            confidence,
            agrees,
            arbitration: None,
        }
    }

    #[test]
    fn the_accuracy_is_that_of_a_model_with_independent_errors() {
        for accuracy in [0.1_f64, 0.5, 0.9] {
            let mut count = AgreementCount::default();
            for at in 0..1000 {
                // The embedded analyst is right on every second question, and the model on the
                // given share of these.
                let agrees = at % 2 == 0 && f64::from(at / 2 % 10) < 10.0 * accuracy;
                count.add(Some(&opinion(0.5, Some(agrees))));
            }
            let most = count.model_accuracy();
            // At most half of 1,000 answers can agree.
            assert!(
                accuracy + 0.025 < most && most < accuracy + 0.07,
                "{count:?}"
            );
        }
        assert_eq!(AgreementCount::default().model_accuracy(), 1.0);
        let mut count = AgreementCount::default();
        count.add(None);
        count.add(Some(&opinion(0.5, None)));
        assert_eq!(count, AgreementCount::default());
        // More agreement than the analyst's confidence explains must not raise the accuracy above
        // 1.
        (0..10).for_each(|_| count.add(Some(&opinion(0.5, Some(true)))));
        assert_eq!(count.model_accuracy(), 1.0);
    }
}
