//! Plans for the returns of an index or a stock whose table starts at 100.

use super::super::mention::quantities;
use super::super::plan::Pairing::{Free, Parts};
use super::super::plan::{ProgramPlan, slot};
use super::super::plan_question::PlanQuestion;
use super::super::slot_scorer::SlotQuery;
use super::super::wording::Wording;
use crate::expr::Expr;
use crate::reading::facts::{Fact, Facts};
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
    let starts = starts_at_hundred(facts) || named;
    if !starts || !gains || is_between_later_years(facts, asked) {
        return None;
    }
    let relative = asked.relative_change()
        || asked.says(&["percent", "outperform", "roi", "rate"])
        || asked.says(&["return", "returns"]) && !asked.change();
    let of_columns = facts.columns.iter().flat_map(|c| &*c.years);
    let last = asked.years.iter().max().or_else(|| of_columns.max());
    let base = SlotQuery {
        years: last.copied().into_iter().collect(),
        ..q.whole().amount()
    };
    let gain = |index: usize| {
        let difference = Expr::step(Op::Subtract, slot(index), Expr::constant(100));
        if relative {
            Expr::step(Op::Divide, difference, Expr::constant(100))
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
        let expr = Expr::step(Op::Subtract, gain(0), gain(1));
        return Some(
            ProgramPlan::new("difference of returns", expr, slots).paired(Parts, 0.9, kind),
        );
    }
    Some(ProgramPlan::new("return", gain(0), vec![base]).paired(Free, 0.9, kind))
}

/// True if a question asks for a change from a year in which the index is not 100.
fn is_between_later_years(facts: &Facts, asked: &Wording) -> bool {
    let (early, late) = (asked.years.iter().min(), asked.years.iter().max());
    let cells = hundreds(facts).filter(|fact| fact.cell().is_some());
    let starts: Vec<u16> = cells.flat_map(|fact| fact.years.to_vec()).collect();
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

/// The facts that are 100.
fn hundreds(facts: &Facts) -> impl Iterator<Item = &Fact> {
    let all = facts.all.iter();
    all.filter(|fact| (fact.number - 100.0).abs() < 1e-9)
}

/// True if the page shows what became of 100 invested. Either nearly every row or column of the
/// table has a 100 (one can lack it), or the page has the words "return", "invest" and "index" and
/// its text has "$100".
pub(crate) fn starts_at_hundred(facts: &Facts) -> bool {
    let cells = hundreds(facts).filter(|f| f.cell().is_some() && !f.percent);
    let cells = cells.count();
    let rows = facts.rows.len().saturating_sub(1);
    let columns = facts.columns.len().saturating_sub(1);
    let in_table = cells >= 2 && cells + 1 >= rows.min(columns);
    let mut words = ["return", "invest", "index"].into_iter();
    let in_text = || hundreds(facts).any(|f| f.cell().is_none() && f.dollar && f.scale.is_none());
    in_table || words.all(|word| facts.vocabulary.get(word).is_some()) && in_text()
}
