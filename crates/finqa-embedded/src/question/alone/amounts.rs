//! Plans for values that a report leaves to its reader: a margin, and an amount that
//! is a number of things times their price.

use super::super::plan::PlanExpr::Slot;
use super::super::plan::{ProgramPlan, of_slots, step};
use super::super::plan_question::PlanQuestion;
use super::super::slots::rank;
use super::super::wording::Wording;
use crate::reading::facts::Facts;
use crate::reading::text::tokenize;
use crate::reading::words::is_weak;
use finqa_core::number::UnitKind::{Number, Percent};
use finqa_core::program::Op;

/// Names of a company's profit.
pub(super) const PROFITS: [&str; 4] = ["net income", "net earnings", "operating profit", "profit"];

/// Margins, and the names of their profit.
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

/// Names of what a margin is a share of.
const REVENUE: [&str; 6] = [
    "total net sales", "total net revenues", "net sales", "net revenues", "total revenues",
    "revenues",
];

/// "What was the operating margin?", where the page has no row of that name.
pub(crate) fn margin(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.says(&["margin", "margins"]) || asked.change() {
        return None;
    }
    let (kind, profits) = MARGINS
        .iter()
        .find(|(kind, _)| asked.says(&[kind]))
        .or(MARGINS.get(2))?;
    let profit = named(q.facts, profits)?;
    let revenue = named(q.facts, &REVENUE)?;
    let rest = asked
        .phrase
        .replace(" margins ", " ")
        .replace(" margin ", " ")
        .replace(&format!(" {kind} "), " ");
    let slots = q.parts_of(&format!("{rest}{profit} "), &format!("{rest}{revenue} "));
    Some(ProgramPlan::new("margin", of_slots(Op::Divide), slots).parts(0.6, Percent))
}

pub(super) fn named<'a>(facts: &Facts, names: &[&'a str]) -> Option<&'a str> {
    names.iter().copied().find(|name| {
        let words: Vec<_> = tokenize(name)
            .iter()
            .map(|t| facts.vocabulary.get(&t.text))
            .collect();
        facts.rows.iter().any(|row| {
            words
                .iter()
                .all(|word| word.is_some_and(|w| row.label.contains(&w)))
        })
    })
}

/// "What was the total value of the shares purchased in May?": a count times a
/// price, where the table has a column for each.
pub(crate) fn count_times_price(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let (facts, asked) = (q.facts, q.asked);
    let counted = asked.says(&[
        "shares", "options", "units", "awards", "stock", "warrants", "rsus", "rights",
    ]);
    let money = asked.says(&[
        "total", "cost", "spent", "paid", "value", "cash", "amount", "outflow", "proceeds",
    ]);
    let one_column = asked.percent()
        || asked.change()
        || asked.says(&["how many", "number of", "price", "per", "average"]);
    if !counted || !money || one_column {
        return None;
    }
    let wanted = q.whole();
    let has = |index: usize, names: &[&str]| {
        facts.all.get(index).is_some_and(|f| {
            names
                .iter()
                .filter_map(|name| facts.vocabulary.get(name))
                .any(|word| f.near.contains(&word))
        })
    };
    let row_of = |index: usize| facts.all.get(index).and_then(|f| f.cell()).map(|(r, _)| r);
    for (index, _) in rank(facts, &wanted, 4) {
        let Some(row) = row_of(index) else { continue };
        let cells = || (0..facts.all.len()).filter(|i| row_of(*i) == Some(row));
        let price = cells().find(|i| has(*i, &["price"]));
        let count = cells().find(|i| {
            has(*i, &["number", "share", "security", "option", "unit"])
                && !has(*i, &["price", "value"])
        });
        if let (Some(count), Some(price)) = (count, price) {
            let slots = vec![wanted.of_fact(count), wanted.of_fact(price)];
            return Some(
                ProgramPlan::new("count times price", of_slots(Op::Multiply), slots)
                    .free(0.4, Number),
            );
        }
    }
    None
}

/// "The difference between A and B as a percentage of B": of a named pair.
pub(crate) fn difference_over(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let (change, whole) = super::super::mention::ratio_operands(q.asked)?;
    let part = Wording::read(&change);
    let (a, b) = super::super::mention::operands(
        &part,
        &[
            ("difference between", &["and"]),
            ("difference of", &["and"]),
            ("excess of", &["over"]),
        ],
    )?;
    let named = |text: &str| tokenize(text).iter().any(|t| !is_weak(&t.text));
    if !(named(&a) && named(&b)) {
        return None;
    }
    let mut slots = q.parts_of(&a, &b);
    slots.push(q.query(&whole));
    let expr = step(Op::Divide, of_slots(Op::Subtract), Slot(2));
    Some(ProgramPlan::new("difference over", expr, slots).parts(0.8, Percent))
}
