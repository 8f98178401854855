//! The comparison that led to a grade. Clients see it as `grading`.

use serde::Serialize;
use serde_json::{Value, json};

use super::text::ParsedAnswer;

/// The relative tolerance of OpenEnv's `finqa_env`.
pub(crate) const TOLERANCE: f64 = 0.01;
/// The largest absolute difference at which values count as equal, as in `finqa_env`. Both
/// tolerances must be kept.
pub(crate) const MAX_ABSOLUTE_DIFFERENCE: f64 = 1.0;
/// An answer with a smaller absolute value matches a truth of 0, as in `finqa_env`.
pub(super) const NEAR_ZERO: f64 = 0.001;

/// An answer's grade, with the rule, values and tolerances that decided it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct GradedAnswer {
    #[serde(skip)]
    equal: bool,
    rule: ComparisonRule,
    submitted: Vec<Value>,
    expected: Vec<Value>,
    /// The tolerances, both of which must be kept. Null if texts were compared, or if nothing was.
    tolerance: Value,
}

/// The rule by which the submitted value and the expected value were compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ComparisonRule {
    /// The truth is a number. If the answer is not a number, it is wrong.
    Number,
    /// Two numbers that are equal if the answer's percent sign is ignored, because the truth is in
    /// percentage points.
    PercentSignDropped,
    /// Two texts, compared in lower case.
    Text,
    /// The values of several boxes, compared in order.
    ValuesInOrder,
    /// The numbers of a list in a single `\boxed{}`, compared by year if both sides name the same
    /// years, and otherwise in order.
    List,
    /// Nothing was compared, because strict grading refuses empty and non-finite values.
    Refused,
}

/// One side of a comparison as JSON: its number, or its text if it is not a number.
pub(super) fn compared(number: Option<f64>, text: &str) -> Value {
    match number {
        Some(number) if number.is_finite() => json!(number),
        // JSON has neither NaN nor infinity, so print them as texts.
        Some(number) => json!(number.to_string()),
        None => json!(text),
    }
}

impl From<&ParsedAnswer> for Value {
    fn from(answer: &ParsedAnswer) -> Self {
        compared(answer.number, &answer.text)
    }
}

impl GradedAnswer {
    /// Describes a comparison, with the tolerance that its rule applies.
    pub(super) fn new(
        equal: bool,
        rule: ComparisonRule,
        submitted: Vec<Value>,
        expected: Vec<Value>,
    ) -> Self {
        // `compute_reward`, which may compare with other tolerances, drops these.
        let both = json!({"relative": TOLERANCE, "absolute": MAX_ABSOLUTE_DIFFERENCE});
        let tolerance = match (rule, expected.as_slice()) {
            (ComparisonRule::Text | ComparisonRule::Refused, _) => Value::Null,
            (ComparisonRule::Number | ComparisonRule::PercentSignDropped, [only])
                if only.as_f64() == Some(0.0) =>
            {
                json!({"relative": null, "absolute": NEAR_ZERO})
            }
            _ => both,
        };
        Self {
            equal,
            rule,
            submitted,
            expected,
            tolerance,
        }
    }

    /// 1.0 if the sides are equal, otherwise 0.0.
    pub(crate) fn reward(&self) -> f64 {
        if self.equal { 1.0 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RewardMode, grade};
    use rstest::rstest;
    use serde_json::{Value, json};

    const BOTH: &str = r#"{"relative": 0.01, "absolute": 1.0}"#;

    #[rstest]
    #[case("12.5%", r"\boxed{12.6\%}", "number", json!([0.125]), json!([0.126]), BOTH)]
    #[case("about 5", r"\boxed{5}", "number", json!(["about 5"]), json!([5.0]), BOTH)]
    #[case("4.5%", "4.5", "percent_sign_dropped", json!([4.5]), json!([4.5]), BOTH)]
    #[case("0.0004", "0", "number", json!([0.0004]), json!([0.0]), r#"{"relative": null, "absolute": 0.001}"#)]
    #[case("Yes", r"\boxed{no}", "text", json!(["yes"]), json!(["no"]), "null")]
    #[case("a: 4.5, 1", r"\boxed{4.5}, \boxed{1}", "values_in_order", json!([4.5, 1.0]), json!([4.5, 1.0]), BOTH)]
    #[case("2022: 1, 2021: 2", r"\boxed{2021: 2, 2022: 1}", "list", json!([1.0, 2.0]), json!([2.0, 1.0]), BOTH)]
    #[case("nan", "5", "number", json!(["NaN"]), json!([5.0]), BOTH)]
    fn a_grade_shows_what_was_compared(
        #[case] answer: &str,
        #[case] truth: &str,
        #[case] rule: &str,
        #[case] submitted: Value,
        #[case] expected: Value,
        #[case] tolerance: &str,
    ) {
        let graded = grade(answer, truth, RewardMode::OpenEnv).unwrap();
        let tolerance: Value = serde_json::from_str(tolerance).unwrap();
        let wanted = json!({
            "rule": rule, "submitted": submitted, "expected": expected, "tolerance": tolerance,
        });
        assert_eq!(serde_json::to_value(graded).unwrap(), wanted);
    }

    #[test]
    fn strict_grading_says_that_it_refused() {
        for (answer, truth) in [("", "5"), ("5", ""), ("nan", "5"), ("5", "inf")] {
            let graded = grade(answer, truth, RewardMode::Strict).unwrap();
            let rule = &serde_json::to_value(graded).unwrap()["rule"];
            assert_eq!(rule, "refused", "{answer:?} for {truth:?}");
        }
    }
}
