//! The number of an answer, and the test whether a computed number counts as the same.

use crate::score::{Quantity, Row};
use finqa_core::number::{Value, half_unit, percent_forms, within};

/// The number of an answer that needs an explanation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TargetNumber {
    /// The number as printed: 14.1 for `14.1%`.
    pub value: f64,
    /// Maximum difference at which another number counts as the same. For a printed number, this is
    /// half a unit of its last digit, but at least 1 in 10,000, because steps may have been rounded
    /// on the way. For a value, it is 1 in 1,000,000. Both shares are set by hand.
    tolerance: f64,
}

impl TargetNumber {
    /// The answer's number; `None` if it is not a number.
    pub(crate) fn of(row: &Row) -> Option<Self> {
        if let Some(Value::Number(value)) = row.value() {
            let tolerance = 1e-6 * value.abs();
            return value.is_finite().then_some(Self {
                value: *value,
                tolerance,
            });
        }
        match Quantity::parse(&row.printed()) {
            Quantity::Number(written) => Some(Self {
                value: written.value,
                tolerance: half_unit(written.unit).max(1e-4 * written.value.abs()),
            }),
            _ => None,
        }
    }

    /// True if the tolerance is at most this share of the number, so that other numbers hardly
    /// match by chance. Callers set the share by hand: the more numbers they try, the smaller.
    pub(crate) fn is_sharp(&self, share: f64) -> bool {
        self.value.abs() > 0.0 && self.tolerance <= share * self.value.abs()
    }

    /// True if `x` is the answer. One of them may be a fraction and the other a percentage.
    pub(crate) fn matches_scaled(&self, x: f64) -> bool {
        percent_forms(x).into_iter().any(|x| self.matches(x))
    }

    /// True if `x` is the answer within the tolerance.
    pub(crate) fn matches(&self, x: f64) -> bool {
        (x - self.value).abs() <= self.tolerance
    }

    /// True if `x` differs from the answer by at most this share of it, which callers set by hand.
    /// One of them may be a fraction and the other a percentage.
    pub(crate) fn is_about(&self, x: f64, share: f64) -> bool {
        let mut forms = percent_forms(x).into_iter();
        forms.any(|x| within(x, self.value, share))
    }
}
