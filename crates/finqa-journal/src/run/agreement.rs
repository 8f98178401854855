//! Compares a run's answers with its second opinions: how many answers are right if the two agree
//! and if they differ, how accurate the model can be at most, and the effect of replaced answers.

use serde::Serialize;

use finqa_agents::pair::AgreementCount;
use finqa_core::stats::{Rate, RateTally};

use finqa_score::score::Row;

/// A run's answers compared with its second opinions, by financial equivalence.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Agreement {
    /// How often the model and the embedded analyst agree. Includes questions without gold.
    pub count: AgreementCount,
    /// The upper end of the 95 % interval of the model's accuracy, estimated from `count` without
    /// gold. Another run can use it as `--model-accuracy`.
    pub model_accuracy: f64,
    /// The effect of replaced answers; absent if no question was arbitrated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arbitration: Option<ArbitrationEffect>,
    /// The rate of right answers where the embedded analyst gives the same answer.
    pub agreed: Option<Rate>,
    /// The rate of right answers where the embedded analyst gives another answer.
    pub differed: Option<Rate>,
    #[serde(skip)]
    agreeing: RateTally,
    #[serde(skip)]
    differing: RateTally,
}

/// The effect of replacing answers of the model by those of the embedded analyst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ArbitrationEffect {
    /// Questions for which arbitration chose between the two answers.
    pub weighed: usize,
    /// `weighed` questions for which the embedded analyst's answer was returned.
    pub taken: usize,
    /// `weighed` questions that the model did not answer right and that have a right answer in the
    /// end.
    pub fixed: usize,
    /// `weighed` questions that the model answered right and that have a wrong answer in the end.
    pub broken: usize,
    /// The model's accuracy (`--model-accuracy`), with which the embedded analyst's confidences
    /// were compared.
    pub model_accuracy: f64,
}

impl Agreement {
    /// Counts a row. A row without an answer, a gold or a second opinion does not count in the
    /// rates `agreed` and `differed`.
    pub fn add(&mut self, row: &Row) {
        let opinion = row.solution.opinion.as_ref();
        self.count.add(opinion);
        let model = row.solution.model_answer();
        let right = model.and_then(|answer| row.right_with(answer));
        if let Some(arbitration) = opinion.and_then(|other| other.arbitration) {
            let effect = self.arbitration.get_or_insert_default();
            effect.weighed += 1;
            effect.taken += usize::from(arbitration.taken);
            effect.model_accuracy = arbitration.model_accuracy;
            // A model without an answer was not right. Without gold, `accepted` is `None`.
            match (right.unwrap_or_default(), row.accepted()) {
                (false, Some(true)) => effect.fixed += 1,
                (true, Some(false)) => effect.broken += 1,
                _ => {}
            }
        }
        let agrees = opinion.and_then(|other| other.agrees);
        let answered = row.solution.answer.as_ref();
        let right = right.filter(|_| answered.is_some());
        if let Some((agrees, right)) = agrees.zip(right) {
            let tally = if agrees {
                &mut self.agreeing
            } else {
                &mut self.differing
            };
            tally.add(row.group(), right);
        }
    }

    /// Computes the rates over all rows that were counted; `None` if no row had a second opinion.
    pub fn finish(mut self) -> Option<Self> {
        (self.agreed, self.differed) = (self.agreeing.rate(), self.differing.rate());
        self.model_accuracy = self.count.model_accuracy();
        (self.count.answers > 0 || self.arbitration.is_some()).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_rates_are_of_different_answers() {
        let (mut agreeing, mut differing) = (RateTally::default(), RateTally::default());
        agreeing.add((0, 0), true);
        agreeing.add((0, 1), true);
        differing.add((0, 2), false);
        let agreement = Agreement {
            count: AgreementCount {
                answers: 3,
                agreed: 2,
                expected: 2.0,
            },
            agreeing,
            differing,
            ..Agreement::default()
        };
        let done = agreement.finish().unwrap();
        let counts = |rate: Option<Rate>| rate.map(|rate| (rate.hits, rate.n));
        assert_eq!(counts(done.agreed), Some((2, 2)));
        assert_eq!(counts(done.differed), Some((0, 1)));
        assert_eq!(Agreement::default().finish(), None);
    }
}
