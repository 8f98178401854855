//! Cleans up text, splits it into sentences, so that each can be cited, and brings the figures of
//! sentences into one notation.

use std::borrow::Cow;

use finqa_core::pattern;
use finqa_core::text::{Pattern, single_spaced};
use regex::Captures;

use crate::cells::votes_of;

/// Words whose full stop does not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "approx", "art", "cf", "co", "corp", "dr", "e.g", "etc", "fig", "i.e", "inc", "jr", "llc",
    "ltd", "mr", "mrs", "ms", "no", "nos", "p", "par", "pp", "sec", "sr", "st", "u.k", "u.s", "vs",
];

/// The text as a reader sees it: without zero-width characters and soft hyphens, with single
/// blanks.
pub(crate) fn printed(text: &str) -> String {
    let seen = |c: &char| {
        !matches!(
            c,
            '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{ad}'
        )
    };
    single_spaced(&text.chars().filter(seen).collect::<String>())
}

/// True if a text begins with one of the strings of `with`, ignoring case. White space and a byte
/// order mark before it are skipped.
pub(crate) fn begins(text: &str, with: &[&str]) -> bool {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    with.iter().any(|tag| {
        let start = text.get(..tag.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(tag))
    })
}

/// Splits a text into sentences. Paragraphs end at blank lines, headings and list items.
pub(crate) fn sentences(text: &str) -> Vec<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let line = line.trim();
        let (marker, body) = marker(line);
        if body.is_empty() {
            open = false;
            continue;
        }
        match paragraphs.last_mut() {
            Some(last) if open && !marker => {
                last.push(' ');
                last.push_str(body);
            }
            _ => paragraphs.push(body.to_owned()),
        }
        open = !line.starts_with('#');
    }
    paragraphs
        .iter()
        .flat_map(|paragraph| split(paragraph))
        .collect()
}

/// Returns true for a line that begins a paragraph of its own (a heading, list item or quote), and
/// the line without its mark. A rule, such as a line of dashes, becomes empty.
fn marker(line: &str) -> (bool, &str) {
    for mark in ["- ", "* ", "+ ", "> "] {
        if let Some(body) = line.strip_prefix(mark) {
            return (true, body.trim());
        }
    }
    if line.starts_with('#') {
        return (true, line.trim_start_matches('#').trim());
    }
    let rule = line.len() > 2 && line.chars().all(|c| matches!(c, '-' | '=' | '*' | '_'));
    (false, if rule { "" } else { line })
}

/// Splits a paragraph after each word that can end a sentence, if the next word begins with a
/// capital, a digit, a quotation mark or the like.
fn split(paragraph: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut current = String::new();
    let mut words = paragraph.split_whitespace().peekable();
    while let Some(word) = words.next() {
        if !current.is_empty() {
            current.push(' ');
        }
        current.push_str(word);
        let begins = |next: &&str| {
            next.starts_with(|c: char| {
                c.is_uppercase() || c.is_ascii_digit() || "\"“($€£".contains(c)
            })
        };
        if ends_sentence(word) && words.peek().is_none_or(begins) {
            sentences.push(std::mem::take(&mut current));
        }
    }
    if !current.is_empty() {
        sentences.push(current);
    }
    sentences
}

/// True if a sentence can end with the word: it ends with `!`, `?` or a full stop that is not part
/// of an abbreviation.
fn ends_sentence(word: &str) -> bool {
    let bare = word.trim_end_matches(['"', '”', ')', '\'']);
    let Some(stem) = bare.strip_suffix('.') else {
        return bare.ends_with(['!', '?']);
    };
    let stem = stem.trim_start_matches(['(', '"', '“']).to_lowercase();
    // A single letter is an initial, as in "J. Smith".
    let initial = stem.chars().count() == 1 && stem.chars().all(char::is_alphabetic);
    !initial && !ABBREVIATIONS.contains(&stem.as_str())
}

/// Numbers with a comma or a point between their digits.
static MARKED: Pattern = pattern!(r"\d+(?:[.,]\d+)+");

/// Rewrites the figures of sentences in which a comma marks the decimals. A figure for which both
/// readings are possible is read like the document's cells, or, if these are undecided too, like
/// the other figures of the sentences. If the cells have decimal points, nothing is rewritten.
/// Returns a note about the first figure that is rewritten. `None` if none is.
pub(crate) fn normalise_sentences<'t>(
    texts: impl Iterator<Item = &'t mut String>,
    document: i32,
) -> Option<String> {
    let mut note = None;
    let texts: Vec<&mut String> = texts.collect();
    let of_text = |text: &str| -> i32 {
        let found = MARKED.find_iter(text);
        found.filter_map(|found| votes_of(found.as_str())).sum()
    };
    let other = match document {
        0 => texts.iter().map(|text| of_text(text)).sum(),
        document => document,
    };
    for text in texts
        .into_iter()
        .filter(|text| document >= 0 && text.contains([',', '.']))
    {
        let read = MARKED.replace_all(text, |found: &Captures<'_>| {
            let digits = found.get(0).map_or("", |found| found.as_str());
            let votes = votes_of(digits).map(|own| if own == 0 { other } else { own });
            if votes.is_none_or(|votes| votes <= 0) {
                return digits.to_owned();
            }
            let plain = digits.replace('.', "").replace(',', ".");
            note.get_or_insert_with(|| format!("in the text, {digits} is read as {plain}"));
            plain
        });
        if let Cow::Owned(read) = read {
            *text = read;
        }
    }
    note
}

#[cfg(test)]
mod tests {
    use super::{normalise_sentences, sentences};

    #[test]
    fn a_sentence_is_read_in_the_notation_of_the_document() {
        for (text, document, read) in [
            ("287,1 Mio. EUR", 0, "287.1 Mio. EUR"),
            ("1.234,5 and 1.234", 0, "1234.5 and 1234"),
            ("1.234 and 4.5", 0, "1.234 and 4.5"),
            ("1.234 and 5,678", 0, "1.234 and 5,678"),
            ("1.234 and 12,345", 3, "1234 and 12.345"),
            ("287,1 and 1.234", -1, "287,1 and 1.234"),
            ("1,234 and 1,234,567.8", 0, "1,234 and 1,234,567.8"),
            ("on 31.12.2031, 4.5 %", 3, "on 31.12.2031, 4.5 %"),
        ] {
            let mut texts = [text.to_owned()];
            let note = normalise_sentences(texts.iter_mut(), document);
            assert_eq!((texts[0].as_str(), note.is_some()), (read, text != read));
        }
    }

    #[test]
    fn sentences_end_where_a_reader_ends_them() {
        let text = "# Notes\nAcme Inc. sold its U.S. plant for $ 4.5\nmillion. Costs fell. 2019 was better!\n\n- one\n- two";
        assert_eq!(
            sentences(text),
            [
                "Notes",
                "Acme Inc. sold its U.S. plant for $ 4.5 million.",
                "Costs fell.",
                "2019 was better!",
                "one",
                "two",
            ]
        );
    }
}
