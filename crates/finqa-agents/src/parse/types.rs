//! The typed forms of a reply.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use finqa_core::number::Unit;
use finqa_core::question::CitedEvidence;

/// An analyst's reply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// The reasoning, one entry per step.
    pub steps: Vec<String>,
    /// The answer as the model printed it. It is empty only if the reply has a program but no
    /// answer.
    pub answer: String,
    /// The cells, sentences and earlier turns from which the figures come.
    #[serde(default)]
    pub evidence: Vec<CitedEvidence>,
    /// The calculation. It is in the dataset's language if there is only one way to read it, and
    /// otherwise as the model wrote it.
    #[serde(default)]
    pub program: Option<String>,
    #[serde(default)]
    pub unit: Option<Unit>,
    /// A description of the value, such as `net cash from operating activities, 2009`.
    #[serde(default)]
    pub label: Option<String>,
    /// The model's estimate of the probability that it is right, from 0 to 1.
    #[serde(default)]
    pub confidence: Option<f64>,
}

/// A critic's verdict on an answer.
#[derive(Clone, Debug, PartialEq, IntoStaticStr, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
#[strum(serialize_all = "snake_case")]
pub enum CriticVerdict {
    /// The answer is accepted.
    Ok,
    /// The answer is sent back.
    Revise {
        /// The LLM critic's findings, in its order. Empty if only the checks object, because their
        /// findings are in the round.
        findings: Vec<CriticFinding>,
    },
    /// The critic's reply is neither an approval nor a list of findings, such as `ALL_OK` with a
    /// remark that does not approve.
    Unparsable { reason: String },
    /// No critic reviewed the answer (`--critic off`, or the critic failed).
    Skipped,
}

impl CriticVerdict {
    /// The name in files and in traces.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

/// A fault that the LLM critic finds in an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriticFinding {
    /// The step, literal or evidence id that the finding is about.
    #[serde(rename = "where")]
    pub location: String,
    pub problem: String,
    pub fix: String,
}

impl std::fmt::Display for CriticFinding {
    /// Writes `where: problem; fix: …`, without the parts that are empty.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.location.is_empty() {
            write!(f, "{}: ", self.location)?;
        }
        f.write_str(&self.problem)?;
        match (self.problem.is_empty(), self.fix.is_empty()) {
            (_, true) => Ok(()),
            (true, false) => f.write_str(&self.fix),
            (false, false) => write!(f, "; fix: {}", self.fix),
        }
    }
}
