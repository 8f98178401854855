//! A number as it was read, or the reason why it was not.

use std::ops::Range;

use thiserror::Error;

use super::Scale;
use super::words::{asks_for_a_loss, asks_for_basis_points};

/// A number as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberReading {
    /// The number as written: `14.1` for `14.1%`, `1.2` for `$1.2 billion`. Only a scale
    /// that has no word of its own is multiplied out: `2 trillion` is 2,000 billion, `3 crore`
    /// is 30 million.
    pub value: f64,
    /// The value's magnitude as a program writes it: `1234.50` for `($1,234.50)`, `1.5e6`.
    pub literal: String,
    /// Digits written after the decimal point (`14.10` has 2).
    pub decimals: u32,
    /// The decimals without trailing zeros (`14.10` has 1).
    pub significant_decimals: u32,
    /// Followed by a percent sign or word.
    pub percent: bool,
    /// Followed by `bps` or "basis points": hundredths of a percent.
    pub basis_points: bool,
    /// The sign is a word of an answer ("loss of 45.2"), which may only repeat its question.
    pub loss: bool,
    /// The scale word that follows, if any.
    pub scale: Option<Scale>,
    /// Bytes of the text that make up the number: sign, currency, percent and
    /// scale included.
    pub span: Range<usize>,
}

impl NumberReading {
    /// The value with a percent or basis points taken as a share: 0.141 for `14.1%`.
    pub fn fraction(&self) -> f64 {
        match (self.percent, self.basis_points) {
            (true, _) => self.value / 100.0,
            (_, true) => self.value / 10_000.0,
            _ => self.value,
        }
    }

    /// The value as an answer to `question`: basis points stay what they are if it asks for them,
    /// and a loss has no sign if it asks for the loss.
    pub fn value_for(&self, question: &str) -> f64 {
        match self.basis_points && asks_for_basis_points(question) {
            true => self.value,
            false if self.loss && asks_for_a_loss(question) => self.fraction().abs(),
            false => self.fraction(),
        }
    }

    /// The value times its scale word: 1.2e9 for `$1.2 billion`.
    pub fn scaled(&self) -> f64 {
        self.value * self.scale.map_or(1.0, Scale::factor)
    }
}

/// Why a text, or a part of it, is not read as a number.
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
