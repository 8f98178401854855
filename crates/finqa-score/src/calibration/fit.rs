//! Fits a model of the probability that an answer is right to answers that gold has judged.

use finqa_core::stats::Logistic;

use super::curve::{RiskCurve, ScoredAnswer};
use super::inputs::Inputs;

/// An answer that gold has judged.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedAnswer {
    /// Hashes of the names of its page and its question.
    pub group: (u64, u64),
    pub inputs: Inputs,
    /// True if it is right.
    pub right: bool,
}

/// A model of the probability that an answer is right, with its quality on pages that it was not
/// fitted on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fitted {
    pub model: Logistic,
    /// The curve by cross-validated probabilities: each answer's probability is from a model that
    /// was fitted on the pages of the other folds.
    pub curve: RiskCurve,
    /// Five-bin calibration error of the same probabilities: the mean difference between the
    /// expected and the actual share of right answers, from 0 to 1.
    pub calibration_error: f64,
}

/// The number of folds of the cross-validation, the usual one. A page is in one fold with all its
/// answers.
const FOLDS: u64 = 5;

impl Fitted {
    /// Fits a model to all answers, and one model per fold for the curve. The same answers give the
    /// same result in every run.
    pub fn to(judged: &[JudgedAnswer]) -> Self {
        let fold = |answer: &JudgedAnswer| answer.group.0 % FOLDS;
        let fit = |without: Option<u64>| {
            let used = judged.iter().filter(|answer| Some(fold(answer)) != without);
            let used = used.map(|answer| (answer.inputs.as_slice(), answer.right));
            Logistic::fit(&used.collect::<Vec<_>>())
        };
        let of_folds: Vec<Logistic> = (0..FOLDS).map(|fold| fit(Some(fold))).collect();
        let scored: Vec<ScoredAnswer> = (0..FOLDS)
            .zip(&of_folds)
            .flat_map(|(at, model)| {
                let of_fold = judged.iter().filter(move |answer| fold(answer) == at);
                of_fold.map(|answer| ScoredAnswer {
                    group: answer.group,
                    probability: model.probability(&answer.inputs),
                    right: Some(answer.right),
                })
            })
            .collect();
        Self {
            model: fit(None),
            calibration_error: calibration_error(&scored),
            curve: RiskCurve::of(scored),
        }
    }
}

/// [`Fitted::calibration_error`], whose five bins are fifths of the answers.
fn calibration_error(scored: &[ScoredAnswer]) -> f64 {
    let mut scored = scored.to_vec();
    scored.sort_by(|a, b| a.probability.total_cmp(&b.probability));
    // At least 1, because `chunks` panics at 0.
    let size = scored.len().div_ceil(5).max(1);
    let differences = scored.chunks(size).map(|fifth| {
        let expected: f64 = fifth.iter().map(|answer| answer.probability).sum();
        let right = fifth.iter().filter(|answer| answer.right == Some(true));
        (expected - right.count() as f64).abs()
    });
    differences.sum::<f64>() / scored.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::inputs::INPUTS;
    use super::*;

    /// Four answers per page. If the second opinion agrees, 19 of 20 answers are right; otherwise 8
    /// of 20.
    fn judged(pages: u64) -> Vec<JudgedAnswer> {
        let answer = |at: u64| {
            let agrees = !at.is_multiple_of(3);
            let mut inputs = [None; INPUTS.len()];
            inputs[0] = Some(f64::from(u8::from(agrees)));
            JudgedAnswer {
                group: (at / 4, at),
                inputs,
                right: (at.wrapping_mul(2_654_435_761) >> 16) % 20 < if agrees { 19 } else { 8 },
            }
        };
        (0..4 * pages).map(answer).collect()
    }

    #[test]
    fn the_probability_is_that_of_answers_on_other_pages() {
        let answers = judged(300);
        let fitted = Fitted::to(&answers);
        let of = |agrees| {
            let mut inputs = [None; INPUTS.len()];
            inputs[0] = Some(agrees);
            fitted.model.probability(&inputs)
        };
        assert!((of(1.0) - 0.95).abs() < 0.02 && (of(0.0) - 0.4).abs() < 0.03);
        assert!(fitted.calibration_error < 0.05, "{fitted:?}");
        assert_eq!(fitted.curve.answers, answers.len());
        assert_eq!(fitted, Fitted::to(&answers), "fitted again");
    }

    /// All answers of one fold are wrong, and one input tells which answers these are. Only a model
    /// that was fitted on that fold could know this, so the cross-validated probabilities must not.
    #[test]
    fn what_is_learnt_from_a_page_does_not_reach_its_own_answers() {
        let mut answers = judged(300);
        for answer in &mut answers {
            let is_marked = answer.group.0 % FOLDS == 0;
            answer.inputs[4] = Some(f64::from(u8::from(is_marked)));
            answer.right &= !is_marked;
        }
        let fitted = Fitted::to(&answers);
        assert!(fitted.calibration_error > 0.1, "{fitted:?}");
        let all = fitted.curve.points.last().unwrap();
        let wrong = all.measured.unwrap().rate();
        assert!(wrong - all.expected_error > 0.1, "{all:?}");
    }

    #[test]
    fn no_answers_and_one_page_give_a_curve_without_a_bound_that_holds() {
        assert_eq!(Fitted::to(&[]).curve, RiskCurve::default());
        let fitted = Fitted::to(&judged(1));
        assert_eq!(fitted.curve.within(0.5), None);
    }
}
