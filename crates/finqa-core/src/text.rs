//! Helpers for text in messages (shortening to one line of bounded length, counts with nouns, JSON
//! with nulls, misspelled names), and patterns that are part of the program.

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::pattern;

/// Numbers that Python and JavaScript write but JSON does not allow.
pub const NOT_FINITE: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// Collapses every run of white space to one space and trims the text.
pub fn single_spaced(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut out = words.next().unwrap_or_default().to_owned();
    for word in words {
        out.push(' ');
        out.push_str(word);
    }
    out
}

/// The first `most` characters, or the whole text if it has fewer.
pub fn head(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map(|(at, _)| at);
    end.and_then(|at| text.get(..at)).unwrap_or(text)
}

/// The first `most` characters, followed by `mark` if the text has more.
pub fn cut(text: &str, most: usize, mark: &str) -> String {
    let head = head(text, most);
    let mark = if head.len() < text.len() { mark } else { "" };
    format!("{head}{mark}")
}

/// The text on one line, without control characters. It has at most `most` characters, then `…`.
pub fn one_line(text: &str, most: usize) -> String {
    cut(&single_spaced(text), most, "…").replace(char::is_control, " ")
}

/// Like [`one_line`], but cuts the middle, because a server that quotes a long value says at the
/// end what is wrong with it.
pub fn both_ends(text: &str, most: usize) -> String {
    let line = one_line(text, usize::MAX);
    let left_out = line.chars().count().saturating_sub(most);
    if left_out == 0 {
        return line;
    }
    let start = head(&line, most / 2);
    let end = line.chars().skip(most / 2 + left_out);
    format!("{start}…{}", end.collect::<String>())
}

/// An RFC 3339 time in UTC, to the minute, such as `2025-09-01 12:30Z`. Any other text is returned
/// as it is.
pub fn to_minute(time: &str) -> String {
    match time.get(..16).and_then(|minute| minute.split_once('T')) {
        Some((date, time)) => format!("{date} {time}Z"),
        None => time.to_owned(),
    }
}

/// The visible symbol for a control character (`␛` for escape), or U+FFFD if Unicode has none.
pub fn picture(c: char) -> char {
    match u32::from(c) {
        code @ 0..=0x1f => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        _ => '\u{fffd}',
    }
}

/// The number, from 1, of the line in which a byte is.
pub fn line_of(bytes: &[u8], at: usize) -> usize {
    1 + bytes.iter().take(at).filter(|byte| **byte == b'\n').count()
}

/// A count with its noun, which is in the plural if needed: `1 entry`, `2 entries`. The noun must
/// have a regular plural; a final `y` becomes `ies`.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let (stem, ending) = match noun.strip_suffix('y') {
        _ if count == N::from(1) => (noun, ""),
        Some(stem) => (stem, "ies"),
        None if noun.ends_with(['s', 'h']) => (noun, "es"),
        None => (noun, "s"),
    };
    format!("{count} {stem}{ending}")
}

/// A count with commas between the thousands.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Replaces each of these bare words in JSON by `null`. Strings are left unchanged.
pub fn with_nulls<'t>(json: &'t str, words: &[&str]) -> Cow<'t, str> {
    static TOKEN: Pattern = pattern!(r#"(?s)"(?:[^"\\]|\\.)*"|-?[A-Za-z]+"#);
    if !words.iter().any(|word| json.contains(word)) {
        return Cow::Borrowed(json);
    }
    TOKEN.replace_all(json, |found: &Captures<'_>| {
        let token = found.get(0).map_or("", |found| found.as_str());
        if words.contains(&token) {
            "null"
        } else {
            token
        }
        .to_owned()
    })
}

/// The number of edits between a name and a known one, which is in lower case. Differences in case
/// are not counted.
pub fn edits(name: &str, known: &str) -> usize {
    strsim::osa_distance(&name.trim().to_lowercase(), known)
}

/// Compiles a pattern that is part of the program. A broken pattern panics on first use, so that a
/// test finds it. A fallback that matches nothing would not be noticed.
#[macro_export]
macro_rules! regex {
    ($pattern:expr) => {{
        #[allow(
            clippy::expect_used,
            reason = "a broken pattern is a bug that no caller can handle"
        )]
        let pattern = regex::Regex::new($pattern).expect("a pattern of the program compiles");
        pattern
    }};
}

/// A pattern of the program, which is compiled on first use.
pub type Pattern = LazyLock<Regex>;

/// A [`Pattern`](crate::text::Pattern) for a `static`.
#[macro_export]
macro_rules! pattern {
    ($pattern:expr) => {
        std::sync::LazyLock::new(|| $crate::regex!($pattern))
    };
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
    fn thousands_of_a_count_are_separated() {
        let texts = [0, 999, 1_000, 12_345_678].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "12,345,678"]);
    }

    #[test]
    fn a_count_has_its_noun_in_the_singular_or_plural() {
        let texts = ["miss", "batch", "entry", "suspect"].map(|noun| counted(2_usize, noun));
        assert_eq!(texts, ["2 misses", "2 batches", "2 entries", "2 suspects"]);
        assert_eq!(counted(1_u64, "entry"), "1 entry");
        assert_eq!(counted(0_u32, "row"), "0 rows");
    }

    #[test]
    fn a_time_is_shown_to_the_minute_and_another_text_as_it_is() {
        let time = "2026-11-30T00:24:01.243354482Z";
        assert_eq!(to_minute(time), "2026-11-30 00:24Z");
        assert_eq!(to_minute("some time ago or so"), "some time ago or so");
        assert_eq!(to_minute(""), "");
    }

    #[test]
    fn one_line_has_neither_breaks_nor_control_characters() {
        assert_eq!(one_line(" slow\n\tdown\u{1b}[31m ", 300), "slow down [31m");
        assert_eq!(one_line("a b c", 3), "a b…");
        assert_eq!(both_ends("a b\nc", 5), "a b c");
        assert_eq!(both_ends("äbc xyz", 5), "äb…xyz");
    }
}
