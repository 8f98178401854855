//! Expressions over the numbers of a page. They are written as programs in the dataset's language.

use finqa_core::number::literal;
use finqa_core::program::{Expression, Leaf};

/// An expression whose leaves refer to the facts that they were read from, by their indices in
/// `Facts::all`. Constants and numbers of the question have no fact.
pub(crate) type Expr = Expression<Option<usize>>;

/// A number in an expression, with the index of its fact in `Facts::all`.
pub(crate) type PageLeaf = Leaf<Option<usize>>;

/// True if two literals have the same digits; minus and percent signs are ignored.
pub(crate) fn alike_but_for_signs(a: &str, b: &str) -> bool {
    a.trim_matches(['-', '%']) == b.trim_matches(['-', '%'])
}

/// Changes the sign of a leaf, in its value and in its literal.
pub(crate) fn turn_sign<T>(leaf: &mut Leaf<T>) {
    leaf.value = -leaf.value;
    leaf.literal = match leaf.literal.strip_prefix('-') {
        Some(magnitude) => magnitude.into(),
        None => format!("-{}", leaf.literal).into(),
    };
}

/// The value that counts for a literal: what the official evaluator reads, or the `printed` number
/// if it cannot read the literal.
pub(crate) fn value_of(literal: &str, printed: f64) -> f64 {
    literal_value(literal).unwrap_or(printed)
}

/// The value of a literal as the official evaluator reads it: `5%` is 0.05. `None` unless it is a
/// finite number.
pub(crate) fn literal_value(text: &str) -> Option<f64> {
    literal(text).filter(|value| value.is_finite())
}
