//! The shape of an expression: its operations without their operands. For example,
//! `subtract(5, 3), divide(#0, 3)` is a "relative change".

use crate::expr::Expr;
use finqa_core::program::Op;

/// The names of all shapes. The order is that of the classes in `weights/shapes.bin`, so a change
/// needs new weights.
pub const SHAPES: [&str; 28] = [
    "look-up", "look-up of a percentage", "difference", "less a constant", "a constant less",
    "ratio less one", "relative change", "change over the first", "difference over another",
    "return on a constant", "ratio", "over a sum", "sum over", "ratio of results",
    "over a constant", "product over a constant", "sum", "sum of three or more", "average",
    "average of three or more", "times a constant", "ratio times a constant", "product",
    "comparison", "difference of ratios", "difference of results", "sum of results", "other",
];

/// The shape of an expression, as an index into [`SHAPES`].
pub(crate) fn shape(expr: &Expr) -> usize {
    let name = shape_name(expr);
    // Each name is in the list, so the fallback is never used.
    SHAPES.iter().position(|shape| *shape == name).unwrap_or(0)
}

/// The name of an expression's shape, which is one of [`SHAPES`].
pub(crate) fn shape_name(expr: &Expr) -> &'static str {
    match expr {
        Expr::Leaf(leaf) if leaf.literal.ends_with('%') => "look-up of a percentage",
        Expr::Leaf(_) => "look-up",
        Expr::Step(op, a, b) => match op {
            Op::Subtract => difference_of(a, b),
            Op::Divide => quotient(a, b),
            Op::Add if only_adds(expr) && addends(expr) > 2 => "sum of three or more",
            Op::Add if only_adds(expr) => "sum",
            Op::Add => "sum of results",
            Op::Multiply if !a.is_constant() && !b.is_constant() => "product",
            Op::Multiply if is_value(a) || is_value(b) => "times a constant",
            Op::Multiply => "ratio times a constant",
            Op::Greater => "comparison",
            _ => "other",
        },
    }
}

/// The shape of a program in the dataset's language, as an index into [`SHAPES`]; `None` if it
/// cannot be parsed.
///
/// A program that begins with a table operation has no expression. It gets the shape of what the
/// operation computes: `table_max(rent, none)` is a look-up.
#[must_use]
pub fn shape_of(program: &str) -> Option<usize> {
    let of = |name: &str| SHAPES.iter().position(|shape| *shape == name);
    match Expr::parse(program) {
        Some(expr) => Some(shape(&expr)),
        None if program.starts_with("table_average(") => of("average of three or more"),
        None if program.starts_with("table_sum(") => of("sum of three or more"),
        None if program.starts_with("table_m") => of("look-up"),
        None => None,
    }
}

/// The shape of `a - b`. A constant operand decides before the kinds of both operands do.
fn difference_of(a: &Expr, b: &Expr) -> &'static str {
    let divides = |e: &Expr| matches!(e, Expr::Step(Op::Divide, ..));
    if b.is_constant() && divides(a) {
        "ratio less one"
    } else if b.is_constant() {
        "less a constant"
    } else if a.is_constant() {
        "a constant less"
    } else if is_value(a) && is_value(b) {
        "difference"
    } else if divides(a) && divides(b) {
        "difference of ratios"
    } else {
        "difference of results"
    }
}

/// The shape of `a / b`. The first pattern that fits decides, so special ones come first: an
/// average is also something over a constant.
fn quotient(a: &Expr, b: &Expr) -> &'static str {
    let (constant, value) = (b.is_constant(), is_value(b));
    match a {
        Expr::Step(Op::Subtract, _, base) if constant && alike(base, b) => "return on a constant",
        Expr::Step(Op::Subtract, _, base) if alike(base, b) => "relative change",
        Expr::Step(Op::Subtract, first, _) if alike(first, b) => "change over the first",
        Expr::Step(Op::Subtract, x, y) if value && is_value(x) && is_value(y) => {
            "difference over another"
        }
        Expr::Step(Op::Add, ..) if constant && addends(a) > 2 => "average of three or more",
        Expr::Step(Op::Add, ..) if constant => "average",
        Expr::Step(Op::Multiply, x, y) if constant && !x.is_constant() && !y.is_constant() => {
            "product over a constant"
        }
        _ if constant => "over a constant",
        _ if value && is_value(a) => "ratio",
        _ if is_value(a) && matches!(b, Expr::Step(Op::Add, ..)) => "over a sum",
        Expr::Step(Op::Add, ..) if value => "sum over",
        _ => "ratio of results",
    }
}

/// The number of terms that nested additions add up; 1 for anything else.
fn addends(expr: &Expr) -> usize {
    match expr {
        Expr::Step(Op::Add, a, b) => addends(a) + addends(b),
        _ => 1,
    }
}

/// True for a number of the page, even if constants multiply or divide it, as in a conversion to
/// another scale.
fn is_value(expr: &Expr) -> bool {
    match expr {
        Expr::Leaf(leaf) => !leaf.is_constant(),
        Expr::Step(Op::Multiply | Op::Divide, a, b) => is_value(a) && b.is_constant(),
        Expr::Step(..) => false,
    }
}

/// True if the expression adds numbers of the page and does nothing else.
fn only_adds(expr: &Expr) -> bool {
    match expr {
        Expr::Step(Op::Add, a, b) => only_adds(a) && only_adds(b),
        other => is_value(other),
    }
}

/// True if both have the same operations and literals, even if the literals are from different
/// facts.
pub(crate) fn alike(a: &Expr, b: &Expr) -> bool {
    a.matches(b, &|x, y| x.literal == y.literal)
}

/// True if `part` is the expression or a sub-expression of it.
pub(crate) fn holds(expr: &Expr, part: &Expr) -> bool {
    alike(expr, part) || matches!(expr, Expr::Step(_, a, b) if holds(a, part) || holds(b, part))
}

/// The operands of a difference, or of a difference that is divided, as in a relative change;
/// `None` for other expressions.
pub(crate) fn difference(expr: &Expr) -> Option<(&Expr, &Expr)> {
    let (op, a, b) = match expr.top()? {
        (Op::Divide, dividend, _) => dividend.top()?,
        top => top,
    };
    (op == Op::Subtract).then_some((a, b))
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
                "subtract(5, const_1), divide(#0, const_1)",
                "return on a constant",
            ),
            ("subtract(5, 3), divide(#0, 5)", "change over the first"),
            ("subtract(5, 3), divide(#0, 2)", "difference over another"),
            ("add(5, 3), add(#0, 2)", "sum of three or more"),
            ("add(5, 3), divide(5, #0)", "over a sum"),
            ("divide(5, 3), subtract(#0, const_1)", "ratio less one"),
            ("add(5, 3), divide(#0, const_2)", "average"),
            (
                "divide(5, 3), divide(4, 2), subtract(#0, #1)",
                "difference of ratios",
            ),
        ] {
            let expr = Expr::parse(program).unwrap();
            assert_eq!(shape_name(&expr), expected, "{program}");
            assert_eq!(SHAPES[shape(&expr)], expected, "{program}");
        }
    }
}
