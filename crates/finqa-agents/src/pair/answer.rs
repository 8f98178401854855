//! An answer, as a record: `from_analysis` makes one.

use serde::{Deserialize, Serialize};

use finqa_core::number::{Unit, Value};
use finqa_core::question::{CitedEvidence, HistoryEntry, HistorySource};

/// An answer with everything that supports it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The value before printing: the executed program, or the printed answer read as a number.
    pub value: Option<Value>,
    /// The answer as shown to a person, e.g. `14.1%` (rule: docs/scoring.md, section 0).
    pub printed: String,
    /// The answer as the analyst stated it: a cross-check of the program.
    pub stated: String,
    pub unit: Unit,
    /// The value is in percent already: the program's last step multiplies by 100, or it
    /// uses percentages as the page prints them.
    #[serde(rename = "times_100")]
    pub in_percent: bool,
    pub program: Option<String>,
    /// The reason why the program did not determine the value, if it should have: the stated
    /// answer did, as it does without a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_error: Option<String>,
    /// A name for the value, e.g. `net revenue, 2009`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The reasoning, one step a line.
    pub steps: Vec<String>,
    pub evidence: Vec<CitedEvidence>,
    /// The analyst's own confidence, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The embedded analyst's reason to call it a guess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

impl Answer {
    /// The analysis in the requested form, as the critic sees it.
    pub(crate) fn to_analysis_json(&self) -> String {
        let analysis = serde_json::json!({
            "evidence": self.evidence,
            "program": self.program,
            "steps": self.steps,
            "answer": self.printed,
            "unit": self.unit,
            "label": self.label,
        });
        serde_json::to_string_pretty(&analysis).unwrap_or_default()
    }
}

/// Our own answer as a later turn sees it.
pub fn answer_history(question: &str, answer: Option<&Answer>) -> HistoryEntry {
    HistoryEntry {
        question: question.to_owned(),
        value: answer.and_then(|answer| answer.value.clone()),
        program: answer.and_then(|answer| answer.program.clone()),
        label: answer.and_then(|answer| answer.label.clone()),
        source: HistorySource::Own,
    }
}
