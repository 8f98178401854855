//! The kinds of files. Each format delivers a grid of texts, or lines with places; `grid` and
//! `lines` make tables of them.

pub(crate) mod html;
pub(crate) mod markdown;
mod nesting;
pub(crate) mod pdf;
pub(crate) mod plain;
mod styles;
mod submission;
pub(crate) mod workbook;
