//! Makes a text safe for a cell of a CSV: a spreadsheet does not run it as a formula, and control
//! characters are visible.

use finqa_core::text::picture;

/// Returns the text as a cell. If a spreadsheet would take it for a formula, a leading apostrophe
/// is added, except to a negative number or percentage. Control characters other than tab, line
/// feed and carriage return are replaced by their symbols (`␛`).
///
/// ```
/// use finqa_score::score::files::cell;
/// assert_eq!(cell("=SUM(A1)"), "'=SUM(A1)");
/// assert_eq!(cell("-5.1%"), "-5.1%");
/// assert_eq!(cell("a\0b"), "a␀b");
/// ```
pub fn cell(text: &str) -> String {
    let guard = starts_formula(text) && !is_negative_number(text);
    let start = if guard { "'" } else { "" };
    start.chars().chain(text.chars().map(pictured)).collect()
}

/// The text of a cell, without the apostrophe that [`cell`] may have added.
pub(crate) fn text_of(cell: &str) -> &str {
    let bare = cell.strip_prefix('\'').filter(|rest| starts_formula(rest));
    bare.unwrap_or(cell)
}

/// True if a spreadsheet would evaluate the cell. Leading apostrophes are skipped, so that a text
/// that already has one gets another and is read back unchanged.
fn starts_formula(text: &str) -> bool {
    text.trim_start_matches('\'')
        .starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
}

fn is_negative_number(text: &str) -> bool {
    let bare = text.trim_end_matches('%').replace(',', "");
    text.starts_with('-') && bare.trim().parse::<f64>().is_ok()
}

fn pictured(c: char) -> char {
    if c.is_control() && !matches!(c, '\t' | '\n' | '\r') {
        picture(c)
    } else {
        c
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

    proptest::proptest! {
        #[test]
        fn a_text_is_read_as_it_was_written_but_for_control_characters(
            text in "['=+@\\-\\t\\r\\n＝＋－＠\u{0}-\u{20}\u{7f}-\u{9f}p\\[a5.]{0,8}|.{0,12}"
        ) {
            let written = cell(&text);
            let shown: String = text.chars().map(pictured).collect();
            proptest::prop_assert_eq!(text_of(&written), shown);
            let harmless = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
            proptest::prop_assert!(written.chars().all(harmless));
        }
    }
}
