//! Plans for the returns of an index or a stock whose table starts at 100. The priors are set by
//! hand, as in the other files of this folder.

use super::super::mention::quantities;
use super::super::plan::PlanExpr::Slot;
use super::super::plan::{PlanExpr, ProgramPlan, step};
use super::super::plan_question::PlanQuestion;
use super::super::slots::SlotQuery;
use super::super::wording::Wording;
use crate::reading::facts::Facts;
use finqa_core::number::UnitKind::{Number, Percent};
use finqa_core::program::Op;

/// "What was the return of the index until 2012?": `(value - 100) / 100`, or the difference of two
/// such returns. Without a word for a rate, it is `value - 100`.
pub(crate) fn index_return(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let (facts, asked) = (q.facts, q.asked);
    let less_hundred = asked.says(&["less"]) && asked.says(&["100", "$100"]);
    let gains = asked.change()
        || asked.relative_change()
        || asked.says(&["return", "returns", "outperform", "roi"])
        || less_hundred;
    // "Cumulative return" implies that the table shows what became of 100.
    let named =
        asked.says(&["cumulative", "cumulative total"]) && asked.says(&["return", "returns"]);
    if !(starts_at_hundred(facts) || named) || !gains {
        return None;
    }
    if is_between_later_years(facts, asked) {
        return None;
    }
    let relative = asked.relative_change()
        || asked.says(&["percent", "outperform", "roi", "rate"])
        || asked.says(&["return", "returns"]) && !asked.change();
    let last = asked.years.iter().max().copied().or_else(|| {
        facts
            .columns
            .iter()
            .flat_map(|c| c.years.iter().copied())
            .max()
    });
    let base = SlotQuery {
        years: last.into_iter().collect(),
        ..q.whole().amount()
    };
    let gain = |slot: usize| {
        let difference = step(Op::Subtract, Slot(slot), PlanExpr::constant(100));
        if relative {
            step(Op::Divide, difference, PlanExpr::constant(100))
        } else {
            difference
        }
    };
    let kind = if relative { Percent } else { Number };
    if let Some((a, b)) = two_returns(asked) {
        let mut slots = q.parts_of(&a, &b);
        for slot in &mut slots {
            slot.years.clone_from(&base.years);
        }
        let expr = step(Op::Subtract, gain(0), gain(1));
        return Some(ProgramPlan::new("difference of returns", expr, slots).parts(0.9, kind));
    }
    Some(ProgramPlan::new("return", gain(0), vec![base]).free(0.9, kind))
}

/// True if a question asks for a change from a year in which the index is not 100.
fn is_between_later_years(facts: &Facts, asked: &Wording) -> bool {
    let (early, late) = (asked.years.iter().min(), asked.years.iter().max());
    let starts = base_years(facts);
    early != late && !starts.is_empty() && early.is_some_and(|early| !starts.contains(early))
}

/// The names of two indices or stocks whose returns are compared.
fn two_returns(asked: &Wording) -> Option<(String, String)> {
    let connectors = ["compared to", "versus", "and", "than", "outperform"];
    let compares = asked.says(&[
        "difference", "compared to", "versus", "outperform", "higher",
    ]);
    quantities(asked, &[("", &connectors)]).filter(|_| compares)
}

/// The years of the cells that are 100.
fn base_years(facts: &Facts) -> Vec<u16> {
    facts
        .all
        .iter()
        .filter(|f| is_hundred(f.number))
        .filter(|f| f.cell().is_some())
        .flat_map(|f| f.years.iter().copied())
        .collect()
}

fn is_hundred(x: f64) -> bool {
    (x - 100.0).abs() < 1e-9
}

/// True if the page shows what became of 100 invested. Either nearly every row or column of the
/// table has a 100 (one can lack it), or the page has the words "return", "invest" and "index" and
/// its text has "$100".
pub(crate) fn starts_at_hundred(facts: &Facts) -> bool {
    let hundreds = facts
        .all
        .iter()
        .filter(|f| f.cell().is_some() && is_hundred(f.number) && !f.percent)
        .count();
    let rows = facts.rows.len().saturating_sub(1);
    let columns = facts.columns.len().saturating_sub(1);
    let in_table = hundreds >= 2 && (hundreds + 1 >= rows || hundreds + 1 >= columns);
    let mut words = ["return", "invest", "index"]
        .into_iter()
        .map(|w| facts.vocabulary.get(w));
    let in_text = || {
        facts
            .all
            .iter()
            .any(|f| f.cell().is_none() && f.dollar && is_hundred(f.number) && f.scale.is_none())
    };
    in_table || words.all(|w| w.is_some()) && in_text()
}
