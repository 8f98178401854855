//! What a workbook says of a cell beyond its text.

use finqa_core::number::Scale;

/// A cell of a workbook.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SheetCell {
    /// Row and column in its sheet, from 0.
    pub place: (u32, u32),
    /// The stored number in the scale and unit that are printed; none of a text or a date.
    pub value: Option<f64>,
    /// The scale that its format takes off, and whether the format prints the word too.
    pub scale: Option<(Scale, bool)>,
    /// The formula, if the file has no value of it.
    pub formula: Option<String>,
    /// Why its figure is not read: "in a hidden column".
    pub unread: Option<&'static str>,
}

impl SheetCell {
    /// Whether it stands for a figure.
    pub(crate) fn is_figure(&self) -> bool {
        self.value.is_some() || self.unread.is_some()
    }
}
