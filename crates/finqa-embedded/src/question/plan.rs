//! The types of a plan: an operation over open slots, and what each slot asks for.
//!
//! `by_words`, `follow_up`, `arithmetic` and `sketch_plans` make plans; `answering::filling` puts
//! facts into their slots.

use super::slot_scorer::SlotQuery;
use crate::expr::{Expr, PageLeaf};
use finqa_core::number::UnitKind;
use finqa_core::program::Op;

/// The leaf of an open slot of a plan, which a fact replaces. An expression with an open slot has
/// no value.
pub(crate) fn slot_leaf(index: usize) -> PageLeaf {
    PageLeaf {
        literal: format!("{SLOT}{index}").into(),
        value: f64::INFINITY,
        source: None,
    }
}

/// An open slot as an operand.
pub(crate) fn slot(index: usize) -> Expr {
    Expr::Leaf(slot_leaf(index))
}

/// Begins the literal of an open slot. No number of a page or a program begins so.
const SLOT: &str = "slot_";

/// The index of an open slot into the slots of its plan; `None` for any other leaf.
pub(crate) fn slot_index(leaf: &PageLeaf) -> Option<usize> {
    leaf.literal.strip_prefix(SLOT)?.parse().ok()
}

/// True if an expression has an open slot.
pub(crate) fn is_open(expr: &Expr) -> bool {
    let mut leaves = expr.leaves().into_iter();
    leaves.any(|leaf| slot_index(leaf).is_some())
}

/// Puts leaves into the open slots of an expression. A slot for which there is none stays open.
pub(crate) fn fill_slots(expr: &Expr, leaves: &[PageLeaf]) -> Expr {
    let mut filled = expr.clone();
    filled.change_leaves(&mut |leaf| {
        if let Some(fact) = slot_index(leaf).and_then(|index| leaves.get(index)) {
            leaf.clone_from(fact);
        }
    });
    filled
}

/// `op(slot 0, slot 1)`
pub(crate) fn of_slots(op: Op) -> Expr {
    Expr::step(op, slot(0), slot(1))
}

/// The expected relation between the facts in a plan's slots. Each relation has its own features in
/// the slot scorer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// No relation is expected.
    Free,
    /// One quantity at several times.
    Periods,
    /// Several quantities at one time.
    Parts,
}

/// The prior of a plan whose rule names none.
pub(crate) const LOW: f64 = 0.2;

/// The prior of a plan whose operands the question names. For the rules in `follow_up`, their order
/// replaces it.
pub(crate) const HIGH: f64 = 0.9;

/// A plan for a program.
#[derive(Clone, Debug)]
pub(crate) struct ProgramPlan {
    /// The name of the rule that made it. It is shown with the answer and is a feature of the
    /// choice (`ranking::context::PLAN_NAMES`).
    pub name: &'static str,
    /// Its operations, with a leaf for each open slot ([`slot`]).
    pub(crate) expr: Expr,
    pub slots: Vec<SlotQuery>,
    pub(crate) pairing: Pairing,
    /// The rule's confidence in the plan before any fact is seen, from 0 to 1.
    pub(crate) prior: f64,
    /// The kind of its value.
    pub kind: UnitKind,
}

impl ProgramPlan {
    /// A plan for a number from unrelated facts, with the prior [`LOW`].
    pub(crate) fn new(name: &'static str, expr: Expr, slots: Vec<SlotQuery>) -> Self {
        Self {
            name,
            expr,
            slots,
            pairing: Pairing::Free,
            prior: LOW,
            kind: UnitKind::Number,
        }
    }

    /// The same plan with another pairing, prior and kind of value.
    pub(crate) fn paired(self, pairing: Pairing, prior: f64, kind: UnitKind) -> Self {
        Self {
            pairing,
            prior,
            kind,
            ..self
        }
    }

    /// A plan that looks one fact up.
    pub(crate) fn look_up(query: SlotQuery) -> Self {
        Self::new("look-up", slot(0), vec![query]).paired(Pairing::Free, 0.4, UnitKind::Number)
    }

    /// A plan without slots, from earlier values and constants.
    pub(crate) fn fixed(name: &'static str, expr: Expr, kind: UnitKind) -> Self {
        Self {
            kind,
            ..Self::new(name, expr, Vec::new())
        }
    }
}
