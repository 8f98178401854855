//! Products that a question describes without naming both factors: a count times its price,
//! a percentage of an amount.

use super::super::plan::{LOW, ProgramPlan, of_slots};
use super::super::slots::{SlotQuery, rank};
use crate::reading::facts::{Fact, Facts};
use finqa_core::number::UnitKind::Number;
use finqa_core::program::Op;

/// How many facts are considered, and how many of each kind become factors.
const LOOKED_AT: usize = 24;
const TRIED: usize = 3;

/// The facts that fit the question best, a rate or price times an amount.
pub(super) fn factors(facts: &Facts, whole: &SlotQuery) -> Vec<ProgramPlan> {
    let ranked: Vec<usize> = rank(facts, whole, LOOKED_AT)
        .into_iter()
        .map(|(index, _)| index)
        .collect();
    let words: Vec<u32> = ["price", "per", "rate", "each"]
        .into_iter()
        .filter_map(|word| facts.vocabulary.get(word))
        .collect();
    let priced = |fact: &Fact| {
        let says = |word: &u32| match fact.cell() {
            Some(_) => fact.label.contains(word) || fact.near.contains(word),
            None => fact.near.contains(word) && fact.scale.is_none(),
        };
        fact.percent || words.iter().any(says)
    };
    let pick = |wanted: bool| {
        let of_kind = ranked.iter().copied().filter(move |index| {
            let fact = facts.all.get(*index);
            fact.is_some_and(|fact| priced(fact) == wanted)
        });
        of_kind.take(TRIED)
    };
    let mut out = Vec::new();
    for rate in pick(true) {
        for amount in pick(false) {
            let slots = vec![whole.of_fact(amount), whole.of_fact(rate)];
            out.push(ProgramPlan::new("factors", of_slots(Op::Multiply), slots).parts(LOW, Number));
        }
    }
    out
}
