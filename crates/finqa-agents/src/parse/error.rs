//! The error of a reply that cannot be read.

use finqa_core::text;
use thiserror::Error;

/// The reason and the position of a failure to read a reply. The message is one line, which is
/// quoted to the model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what} (line {line}, column {column}){}", near(excerpt))]
pub struct ParseFailure {
    pub what: String,
    pub line: usize,
    pub column: usize,
    /// The beginning of the text at that position; empty at the end of the reply.
    pub(crate) excerpt: String,
}

/// Maximum number of characters of the reply that a failure quotes. Set by hand: the message is
/// one line.
const EXCERPT: usize = 60;

fn near(excerpt: &str) -> String {
    if excerpt.is_empty() {
        String::new()
    } else {
        format!(", near `{excerpt}`")
    }
}

impl ParseFailure {
    /// A failure at a byte offset of `text`. Line and column count from 1, the column in
    /// characters.
    pub(super) fn at(text: &str, offset: usize, what: impl Into<String>) -> Self {
        let (before, after) = text.split_at(text.floor_char_boundary(offset));
        let last_line = before.rsplit('\n').next().unwrap_or_default();
        let excerpt = text::cut(after, EXCERPT, "…").replace(char::is_control, " ");
        Self {
            what: what.into(),
            line: before.matches('\n').count() + 1,
            column: last_line.chars().count() + 1,
            excerpt: excerpt.trim().to_string(),
        }
    }
}
