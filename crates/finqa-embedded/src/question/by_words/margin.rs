//! The plan for a margin, which many reports do not print.

use super::super::plan::Pairing::Parts;
use super::super::plan::{ProgramPlan, of_slots};
use super::super::plan_question::PlanQuestion;
use crate::reading::facts::Facts;
use crate::reading::text::tokenize;
use crate::reading::words::is_stop;
use finqa_core::number::UnitKind::Percent;
use finqa_core::program::Op;

/// Names of a company's profit, the preferred ones first.
pub(super) const PROFITS: [&str; 4] = ["net income", "net earnings", "operating profit", "profit"];

/// The kinds of margin, each with names of the profit that it is computed from. The first kind that
/// the question names counts, and the first name that a row has.
const MARGINS: [(&str, &[&str]); 5] = [
    (
        "operating",
        &[
            "operating income", "operating profit", "income from operations", "operating earnings",
        ],
    ),
    ("gross", &["gross profit", "gross margin"]),
    ("net", &["net income", "net earnings", "net profit"]),
    ("profit", &PROFITS),
    (
        "segment",
        &["segment profit", "operating profit", "operating income"],
    ),
];

/// Names of the revenue that a margin is a share of.
const REVENUE: [&str; 6] = [
    "total net sales", "total net revenues", "net sales", "net revenues", "total revenues",
    "revenues",
];

/// "What was the operating margin?": the profit over the revenue. `None` if the page lacks a row
/// for one of them. A margin whose kind is not named is the net margin.
pub(crate) fn margin(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.says(&["margin", "margins"]) || asked.change() {
        return None;
    }
    let (kind, profits) = MARGINS
        .iter()
        .find(|(kind, _)| asked.says(&[kind]))
        .or(MARGINS.get(2))?; // "net"
    let profit = named(q.facts, profits)?;
    let revenue = named(q.facts, &REVENUE)?;
    let rest = asked
        .phrase
        .replace(" margins ", " ")
        .replace(" margin ", " ")
        .replace(&format!(" {kind} "), " ");
    let slots = q.parts_of(&format!("{rest}{profit} "), &format!("{rest}{revenue} "));
    Some(ProgramPlan::new("margin", of_slots(Op::Divide), slots).paired(Parts, 0.6, Percent))
}

/// The first of these names whose words are all in the label of one row. `None` if no row has such
/// a name.
pub(super) fn named<'a>(facts: &Facts, names: &[&'a str]) -> Option<&'a str> {
    names.iter().copied().find(|name| {
        let tokens = tokenize(name);
        // Labels are kept without their stop words: "income from operations".
        let words = tokens.iter().filter(|token| !is_stop(&token.text));
        let words = words.map(|token| facts.vocabulary.get(&token.text));
        let words: Option<Vec<u32>> = words.collect();
        let has = |label: &[u32], words: &[u32]| words.iter().all(|word| label.contains(word));
        words.is_some_and(|words| facts.rows.iter().any(|row| has(&row.label, &words)))
    })
}
