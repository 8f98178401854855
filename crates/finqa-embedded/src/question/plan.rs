//! A plan: an operation over open slots.
//!
//! `alone`, `follow_up` and `reference` make plans; `filling` puts facts into their slots.

use super::slots::SlotQuery;
use crate::expr::Expr;
use finqa_core::number::UnitKind;
use finqa_core::program::Op;

/// An expression with open slots.
#[derive(Clone, Debug)]
pub(crate) enum PlanExpr {
    Slot(usize),
    /// Known already: a constant, or an earlier turn's expression.
    Fixed(Expr),
    Step(Op, Box<PlanExpr>, Box<PlanExpr>),
}

impl PlanExpr {
    pub(crate) fn constant(n: u32) -> Self {
        Self::Fixed(Expr::constant(n))
    }

    /// The facts of its known parts.
    pub(crate) fn known_facts(&self, out: &mut Vec<usize>) {
        match self {
            Self::Slot(_) => {}
            Self::Fixed(expr) => out.extend(expr.leaves().iter().filter_map(|leaf| leaf.source)),
            Self::Step(_, a, b) => {
                a.known_facts(out);
                b.known_facts(out);
            }
        }
    }

    /// Puts expressions into the slots; `None` if one is missing.
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

/// `op` of the first two slots.
pub(crate) fn of_slots(op: Op) -> PlanExpr {
    step(op, PlanExpr::Slot(0), PlanExpr::Slot(1))
}

/// How the facts of a plan's slots are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// They are not.
    Free,
    /// One quantity at two or more times.
    Periods,
    /// Two or more quantities at one time.
    Parts,
}

/// The lowest prior that a plan has.
pub(crate) const LOW: f64 = 0.2;

#[derive(Clone, Debug)]
pub(crate) struct ProgramPlan {
    /// For people and for the trainer.
    pub name: &'static str,
    pub(crate) expr: PlanExpr,
    pub slots: Vec<SlotQuery>,
    pub(crate) pairing: Pairing,
    /// Prior confidence, 0 to 1.
    pub(crate) prior: f64,
    pub kind: UnitKind,
}

impl ProgramPlan {
    /// A plan for a number from unrelated facts.
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

    /// The same with facts that are so related, this prior, and a value of this kind.
    pub(crate) fn paired(self, pairing: Pairing, prior: f64, kind: UnitKind) -> Self {
        Self {
            pairing,
            prior,
            kind,
            ..self
        }
    }

    pub(crate) fn free(self, prior: f64, kind: UnitKind) -> Self {
        self.paired(Pairing::Free, prior, kind)
    }

    pub(crate) fn parts(self, prior: f64, kind: UnitKind) -> Self {
        self.paired(Pairing::Parts, prior, kind)
    }

    pub(crate) fn periods(self, prior: f64, kind: UnitKind) -> Self {
        self.paired(Pairing::Periods, prior, kind)
    }

    /// A look-up.
    pub(crate) fn look_up(query: SlotQuery) -> Self {
        Self::new("look-up", PlanExpr::Slot(0), vec![query]).free(0.4, UnitKind::Number)
    }

    /// No slot is open: only earlier values and constants.
    pub(crate) fn fixed(name: &'static str, expr: Expr, kind: UnitKind) -> Self {
        Self {
            kind,
            ..Self::new(name, PlanExpr::Fixed(expr), Vec::new())
        }
    }
}
