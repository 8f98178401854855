//! The types that a reply is parsed into, and the leniencies used.

use serde::{Deserialize, Serialize};

use finqa_core::number::Unit;
use finqa_core::question::CitedEvidence;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// The reasoning, one line a step.
    pub steps: Vec<String>,
    /// The answer as the model printed it. Empty only if the reply has a program and no
    /// answer ([`Leniency::AnswerMissing`]).
    pub answer: String,
    /// The sources of the figures.
    #[serde(default)]
    pub evidence: Vec<CitedEvidence>,
    /// The calculation, in the dataset's program language where it has only one reading, else
    /// as the model wrote it.
    #[serde(default)]
    pub program: Option<String>,
    #[serde(default)]
    pub unit: Option<Unit>,
    /// A name for the value, e.g. `net cash from operating activities, 2009`.
    #[serde(default)]
    pub label: Option<String>,
    /// The model's own estimate, 0 to 1.
    #[serde(default)]
    pub confidence: Option<f64>,
}

/// The critic's reply. A reply that mentions `ALL_OK` among other things is not ok.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum ParsedVerdict {
    /// No objection.
    AllOk,
    /// At least one objection.
    Revise {
        /// In the critic's order; never empty.
        findings: Vec<CriticFinding>,
    },
    Unparsable {
        reason: String,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriticFinding {
    /// The step, literal or evidence id that it is about.
    #[serde(rename = "where")]
    pub location: String,
    pub problem: String,
    pub fix: String,
}

impl std::fmt::Display for CriticFinding {
    /// `where: problem; fix: …`, leaving out what is empty.
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

/// A value and the leniencies used, in the order of first use.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedReply<T> {
    pub value: T,
    /// Empty when the reply had exactly the requested format.
    pub leniencies: Vec<Leniency>,
}

/// A named departure from the format, tolerated and recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leniency {
    /// Only the end of an overlong reply was read.
    Overlong,
    /// A `<think>` block was removed.
    ThinkBlock,
    /// The reply was taken from a fenced block.
    Fence,
    /// The object was among other text.
    Prose,
    /// An extra comma.
    TrailingComma,
    /// Comments in JSON.
    Comment,
    /// An unescaped line break or quote inside a string.
    Unescaped,
    /// A backslash before a character that needs none.
    BadEscape,
    /// The closing brackets at the end were missing.
    MissingClose,
    /// A number with thousands separators or a unit sign, without quotes.
    BareFigure,
    /// `steps` was not a list of strings.
    StepsShape,
    /// `answer` was a number or a boolean.
    AnswerType,
    /// No `answer`, only a program.
    AnswerMissing,
    /// The unit in free words.
    UnitWords,
    /// Calls inside calls.
    ProgramNested,
    /// An arithmetic expression as the program.
    ProgramInfix,
    /// Operation names, spacing or separators of the program differed.
    ProgramSpelling,
    /// `Answer: …` lines and no JSON.
    LabelledLines,
    /// An approval in words (`No issues found.`), or `ALL_OK` with decoration (`**ALL_OK.**`).
    ApprovalWords,
    /// A list of findings without the object around it, or a finding that is a text.
    FindingShape,
}

impl std::fmt::Display for Leniency {
    /// The name in journals, e.g. `trailing_comma`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}

/// Leniencies in order of first use, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes(Vec<Leniency>);

impl Notes {
    pub(super) fn add(&mut self, leniency: Leniency) {
        if !self.0.contains(&leniency) {
            self.0.push(leniency);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn extend(&mut self, other: &Self) {
        for leniency in &other.0 {
            self.add(*leniency);
        }
    }

    pub(super) fn parsed<T>(self, value: T) -> ParsedReply<T> {
        ParsedReply {
            value,
            leniencies: self.0,
        }
    }
}
