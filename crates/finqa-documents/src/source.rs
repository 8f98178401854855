//! Defines what a workbook says about a cell beyond its text.

use finqa_core::number::Scale;

/// The position of a workbook's cell, and what the file says about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SheetCell {
    /// Row and column in its sheet, counted from 0.
    pub place: (u32, u32),
    /// The stored number, in the printed scale and unit. `None` for a text or a date.
    pub value: Option<f64>,
    /// The scale by which the number format divides, and true if the format also prints the scale's
    /// word.
    pub scale: Option<(Scale, bool)>,
    /// The formula, if the file lacks its value.
    pub formula: Option<String>,
    /// The reason why the figure is not read, such as "in a hidden column".
    pub unread: Option<&'static str>,
}

impl SheetCell {
    /// True if the cell has a figure, whether or not it is read.
    pub(crate) fn is_figure(&self) -> bool {
        self.value.is_some() || self.unread.is_some()
    }
}
