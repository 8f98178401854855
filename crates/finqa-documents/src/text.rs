//! Cleans up text and splits it into sentences, so that each can be cited.

use finqa_core::text::single_spaced;

/// Words whose full stop does not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "approx", "art", "cf", "co", "corp", "dr", "e.g", "etc", "fig", "i.e", "inc", "jr", "llc",
    "ltd", "mr", "mrs", "ms", "no", "nos", "p", "par", "pp", "sec", "sr", "st", "u.k", "u.s", "vs",
];

/// The text as a reader sees it: without zero-width characters, with single blanks.
pub(crate) fn printed(text: &str) -> String {
    let seen = |c: &char| {
        !matches!(
            c,
            '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{ad}'
        )
    };
    single_spaced(&text.chars().filter(seen).collect::<String>())
}

/// True if a text begins with one of these lower-case words, in any case. Leading white space
/// and a byte order mark are skipped.
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

/// True for a line that begins a paragraph of its own (heading, list item, quote), and the line
/// without its mark. A line of dashes or the like is empty.
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

fn ends_sentence(word: &str) -> bool {
    let bare = word.trim_end_matches(['"', '”', ')', '\'']);
    let Some(stem) = bare.strip_suffix('.') else {
        return bare.ends_with(['!', '?']);
    };
    let stem = stem.trim_start_matches(['(', '"', '“']).to_lowercase();
    // A single letter is an initial.
    let initial = stem.chars().count() == 1 && stem.chars().all(char::is_alphabetic);
    !initial && !ABBREVIATIONS.contains(&stem.as_str())
}

#[cfg(test)]
mod tests {
    use super::sentences;

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
