//! The operations that questions ask for, such as a relative change. Each is written once and
//! builds an expression over numbers as well as one over the open slots of a plan.

use finqa_core::program::{Expression, Op};

/// `a - b`: a difference, or the change from `b` to `a`.
pub(crate) fn difference<T>(a: Expression<T>, b: Expression<T>) -> Expression<T> {
    Expression::step(Op::Subtract, a, b)
}

/// `(late - early) / early`
pub(crate) fn relative_change<T: Clone>(
    late: Expression<T>,
    early: Expression<T>,
) -> Expression<T> {
    ratio(difference(late, early.clone()), early)
}

/// `(late / early) ^ (1 / years) - 1`
pub(crate) fn compound_growth<T: Default>(
    late: Expression<T>,
    early: Expression<T>,
    years: u32,
) -> Expression<T> {
    let constant = Expression::constant;
    let power = ratio(constant(1), constant(years));
    let growth = Expression::step(Op::Exp, ratio(late, early), power);
    difference(growth, constant(1))
}

/// `a / b`: a ratio, or the share of `a` in `b`.
pub(crate) fn ratio<T>(a: Expression<T>, b: Expression<T>) -> Expression<T> {
    Expression::step(Op::Divide, a, b)
}

/// `a > b`
pub(crate) fn greater<T>(a: Expression<T>, b: Expression<T>) -> Expression<T> {
    Expression::step(Op::Greater, a, b)
}

/// `a + b + c …`, added from left to right; `None` for no parts.
pub(crate) fn sum<T>(parts: impl IntoIterator<Item = Expression<T>>) -> Option<Expression<T>> {
    let add = |a, b| Expression::step(Op::Add, a, b);
    parts.into_iter().reduce(add)
}

/// The sum divided by the number of parts; `None` for no parts.
pub(crate) fn average<T: Default>(parts: Vec<Expression<T>>) -> Option<Expression<T>> {
    let count = u32::try_from(parts.len()).ok()?;
    Some(ratio(sum(parts)?, Expression::constant(count)))
}

/// The indices of the largest number, or of the smallest: several if numbers are equal, none if
/// there are no numbers.
pub(crate) fn extremes(numbers: &[f64], largest: bool) -> Vec<usize> {
    let pick = if largest { f64::max } else { f64::min };
    let Some(best) = numbers.iter().copied().reduce(pick) else {
        return Vec::new();
    };
    let places = numbers.iter().enumerate();
    // Equal: `==` on floats would need an exception from clippy.
    let equal = places.filter(|(_, number)| (**number - best).abs() <= 0.0);
    equal.map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Expr;

    #[test]
    fn operations_are_programs_of_the_dataset() {
        let of = |text: &str| Expr::literal(text).unwrap();
        assert_eq!(
            relative_change(of("5"), of("4")).program(),
            "subtract(5, 4), divide(#0, 4)"
        );
        assert_eq!(
            average(vec![of("5"), of("4"), of("3")]).unwrap().program(),
            "add(5, 4), add(#0, 3), divide(#1, const_3)"
        );
        assert_eq!(sum(Vec::<Expr>::new()), None);
    }

    #[test]
    fn equal_numbers_are_all_extreme() {
        assert_eq!(extremes(&[3.0, 5.0, 5.0], true), [1, 2]);
        assert_eq!(extremes(&[3.0, 5.0, 5.0], false), [0]);
    }
}
