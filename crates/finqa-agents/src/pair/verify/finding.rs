//! What a check has found, as a record.

use serde::{Deserialize, Serialize};

/// The kind of a check's finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// There is no answer, or none with a value.
    NoValue,
    /// The program cannot be executed.
    InvalidProgram,
    /// A literal is not in the page, the question or the history.
    UnsupportedLiteral,
    /// The cell or sentence cited for a literal does not contain it.
    CitationMismatch,
    /// A literal is a dash that lost its escape (`2014` for —).
    DashLiteral,
    /// The stated answer differs from the program's result, within an order of magnitude.
    ArithmeticSlip,
    /// The stated answer is an order of magnitude away from the program's result: one of the
    /// two is wrong.
    AnswerMismatch,
    /// A year of the question is not among the evidence's years, or nowhere on the page.
    PeriodMissing,
    /// Earlier minus later, or a percent change over the later value.
    PeriodOrder,
    /// The unit is not the requested one.
    Unit,
    /// A yes/no question without yes or no, or the reverse.
    YesNo,
    /// A share or percent of unlikely size.
    Magnitude,
    /// The embedded analyst takes its answer for a guess.
    Doubt,
    /// The embedded analyst gives another answer, and is seldom wrong at this confidence.
    SecondOpinion,
}

impl FindingKind {
    /// True if the finding sends an answer back. A slip of arithmetic does not: the program
    /// decides the value, so the slip is corrected already, and another round would only
    /// add cost. Nor does a second opinion, which is another reading and not an error. The
    /// LLM critic sees both anyway.
    pub fn sends_back(self) -> bool {
        !matches!(self, Self::ArithmeticSlip | Self::SecondOpinion)
    }
}

/// A finding: what, where, and how to fix it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub kind: FindingKind,
    /// The place: `program`, `answer`, `unit`, `evidence`, or a literal.
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
