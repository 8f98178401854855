//! The plan for a change in a table that leads from an opening balance to a closing one.

use super::super::plan::Pairing::Free;
use super::super::plan::{ProgramPlan, of_slots, slot};
use super::super::plan_question::PlanQuestion;
use super::super::slot_scorer::best_facts;
use crate::operations;
use crate::reading::facts::Fact;
use finqa_core::number::UnitKind::{Number, Percent};
use finqa_core::program::Op;

/// "By what percentage did the allowance grow during 2012?": the closing balance, compared with the
/// opening balance above it in the same column. If the question names two years, the closing
/// balances of both are compared. If the earlier one is missing, the opening balance replaces it,
/// but only for consecutive years.
pub(crate) fn roll_forward(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let (facts, asked) = (q.facts, q.asked);
    let leads = facts.all.iter().any(|f| f.opening);
    // Only two balances are compared here. If more years are named, the other rules for changes
    // compare the latest with the earliest.
    if !leads || !asked.change() || asked.years.len() > 2 {
        return None;
    }
    let wanted = q.whole();
    // All facts, because other facts may fit better than the best closing balance.
    let ranked = best_facts(facts, &wanted, facts.all.len());
    let two = asked.years.iter().max().zip(asked.years.iter().min());
    let two = two.filter(|(late, early)| late > early);
    let dated = |fact: &Fact| match two {
        Some((late, _)) => fact.years.contains(late),
        // Without two years, a closing balance of a year asked for, or one without a year.
        None => wanted.years.is_empty() || fact.years.is_empty() || fact.is_of(&wanted.years),
    };
    let mut best = ranked
        .iter()
        .filter_map(|(i, _)| Some((*i, facts.all.get(*i)?)));
    let (closing, fact) = best.find(|(_, fact)| fact.closing && dated(fact))?;
    let (row, col) = fact.cell()?;
    let first = |year: &u16| {
        facts.all.iter().position(|f| {
            let of_series = f.cell().is_some_and(|(r, c)| r == row || c == col);
            f.closing && of_series && f.years.contains(year)
        })
    };
    let opening = || {
        let above = |f: &Fact| f.cell().is_some_and(|(r, c)| c == col && r < row);
        facts.all.iter().rposition(|f| f.opening && above(f))
    };
    let base = match two {
        Some((late, early)) => {
            let consecutive = *late == early + 1;
            first(early).or_else(|| opening().filter(|_| consecutive))
        }
        None => opening(),
    }?;
    let wanted = wanted.undated().amount();
    let slots = vec![wanted.of_fact(closing), wanted.of_fact(base)];
    let (expr, kind) = if asked.relative_change() {
        (operations::relative_change(slot(0), slot(1)), Percent)
    } else {
        (of_slots(Op::Subtract), Number)
    };
    Some(ProgramPlan::new("roll-forward", expr, slots).paired(Free, 0.7, kind))
}
