//! The record of what a check has found.

use serde::{Deserialize, Serialize};

/// The kind of a check's finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The answer has no value.
    NoValue,
    /// The program cannot be executed.
    InvalidProgram,
    /// A literal is not in the page, the question or the history.
    UnsupportedLiteral,
    /// The cell or sentence cited for a literal does not contain it.
    CitationMismatch,
    /// The literal is a dash that lost its escape: `2014` is what is left of `\u2014` (—).
    DashLiteral,
    /// The stated answer differs from the program's result, within an order of magnitude.
    ArithmeticSlip,
    /// The stated answer differs from the program's result by an order of magnitude or more, so one
    /// of the two is wrong.
    AnswerMismatch,
    /// A year that the question names is not a year of the numbers used, or is nowhere on the page.
    PeriodMissing,
    /// The program subtracts later from earlier, or divides a change by the later value.
    PeriodOrder,
    /// The question asks for a percent, and the answer is not one.
    Unit,
    /// A yes/no question is not answered with yes or no, or another question is.
    YesNo,
    /// A share or a percentage is implausibly large.
    Magnitude,
    /// The embedded analyst calls its answer a guess.
    Doubt,
    /// The embedded analyst gives another answer, and is seldom wrong at this confidence.
    SecondOpinion,
}

impl FindingKind {
    /// True if the finding sends an answer back. A slip of arithmetic does not: the program decides
    /// the value, so the slip is already corrected, and another round would only add cost. Nor does
    /// a second opinion, which is another reading and not an error. The LLM critic sees both
    /// anyway.
    pub fn sends_back(self) -> bool {
        !matches!(self, Self::ArithmeticSlip | Self::SecondOpinion)
    }
}

/// A finding: what, where, and how to fix it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub kind: FindingKind,
    /// What the finding is about: `program`, `answer`, `unit`, `evidence`, a literal, or the id of
    /// a cited place.
    #[serde(rename = "where")]
    pub place: String,
    pub problem: String,
    pub fix: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} Fix: {}", self.place, self.problem, self.fix)
    }
}
