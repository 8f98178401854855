//! How wrong the most probable answers are, and how many of them can be acted on.

use serde::{Deserialize, Serialize};

use finqa_core::stats::ErrorBound;

/// An answer with the probability that it is right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredAnswer {
    /// Hashes of the names of its page and its question.
    pub group: (u64, u64),
    /// From 0 to 1.
    pub probability: f64,
    /// True if it is right; `None` without gold.
    pub right: Option<bool>,
}

/// The errors among the answers of at least some probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// These answers in all answers, from 0 to 1.
    pub share: f64,
    /// The least probability among them.
    pub probability: f64,
    /// Answers.
    pub n: usize,
    /// The share of them that is wrong by their probabilities.
    pub expected_error: f64,
    /// What gold says; absent unless every answer of the curve is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<ErrorBound>,
}

/// The risk–coverage curve: the more answers are given, the more of them are wrong. Its points
/// are shares of the answers that are declared before any answer is judged: first 35 %, but at
/// least 100 answers, then 5 % more each time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RiskCurve {
    /// Answers with a probability.
    pub answers: usize,
    pub points: Vec<CurvePoint>,
}

/// The shares are multiples of a twentieth.
const PARTS: usize = 20;
const FIRST_PARTS: usize = 7;
const FIRST_ANSWERS: usize = 100;

impl RiskCurve {
    /// The curve of these answers. It has bounds if every answer is judged.
    pub fn of(mut answers: Vec<ScoredAnswer>) -> Self {
        answers.sort_by(|a, b| {
            let by_probability = b.probability.total_cmp(&a.probability);
            by_probability.then(a.group.cmp(&b.group))
        });
        let judged = answers.iter().map(|answer| {
            let (page, question) = answer.group;
            Some((page, question, !answer.right?))
        });
        let judged: Option<Vec<_>> = judged.collect();
        let all = answers.len();
        let share = |parts: usize| (all * parts).div_ceil(PARTS);
        let first = share(FIRST_PARTS).max(FIRST_ANSWERS);
        let further = (1..=PARTS).map(share);
        let further = further.filter(|count| *count > first);
        let mut points: Vec<CurvePoint> = Vec::new();
        for count in std::iter::once(first.min(all)).chain(further) {
            let Some(last) = count.checked_sub(1).and_then(|at| answers.get(at)) else {
                continue;
            };
            // Those of the same probability are given together.
            let least = last.probability;
            let n = answers.partition_point(|answer| answer.probability >= least);
            if points.last().is_some_and(|point| point.n == n) {
                continue;
            }
            let given = answers.iter().take(n);
            let wrong: f64 = given.map(|answer| 1.0 - answer.probability).sum();
            let judged = judged.iter().flat_map(|all| all.iter().take(n).copied());
            points.push(CurvePoint {
                share: n as f64 / all as f64,
                probability: least,
                n,
                expected_error: wrong / n as f64,
                measured: ErrorBound::of(judged),
            });
        }
        Self {
            answers: all,
            points,
        }
    }

    /// The largest share of which at most `most` is wrong with 95 % confidence, or, without gold,
    /// is expected to be wrong; `None` if not even the first is.
    ///
    /// The points are tested in their order until one fails, so that the confidence holds for
    /// all of them together (fixed sequence testing: Angelopoulos et al., Learn then Test,
    /// arXiv 2110.01052, 2021).
    pub fn within(&self, most: f64) -> Option<&CurvePoint> {
        let passed = self.points.iter().take_while(|point| match point.measured {
            Some(measured) => measured.bound <= most,
            None => point.expected_error <= most,
        });
        passed.last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers on pages of their own, the likeliest first; those at these places are wrong.
    fn answers(n: u32, wrong: &[u32]) -> Vec<ScoredAnswer> {
        let answer = |at: u32| ScoredAnswer {
            group: (at.into(), at.into()),
            probability: 1.0 - f64::from(at) / f64::from(2 * n),
            right: Some(!wrong.contains(&at)),
        };
        (0..n).map(answer).collect()
    }

    #[test]
    fn shares_are_tested_from_the_first_on_until_one_fails() {
        let sizes = |n| -> Vec<usize> {
            let curve = RiskCurve::of(answers(n, &[]));
            curve.points.iter().map(|point| point.n).collect()
        };
        assert!(sizes(0).is_empty());
        assert_eq!(sizes(60), [60], "fewer than 100 are given together");
        assert_eq!(sizes(140), [100, 105, 112, 119, 126, 133, 140]);
        assert_eq!(sizes(400)[..3], [140, 160, 180]);
        let given = |wrong: &[u32], most| {
            let curve = RiskCurve::of(answers(400, wrong));
            curve.within(most).map(|point| point.n)
        };
        assert_eq!(given(&[], 0.05), Some(400));
        // 8 of 160 are too many; of the further ones none is wrong, and they are not tried.
        let eight: Vec<u32> = (140..148).collect();
        assert_eq!(given(&eight, 0.05), Some(140));
        let first: Vec<u32> = (0..8).collect();
        assert_eq!(given(&first, 0.05), None);
    }

    #[test]
    fn answers_of_one_probability_are_given_together() {
        let mut alike = answers(400, &[]);
        alike.iter_mut().for_each(|answer| answer.probability = 0.9);
        let curve = RiskCurve::of(alike);
        assert_eq!(curve.points.len(), 1);
        assert_eq!((curve.points[0].n, curve.points[0].share), (400, 1.0));
    }

    #[test]
    fn the_expected_error_counts_unless_every_answer_is_judged() {
        for gap in [3, 300] {
            let mut unjudged = answers(400, &[]);
            unjudged[gap].right = None;
            let curve = RiskCurve::of(unjudged);
            let mut points = curve.points.iter();
            assert!(points.all(|point| point.measured.is_none()), "{gap}");
            let given = curve.within(0.1).unwrap();
            assert!(given.expected_error <= 0.1 && given.n < 400, "{given:?}");
        }
    }
}
