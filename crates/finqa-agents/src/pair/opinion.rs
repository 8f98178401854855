//! A second opinion on a chat model's answer, which is the embedded analyst's answer to the same
//! question. It costs no call. Agreement between the two says more about an answer than the model's
//! own confidence (docs/embedded-analyst.md, "As a second opinion").
//!
//! The opinion breaks ties between samples, is shown to the critic if it is confident and differs,
//! and is recorded with the answer. It replaces answers only on request (`arbitration`).

use std::fmt;

use serde::{Deserialize, Serialize};

use finqa_core::number::{NEAR, PercentReading, UnitKind, Value, answer, within};
use finqa_core::question::CitedEvidence;

use super::answer::Answer;
use super::verify::{Finding, FindingKind};

/// The use of the second opinion (`--second-opinion`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum OpinionUse {
    /// No second opinion.
    Off,
    /// Record it with the answer, and use it to break ties between samples.
    Record,
    /// Also show it to the critic if it is confident and differs.
    Show,
    /// Also withhold answers that it does not confirm.
    Require,
    /// Like `show`, but return the second opinion if it is more likely to be right.
    Arbitrate,
}

/// The embedded analyst's answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SecondOpinion {
    /// The value before rounding.
    pub value: Value,
    /// The answer as shown to a person.
    pub printed: String,
    /// The calculation in the dataset's language; empty if the answer is a label of the page.
    pub program: String,
    pub evidence: Vec<CitedEvidence>,
    /// The probability that the opinion is right, calibrated on the embedded analyst's runs.
    pub confidence: f64,
    /// True if the opinion agrees with the answer; absent if there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agrees: Option<bool>,
    /// The choice between the model's answer and the opinion, if the two were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arbitration: Option<Arbitration>,
}

/// Minimum confidence of an opinion that is shown to the critic. docs/embedded-analyst.md says for
/// each level of confidence how often an answer that differed from the opinion was wrong.
const SURE: f64 = 0.85;

impl SecondOpinion {
    /// True if the opinion has a confidence at which it is rarely wrong.
    pub fn is_sure(&self) -> bool {
        self.confidence >= SURE
    }

    pub(crate) fn agrees_with(&self, answer: &Answer) -> bool {
        let value = answer.value.as_ref();
        value.is_some_and(|value| self.is(value, &answer.printed))
    }

    /// True if this value with its printed form is the same answer as the opinion.
    pub fn is(&self, value: &Value, printed: &str) -> bool {
        is_same_answer((value, printed), (&self.value, &self.printed))
    }

    /// The note to the critic about an answer that differs from the opinion.
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
        let answer = match self.program.as_str() {
            "" => format!("answers {}, a label of the page", self.printed),
            program => format!("answers {}, calculated as {program}", self.printed),
        };
        Finding {
            kind: FindingKind::SecondOpinion,
            place: "answer".to_owned(),
            problem: format!("a second analyst, which works by rules, {answer}{from}."),
            fix:
                "check which of the two answers the page supports: rows, columns, years, operation."
                    .to_owned(),
        }
    }
}

impl Answer {
    /// True if the other answer is the same as printed or within half a percent, with or without
    /// its scale.
    pub fn is_same(&self, other: &Self) -> bool {
        let (Some(own), Some(value)) = (&self.value, &other.value) else {
            return false;
        };
        let in_units = || {
            let (a, b) = self.plain_value().zip(other.plain_value())?;
            let percent = [self.unit.kind, other.unit.kind].map(|kind| kind == UnitKind::Percent);
            Some(percent[0] == percent[1] && within(a, b, NEAR))
        };
        is_same_answer((own, &self.printed), (value, &other.printed)) || in_units().unwrap_or(false)
    }
}

/// The choice between the model's answer and the embedded analyst's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arbitration {
    /// True if the embedded analyst's answer was returned.
    pub taken: bool,
    /// The model's accuracy (`--model-accuracy`), with which the embedded analyst's confidence was
    /// compared.
    pub model_accuracy: f64,
}

impl Arbitration {
    /// Chooses the embedded analyst's answer if the model has none. If the two differ, chooses it
    /// if the opinion's confidence is above the model's accuracy.
    pub fn choose(opinion: &SecondOpinion, model_accuracy: f64) -> Self {
        Self {
            taken: match opinion.agrees {
                Some(agrees) => !agrees && opinion.confidence > model_accuracy,
                None => true,
            },
            model_accuracy,
        }
    }
}

impl fmt::Display for Arbitration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = if self.taken {
            "the embedded analyst"
        } else {
            "the model"
        };
        write!(
            f,
            "{whose} decided at a model accuracy of {:.2}",
            self.model_accuracy
        )
    }
}

/// True if two answers, each a value with its printed form, are the same. They are the same word,
/// or numbers that are equal as printed (a percentage with 1 decimal, another number with 3) or
/// differ by at most half a percent. A percentage and its fraction are the same only if exactly one
/// of the two is printed as a percentage. The sign counts.
pub(crate) fn is_same_answer(one: (&Value, &str), other: (&Value, &str)) -> bool {
    match (one.0, other.0) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (PrintedNumber::of(*a, one.1), PrintedNumber::of(*b, other.1));
            match (a.is_percent, b.is_percent) {
                (true, true) => close(a.number, b.number, 1),
                (false, false) => close(a.number, b.number, 3),
                (true, false) => is_percent_of(a.number, b.number),
                (false, true) => is_percent_of(b.number, a.number),
            }
        }
        (Value::Text(a), Value::Text(b)) => a.trim().eq_ignore_ascii_case(b.trim()),
        _ => false,
    }
}

/// A number on the scale of its printed form, without rounding.
struct PrintedNumber {
    number: f64,
    is_percent: bool,
}

impl PrintedNumber {
    /// If `printed` has a percent sign, the value in percent; otherwise the value itself.
    fn of(value: f64, printed: &str) -> Self {
        let reading = answer(printed).ok().filter(|reading| reading.percent);
        let number = reading.as_ref().map_or(value, |reading| {
            PercentReading::shown_as(reading.value, value).percent
        });
        Self {
            number,
            is_percent: reading.is_some(),
        }
    }
}

/// True if a number printed without a percent sign equals a percentage or its fraction.
fn is_percent_of(percent: f64, number: f64) -> bool {
    let reading = PercentReading::of(percent, true);
    close(reading.percent, number, 1) || close(reading.fraction, number, 3)
}

fn close(a: f64, b: f64, decimals: usize) -> bool {
    // The small addend lets 0 equal a rounding error near 0.
    let relative = (a - b).abs() <= NEAR * a.abs().min(b.abs()) + 1e-9;
    relative || a.is_finite() && format!("{a:.decimals$}") == format!("{b:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_the_same_as_printed_or_within_half_a_percent() {
        for (a, b, same) in [
            // 1.27 % and 1.34 % differ by 5 %, but both are printed as 1.3 %.
            ((0.0127, "1.3%"), (0.0134, "1.3%"), true),
            ((1.3, "1.3%"), (0.0134, "1.3%"), true),
            ((0.0127, "1.3%"), (0.0141, "1.4%"), false),
            ((0.012_34, "0.012"), (0.0117, "0.012"), true),
            ((1.0, "1"), (1.4, "1.4"), false),
            // Numbers may differ by a factor of 100 only if one of them is a percentage.
            ((0.14136, "14.1%"), (14.1, "14.1"), true),
            ((0.14136, "0.141"), (0.14136, "14.1%"), true),
            ((0.14136, "0.141"), (14.1, "14.1"), false),
            ((1250.0, "1250"), (12.5, "12.5"), false),
            ((0.056, "5.6%"), (5.6, "560.0%"), false),
            // The sign counts.
            ((100.0, "100"), (100.4, "100.4"), true),
            ((5.0, "5"), (-5.0, "-5"), false),
            ((100.0, "100"), (101.0, "101"), false),
            ((0.0, "0"), (3.0, "3"), false),
            ((0.0, "0"), (0.0, "0"), true),
            ((f64::NAN, "n/a"), (f64::NAN, "n/a"), false),
        ] {
            let (one, other) = (Value::Number(a.0), Value::Number(b.0));
            assert_eq!(
                is_same_answer((&one, a.1), (&other, b.1)),
                same,
                "{a:?} {b:?}"
            );
        }
        let word = |text: &str| Value::Text(text.to_owned());
        let (yes, again) = (word("yes"), word("Yes "));
        assert!(is_same_answer((&yes, "yes"), (&again, "Yes")));
        assert!(!is_same_answer((&yes, "yes"), (&Value::Number(1.0), "1")));
    }

    fn opinion(printed: &str, program: &str, confidence: f64) -> SecondOpinion {
        SecondOpinion {
            value: Value::Text(printed.to_owned()),
            printed: printed.to_owned(),
            program: program.to_owned(),
            evidence: Vec::new(),
            confidence,
            agrees: None,
            arbitration: None,
        }
    }

    /// The critic once got the note "calculated as , from r3c2".
    #[test]
    fn an_opinion_without_a_program_is_said_in_words() {
        let mut label = opinion("North", "", 0.95);
        label.evidence.push(CitedEvidence {
            id: "r3c2".to_owned(),
            literal: "41".to_owned(),
        });
        for (opinion, words) in [
            (label, "answers North, a label of the page, from r3c2 (41)."),
            (
                opinion("5", "add(2, 3)", 0.95),
                "answers 5, calculated as add(2, 3).",
            ),
        ] {
            let problem = opinion.finding().problem;
            assert_eq!(
                problem,
                format!("a second analyst, which works by rules, {words}")
            );
        }
    }

    #[test]
    fn the_likelier_answer_is_chosen_and_a_missing_one_replaced() {
        let taken = |confidence, agrees| {
            let opinion = SecondOpinion {
                agrees,
                ..opinion("1", "1", confidence)
            };
            Arbitration::choose(&opinion, 0.6).taken
        };
        assert!(taken(0.7, Some(false)) && !taken(0.5, Some(false)));
        assert!(!taken(0.6, Some(false)) && !taken(0.9, Some(true)));
        assert!(taken(0.1, None));
    }
}
