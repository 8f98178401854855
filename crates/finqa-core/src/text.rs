//! Text on one line and of bounded length, for messages that quote what others wrote.

/// The words with one space between them.
#[must_use]
pub fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first `most` characters.
#[must_use]
pub fn head(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map(|(at, _)| at);
    end.and_then(|at| text.get(..at)).unwrap_or(text)
}

/// The first `most` characters, with `mark` behind them if more follow.
#[must_use]
pub fn cut(text: &str, most: usize, mark: &str) -> String {
    let head = head(text, most);
    let mark = if head.len() < text.len() { mark } else { "" };
    format!("{head}{mark}")
}

/// On one line, without control characters, cut to `most` characters and `…`.
#[must_use]
pub fn one_line(text: &str, most: usize) -> String {
    cut(&single_spaced(text), most, "…").replace(char::is_control, " ")
}

/// A number of things by a noun whose plural ends in s.
#[must_use]
pub fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_characters_and_marked_only_where_it_is_cut() {
        assert_eq!(cut("äöü", 2, "…"), "äö…");
        assert_eq!(cut("äöü", 3, "…"), "äöü");
        assert_eq!(head("äöü", 0), "");
    }

    #[test]
    fn one_line_has_neither_breaks_nor_control_characters() {
        assert_eq!(one_line(" slow\n\tdown\u{1b}[31m ", 300), "slow down [31m");
        assert_eq!(one_line("a b c", 3), "a b…");
    }
}
