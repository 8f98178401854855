//! Checks that the cited cells and sentences contain the figures of the program.

use finqa_core::number;
use finqa_core::program::Program;
use finqa_core::question::CitedEvidence;
use finqa_core::question::Question;

use super::places::{LiteralPlaces, is_number};
use super::{Finding, FindingKind, checks, is_constant};

/// Finds the literals that are in none of the places cited for them. If the evidence has only ids,
/// one of these places must contain each literal.
pub(super) fn check(
    program: &Program,
    evidence: &[CitedEvidence],
    places: &LiteralPlaces,
    question: &Question,
) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let bare = evidence
        .iter()
        .all(|cited| cited.literal.trim().is_empty() && is_known_form(&cited.id, question));
    let known: Vec<(&CitedEvidence, Option<number::NumberReading>)> = evidence
        .iter()
        .filter(|cited| is_known_form(&cited.id, question))
        .map(|cited| (cited, number::answer(&cited.literal).ok()))
        .collect();
    for literal in program
        .literals()
        .filter(|literal| !literal.starts_with("const_"))
    {
        let cites = |reading: &Option<number::NumberReading>| match reading {
            Some(reading) => is_number(literal, reading.value),
            None => bare && !is_constant(literal),
        };
        let cited: Vec<&CitedEvidence> = known
            .iter()
            .filter(|(_, reading)| cites(reading))
            .map(|(cited, _)| *cited)
            .collect();
        let holds = |id: &str| {
            places
                .at(id)
                .any(|place| is_number(literal, place.magnitude))
        };
        // A literal for which nothing is cited contradicts no citation.
        let Some(wrong) = cited.first() else { continue };
        if cited.iter().any(|cited| holds(&cited.id)) {
            continue;
        }
        let found = citation_mismatch(literal, wrong, question);
        if !findings.contains(&found) {
            findings.push(found);
        }
    }
    findings
}

/// The objection that the cited place does not have this figure, or that the page lacks the place.
fn citation_mismatch(literal: &str, cited: &CitedEvidence, question: &Question) -> Finding {
    let id = &cited.id;
    let problem = match question.document.evidence(id) {
        Some(text) if id.starts_with('r') => format!("{id} holds `{text}`, not {literal}."),
        Some(_) => format!("{id} does not hold {literal}."),
        None if id.starts_with('h') => format!("{id} does not equal {literal}."),
        None => format!("{literal} is cited from {id}, which the page does not have."),
    };
    checks::finding(
        FindingKind::CitationMismatch,
        id,
        problem,
        "take the figure from the row, column or sentence asked for, and cite the place that holds it.",
    )
}

/// True if an id names one cell, one sentence or one earlier turn. Other ids (`row 3`, `r1c1:r1c3`)
/// cannot be compared with a literal.
fn is_known_form(id: &str, question: &Question) -> bool {
    let counted = |prefix: char| {
        id.strip_prefix(prefix)
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
    };
    finqa_core::page::position(id).is_some()
        || counted('t')
        || counted('h') && !question.history.is_empty()
}
