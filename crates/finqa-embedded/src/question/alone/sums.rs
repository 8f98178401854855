//! Shares of what a number is part of by the arithmetic of the table, named or not.

use super::super::plan::PlanExpr::Slot;
use super::super::plan::{LOW, ProgramPlan, step};
use super::super::slots::{SlotQuery, rank};
use super::parts::added;
use crate::reading::facts::Facts;
use finqa_core::number::UnitKind::Percent;
use finqa_core::program::Op;

/// How many facts are considered as the part, and how many plans are made.
const LOOKED_AT: usize = 8;
const MADE: usize = 6;
/// The most numbers of a column that are added.
const LONGEST: usize = 5;

fn plan(name: &'static str, whole: &SlotQuery, slots: &[usize]) -> Option<ProgramPlan> {
    let of_facts = slots.iter().map(|index| whole.of_fact(*index)).collect();
    let sum = match slots.len() {
        2 => Slot(1),
        n => added(n - 1)?.after(1),
    };
    let expr = step(Op::Divide, Slot(0), sum);
    Some(ProgramPlan::new(name, expr, of_facts).parts(LOW, Percent))
}

/// The facts that fit best, each over a cell that is the sum of it and others.
pub(super) fn shares(facts: &Facts, whole: &SlotQuery) -> Vec<ProgramPlan> {
    let mut out = Vec::new();
    for (part, _) in rank(facts, whole, LOOKED_AT) {
        let Some(fact) = facts.all.get(part) else {
            continue;
        };
        let sums = facts.all.iter().enumerate();
        let sums = sums.filter(|(_, sum)| sum.adds_up(fact));
        out.extend(sums.filter_map(|(sum, _)| plan("share of a sum", whole, &[part, sum])));
    }
    out.truncate(MADE);
    out
}

/// The facts that fit best, each over the sum of its column, where the table does not print it.
pub(super) fn shares_of_column(facts: &Facts, whole: &SlotQuery) -> Vec<ProgramPlan> {
    let mut out = Vec::new();
    for (part, _) in rank(facts, whole, LOOKED_AT) {
        let Some((_, col)) = facts.all.get(part).and_then(|fact| fact.cell()) else {
            continue;
        };
        let of_column = |index: &usize| {
            let fact = facts.all.get(*index);
            fact.is_some_and(|fact| fact.cell().is_some_and(|(_, c)| c == col))
        };
        let column: Vec<usize> = (0..facts.all.len()).filter(of_column).collect();
        let summed = column
            .iter()
            .filter_map(|index| facts.all.get(*index))
            .any(|fact| fact.adds_rows.is_some() || fact.total);
        if !summed && (2..=LONGEST).contains(&column.len()) {
            let slots: Vec<usize> = std::iter::once(part).chain(column).collect();
            out.extend(plan("share of a column", whole, &slots));
        }
    }
    out.truncate(MADE / 2);
    out
}
