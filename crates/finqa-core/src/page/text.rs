//! A page as its file has it, and the ids of its places.

use super::cell::TableOrigin;

/// What a page is read from.
pub(crate) struct PageText<'a> {
    pub(crate) filename: &'a str,
    /// Sentences before and after the table.
    pub(crate) before: &'a [String],
    pub(crate) after: &'a [String],
    /// Row 0 is the header; rows may be ragged.
    pub(crate) table: &'a [Vec<String>],
    /// The table before tokenisation.
    pub(crate) table_ori: Option<&'a [Vec<String>]>,
    /// A document of the user.
    pub(crate) own: bool,
}

impl PageText<'_> {
    pub(super) fn origin(&self) -> TableOrigin {
        if self.own {
            TableOrigin::Own
        } else {
            TableOrigin::Published
        }
    }
}

/// Row and column of an evidence id: `r3c2` gives (3, 2).
pub fn position(id: &str) -> Option<(usize, usize)> {
    let (row, column) = id.trim().strip_prefix(['r', 'R'])?.split_once(['c', 'C'])?;
    let number = |digits: &str| -> Option<usize> {
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            digits.parse().ok()
        } else {
            None
        }
    };
    Some((number(row)?, number(column)?))
}
