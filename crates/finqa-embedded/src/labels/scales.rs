//! Amounts whose cells have scales of their own: "1.5m" and "870k" in one column.

use crate::expr::Expr;
use crate::reading::facts::{Fact, Facts};
use finqa_core::number::{NumberReading, Scale};
use finqa_core::program::Op;

use super::lines::LabelledTable;
use super::values::TableAmount;

/// The scale of a cell, 1 without any.
fn factor(facts: &Facts, fact: &Fact) -> f64 {
    fact.scale.or(facts.scale).map_or(1.0, Scale::factor)
}

/// The largest scale that a cell has of its own.
pub(super) fn largest(facts: &Facts) -> Option<f64> {
    let of_cells = facts.all.iter().filter(|fact| fact.cell().is_some());
    let scaled = of_cells.filter(|fact| fact.scale.is_some());
    scaled.map(|fact| factor(facts, fact)).reduce(f64::max)
}

/// What a cell's number counts, against the largest scale that a cell has.
pub(super) fn relative(facts: &Facts, fact: &Fact, largest: Option<f64>) -> f64 {
    match largest {
        Some(largest) if !fact.percent => factor(facts, fact) / largest,
        _ => 1.0,
    }
}

/// A limit that a question names, as these amounts of cells are counted; `None` if it may be
/// meant in units or in the scale of the cells.
pub(super) fn limit_for(
    limit: &NumberReading,
    table: &LabelledTable<'_>,
    amounts: &[TableAmount],
) -> Option<f64> {
    let facts = table.facts;
    let sources = amounts
        .iter()
        .filter_map(|amount| table.fact_at(amount.place));
    let cells = sources.filter_map(|source| facts.all.get(source));
    let cells = cells.filter(|fact| !fact.percent);
    let factors: Vec<f64> = cells.map(|fact| factor(facts, fact)).collect();
    let of_page = facts.scale.map_or(1.0, Scale::factor);
    let counted_in = table.largest_scale.unwrap_or(of_page);
    let in_units = limit.scaled() / counted_in;
    let most = factors.iter().copied().fold(1.0, f64::max);
    let least = factors.iter().copied().fold(most, f64::min);
    let in_cells = limit.value * most / counted_in;
    let size = limit.value.abs();
    if limit.scale.is_some() {
        return (!factors.is_empty()).then_some(in_units);
    } else if factors.is_empty() || size <= 0.0 {
        return Some(limit.value);
    } else if least < most {
        // A small limit may be of any of the scales.
        return (size >= Scale::Thousand.factor()).then_some(in_units);
    } else if most <= 1.0 {
        return Some(in_cells);
    }
    let above = |x: f64| amounts.iter().filter(|amount| amount.number > x).count();
    let divides = |x: f64| (1..amounts.len()).contains(&above(x));
    match (divides(in_cells), divides(in_units)) {
        (true, false) => Some(in_cells),
        (false, true) => Some(in_units),
        _ => (size < most).then_some(in_cells),
    }
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
