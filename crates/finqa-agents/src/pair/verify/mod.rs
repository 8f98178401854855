//! The deterministic checks, which are the first of the critic's two layers. They cost nothing, are
//! reproducible, and report only what is certain (docs/decisions.md, "The critic has two layers and
//! three verdicts").
//!
//! The checks look at the program, its literals and the cited evidence. They do not know gold and
//! never change an answer. Reading order: `question` (what a question asks for), `places` (where a
//! number occurs), `checks`, `citations`, and `finding` (the record of a finding).

mod checks;
mod citations;
mod finding;
mod places;
mod question;

use finqa_core::page::period::FiscalYears;
use finqa_core::program::Program;
use finqa_core::question::Question;

use super::answer::Answer;

pub use finding::{Finding, FindingKind};
pub use places::LiteralPlaces;
pub(crate) use question::{QuestionCues, question_cues};

pub(super) use checks::is_constant;
pub(super) use places::is_number;

/// The findings that make an answer unusable, whatever a critic says: it has no value, or its
/// program cannot be executed.
pub fn unusable(answer: &Answer) -> Vec<Finding> {
    let invalid = answer.program_error.as_deref();
    checks::missing_value(answer)
        .into_iter()
        .chain(invalid.map(checks::invalid_program))
        .collect()
}

/// The literals of a program that are neither constants nor on the page, in the question or among
/// the earlier answers. A fraction is on the page if its percentage is: 0.28 for `28%`.
pub fn unsupported_literals(question: &Question, program: &Program) -> Vec<String> {
    let places = LiteralPlaces::of(question);
    let findings = checks::literals(program, &places).into_iter();
    findings
        .filter(|found| found.kind == FindingKind::UnsupportedLiteral)
        .map(|found| found.place)
        .filter(|literal| !places.has_percentage_of(literal))
        .collect()
}

/// A year that the question names but the page does not; `None` if there is no such year. A
/// hypothetical question may name any year.
pub(crate) fn unnamed_year(question: &Question) -> Option<u16> {
    let asked = question_cues(&question.text);
    if asked.years.is_empty() {
        return None;
    }
    let places = LiteralPlaces::of(question);
    unknown_year(&asked, &places, years_behind(question))
}

/// The number of years between the end of the report's fiscal years and the years after which they
/// are named. It is 1 for a retailer whose column of February 2032 belongs to its fiscal 2031. It
/// is 0 if no cover states it.
fn years_behind(question: &Question) -> u16 {
    let cover = question.document.cover.as_ref();
    cover.map_or(0, |cover| FiscalYears::read(cover, &[], false).behind())
}

fn unknown_year(asked: &QuestionCues, places: &LiteralPlaces, behind: u16) -> Option<u16> {
    let mut years = asked.years.iter().filter(|_| !asked.hypothetical);
    let names = |year: u16| places.names_year(year) || places.names_year(year + behind);
    years.find(|year| !names(**year)).copied()
}

/// The findings of all checks on an answer.
pub fn check(question: &Question, answer: &Answer) -> Vec<Finding> {
    let mut asked = question_cues(&question.text);
    let places = LiteralPlaces::of(question);
    let behind = years_behind(question);
    let mut findings = unusable(answer);
    findings.extend(unknown_year(&asked, &places, behind).map(checks::missing_year));
    // A later turn takes its periods and their order from the conversation, so only years that the
    // turn itself names count against its answer. A single year is not enough: with it, the checks
    // would object to the gold programs of 16 of 742 later turns (2.2 %).
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
        let named = checks::periods_named(&program, &places, &asked);
        // If fiscal years are named after an earlier year than the one in which they end, the year
        // of a column is not the year of the question, so this check is skipped.
        findings.extend(named.filter(|_| behind == 0));
        let order = checks::period_order(&program, &places, &asked);
        let direction = || checks::direction(&program, &places, &asked, answer);
        findings.extend(order.or_else(direction));
    }
    findings.extend(checks::doubt(answer));
    findings.extend(checks::mismatch(answer));
    findings.extend(checks::missing_percent(answer, &asked));
    findings.extend(checks::wrong_answer_type(answer, &asked));
    findings.extend(checks::magnitude(answer, &asked));
    findings
}
