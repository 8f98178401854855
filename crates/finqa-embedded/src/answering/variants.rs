//! Makes variants of a filled plan: the same facts in another order, on another base, with other
//! signs, in another scale, or with percentages written differently.
//!
//! The words of the question do not always decide these, so each variant becomes a candidate.

use super::filling::FilledPlan;
use super::scale;
use crate::expr::{Expr, literal_value, turn_sign};
use crate::reading::facts::{Fact, Facts};
use finqa_core::number::Scale;
use finqa_core::program::Op;

/// The variants of a filled plan that have a value. `scale` is the one that the question asks for.
/// The numbers in `found` are indices into `ranking::context::VARIANTS`.
pub(crate) fn variants(
    facts: &Facts,
    filled: &FilledPlan,
    scale: Option<Scale>,
) -> Vec<FilledPlan> {
    let step = |op: Op, a: &Expr, b: &Expr| Expr::step(op, a.clone(), b.clone());
    let mut found: Vec<(usize, Expr)> = Vec::new();
    match filled.expr.top() {
        Some((Op::Subtract, a, b)) => found.push((1, step(Op::Subtract, b, a))),
        Some((Op::Divide, change, base)) => match change.top() {
            Some((Op::Subtract, a, b)) if b == base => {
                found.push((2, step(Op::Divide, change, a)));
                let swapped = step(Op::Subtract, b, a);
                found.push((3, step(Op::Divide, &swapped, a)));
            }
            Some((Op::Subtract, ..)) => {}
            _ if !base.is_constant() => found.push((4, step(Op::Divide, base, change))),
            _ => {}
        },
        _ => {}
    }
    let (mut negative, mut percent) = (false, false);
    filled.expr.each_leaf(&mut |leaf| {
        if let Some(fact) = leaf.source.and_then(|index| facts.all.get(index)) {
            negative |= is_negative(fact);
            percent |= fact.percent;
        }
    });
    if negative {
        found.push((5, flipped(facts, &filled.expr)));
    }
    // `fill` converts look-ups. A product with one constant may be a conversion already.
    let scales = !matches!(
        filled.expr.top(),
        None | Some((Op::Multiply | Op::Divide, _, Expr::Leaf(_)))
    ) || is_product(&filled.expr);
    if scales && scale.is_some() {
        let asked = scale::result_to_asked(facts, filled.expr.clone(), scale);
        if asked != filled.expr {
            found.push((6, asked));
        }
    }
    if percent {
        found.push((8, other_percent(facts, &filled.expr)));
    }
    let units = scale::in_units(facts, &filled.expr);
    found.extend(units.map(|expr| (7, expr)));
    found
        .into_iter()
        .filter(|(_, expr)| expr.value().is_some())
        .map(|(variant, expr)| FilledPlan {
            plan: filled.plan,
            score: filled.score,
            lowest: filled.lowest,
            variant,
            expr,
        })
        .collect()
}

/// True for a product of two values, neither of which is a constant.
fn is_product(expr: &Expr) -> bool {
    matches!(expr.top(), Some((Op::Multiply, a, b)) if !a.is_constant() && !b.is_constant())
}

/// True for a negative number in the table.
fn is_negative(fact: &Fact) -> bool {
    fact.cell().is_some() && fact.literal.starts_with('-')
}

/// The expression with the other sign for each cell that is negative on the page. `filling` keeps
/// or drops a minus sign by the words, which can be wrong.
fn flipped(facts: &Facts, expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    expr.change_leaves(&mut |leaf| {
        let fact = leaf.source.and_then(|i| facts.all.get(i));
        if fact.is_some_and(is_negative) {
            turn_sign(leaf);
        }
    });
    expr
}

/// The expression with each percentage written the other way: `5%` (0.05) as `5`, and `5` as `5%`.
fn other_percent(facts: &Facts, expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    expr.change_leaves(&mut |leaf| {
        let fact = leaf.source.and_then(|i| facts.all.get(i));
        if fact.is_some_and(|fact| fact.percent) {
            let (literal, value) = match leaf.literal.strip_suffix('%') {
                Some(bare) => (bare.to_owned(), leaf.value * 100.0),
                None => (format!("{}%", leaf.literal), leaf.value / 100.0),
            };
            // The official evaluator reads the literal, so its value counts.
            leaf.value = literal_value(&literal).unwrap_or(value);
            leaf.literal = literal.into();
        }
    });
    expr
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variants_of(program: &str) -> Vec<String> {
        let filled = FilledPlan {
            plan: 0,
            expr: Expr::parse(program).unwrap(),
            score: 0.0,
            lowest: 0.0,
            variant: 0,
        };
        variants(&Facts::default(), &filled, None)
            .into_iter()
            .map(|v| v.expr.program())
            .collect()
    }

    #[test]
    fn a_change_has_variants_in_reverse_and_on_the_other_base() {
        assert_eq!(variants_of("subtract(5, 3)"), ["subtract(3, 5)"]);
        assert_eq!(
            variants_of("subtract(5, 3), divide(#0, 3)"),
            [
                "subtract(5, 3), divide(#0, 5)", "subtract(3, 5), divide(#0, 5)"
            ]
        );
        assert_eq!(variants_of("divide(5, 3)"), ["divide(3, 5)"]);
        assert_eq!(variants_of("divide(5, const_3)"), Vec::<String>::new());
        assert_eq!(variants_of("subtract(0, 3)"), ["subtract(3, 0)"]);
    }
}
