//! The deterministic checks (layer A of the critic): free, reproducible, and silent
//! unless certain. Conventions and checks follow the measured advice in
//! docs/decisions.md, "The critic has two layers and three verdicts".
//!
//! They look at the program, its literals and the cited evidence; they do not know gold,
//! and they never change an answer.

mod checks;
mod citations;
mod places;
mod question;

use serde::{Deserialize, Serialize};

use finqa_core::program::Program;
use finqa_core::question::Question;

use super::answer::Answer;

pub use places::LiteralPlaces;
pub(crate) use question::{QuestionCues, question_cues};

pub(super) use checks::is_constant;
pub(super) use places::is_number;

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

/// Findings that make an analysis unusable whatever a critic says: no value, or a program
/// that cannot be executed.
pub fn unusable(answer: &Answer) -> Vec<Finding> {
    let invalid = answer.program_error.as_deref();
    checks::value(answer)
        .into_iter()
        .chain(invalid.map(checks::invalid_program))
        .collect()
}

/// The findings of all checks, or of those that make an answer unusable.
pub(super) fn findings(question: &Question, answer: &Answer, all: bool) -> Vec<Finding> {
    if all {
        check(question, answer)
    } else {
        unusable(answer)
    }
}

/// A year that the question names and the page lacks; a hypothetical question may name
/// any year.
pub(crate) fn unnamed_year(question: &Question) -> Option<i32> {
    let asked = question_cues(&question.text);
    if asked.years.is_empty() {
        return None;
    }
    unknown_year(&asked, &LiteralPlaces::of(question))
}

fn unknown_year(asked: &QuestionCues, places: &LiteralPlaces) -> Option<i32> {
    let mut years = asked.years.iter().filter(|_| !asked.hypothetical);
    years.find(|year| !places.names_year(**year)).copied()
}

pub fn check(question: &Question, answer: &Answer) -> Vec<Finding> {
    let mut asked = question_cues(&question.text);
    let places = LiteralPlaces::of(question);
    let mut findings = unusable(answer);
    findings.extend(unknown_year(&asked, &places).map(checks::period_unknown));
    // A later turn takes its periods and their order from the conversation; only what it
    // names itself can be held against its answer.
    if !question.history.is_empty() && asked.years.len() < 2 {
        asked.change = false;
        asked.increase = false;
        asked.years.clear();
    }
    let program = answer
        .program
        .as_deref()
        .and_then(|text| Program::parse(text).ok());
    if let Some(program) = program {
        findings.extend(checks::literals(&program, &places));
        findings.extend(citations::check(
            &program, &answer.evidence, &places, question,
        ));
        findings.extend(checks::periods_named(&program, &places, &asked));
        let order = checks::period_order(&program, &places, &asked);
        let direction = || checks::direction(&program, &places, &asked, answer);
        findings.extend(order.or_else(direction));
    }
    findings.extend(checks::doubt(answer));
    findings.extend(checks::mismatch(answer));
    if !answer.is_undefined() {
        findings.extend(checks::unit(answer, &asked));
    }
    findings.extend(checks::yes_no(answer, &asked));
    findings.extend(checks::magnitude(answer, &asked));
    findings
}
