//! Contains a reader for each kind of file. A reader returns a grid of texts or lines with
//! positions, from which `grid` and `lines` build tables.

pub(crate) mod html;
pub(crate) mod markdown;
mod nesting;
pub(crate) mod pdf;
pub(crate) mod plain;
mod styles;
mod submission;
pub(crate) mod workbook;
