//! The record of a check's finding.

use serde::{Deserialize, Serialize};

/// What a check objects to.
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
    /// The literal is a dash that lost its escape: `2014` is the remainder of `\u2014` (—).
    DashLiteral,
    /// The stated answer and the program's result differ by less than an order of magnitude.
    ArithmeticSlip,
    /// The stated answer and the program's result differ by an order of magnitude or more, so one
    /// of the two is wrong.
    AnswerMismatch,
    /// A year that the question names is not among the years of the numbers used, or is not on the
    /// page.
    PeriodMissing,
    /// The program subtracts the later value from the earlier one, or divides a change by the later
    /// value.
    PeriodOrder,
    /// The question asks for a percent, but the answer is not a percent.
    Unit,
    /// A yes/no question is not answered with yes or no, or another question is.
    YesNo,
    /// A share or a percentage is implausibly large.
    Magnitude,
    /// The embedded analyst calls its answer a guess.
    Doubt,
    /// The embedded analyst has another answer, with a confidence at which it is rarely wrong.
    SecondOpinion,
}

impl FindingKind {
    /// True if the finding sends an answer back. An arithmetic slip does not: the program decides
    /// the value, so the slip is already corrected, and another round would only add cost. A second
    /// opinion does not either, because it is another reading and not an error. The LLM critic sees
    /// both.
    pub fn sends_back(self) -> bool {
        !matches!(self, Self::ArithmeticSlip | Self::SecondOpinion)
    }
}

/// A finding of a check: the fault, its place, and how to fix it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub kind: FindingKind,
    /// The subject of the finding: `program`, `answer`, `unit`, `evidence`, a literal, or the id of
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
