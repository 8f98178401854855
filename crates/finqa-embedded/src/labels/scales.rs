//! Amounts whose cells have scales of their own: "1.5m" and "870k" in one column.

use crate::expr::Expr;
use crate::reading::facts::{Fact, Facts};
use finqa_core::number::Scale;
use finqa_core::program::Op;

/// The scale of a cell, 1 without any.
pub(super) fn factor(facts: &Facts, fact: &Fact) -> f64 {
    fact.scale.or(facts.scale).map_or(1.0, Scale::factor)
}

/// An expression with all cells of a user's table in the largest scale of them, in units if one
/// has none.
pub(crate) fn aligned(facts: &Facts, expr: Expr) -> Expr {
    if !facts.own {
        return expr;
    }
    let of_leaf = |source: Option<usize>| {
        let fact = facts.all.get(source?).filter(|fact| !fact.percent);
        fact.map(|fact| factor(facts, fact))
    };
    let sources = expr.leaves().into_iter().map(|leaf| leaf.source);
    let factors: Vec<f64> = sources.filter_map(of_leaf).collect();
    let largest = factors.iter().copied().fold(1.0, f64::max);
    let least = factors.iter().copied().fold(largest, f64::min);
    if largest <= least {
        return expr;
    }
    let to = if least > 1.0 { largest } else { 1.0 };
    in_scale(expr, &|source| of_leaf(source).map(|factor| factor / to))
}

/// Each leaf times what its source says.
fn in_scale(expr: Expr, times: &impl Fn(Option<usize>) -> Option<f64>) -> Expr {
    let constant = |factor: f64| {
        let known = [1000, 1_000_000, 1_000_000_000].into_iter();
        let mut known = known.filter(|n| (f64::from(*n) - factor).abs() < 0.5);
        known.next().map(Expr::constant)
    };
    match expr {
        Expr::Step(op, a, b) => Expr::step(op, in_scale(*a, times), in_scale(*b, times)),
        Expr::Leaf(leaf) => {
            let by = times(leaf.source).unwrap_or(1.0);
            let leaf = Expr::Leaf(leaf);
            match (constant(by), constant(1.0 / by)) {
                (Some(by), _) => Expr::step(Op::Multiply, leaf, by),
                (_, Some(by)) => Expr::step(Op::Divide, leaf, by),
                _ => leaf,
            }
        }
    }
}
