//! A second opinion on a chat model's answer: what the embedded rules make of
//! the same question. It costs no call. Whether the two agree says more of an
//! answer than the model's own word (docs/offline.md, "As a second opinion").
//!
//! It never replaces an answer: it breaks ties between samples, is shown to the
//! critic where it is sure, and is put down beside the answer.

use serde::{Deserialize, Serialize};

use crate::number::{Value, print};
use crate::offline::Guess;
use crate::parse::Evidence;
use crate::program::Program;

use super::verify::{Finding, FindingKind};

/// What the second opinion is used for (`--second-opinion`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpinionUse {
    /// There is none.
    Off,
    /// It breaks ties between samples and is put down beside the answer.
    Record,
    /// And where it is sure and differs, the critic is told.
    #[default]
    Show,
    /// And an answer that it does not agree with is withheld.
    Require,
}

/// What the embedded rules make of a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SecondOpinion {
    /// Its value, unrounded.
    pub value: Value,
    /// Its answer as printed for a person.
    pub printed: String,
    /// Its program in the dataset's language.
    pub program: String,
    /// The cells and sentences it reads.
    pub evidence: Vec<Evidence>,
    /// How likely it is right, 0 to 1, calibrated on the embedded pair's own runs.
    pub confidence: f64,
    /// Whether the answer comes to the same; absent without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agrees: Option<bool>,
}

impl From<Guess> for SecondOpinion {
    fn from(guess: Guess) -> Self {
        let hundred =
            Program::parse(&guess.program).is_ok_and(|program| program.ends_with_times_100());
        Self {
            printed: print(&guess.value, guess.unit, hundred),
            value: guess.value,
            program: guess.program,
            evidence: guess.evidence.into_iter().map(Evidence::from).collect(),
            confidence: guess.confidence,
            agrees: None,
        }
    }
}

impl SecondOpinion {
    /// Whether an answer's value is this one.
    #[must_use]
    pub fn agrees_with(&self, value: Option<&Value>) -> bool {
        value.is_some_and(|value| same(value, &self.value))
    }

    /// What the critic is told of an answer that comes to something else.
    #[must_use]
    pub(super) fn finding(&self) -> Finding {
        let cells: Vec<String> = self
            .evidence
            .iter()
            .map(|cited| format!("{} ({})", cited.id, cited.literal))
            .collect();
        let from = if cells.is_empty() {
            String::new()
        } else {
            format!(", from {}", cells.join(", "))
        };
        Finding {
            kind: FindingKind::SecondOpinion,
            place: "answer".to_owned(),
            problem: format!(
                "an independent reading of the question by rules comes to {}, by {}{from}.",
                self.printed, self.program
            ),
            fix: "see which of the two the page bears out: rows, columns, years, operation."
                .to_owned(),
        }
    }
}

/// Whether two values are one answer: the same word, or within half a percent,
/// a percent and its fraction being the same. The sign counts.
#[must_use]
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => [1.0, 100.0, 0.01]
            .iter()
            .any(|by| (a * by - b).abs() <= 0.005 * b.abs().min((a * by).abs()) + 1e-9),
        (Value::Text(a), Value::Text(b)) => a.trim().eq_ignore_ascii_case(b.trim()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_answer_in_two_forms_is_the_same_and_a_sign_is_not() {
        let same = |a: f64, b: f64| same(&Value::Number(a), &Value::Number(b));
        assert!(same(0.14136, 14.1) && same(14.1, 0.14136) && same(100.0, 100.4));
        assert!(!same(5.0, -5.0) && !same(100.0, 101.0) && !same(0.0, 3.0));
        assert!(same(0.0, 0.0) && !same(f64::NAN, f64::NAN));
        let word = |text: &str| Value::Text(text.to_owned());
        assert!(super::same(&word("yes"), &word("Yes ")));
        assert!(!super::same(&word("yes"), &Value::Number(1.0)));
    }
}
