//! The types of a plan: an operation over open slots, and what each slot asks for.
//!
//! `alone`, `follow_up`, `arithmetic` and `sketch_plans` make plans; `answering::filling` puts facts
//! into their slots.

use super::slot_scorer::SlotQuery;
use crate::expr::Expr;
use finqa_core::number::UnitKind;
use finqa_core::program::Op;

/// An expression with open slots.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PlanExpr {
    /// An index into the slots of the plan.
    Slot(usize),
    /// A part that needs no fact: a constant, or an earlier turn's expression.
    Fixed(Expr),
    Step(Op, Box<PlanExpr>, Box<PlanExpr>),
}

impl PlanExpr {
    pub(crate) fn constant(n: u32) -> Self {
        Self::Fixed(Expr::constant(n))
    }

    /// The facts of the fixed parts from left to right.
    pub(crate) fn known_facts(&self) -> Vec<usize> {
        match self {
            Self::Slot(_) => Vec::new(),
            Self::Fixed(expr) => {
                let leaves = expr.leaves().into_iter();
                leaves.filter_map(|leaf| leaf.source).collect()
            }
            Self::Step(_, a, b) => [a.known_facts(), b.known_facts()].concat(),
        }
    }

    pub(crate) fn is_constant(&self) -> bool {
        matches!(self, Self::Fixed(expr) if expr.is_constant())
    }

    /// True if it has a slot.
    pub(crate) fn is_open(&self) -> bool {
        match self {
            Self::Slot(_) => true,
            Self::Fixed(_) => false,
            Self::Step(_, a, b) => a.is_open() || b.is_open(),
        }
    }

    /// Puts expressions into the slots; `None` if there are fewer expressions than slots.
    pub(crate) fn fill(&self, slots: &[Expr]) -> Option<Expr> {
        match self {
            Self::Slot(i) => slots.get(*i).cloned(),
            Self::Fixed(expr) => Some(expr.clone()),
            Self::Step(op, a, b) => Some(Expr::step(*op, a.fill(slots)?, b.fill(slots)?)),
        }
    }
}

/// `op(a, b)`
pub(crate) fn step(op: Op, a: PlanExpr, b: PlanExpr) -> PlanExpr {
    PlanExpr::Step(op, Box::new(a), Box::new(b))
}

/// `op(slot 0, slot 1)`
pub(crate) fn of_slots(op: Op) -> PlanExpr {
    step(op, PlanExpr::Slot(0), PlanExpr::Slot(1))
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
    pub(crate) expr: PlanExpr,
    pub slots: Vec<SlotQuery>,
    pub(crate) pairing: Pairing,
    /// The rule's confidence in the plan before any fact is seen, from 0 to 1.
    pub(crate) prior: f64,
    /// The kind of its value.
    pub kind: UnitKind,
}

impl ProgramPlan {
    /// A plan for a number from unrelated facts, with the prior [`LOW`].
    pub(crate) fn new(name: &'static str, expr: PlanExpr, slots: Vec<SlotQuery>) -> Self {
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

    /// The same plan for unrelated facts, with another prior and kind of value.
    pub(crate) fn free(self, prior: f64, kind: UnitKind) -> Self {
        self.paired(Pairing::Free, prior, kind)
    }

    /// The same plan for facts that are [`Pairing::Parts`].
    pub(crate) fn paired_as_parts(self, prior: f64, kind: UnitKind) -> Self {
        self.paired(Pairing::Parts, prior, kind)
    }

    /// The same plan for facts that are [`Pairing::Periods`].
    pub(crate) fn paired_as_periods(self, prior: f64, kind: UnitKind) -> Self {
        self.paired(Pairing::Periods, prior, kind)
    }

    /// A plan that looks one fact up.
    pub(crate) fn look_up(query: SlotQuery) -> Self {
        Self::new("look-up", PlanExpr::Slot(0), vec![query]).free(0.4, UnitKind::Number)
    }

    /// A plan without slots, from earlier values and constants.
    pub(crate) fn fixed(name: &'static str, expr: Expr, kind: UnitKind) -> Self {
        Self {
            kind,
            ..Self::new(name, PlanExpr::Fixed(expr), Vec::new())
        }
    }
}
