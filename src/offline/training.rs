//! What the slot scorer learns from: for a question and a program known to be
//! right, the features of every fact and which of them the program used.
//!
//! Used by `examples/offline_train.rs` only; answering never comes here.

use crate::dataset::Question;

use super::asked::Asked;
use super::expr::Expr;
use super::plan::Pattern;
use super::slots::features;
use super::solve::{Indexed, plans};
use super::state::State;
use super::weights::WEIGHTS;

/// A slot whose fact is known.
#[derive(Clone, Debug)]
pub struct SlotExample {
    /// For every fact of the page its features, and whether the program used it.
    pub facts: Vec<(Vec<f64>, bool)>,
}

/// Name and weight of every feature, in order.
#[must_use]
pub fn feature_weights() -> Vec<(&'static str, f64)> {
    WEIGHTS.to_vec()
}

/// The slots of the first plan that has the program's operations, with the
/// facts the program put there. Empty if no plan has them.
#[must_use]
pub fn slot_examples(page: &Indexed, question: &Question, program: &str) -> Vec<SlotExample> {
    let facts = &*page.facts;
    let Some(gold) = Expr::parse(program) else {
        return Vec::new();
    };
    let asked = Asked::read(&question.text);
    let state = State::read(facts, &question.history);
    for plan in plans(facts, &asked, &state) {
        let mut literals = vec![None; plan.slots.len()];
        if plan.slots.is_empty() || !unify(&plan.pattern, &gold, &mut literals) {
            continue;
        }
        return plan
            .slots
            .iter()
            .zip(literals)
            .filter_map(|(query, literal)| {
                let literal = literal?;
                let same = |other: &str| {
                    other.trim_matches(['-', '%']) == literal.trim_matches(['-', '%'])
                };
                let rows: Vec<_> = facts
                    .all
                    .iter()
                    .enumerate()
                    .map(|(i, fact)| {
                        (
                            features(facts, fact, i, query).to_vec(),
                            same(&fact.literal),
                        )
                    })
                    .collect();
                (rows.iter().any(|(_, used)| *used) && rows.iter().any(|(_, used)| !used))
                    .then_some(SlotExample { facts: rows })
            })
            .collect();
    }
    Vec::new()
}

/// Whether the program has the pattern's operations; the literals of its slots.
fn unify(pattern: &Pattern, expr: &Expr, slots: &mut [Option<String>]) -> bool {
    match (pattern, expr) {
        (Pattern::Slot(i), Expr::Leaf(leaf)) if !leaf.literal.starts_with("const_") => {
            match slots.get_mut(*i) {
                Some(Some(known)) => *known == leaf.literal,
                Some(open) => {
                    *open = Some(leaf.literal.clone());
                    true
                }
                None => false,
            }
        }
        (Pattern::Fixed(fixed), _) => fixed
            .number()
            .zip(expr.number())
            .is_some_and(|(a, b)| (a - b).abs() <= 1e-9 * b.abs()),
        (Pattern::Step(op, a, b), Expr::Step(other, x, y)) => {
            op == other && unify(a, x, slots) && unify(b, y, slots)
        }
        _ => false,
    }
}
