//! The features of two facts together, which `answering::filling` finds. The constants are indices
//! into the list of their names.

/// The names, in the order of the weights file.
pub(super) const OF_PAIRS: [&str; 11] = [
    "periods: one row", "periods: one column, rows are years", "periods: other cells",
    "parts: one column", "parts: one row, rows are years", "parts: other cells",
    "pair: one sentence", "pair: other sentences", "pair: table and text", "pair: the same fact",
    "pair: already in the expression",
];

pub(crate) const PERIODS_IN_ROW: usize = 0;
pub(crate) const PERIODS_IN_COLUMN: usize = 1;
pub(crate) const OTHER_PERIODS: usize = 2;
pub(crate) const PARTS_IN_COLUMN: usize = 3;
pub(crate) const PARTS_IN_ROW: usize = 4;
pub(crate) const OTHER_PARTS: usize = 5;
pub(crate) const ONE_SENTENCE: usize = 6;
pub(crate) const OTHER_SENTENCES: usize = 7;
pub(crate) const TABLE_AND_TEXT: usize = 8;
pub(crate) const SAME_FACT: usize = 9;
pub(crate) const KNOWN: usize = 10;
