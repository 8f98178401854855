//! The record of an answer, which `from_analysis` creates.

use serde::{Deserialize, Serialize};

use finqa_core::number::{self, PercentReading, Scale, Unit, UnitKind, Value};
use finqa_core::question::{CitedEvidence, HistoryEntry, HistorySource};

/// An answer with everything that supports it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The value before it is printed. It is the result of the program, or the stated answer read
    /// as a number or a word.
    pub value: Option<Value>,
    /// The answer as shown to a person, such as `14.1%` (rule: docs/scoring.md, "What is
    /// compared").
    pub printed: String,
    /// If the question asks for several values, the values that are joined in `printed`, in the
    /// order of the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// The answer that the analyst stated. It is a cross-check of the program.
    pub stated: String,
    pub unit: Unit,
    /// True if the value is already in percent. This is so if the program's last step multiplies by
    /// 100, or if the program uses percentages as the page prints them.
    #[serde(rename = "times_100")]
    pub in_percent: bool,
    pub program: Option<String>,
    /// The reason why the value is not the program's result but the stated answer. Absent if there
    /// is no program, or if the program was executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_error: Option<String>,
    /// A description of the value, such as `net revenue, 2009`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The reasoning, one entry per step.
    pub steps: Vec<String>,
    pub evidence: Vec<CitedEvidence>,
    /// The analyst's confidence in its answer, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The reason why the answer is not sure: the embedded analyst calls it a guess, or `ask`
    /// doubts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

impl Answer {
    /// The value in units: 1250400000 for 1250.4 million, 44.0 for 44 %. An amount without a scale
    /// word is unchanged. `None` for words.
    pub fn plain_value(&self) -> Option<f64> {
        let value = self.value.as_ref()?.number()?;
        if self.unit.kind == UnitKind::Percent {
            let reading = PercentReading::of(value, self.in_percent);
            return Some(without_noise(reading.percent));
        }
        let printed = || number::answer(&self.printed).ok()?.scale;
        let scale = self.unit.scale.or_else(printed);
        Some(without_noise(value * scale.map_or(1.0, Scale::factor)))
    }

    /// The answer in the form of an analysis, as the critic sees it.
    pub(crate) fn to_analysis_json(&self) -> String {
        let analysis = serde_json::json!({
            "evidence": self.evidence,
            "program": self.program,
            "steps": self.steps,
            "answer": self.printed,
            "unit": self.unit,
            "label": self.label,
        });
        // A `serde_json::Value` can always be serialised.
        serde_json::to_string_pretty(&analysis).unwrap_or_default()
    }
}

/// Rounds to 13 of the 15 significant digits that an `f64` always keeps, because 0.141 times 100 is
/// not exactly 14.1 in binary arithmetic.
fn without_noise(value: f64) -> f64 {
    format!("{value:.12e}").parse().unwrap_or(value)
}

/// The history entry of our own answer, for later turns.
pub fn answer_history(question: &str, answer: Option<&Answer>) -> HistoryEntry {
    HistoryEntry {
        question: question.to_owned(),
        value: answer.and_then(|answer| answer.value.clone()),
        program: answer.and_then(|answer| answer.program.clone()),
        label: answer.and_then(|answer| answer.label.clone()),
        source: HistorySource::Own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_value_is_in_units() {
        let (number, percent) = (UnitKind::Number, UnitKind::Percent);
        let million = Some(Scale::Million);
        for (value, printed, kind, scale, in_percent, plain) in [
            (1250.4, "1,250.4", number, million, false, 1_250_400_000.0),
            (-3.5, "$ (3.5) billion", number, None, false, -3.5e9),
            (6.08, "$6.08", number, None, false, 6.08),
            (0.141, "14.1%", percent, None, false, 14.1),
            (44.0, "44%", percent, None, true, 44.0),
            (0.25, "0.25", UnitKind::Ratio, None, false, 0.25),
        ] {
            let answer = Answer {
                value: Some(Value::Number(value)),
                printed: printed.to_owned(),
                unit: Unit { kind, scale },
                in_percent,
                ..Answer::default()
            };
            assert_eq!(answer.plain_value(), Some(plain), "{printed}");
        }
        let words = Answer {
            value: Some(Value::Text("yes".to_owned())),
            ..Answer::default()
        };
        assert_eq!(words.plain_value(), None);
    }
}
