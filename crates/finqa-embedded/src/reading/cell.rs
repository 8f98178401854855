//! A number as a cell or a sentence writes it, and the literal by which the official
//! evaluator reads it again.

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
    if trimmed.is_empty() || lost_dash && !own || own && is_list(trimmed) {
        return None;
    }
    let mut words = Vec::new();
    let mut found: Option<(String, bool, bool)> = None;
    let (mut dollar, mut bracket, mut percent, mut scale) = (false, false, false, None);
    for piece in trimmed.split_whitespace() {
        // `(12.5)` as reports print it; after words it is a reference to a note.
        let glued = bracketed(piece).filter(|_| found.is_none() && words.is_empty());
        if let Some((digits, pct, money)) = glued {
            percent |= pct;
            found = Some((digits, dollar || money, true));
            continue;
        }
        match piece {
            "$" => dollar = true,
            "(" => {
                if found.is_some() {
                    // The doubled form, or a remark: nothing after it adds anything.
                    percent |= trimmed.contains("(  %") || trimmed.contains(") %");
                    break;
                }
                bracket = true;
            }
            ")" => {}
            "%" => percent |= found.is_some(),
            _ if Scale::from_word(piece).is_some() => scale = Scale::from_word(piece),
            _ if found.is_none() => match plain(piece) {
                Some((digits, pct)) => {
                    percent |= pct;
                    found = Some((digits, dollar || piece.contains('$'), bracket));
                }
                None => words.push(piece),
            },
            _ => words.push(piece),
        }
    }
    let (digits, dollar, negative) = found?;
    let sign = if negative && !digits.starts_with('-') {
        "-"
    } else {
        ""
    };
    let body = format!("{sign}{digits}");
    let number = body.parse().ok()?;
    let literal = if percent { format!("{body}%") } else { body };
    Some(CellNumber {
        literal,
        number,
        percent,
        dollar,
        words: words.join(" "),
        scale,
    })
}

/// True for digits that are not one number: `1,2,3`, `1,234,56`, `555 123 4567`.
fn is_list(cell: &str) -> bool {
    let is_mark = |c: char| matches!(c, ',' | '.' | '$' | '%' | '-' | '\u{2212}');
    // Digits in brackets repeat those before them, or name a note.
    let has_digit = |part: &&str| part.contains(|c: char| c.is_ascii_digit());
    let first = cell.split(['(', ')']).find(has_digit).unwrap_or_default();
    let mut figures = first.split_whitespace().filter(|piece| {
        has_digit(piece) && piece.chars().all(|c| c.is_ascii_digit() || is_mark(c))
    });
    let unreadable = |piece: &str| piece.contains(',') && number::read(piece).is_none();
    figures.next().is_some_and(unreadable) || figures.next().is_some()
}

/// The digits in brackets of `(12.5)`, `$(12.5)`, `($12.5)`, `(12.5%)` or `(12.5)%`,
/// whether it is a percentage, and whether it is money.
fn bracketed(piece: &str) -> Option<(String, bool, bool)> {
    let after = piece.trim_end_matches('%');
    let inner = after
        .trim_start_matches('$')
        .strip_prefix('(')?
        .strip_suffix(')')?;
    let (digits, percent) = plain(inner)?;
    Some((digits, percent || after != piece, piece.contains('$')))
}

/// Digits without commas, `$` and `%`, if the piece is only a number.
fn plain(piece: &str) -> Option<(String, bool)> {
    let piece = piece.trim_start_matches('$');
    let percent = piece.ends_with('%');
    let digits: String = piece
        .trim_end_matches('%')
        .chars()
        .filter(|c| *c != ',')
        .map(|c| if c == '\u{2212}' { '-' } else { c })
        .collect();
    let shaped = digits
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-'))
        && digits.bytes().any(|b| b.is_ascii_digit());
    (shaped && digits.parse::<f64>().is_ok()).then_some((digits, percent))
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

    #[test]
    fn digits_of_the_users_own_page_that_are_not_one_number_are_not_read() {
        for cell in ["1,2,3", "1,234,56", "555 123 4567", "2 5%", "$ (1,2,3)"] {
            assert_eq!(read(cell, true), None, "{cell}");
        }
        for cell in [
            "1,234", "$ 1,234.50", "5.0 years", "(1,234)", "-5 ( 5 )", "12 (a)", "28 %",
        ] {
            assert!(read(cell, true).is_some(), "{cell}");
        }
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
