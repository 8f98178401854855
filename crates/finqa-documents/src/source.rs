//! Defines what a workbook says about a cell beyond its text.

use finqa_core::number::Scale;

/// Where a cell of a workbook is, and what the workbook says about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SheetCell {
    /// Row and column in its sheet, counted from 0.
    pub place: (u32, u32),
    /// The stored number, in the printed scale and unit. `None` for a text or a date.
    pub value: Option<f64>,
    /// The scale by which its number format divides, and whether the format also prints the
    /// scale word.
    pub scale: Option<(Scale, bool)>,
    /// The formula, if the file has no value for it.
    pub formula: Option<String>,
    /// Why the figure is not read: "in a hidden column".
    pub unread: Option<&'static str>,
}

impl SheetCell {
    /// True if the cell has a figure, whether or not it is read.
    pub(crate) fn is_figure(&self) -> bool {
        self.value.is_some() || self.unread.is_some()
    }
}
