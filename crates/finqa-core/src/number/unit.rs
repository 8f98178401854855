//! The unit of an answer: what kind of number it is, and in which scale word.

use serde::{Deserialize, Serialize};

/// The kind of an answer's number, which decides how the answer is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnitKind {
    /// A plain amount.
    #[default]
    Number,
    /// A share printed as `14.1%`; its value is the fraction.
    Percent,
    /// A share or multiple printed unchanged (`0.141`).
    Ratio,
    /// `yes` or `no`.
    YesNo,
}

/// A scale word of financial reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// 10^3
    Thousand,
    /// 10^6
    Million,
    /// 10^9
    Billion,
}

impl Scale {
    /// All of them, the smallest first.
    pub const ALL: [Self; 3] = [Self::Thousand, Self::Million, Self::Billion];

    /// The scale of a word in small letters, in the singular or the plural.
    pub fn from_word(word: &str) -> Option<Self> {
        let singular = word.strip_suffix('s').unwrap_or(word);
        Self::ALL.into_iter().find(|scale| scale.word() == singular)
    }

    /// How many units one of it is.
    pub fn units(self) -> u32 {
        match self {
            Self::Thousand => 1_000,
            Self::Million => 1_000_000,
            Self::Billion => 1_000_000_000,
        }
    }

    /// The units as a factor: 1e3, 1e6 or 1e9.
    pub fn factor(self) -> f64 {
        f64::from(self.units())
    }

    /// The word in the singular.
    pub fn word(self) -> &'static str {
        match self {
            Self::Thousand => "thousand",
            Self::Million => "million",
            Self::Billion => "billion",
        }
    }
}

/// The unit of an answer, e.g. percent, or number in millions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Unit {
    /// The kind of the number.
    pub kind: UnitKind,
    /// The scale word it is written with, if any (never applied to the value).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
}
