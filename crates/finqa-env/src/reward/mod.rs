//! Grades a submitted answer against the expected answer with 1.0 or 0.0.
//!
//! [`RewardMode::OpenEnv`] follows OpenEnv's `finqa_env`, including its quirks.
//! [`RewardMode::Strict`] refuses answers that earn 1.0 only because of a quirk. `text` reads an
//! answer into numbers and texts, this file compares them, and `graded` reports the comparison.

mod error;
mod fraction;
mod graded;
mod text;

pub use error::RewardError;
pub(crate) use graded::GradedAnswer;

use super::python;
use graded::{ComparisonRule, MAX_ABSOLUTE_DIFFERENCE, NEAR_ZERO, TOLERANCE, compared};
use text::{AnswerPart, ParsedAnswer, PercentSign};

/// The grading of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RewardMode {
    /// Exactly like OpenEnv's `finqa_env`.
    #[value(name = "openenv")]
    OpenEnv,
    /// Like `openenv`, but without its known exploits.
    ///
    /// 0.0 for an empty truth or answer, for an answer with `nan` or an infinity, and
    /// for a list with a part that is not a number or with a year twice: OpenEnv's
    /// `finqa_env` skips those parts, so a list can be padded with guesses.
    Strict,
}

/// Grades a prediction against a truth: 1.0 or 0.0.
///
/// Numbers must be within both tolerances (the README of `finqa_env` says *or*, but its code says
/// *and*). Any other answer must be the same text, ignoring case.
///
/// ```
/// use finqa_env::reward::{RewardMode, compute_reward};
/// let grade = |p, t| compute_reward(p, t, 0.01, 1.0, RewardMode::OpenEnv);
/// assert_eq!(grade("6.28%", r"\boxed{6.280\%}"), Ok(1.0));
/// assert_eq!(grade("6.28", r"\boxed{6.280\%}"), Ok(0.0));
/// ```
///
/// # Errors
/// If OpenEnv's `finqa_env` raises an exception on these inputs. It does so for a fraction too
/// large for a double, and if only some values of the truth have years while all values of the
/// answer do.
pub fn compute_reward(
    prediction: &str,
    truth: &str,
    tolerance: f64,
    max_absolute_difference: f64,
    mode: RewardMode,
) -> Result<f64, RewardError> {
    let grader = Grader {
        tolerance,
        max_absolute_difference,
        mode,
    };
    Ok(grader.grade(prediction, truth)?.reward())
}

/// Grades with the tolerances of OpenEnv's `finqa_env`, and also returns the compared values.
pub(crate) fn grade(
    prediction: &str,
    truth: &str,
    mode: RewardMode,
) -> Result<GradedAnswer, RewardError> {
    let grader = Grader {
        tolerance: TOLERANCE,
        max_absolute_difference: MAX_ABSOLUTE_DIFFERENCE,
        mode,
    };
    grader.grade(prediction, truth)
}

/// Compares an answer with the truth by one mode and its tolerances.
struct Grader {
    tolerance: f64,
    max_absolute_difference: f64,
    mode: RewardMode,
}

impl Grader {
    /// Tries the comparisons in the order of OpenEnv's `finqa_env`: several boxes, one value, the
    /// value without its percent sign, a list in one box.
    fn grade(&self, prediction: &str, truth: &str) -> Result<GradedAnswer, RewardError> {
        let truth_boxes = text::boxes(truth);
        if truth_boxes.len() > 1 {
            return self.boxes_equal(prediction, &truth_boxes);
        }
        let right = text::normalise(truth, PercentSign::Divide)?;
        let left = text::normalise(prediction, PercentSign::Divide)?;
        let rule = match right.number {
            Some(_) => ComparisonRule::Number,
            None => ComparisonRule::Text,
        };
        let graded = |equal, rule, left: &ParsedAnswer| {
            GradedAnswer::new(equal, rule, vec![left.into()], vec![(&right).into()])
        };
        if self.refuses(&left, &right) {
            return Ok(graded(false, ComparisonRule::Refused, &left));
        }
        if self.same(left.number, &left.text, &right) {
            return Ok(graded(true, rule, &left));
        }
        // The answer `4.5%` is right if the truth is 4.5 percentage points.
        let dropped = text::normalise(prediction, PercentSign::Drop)?;
        if self.same(dropped.number, &left.text, &right) {
            return Ok(graded(true, ComparisonRule::PercentSignDropped, &dropped));
        }
        match (truth_boxes.as_slice(), right.number) {
            ([only], None) => {
                let list = self.lists_equal(prediction, only)?;
                Ok(list.unwrap_or_else(|| graded(false, rule, &left)))
            }
            _ => Ok(graded(false, rule, &left)),
        }
    }

    /// Compares with a truth of several boxes. The answer must list the same number of values in
    /// the same order.
    fn boxes_equal(&self, prediction: &str, truths: &[&str]) -> Result<GradedAnswer, RewardError> {
        let values = text::split_list(python::strip(prediction), false);
        // A value that cannot be read was never compared, because an earlier value was wrong or the
        // counts differ. Show it as its text.
        let read = |value: &&str| {
            let value = text::without_label(value);
            text::normalise(value, PercentSign::Divide)
                .map_or_else(|_| compared(None, value), |answer| (&answer).into())
        };
        Ok(GradedAnswer::new(
            self.all_boxes_equal(&values, truths)?,
            ComparisonRule::ValuesInOrder,
            values.iter().map(read).collect(),
            truths.iter().map(read).collect(),
        ))
    }

    /// True if there is one value for each truth, and each value equals the truth in its place, as
    /// it is or without its percent sign.
    fn all_boxes_equal(&self, values: &[&str], truths: &[&str]) -> Result<bool, RewardError> {
        if values.len() != truths.len() {
            return Ok(false);
        }
        for (value, truth) in values.iter().zip(truths) {
            let right = text::normalise(truth, PercentSign::Divide)?;
            let left = text::normalise(text::without_label(value), PercentSign::Divide)?;
            if self.refuses(&left, &right) {
                return Ok(false);
            }
            if self.same(left.number, &left.text, &right) {
                continue;
            }
            // As in OpenEnv's `finqa_env`, the label is not removed here: `4.5%` matches 4.5, but
            // `a: 4.5%` does not.
            let dropped = text::normalise(value, PercentSign::Drop)?;
            if !self.same(dropped.number, &left.text, &right) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if strict grading refuses to compare because a side is empty, or is `nan` or infinite.
    fn refuses(&self, left: &ParsedAnswer, right: &ParsedAnswer) -> bool {
        let not_finite = |side: &ParsedAnswer| side.number.is_some_and(|x| !x.is_finite());
        self.mode == RewardMode::Strict
            && (left.text.is_empty()
                || right.text.is_empty()
                || not_finite(left)
                || not_finite(right))
    }

    /// True if both sides are numbers within the tolerances, or neither is a number and the texts
    /// are equal.
    fn same(&self, number: Option<f64>, words: &str, truth: &ParsedAnswer) -> bool {
        match (number, truth.number) {
            (Some(p), Some(0.0)) => p.abs() < NEAR_ZERO,
            (Some(p), Some(t)) => self.within(p, t),
            (None, None) => words == truth.text,
            _ => false,
        }
    }

    fn within(&self, p: f64, t: f64) -> bool {
        let difference = (p - t).abs();
        difference / t.abs() <= self.tolerance && difference <= self.max_absolute_difference
    }

    /// Compares the list of values in the truth's only box with the list in the answer. Values are
    /// paired by year if both sides name the same years, and otherwise by position. `None` if the
    /// truth has fewer than two numbers.
    fn lists_equal(
        &self,
        prediction: &str,
        truth: &str,
    ) -> Result<Option<GradedAnswer>, RewardError> {
        let (truths, _) = text::parts(truth)?;
        let (values, unread) = text::parts(prediction)?;
        if truths.len() < 2 {
            return Ok(None);
        }
        let numbers = |parts: &[AnswerPart]| {
            let numbers = parts.iter().map(|part| part.number);
            numbers.map(|number| compared(Some(number), "")).collect()
        };
        Ok(Some(GradedAnswer::new(
            values.len() == truths.len() && self.values_equal(&values, unread, &truths)?,
            ComparisonRule::List,
            numbers(&values),
            numbers(&truths),
        )))
    }

    /// Compares values by their years if both sides have the same years, and otherwise by their
    /// order. The caller has compared the numbers of parts. `unread` is the number of parts of the
    /// answer that are not numbers.
    fn values_equal(
        &self,
        values: &[AnswerPart],
        unread: usize,
        truths: &[AnswerPart],
    ) -> Result<bool, RewardError> {
        let values_years = years(values);
        // OpenEnv skips parts that are not numbers and uses the last value of a repeated year, so a
        // list can be padded with guesses. Strict grading refuses both.
        if self.mode == RewardMode::Strict {
            let named = values.iter().filter(|p| p.year.is_some()).count();
            if unread > 0 || named != values_years.len() {
                return Ok(false);
            }
        }
        // Without the same years on both sides, only the positions can pair the values.
        if values_years.is_empty() || values_years != years(truths) {
            let mut pairs = values.iter().zip(truths);
            return Ok(pairs.all(|(p, t)| self.close(p.number, t.number)));
        }
        // The last value of a repeated year counts, as in OpenEnv's `finqa_env`.
        for part in truths {
            let last = |side: &[AnswerPart]| {
                let same = side.iter().rev().find(|p| p.year == part.year);
                same.map(|p| p.number)
            };
            let p = last(values).ok_or(RewardError::MissingYear)?;
            // Always found, because `part` is one of `truths`.
            let t = last(truths).unwrap_or(part.number);
            if !self.close(p, t) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if a value of a list is within both tolerances. Unlike the 0 of a single value, a 0 in
    /// a list must match exactly.
    fn close(&self, p: f64, t: f64) -> bool {
        if t == 0.0 {
            return p == 0.0;
        }
        self.within(p, t)
    }
}

/// The distinct years of the parts, sorted.
fn years(parts: &[AnswerPart]) -> Vec<&str> {
    let mut years: Vec<&str> = parts.iter().filter_map(|p| p.year.as_deref()).collect();
    years.sort_unstable();
    years.dedup();
    years
}
