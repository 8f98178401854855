//! A number as a cell or a sentence writes it, and the literal by which the official
//! evaluator reads it again. Core's reader of cells differs: it keeps a `2014` under a heading
//! of years and reads no number in `5.0 years`; what is read here is an input of the weights.

use finqa_core::number::{self, Scale};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CellNumber {
    /// The form in a program: `-2913`, `4.02%`, `206588`.
    pub literal: String,
    /// As printed, with its sign; a percentage is not divided.
    pub number: f64,
    /// A `%` follows.
    pub percent: bool,
    /// A `$` comes before it.
    pub(crate) dollar: bool,
    /// Words next to the number in the same cell.
    pub words: String,
    /// A scale word next to the number.
    pub scale: Option<Scale>,
}

/// Reads a cell. Doubled negatives (`-5 ( 5 )`) and percentages (`28% ( 28 % )`) count
/// once; a lone `2013` or `2014` is a lost dash, unless the page is the user's `own`, and
/// like an empty cell or one of words not a number.
pub(crate) fn read(cell: &str, own: bool) -> Option<CellNumber> {
    let trimmed = cell.trim();
    let lost_dash = matches!(trimmed, "2013" | "2014" | "$ 2013" | "$ 2014");
    if trimmed.is_empty() || lost_dash && !own {
        return None;
    }
    let reading = number::read(trimmed)?;
    let (before, rest) = trimmed.split_at_checked(reading.span.start)?;
    let (printed, after) = rest.split_at_checked(reading.span.len())?;
    // After words, a number in brackets is a reference to a note.
    let note = printed.starts_with('(') && before.contains(char::is_alphabetic);
    let footnote = own && after.starts_with('*');
    let apart = footnote || after.is_empty() || after.starts_with([' ', ')']);
    if note || !apart {
        return None;
    }
    let digits = printed.trim_start_matches(|c: char| !c.is_ascii_digit() && c != '.');
    let is_digit = |c: &char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let digits: String = digits
        .chars()
        .take_while(is_digit)
        .filter(|c| *c != ',')
        .collect();
    let sign = if reading.value < 0.0 { "-" } else { "" };
    let mark = if reading.percent { "%" } else { "" };
    // What a bracket holds after the number adds nothing.
    let after = after.split('(').next().unwrap_or_default();
    let is_word = |piece: &&str| piece.contains(char::is_alphanumeric);
    let words = before.split_whitespace().chain(after.split_whitespace());
    let words: Vec<&str> = words.filter(is_word).collect();
    Some(CellNumber {
        literal: format!("{sign}{digits}{mark}"),
        number: reading.value,
        percent: reading.percent,
        dollar: printed.contains('$'),
        words: words.join(" "),
        scale: reading.scale,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_the_dataset() {
        let literal = |cell: &str| read(cell, false).map(|n| n.literal);
        assert_eq!(literal("$ -154 ( 154 )").as_deref(), Some("-154"));
        assert_eq!(literal("28% ( 28 % )").as_deref(), Some("28%"));
        assert_eq!(literal("( 3.2 ) % (  % )").as_deref(), Some("-3.2%"));
        assert_eq!(literal("$ 1,234.50").as_deref(), Some("1234.50"));
        assert_eq!(literal("5.0 years").as_deref(), Some("5.0"));
        assert_eq!(literal("2014"), None);
        assert_eq!(read("2014", true).unwrap().literal, "2014");
        assert_eq!(literal("n/a"), None);
        assert_eq!(literal("aa3"), None);
    }

    /// The user's own pages lost their negative amounts in an earlier version: the dataset
    /// writes blanks around brackets, reports do not.
    #[test]
    fn the_forms_of_printed_reports() {
        let literal = |cell: &str| read(cell, false).map(|n| n.literal);
        for cell in [
            "(12.5)", "$(12.5)", "($12.5)", "$ (12.5)", "-12.5", "\u{2212}12.5",
        ] {
            assert_eq!(literal(cell).as_deref(), Some("-12.5"), "{cell}");
        }
        for cell in ["(1.5%)", "(1.5)%", "(1.5) %"] {
            assert_eq!(literal(cell).as_deref(), Some("-1.5%"), "{cell}");
        }
        assert_eq!(literal("1,234 (1)").as_deref(), Some("1234"));
        assert_eq!(literal("1,234(1)"), None);
        assert_eq!(literal("net (1)"), None);
        assert_eq!(literal("()"), None);
    }
}
