//! Templates for a table that leads from an opening balance to a closing one.

use super::super::asked::Asked;
use super::super::plan::{Pairing, Pattern, Plan};
use super::super::slots::{Query, rank};
use super::{Context, query};
use crate::offline::expr::Op;
use crate::offline::reading::facts::Facts;
use finqa_core::number::UnitKind;

/// "By what percentage did the allowance grow during 2012?": the closing balance
/// against the opening one of the same column.
pub(crate) fn roll_forward(facts: &Facts, asked: &Asked, context: &Context) -> Option<Plan> {
    let leads = facts.all.iter().any(|f| f.opening);
    if !leads || !asked.change() || asked.years.len() > 1 {
        return None;
    }
    let wanted = query(facts, asked, &asked.phrase, context);
    let ranked = rank(facts, &wanted, facts.all.len());
    let at = |index: usize| facts.all.get(index);
    let closing = ranked.iter().map(|(i, _)| *i).find(|i| {
        at(*i).is_some_and(|f| {
            let dated = wanted.years.is_empty()
                || f.years.is_empty()
                || f.years.iter().any(|y| wanted.years.contains(y));
            f.closing && dated
        })
    })?;
    let (row, col) = at(closing)?.cell()?;
    let opening = (0..facts.all.len()).rfind(|i| {
        at(*i).is_some_and(|f| f.opening && f.cell().is_some_and(|(r, c)| c == col && r < row))
    })?;
    let pinned = |index: usize| Query {
        only: Some(index),
        years: Vec::new(),
        percent: false,
        ..wanted.clone()
    };
    let relative = asked.relative_change();
    let difference = Pattern::step(Op::Subtract, Pattern::Slot(0), Pattern::Slot(1));
    Some(Plan {
        name: "roll-forward",
        pattern: if relative {
            Pattern::step(Op::Divide, difference, Pattern::Slot(1))
        } else {
            difference
        },
        slots: vec![pinned(closing), pinned(opening)],
        pairing: Pairing::Free,
        prior: 0.7,
        kind: if relative {
            UnitKind::Percent
        } else {
            UnitKind::Number
        },
    })
}
