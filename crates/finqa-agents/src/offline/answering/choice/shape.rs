//! What kind of calculation an expression is.

use crate::offline::expr::Expr;
use finqa_core::program::Op;

pub(super) const SHAPES: [&str; 16] = [
    "look-up",
    "look-up of a percentage",
    "difference",
    "less a constant",
    "relative change",
    "return on a constant",
    "ratio",
    "ratio of results",
    "over a constant",
    "sum",
    "average",
    "times a constant",
    "product",
    "comparison",
    "difference of results",
    "other",
];

/// Index into [`SHAPES`].
pub(super) fn shape(expr: &Expr) -> usize {
    let name = match expr {
        Expr::Leaf(leaf) if leaf.literal.ends_with('%') => "look-up of a percentage",
        Expr::Leaf(_) => "look-up",
        Expr::Step(Op::Subtract, a, b) => match (&**a, &**b) {
            (_, b) if b.is_constant() => "less a constant",
            (a, b) if is_value(a) && is_value(b) => "difference",
            _ => "difference of results",
        },
        Expr::Step(Op::Divide, a, b) => quotient(a, b),
        Expr::Step(Op::Add, ..) if only_adds(expr) => "sum",
        Expr::Step(Op::Multiply, a, b) if a.is_constant() || b.is_constant() => "times a constant",
        Expr::Step(Op::Multiply, ..) => "product",
        Expr::Step(Op::Greater, ..) => "comparison",
        Expr::Step(..) => "other",
    };
    SHAPES.iter().position(|shape| *shape == name).unwrap_or(0)
}

fn quotient(a: &Expr, b: &Expr) -> &'static str {
    match a {
        Expr::Step(Op::Subtract, _, base) if alike(base, b) => {
            if b.is_constant() {
                "return on a constant"
            } else {
                "relative change"
            }
        }
        Expr::Step(Op::Add, ..) if b.is_constant() => "average",
        _ if b.is_constant() => "over a constant",
        a if is_value(a) && is_value(b) => "ratio",
        _ => "ratio of results",
    }
}

/// A number of the page, possibly in another scale.
fn is_value(expr: &Expr) -> bool {
    match expr {
        Expr::Leaf(leaf) => !leaf.is_constant(),
        Expr::Step(Op::Multiply | Op::Divide, a, b) => is_value(a) && b.is_constant(),
        Expr::Step(..) => false,
    }
}

fn only_adds(expr: &Expr) -> bool {
    match expr {
        Expr::Step(Op::Add, a, b) => only_adds(a) && only_adds(b),
        other => is_value(other),
    }
}

pub(super) fn alike(a: &Expr, b: &Expr) -> bool {
    a.matches(b, &|x, y| x.literal == y.literal)
}

pub(super) fn holds(expr: &Expr, part: &Expr) -> bool {
    alike(expr, part) || matches!(expr, Expr::Step(_, a, b) if holds(a, part) || holds(b, part))
}

/// The operands of a difference, or of the difference within a relative change.
pub(super) fn difference(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match expr.top()? {
        (Op::Subtract, a, b) => Some((a, b)),
        (Op::Divide, top, _) => match top.top()? {
            (Op::Subtract, a, b) => Some((a, b)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_the_expected_shape() {
        for (program, expected) in [
            ("5.2", "look-up"),
            ("5.2%", "look-up of a percentage"),
            ("subtract(5, 3)", "difference"),
            ("multiply(5, const_1000), subtract(#0, 3)", "difference"),
            ("subtract(5, const_100)", "less a constant"),
            ("subtract(5, 3), divide(#0, 3)", "relative change"),
            (
                "subtract(5, const_100), divide(#0, const_100)",
                "return on a constant",
            ),
            ("subtract(5, 3), divide(#0, 5)", "ratio of results"),
            ("add(5, 3), add(#0, 2)", "sum"),
            ("add(5, 3), divide(#0, const_2)", "average"),
            (
                "divide(5, 3), divide(4, 2), subtract(#0, #1)",
                "difference of results",
            ),
        ] {
            let expr = Expr::parse(program).unwrap();
            assert_eq!(SHAPES[shape(&expr)], expected, "{program}");
        }
    }
}
