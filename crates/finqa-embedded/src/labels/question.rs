//! A question as words, each with its part in it: of a label, of a cue, a period, or nothing.

use super::label::Label;
use super::phrases::{Cue, cue_at};
use super::table::LabelledTable;
use super::words::{FILLERS, lists, stems};
use finqa_core::page::period::{CalendarSpan, spans};
use std::ops::Range;

#[derive(Clone, Debug)]
pub(super) struct Token {
    /// In lower case, without the marks around it.
    pub(super) text: String,
    pub(super) part: TokenPart,
    /// A comma follows.
    pub(super) comma: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenPart {
    /// It names no figure.
    Filler,
    Cue(Cue),
    /// It names one, by these stems.
    Word(Vec<String>),
    Period(CalendarSpan),
}

impl Token {
    pub(super) fn cue(&self) -> Option<Cue> {
        match self.part {
            TokenPart::Cue(cue) => Some(cue),
            _ => None,
        }
    }

    pub(super) fn span(&self) -> Option<CalendarSpan> {
        match self.part {
            TokenPart::Period(span) => Some(span),
            _ => None,
        }
    }

    pub(super) fn stems(&self) -> &[String] {
        match &self.part {
            TokenPart::Word(stems) => stems,
            _ => &[],
        }
    }
}

/// A word of the text and where it is, without the marks around it.
struct RawWord<'t> {
    text: &'t str,
    at: Range<usize>,
    comma: bool,
}

fn raw_words(text: &str) -> Vec<RawWord<'_>> {
    let is_mark = |c: char| c.is_whitespace() || ",.?;:()[]\"'!\u{201c}\u{201d}".contains(c);
    let (mut out, mut from) = (Vec::new(), 0);
    for chunk in text.split_inclusive(char::is_whitespace) {
        let word = chunk.trim_matches(is_mark);
        let start = from + chunk.len() - chunk.trim_start_matches(is_mark).len();
        if !word.is_empty() {
            out.push(RawWord {
                text: word,
                at: start..start + word.len(),
                comma: chunk.trim_end().ends_with(','),
            });
        }
        from += chunk.len();
    }
    out
}

/// Where a question holds a label of several words in full: these are no cues, and no periods.
fn in_labels(table: &LabelledTable<'_>, question: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    for label in table.labels().filter(|label| !label.words.is_empty()) {
        let name = label.name.to_lowercase();
        let plain = name.split(['(', '[']).next().unwrap_or_default().trim();
        for plain in [plain, &plain.replace(" & ", " and ")] {
            let places = question.match_indices(plain);
            let places = places.filter(|_| plain.contains(' '));
            out.extend(places.map(|(at, text)| at..at + text.len()));
        }
    }
    out
}

/// Reads a question about a table.
pub(super) fn read(table: &LabelledTable<'_>, question: &str) -> Vec<Token> {
    let lower = question.to_lowercase();
    let words = raw_words(&lower);
    let labels = in_labels(table, &lower);
    let overlap = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
    let is_named = |at: &Range<usize>| labels.iter().any(|label| overlap(label, at));
    let mut periods = spans(&lower);
    periods.retain(|period| !is_named(&period.at));
    let texts: Vec<&str> = words.iter().map(|word| word.text).collect();
    let says_share = |label: &Label| label.words.iter().any(|own| own == "share");
    let page_share = table.labels().any(says_share);
    let mut out: Vec<Token> = Vec::new();
    let mut taken = 0;
    for (at, word) in words.iter().enumerate() {
        if at < taken {
            continue;
        }
        let comma = word.comma;
        let mut push = |text: &str, part: TokenPart| {
            let text = text.to_owned();
            out.push(Token { text, part, comma });
        };
        let of_word = periods.iter();
        let of_word = of_word.filter(|period| overlap(&period.at, &word.at));
        let of_word: Vec<_> = of_word.collect();
        for (n, period) in of_word.iter().enumerate() {
            // "2019-2021" are two.
            if n > 0 {
                push("-", TokenPart::Filler);
            }
            // Of its further words nothing is left.
            if period.at.start >= word.at.start {
                push(word.text, TokenPart::Period(period.span));
            }
        }
        if !of_word.is_empty() {
            continue;
        }
        let cue = cue_at(texts.get(at..).unwrap_or_default()).filter(|(cue, length)| {
            let mut own = words.iter().skip(at).take(*length);
            !(own.any(|word| is_named(&word.at)) || *cue == Cue::Share && page_share)
        });
        if let Some((cue, length)) = cue {
            push(word.text, TokenPart::Cue(cue));
            taken = at + length;
            continue;
        }
        let stems = stems(word.text);
        // "Both regions": the noun names no label.
        let after = at.checked_sub(1).and_then(|before| texts.get(before));
        let noun =
            matches!(after, Some(&("both" | "all"))) && !stems.iter().any(|own| table.says(own));
        match stems.is_empty() || noun || lists(FILLERS, word.text) {
            true => push(word.text, TokenPart::Filler),
            false => push(word.text, TokenPart::Word(stems)),
        }
    }
    out
}
