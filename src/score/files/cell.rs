//! Writes a text into a cell of a CSV and reads it back unchanged. No spreadsheet takes the
//! cell for a formula, and it holds no control character.

use std::borrow::Cow;

/// Precedes what would be read as something else. It is the picture of the
/// control character "data link escape".
const ESCAPE: char = '␐';

/// The cell for a text. What a spreadsheet would take for a formula gets a
/// leading apostrophe; numbers and percents never. Control characters but
/// tab, line feed and carriage return become their pictures (`␛`).
///
/// ```
/// use convfinqa::score::files::cell;
/// assert_eq!(cell("=SUM(A1)"), "'=SUM(A1)");
/// assert_eq!(cell("-5.1%"), "-5.1%");
/// assert_eq!(cell("a\0b"), "a␀b");
/// ```
pub fn cell(text: &str) -> String {
    let shown = pictured(text);
    let formula = starts_formula(&shown) && !is_negative_number(&shown);
    if formula {
        format!("'{shown}")
    } else {
        shown.into_owned()
    }
}

/// The text of a cell: what [`cell`] was given.
pub(crate) fn text_of(cell: &str) -> String {
    let bare = cell
        .strip_prefix('\'')
        .filter(|rest| starts_formula(rest))
        .unwrap_or(cell);
    if !bare.chars().any(is_picture) {
        return bare.to_owned();
    }
    let mut text = String::with_capacity(bare.len());
    let mut chars = bare.chars();
    while let Some(c) = chars.next() {
        if c != ESCAPE {
            text.push(control(c).unwrap_or(c));
            continue;
        }
        let next = chars.clone().next();
        match next.map(|next| (next, escaped(next))) {
            Some((_, Some(character))) => {
                text.push(character);
                chars.next();
            }
            _ => text.push(ESCAPE),
        }
    }
    text
}

/// True if a spreadsheet would evaluate the cell. Leading apostrophes of the text are
/// skipped, because they must survive the reader too.
fn starts_formula(text: &str) -> bool {
    text.trim_start_matches('\'')
        .starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
}

fn is_negative_number(text: &str) -> bool {
    let bare = text.trim_end_matches('%').replace(',', "");
    text.starts_with('-') && bare.trim().parse::<f64>().is_ok()
}

fn pictured(text: &str) -> Cow<'_, str> {
    let written = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r') || is_picture(c);
    if !text.contains(written) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        let code = u32::from(c);
        match c {
            '\t' | '\n' | '\r' => shown.push(c),
            '\u{10}' => shown.extend([ESCAPE, 'p']),
            '\0'..='\u{1f}' => shown.extend(char::from_u32(0x2400 + code)),
            '\u{7f}' => shown.push('␡'),
            // As ISO 2022 writes them after an escape: U+009B is `[`.
            '\u{80}'..='\u{9f}' => {
                shown.push(ESCAPE);
                shown.extend(char::from_u32(code - 0x40));
            }
            _ if is_picture(c) => shown.extend([ESCAPE, c]),
            _ => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

fn is_picture(c: char) -> bool {
    matches!(c, '\u{2400}'..='\u{241f}' | '␡')
}

/// The control character of a picture.
fn control(c: char) -> Option<char> {
    match c {
        '␡' => Some('\u{7f}'),
        '\u{2400}'..='\u{241f}' => char::from_u32(u32::from(c) - 0x2400),
        _ => None,
    }
}

/// The meaning of a character after [`ESCAPE`].
fn escaped(c: char) -> Option<char> {
    match c {
        'p' => Some('\u{10}'),
        '@'..='_' => char::from_u32(u32::from(c) + 0x40),
        _ => is_picture(c).then_some(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_guarded_and_numbers_are_not() {
        for text in [
            "=1+1", "+1", "@x", "\tx", "\nx", "-x", "-1 + 2", "'=1", "＝1", "＋1", "－1", "＠x",
        ] {
            assert_eq!(cell(text), format!("'{text}"));
        }
        for text in ["-5", "-5.1%", "-1,234", "5", "", "revenue", "'x", "1＝1"] {
            assert_eq!(cell(text), text);
        }
    }

    #[test]
    fn control_characters_are_shown() {
        let written = cell("\u{1b}[2J\0\u{7f}\u{9b}\n");
        assert_eq!(written, "␛[2J␀␡␐[\n");
        assert_eq!(cell("\u{10}␛␐"), "␐p␐␛␐␐");
    }

    proptest::proptest! {
        #[test]
        fn every_text_is_read_as_it_was_written(
            text in "['=+@\\-\\t\\r\\n＝＋－＠\u{0}-\u{20}\u{7f}-\u{9f}\u{2400}-\u{2421}p\\[a5.]{0,8}|.{0,12}"
        ) {
            let written = cell(&text);
            proptest::prop_assert_eq!(text_of(&written), text);
            let harmless = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
            proptest::prop_assert!(written.chars().all(harmless));
        }
    }
}
