//! Defines the result of reading a number, and the reasons why a text is not read as one.

use std::ops::Range;

use thiserror::Error;

use super::Scale;
use super::words::{asks_for_a_loss, asks_for_basis_points};

/// A number read from a text.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberReading {
    /// The number as written: `14.1` for `14.1%`, `1.2` for `$1.2 billion`. A scale word that
    /// [`Scale`] does not have is converted to the next smaller scale: `2 trillion` becomes 2,000
    /// billion.
    pub value: f64,
    /// The absolute value as a literal of a program: `1234.50` for `($1,234.50)`, `1.5e6`.
    pub literal: String,
    /// The number of digits after the decimal point: 2 for `14.10`.
    pub decimals: u32,
    /// The number of decimals without trailing zeros: 1 for `14.10`.
    pub significant_decimals: u32,
    /// True if a percent sign or word follows.
    pub percent: bool,
    /// True if `bps` or "basis points" follows. The value is then in hundredths of a percent.
    pub basis_points: bool,
    /// True if the sign comes from a word of the answer ("loss of 45.2"). The word may only repeat
    /// the question.
    pub loss: bool,
    /// The scale word that follows the number.
    pub scale: Option<Scale>,
    /// The byte range of the number in the text, with its sign, currency, percent sign and
    /// scale word.
    pub span: Range<usize>,
}

impl NumberReading {
    /// The value, with percents and basis points converted to a fraction: 0.141 for `14.1%`.
    pub fn fraction(&self) -> f64 {
        match (self.percent, self.basis_points) {
            (true, _) => self.value / 100.0,
            (_, true) => self.value / 10_000.0,
            _ => self.value,
        }
    }

    /// The value as an answer to `question`. Basis points are not converted if the question asks
    /// for basis points, and a loss is positive if the question asks for the loss.
    pub fn value_for(&self, question: &str) -> f64 {
        if self.basis_points && asks_for_basis_points(question) {
            self.value
        } else if self.loss && asks_for_a_loss(question) {
            self.fraction().abs()
        } else {
            self.fraction()
        }
    }

    /// The value multiplied by its scale word: 1.2e9 for `$1.2 billion`.
    pub fn scaled(&self) -> f64 {
        self.value * self.scale.map_or(1.0, Scale::factor)
    }
}

/// The reason why a text, or a part of it, is not read as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NotRead {
    #[error("no number")]
    NoNumber,
    #[error("digits in a form that is not read")]
    Digits,
    #[error("a sign that is not understood")]
    Sign,
    #[error("a mark or unit that is not understood")]
    Unit,
    #[error("digits that are part of a name")]
    Name,
    #[error("several figures that could be the answer")]
    Several,
    #[error("words that say that there is no answer")]
    NoAnswer,
}
