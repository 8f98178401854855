//! Lays out text for a terminal, and escapes characters that a terminal would obey.

use std::borrow::Cow;

use comfy_table::{ContentArrangement, Table, presets};
use console::Term;
use finqa_core::text::picture;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Escapes control characters and bidi marks in untrusted text. A control character becomes its
/// picture (`␛`). A mark that changes the direction of writing, and so could show text in another
/// order, becomes its code (`<U+202E>`). Line breaks and tabs are kept.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| (c.is_control() && c != '\n' && c != '\t') || turns_direction(c);
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if turns_direction(c) {
            shown.push_str(&format!("<U+{:04X}>", u32::from(c)));
        } else {
            shown.push(if obeyed(c) { picture(c) } else { c });
        }
    }
    Cow::Owned(shown)
}

fn turns_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Maximum number of columns in a line of prose, because longer lines are hard to read. Set
/// by hand.
const MEASURE: usize = 100;

/// The layout of text for people. The default, 80 columns, is for output that does not go to a
/// terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Maximum number of columns.
    pub width: u16,
}

impl Default for TerminalStyle {
    fn default() -> Self {
        Self { width: 80 }
    }
}

impl TerminalStyle {
    pub(super) fn table(self, header: &[&str]) -> Table {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED);
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(self.width);
        table.set_header(header);
        table
    }

    /// Wraps a line at spaces, but neither at no-break spaces nor before `%`. Indents the later
    /// lines.
    pub fn wrap(self, text: &str) -> String {
        let limit = usize::from(self.width).min(MEASURE);
        let text = text.replace(" %", "\u{a0}%");
        spaced(&broken(&text, 0, 2, limit))
    }
}

/// A table without borders, for columns that would not fit 80 with them. `gap` is the number of
/// spaces between two columns.
pub(super) fn borderless(header: &[&str], gap: u16) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    for column in table.column_iter_mut() {
        column.set_padding((0, gap));
    }
    table
}

/// Replaces spaces by no-break spaces, so that a text is not wrapped. [`spaced`] replaces them back
/// before the text is printed.
pub(super) fn unbroken(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// Replaces no-break spaces by spaces, to undo `unbroken`.
pub fn spaced(text: &str) -> String {
    text.replace('\u{a0}', " ")
}

/// A text for stderr. On a terminal, its lines are wrapped at spaces, but not at no-break spaces,
/// and keep their indent.
pub fn for_stderr(text: &str) -> Cow<'_, str> {
    let Some((_, columns)) = Term::stderr().size_checked() else {
        return Cow::Owned(spaced(text));
    };
    let lines = text.lines().map(|line| {
        let words = line.trim_start();
        let indent = line.len() - words.len();
        let words = broken(words, indent, indent + 2, columns.into());
        format!("{:indent$}{words}", "")
    });
    Cow::Owned(spaced(&lines.collect::<Vec<_>>().join("\n")))
}

/// Wraps a text at spaces. The first line begins in column `start`, later lines in column `indent`.
/// No line is longer than `limit` unless it is a single word.
pub(super) fn broken(text: &str, start: usize, indent: usize, limit: usize) -> String {
    let (first, later) = (" ".repeat(start), " ".repeat(indent));
    let options = Options::new(limit)
        .initial_indent(&first)
        .subsequent_indent(&later)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    // The first indent only takes up room for the wrapping, because the caller prints that part.
    let filled = textwrap::fill(text.trim_start_matches(' '), options);
    filled.get(start..).unwrap_or_default().to_owned()
}

/// Joins the parts with dots on one line. Empty parts are left out.
pub(super) fn joined<const N: usize>(parts: [Option<String>; N]) -> String {
    let parts = parts.into_iter().flatten();
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_instead() {
        assert_eq!(
            harmless("a\u{1b}[2J\u{7}\u{9b}\u{7f}\n\tb"),
            "a␛[2J␇\u{fffd}␡\n\tb"
        );
        assert!(matches!(harmless("7,5 % مرحبا"), Cow::Borrowed(_)));
        assert_eq!(
            harmless("\u{202e}5.21\u{2069}\u{200f}\u{61c}"),
            "<U+202E>5.21<U+2069><U+200F><U+061C>"
        );
    }
}
