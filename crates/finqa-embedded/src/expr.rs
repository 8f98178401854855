//! Expressions over the literals of a page, written as programs.

use finqa_core::number::literal;
use finqa_core::program::{Expression, Leaf};

/// An expression whose literals refer to the facts they were read from, as indices into
/// the fact store.
pub(crate) type Expr = Expression<Option<usize>>;

pub(crate) type PageLeaf = Leaf<Option<usize>>;

/// Whether two literals are written alike but for sign and percent sign.
pub(crate) fn alike_but_for_signs(a: &str, b: &str) -> bool {
    a.trim_matches(['-', '%']) == b.trim_matches(['-', '%'])
}

/// Gives a leaf the other sign, in its value and as it is written.
pub(crate) fn turn_sign<T>(leaf: &mut Leaf<T>) {
    leaf.value = -leaf.value;
    leaf.literal = match leaf.literal.strip_prefix('-') {
        Some(magnitude) => magnitude.into(),
        None => format!("-{}", leaf.literal).into(),
    };
}

/// The value of a literal that is a finite number.
pub(crate) fn literal_value(text: &str) -> Option<f64> {
    literal(text).filter(|value| value.is_finite())
}
