//! Keeps one figure of a table in little memory.

use std::borrow::Cow;

use finqa_core::number::Scale;
use finqa_core::page::CellNumber;

/// A figure as it is printed, with its scale.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReportFigure {
    /// The printed number, without its scale.
    pub(crate) number: f64,
    pub(crate) percent: bool,
    pub(crate) scale: Option<Scale>,
    /// The details that few figures have. They are boxed, because a table may have a million
    /// figures.
    rare: Option<Box<RarePart>>,
}

/// The texts of a figure that its number does not show.
#[derive(Clone, Debug, Default, PartialEq)]
struct RarePart {
    /// The printed text, if formatting `number` does not give it: `1.50`.
    literal: Option<Box<str>>,
    printed: Option<Box<str>>,
    side: Option<&'static str>,
}

impl ReportFigure {
    /// Keeps the number of a cell. Its texts are kept only if the number does not show them.
    pub(crate) fn read(number: &CellNumber, percent: bool, scale: Option<Scale>) -> Self {
        let bare = |literal: &str| literal.trim_end_matches('%').into();
        let literal = number.literal.trim_end_matches('%');
        let rare = RarePart {
            literal: (number.value.to_string() != literal).then(|| literal.into()),
            printed: number.printed().map(bare),
            side: number.side(),
        };
        Self {
            number: number.value,
            percent,
            scale,
            rare: (rare != RarePart::default()).then(|| Box::new(rare)),
        }
    }

    /// The number in units: 5,000,000 for "5" in millions.
    pub(crate) fn value(&self) -> f64 {
        self.number * self.scale.map_or(1.0, Scale::factor)
    }

    /// The number as the dataset's official evaluator reads it, without its percent sign.
    pub(crate) fn literal(&self) -> Cow<'_, str> {
        let literal = self.rare.as_ref().and_then(|rare| rare.literal.as_deref());
        literal.map_or_else(|| self.number.to_string().into(), Into::into)
    }

    /// The printed digits, if the file stores more digits than it prints, as workbooks do.
    pub(crate) fn printed(&self) -> Option<&str> {
        self.rare.as_ref()?.printed.as_deref()
    }

    /// The side of an account, "Dr" or "Cr".
    pub(crate) fn side(&self) -> Option<&'static str> {
        self.rare.as_ref()?.side
    }
}
