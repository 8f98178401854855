//! The risk–coverage curve: if only the most probable answers are given, how many of them are
//! wrong. It tells how many answers can be given within an error limit.

use serde::{Deserialize, Serialize};

use finqa_core::stats::ErrorBound;

/// An answer with the probability that it is right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredAnswer {
    /// Hashes of the names of its page and its question.
    pub group: (u64, u64),
    /// The probability that it is right, from 0 to 1.
    pub probability: f64,
    /// True if it is right; `None` without gold.
    pub right: Option<bool>,
}

/// The errors among the answers whose probability is at least `probability`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The share of these answers in all answers, from 0 to 1.
    pub share: f64,
    /// The lowest probability among them.
    pub probability: f64,
    /// The number of these answers.
    pub n: usize,
    /// The share of them that is expected to be wrong, by their probabilities.
    pub expected_error: f64,
    /// The share that is wrong by gold, with its bound; absent unless gold judges every answer of
    /// the curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<ErrorBound>,
}

/// The risk–coverage curve: how many answers are wrong if only the most probable ones are given.
/// Its points are at shares that are fixed before any answer is judged: first 35 % of the answers,
/// but at least 100 answers, then 5 % more each time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RiskCurve {
    /// The number of answers with a probability.
    pub answers: usize,
    pub points: Vec<CurvePoint>,
}

/// The points are at multiples of a twentieth of the answers, and the first is at seven twentieths,
/// which are 35 %. Both are set by hand. They are fixed in advance, because the test below is valid
/// only for points that were not chosen by their errors.
const PARTS: usize = 20;
const FIRST_PARTS: usize = 7;
// Too few answers show nothing: with fewer than 93, one wrong answer already excludes 5 %.
const FIRST_ANSWERS: usize = 100;

impl RiskCurve {
    /// Builds the curve of these answers. Its points have bounds if gold judges every answer.
    pub fn of(mut answers: Vec<ScoredAnswer>) -> Self {
        answers.sort_by(|a, b| {
            // On equal probabilities, sort by the hashes, so that the order of the input does not
            // matter.
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
            // A limit withholds answers below a probability, so answers with equal probabilities
            // are either all given or all withheld.
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

    /// The last point at which at most the share `most` of the answers is wrong, with 95 %
    /// confidence. Without gold, the last point at which at most this share is expected to be
    /// wrong. `None` if the first point fails.
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

    /// Answers on one page each, the most probable first. The answers at the positions `wrong` are
    /// wrong.
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
        // Eight wrong ones among the first 160 are too many. No later answer is wrong, but the
        // points after a failed one are not tested.
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
