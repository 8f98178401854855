//! Defines the unit of an answer: the kind of its number and its scale word.

use serde::{Deserialize, Serialize};

/// The kind of an answer's number. It decides how the answer is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnitKind {
    /// A plain amount.
    #[default]
    Number,
    /// A percentage printed as `14.1%`. Its value is the fraction 0.141.
    Percent,
    /// A fraction or multiple printed unchanged (`0.141`).
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
    /// 10^5
    Lakh,
    /// 10^6
    Million,
    /// 10^7
    Crore,
    /// 10^9
    Billion,
}

impl Scale {
    /// All scales, the smallest first.
    pub const ALL: [Self; 5] = [
        Self::Thousand,
        Self::Lakh,
        Self::Million,
        Self::Crore,
        Self::Billion,
    ];

    /// The scale that a lower-case word names, in the singular or the plural.
    pub fn from_word(word: &str) -> Option<Self> {
        let singular = word.strip_suffix('s').unwrap_or(word);
        Self::ALL.into_iter().find(|scale| scale.word() == singular)
    }

    /// The scale as an integer: 1,000 for a thousand.
    pub fn units(self) -> u32 {
        match self {
            Self::Thousand => 1_000,
            Self::Lakh => 100_000,
            Self::Million => 1_000_000,
            Self::Crore => 10_000_000,
            Self::Billion => 1_000_000_000,
        }
    }

    /// The scale as a factor: 1e3 for a thousand.
    pub fn factor(self) -> f64 {
        f64::from(self.units())
    }

    /// The word in the singular.
    pub fn word(self) -> &'static str {
        match self {
            Self::Thousand => "thousand",
            Self::Lakh => "lakh",
            Self::Million => "million",
            Self::Crore => "crore",
            Self::Billion => "billion",
        }
    }
}

/// The unit of an answer: the kind of its number, and the scale word to print with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Unit {
    pub kind: UnitKind,
    /// The scale word to print with the number. It is never applied to the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
}
