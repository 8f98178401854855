//! Converts figures to one scale, such as billions of a sentence to millions of a table, and finds
//! the scale in which a value is stated.

use crate::expr::Expr;
use crate::reading::facts::{Fact, Facts};
use finqa_core::number::{Scale, UnitKind};
use finqa_core::page::{counts_things, has_no_scale};
use finqa_core::program::{Expression, Op};

/// The scale of a fact: that of the word next to it or, for a cell without such a word, that of the
/// table's caption. `None` for a percentage.
fn of_fact(facts: &Facts, fact: &Fact) -> Option<Scale> {
    let of_table = facts.scale.filter(|_| fact.cell().is_some());
    fact.scale.or(of_table).filter(|_| !fact.percent)
}

/// The scale of a fact, or of a sum or difference whose operands have the same scale. Otherwise
/// `None`.
fn of_expr(facts: &Facts, expr: &Expr) -> Option<Scale> {
    match expr {
        Expr::Leaf(leaf) => of_fact(facts, facts.all.get(leaf.source?)?),
        Expr::Step(Op::Add | Op::Subtract, a, b) => {
            of_expr(facts, a).filter(|scale| of_expr(facts, b) == Some(*scale))
        }
        Expr::Step(..) => None,
    }
}

/// The factor from the small scale to the large one: 1000 for billions in millions. `None` unless
/// `large` is the larger.
fn times(large: Scale, small: Scale) -> Option<u32> {
    let (large, small) = (large.units(), small.units());
    (large > small).then_some(large / small)
}

/// `side * n`
fn raised(side: &Expr, n: u32) -> Expr {
    Expr::step(Op::Multiply, side.clone(), Expr::constant(n))
}

/// Converts the operands of a quotient to the smaller of their scales, so that the factor is a
/// whole number. Returns other expressions, and those with an operand without a scale, unchanged.
pub(crate) fn align(facts: &Facts, expr: Expr) -> Expr {
    let Some((Op::Divide, a, b)) = expr.top() else {
        return expr;
    };
    let Some((x, y)) = of_expr(facts, a).zip(of_expr(facts, b)) else {
        return expr;
    };
    match (times(x, y), times(y, x)) {
        (Some(n), _) => Expr::step(Op::Divide, raised(a, n), b.clone()),
        (_, Some(n)) => Expr::step(Op::Divide, a.clone(), raised(b, n)),
        _ => expr,
    }
}

/// Converts a quotient of money with a scale word and a count without one to units of money per
/// thing: "$ 5 million" over 100 shares is `5 * 1000000 / 100`. `None` for other expressions.
pub(crate) fn in_units(facts: &Facts, expr: &Expr) -> Option<Expr> {
    let Some((Op::Divide, a, b)) = expr.top() else {
        return None;
    };
    let fact = |side: &Expr| match side {
        Expr::Leaf(leaf) => facts.all.get(leaf.source?),
        Expr::Step(..) => None,
    };
    let (money, things) = (fact(a)?, fact(b)?);
    let units = money.scale.filter(|_| money.dollar)?.units();
    let per_thing = || Expr::step(Op::Divide, raised(a, units), b.clone());
    things.is_bare().then(per_thing)
}

/// Converts a value to the scale that the question asks for. Returns it unchanged if either scale
/// is not known.
pub(crate) fn to_asked(facts: &Facts, expr: Expr, asked: Option<Scale>) -> Expr {
    let Some((from, to)) = of_expr(facts, &expr).zip(asked) else {
        return expr;
    };
    // A tenth or a hundredth would look like an average, so lakhs and crores stay as printed.
    let times = |large, small| times(large, small).filter(|n| [1_000, 1_000_000].contains(n));
    match (times(from, to), times(to, from)) {
        (Some(n), _) => Expr::step(Op::Multiply, expr, Expr::constant(n)),
        (_, Some(n)) => Expr::step(Op::Divide, expr, Expr::constant(n)),
        _ => expr,
    }
}

/// Like [`to_asked`], but also for a product. A product is taken to be a count times a price, so
/// its value is in units.
pub(crate) fn result_to_asked(facts: &Facts, expr: Expr, asked: Scale) -> Expr {
    match expr.top() {
        Some((Op::Multiply, ..)) => Expr::step(Op::Divide, expr, Expr::constant(asked.units())),
        _ => to_asked(facts, expr, Some(asked)),
    }
}

/// The scale in which a value is stated, from those of its facts. `None` for a value without a
/// scale, such as a share or a price, and if the page does not state it.
pub(crate) fn scale_of(facts: &Facts, expr: &Expr) -> Option<Scale> {
    scale_through(expr, &|source| {
        let fact = facts.all.get((*source)?)?;
        of_fact(facts, fact).filter(|_| fact.scale.is_some() || !is_apart(facts, fact))
    })
}

/// The scale of a value, from those of its figures (`of`). A sum or difference has the scale of its
/// operands if they have the same. A constant factor changes the scale if it converts one to
/// another. `None` for other calculations.
pub(crate) fn scale_through<T>(
    expr: &Expression<T>,
    of: &impl Fn(&T) -> Option<Scale>,
) -> Option<Scale> {
    match expr {
        Expression::Leaf(leaf) => of(&leaf.source),
        Expression::Step(Op::Add | Op::Subtract, a, b) => {
            scale_through(a, of).filter(|scale| scale_through(b, of) == Some(*scale))
        }
        Expression::Step(op @ (Op::Multiply | Op::Divide), a, b) if b.is_constant() => {
            let (scale, by) = (scale_through(a, of)?, b.number()?);
            // 0.5 only allows for rounding: the scales are far apart.
            let of_factor = |factor: f64| {
                let mut all = [Scale::Thousand, Scale::Million, Scale::Billion].into_iter();
                all.find(|scale| (factor - scale.factor()).abs() < 0.5)
            };
            match (of_factor(by), op) {
                // The factor is not a scale: an average, or a multiple of an amount.
                (None, _) => Some(scale),
                // The factor converts to another scale, or to units.
                (_, Op::Divide) => of_factor(scale.factor() * by),
                (..) => of_factor(scale.factor() / by),
            }
        }
        Expression::Step(..) => None,
    }
}

/// The scale to print with a value of this kind. A quotient has that of its numerator if the
/// divisor has none, as in money per share, and none if both have one. An error if only the divisor
/// has one.
pub(crate) fn of_kind<T>(
    kind: UnitKind,
    expr: &Expression<T>,
    scale_of: &impl Fn(&Expression<T>) -> Option<Scale>,
) -> Result<Option<Scale>, &'static str> {
    let (a, b) = match (kind, expr.top()) {
        (UnitKind::Number, _) => return Ok(scale_of(expr)),
        (UnitKind::Ratio, Some((Op::Divide, a, b))) => (a, b),
        _ => return Ok(None),
    };
    match (scale_of(a), scale_of(b)) {
        (scale, None) => Ok(scale),
        (None, Some(_)) => Err("the figures may be in different units"),
        (Some(_), Some(_)) => Ok(None),
    }
}

/// True for a cell whose row or column has values to which the table's scale does not apply:
/// prices, rates, times, numbers of people.
fn is_apart(facts: &Facts, fact: &Fact) -> bool {
    let (row, column) = (facts.row_of(fact), facts.column_of(fact));
    let apart = |name: &str| counts_things(name) || has_no_scale(name);
    row.is_some_and(|row| row.is_rate || apart(&row.name))
        || column.is_some_and(|column| apart(&column.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_a_multiple_of_a_smaller_one() {
        assert_eq!(times(Scale::Billion, Scale::Million), Some(1000));
        assert_eq!(times(Scale::Billion, Scale::Thousand), Some(1_000_000));
        assert_eq!(times(Scale::Million, Scale::Million), None);
        assert_eq!(times(Scale::Thousand, Scale::Million), None);
    }
}
