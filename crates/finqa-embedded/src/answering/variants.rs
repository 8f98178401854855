//! Makes variants of a filled plan: the same facts in another order, on another base, with other
//! signs, in another scale, or with percentages written differently.
//!
//! The words of the question do not always decide these, so each variant becomes a candidate.

use super::filling::FilledPlan;
use super::scale;
use crate::expr::{Expr, PageLeaf, turn_sign, value_of};
use crate::reading::facts::{Fact, Facts};
use finqa_core::number::Scale;
use finqa_core::program::Op;

/// The names of the variants; the constants below are their indices, and 0 is the plan itself.
pub(crate) const VARIANTS: [&str; 9] = [
    "as planned", "difference swapped", "change on the other base", "change swapped",
    "ratio swapped", "other sign", "in the scale asked for", "amount in units",
    "percentages written otherwise",
];

const DIFFERENCE_SWAPPED: usize = 1;
const OTHER_BASE: usize = 2;
const CHANGE_SWAPPED: usize = 3;
const RATIO_SWAPPED: usize = 4;
const OTHER_SIGN: usize = 5;
const IN_ASKED_SCALE: usize = 6;
const IN_UNITS: usize = 7;
const OTHER_PERCENT: usize = 8;

/// The variants of a filled plan that have a value. `scale` is the one that the question asks for.
pub(crate) fn variants(
    facts: &Facts,
    filled: &FilledPlan,
    scale: Option<Scale>,
) -> Vec<FilledPlan> {
    let step = |op: Op, a: &Expr, b: &Expr| Expr::step(op, a.clone(), b.clone());
    let mut found: Vec<(usize, Expr)> = Vec::new();
    match filled.expr.top() {
        Some((Op::Subtract, a, b)) => found.push((DIFFERENCE_SWAPPED, step(Op::Subtract, b, a))),
        Some((Op::Divide, change, base)) => match change.top() {
            Some((Op::Subtract, a, b)) if b == base => {
                found.push((OTHER_BASE, step(Op::Divide, change, a)));
                let swapped = step(Op::Subtract, b, a);
                found.push((CHANGE_SWAPPED, step(Op::Divide, &swapped, a)));
            }
            // No reason is recorded why a difference over something else, such as a constant or its
            // first operand, has no variant. More variants would need new weights.
            Some((Op::Subtract, ..)) => {}
            _ if !base.is_constant() => found.push((RATIO_SWAPPED, step(Op::Divide, base, change))),
            _ => {}
        },
        _ => {}
    }
    let expr = &filled.expr;
    let flipped = with_changed(facts, expr, is_negative, turn_sign);
    found.extend(flipped.map(|expr| (OTHER_SIGN, expr)));
    // `fill` converts look-ups. A product with one constant may be a conversion already.
    let scales = match expr.top() {
        Some((Op::Multiply, a, Expr::Leaf(b))) => !a.is_constant() && !b.is_constant(),
        None | Some((Op::Divide, _, Expr::Leaf(_))) => false,
        Some(_) => true,
    };
    if let Some(scale) = scale.filter(|_| scales) {
        let asked = scale::result_to_asked(facts, expr.clone(), scale);
        if asked != *expr {
            found.push((IN_ASKED_SCALE, asked));
        }
    }
    let other_percent = with_changed(facts, expr, |fact| fact.percent, turn_percent);
    found.extend(other_percent.map(|expr| (OTHER_PERCENT, expr)));
    found.extend(scale::in_units(facts, expr).map(|expr| (IN_UNITS, expr)));
    let found = found.into_iter();
    let found = found.filter(|(_, expr)| expr.value().is_some());
    let variant = |(variant, expr)| FilledPlan {
        variant,
        expr,
        ..*filled
    };
    found.map(variant).collect()
}

/// True for a negative number in the table. `filling` keeps or drops its minus sign by the words,
/// which can be wrong.
fn is_negative(fact: &Fact) -> bool {
    fact.cell().is_some() && fact.literal.starts_with('-')
}

/// The expression with `change` applied to each leaf whose fact meets a condition; `None` if none
/// does.
fn with_changed(
    facts: &Facts,
    expr: &Expr,
    meets: impl Fn(&Fact) -> bool,
    change: impl Fn(&mut PageLeaf),
) -> Option<Expr> {
    if !facts.of_expr(expr).any(|(_, fact)| meets(fact)) {
        return None;
    }
    let mut expr = expr.clone();
    expr.change_leaves(&mut |leaf| {
        let fact = leaf.source.and_then(|index| facts.all.get(index));
        if fact.is_some_and(&meets) {
            change(leaf);
        }
    });
    Some(expr)
}

/// Writes a percentage the other way: `5%` (0.05) as `5`, and `5` as `5%`.
fn turn_percent(leaf: &mut PageLeaf) {
    let (literal, value) = match leaf.literal.strip_suffix('%') {
        Some(bare) => (bare.to_owned(), leaf.value * 100.0),
        None => (format!("{}%", leaf.literal), leaf.value / 100.0),
    };
    leaf.value = value_of(&literal, value);
    leaf.literal = literal.into();
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
