//! A question as words, each with its part in it: of a label, of a cue, a period, or nothing.

use super::phrases::{Cue, cue_at};
use super::table::LabelledTable;
use super::words::{FILLERS, lists, stems};
use finqa_core::page::period::{CalendarSpan, NamedSpan, spans};
use finqa_core::regex;
use regex::{Match, Regex};
use std::ops::Range;
use std::sync::LazyLock;

#[derive(Clone, Debug)]
pub(super) struct Token {
    /// In lower case, without the marks around it.
    pub(super) text: String,
    pub(super) part: TokenPart,
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

/// A word without the marks around it, and the marks after it.
static WORD: LazyLock<Regex> = LazyLock::new(|| {
    let marks = r#",.?;:()\[\]"'!\u{201c}\u{201d}"#;
    regex!(&format!(r"([^\s{marks}]\S*?)([{marks}]*)(?:\s|$)"))
});

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
    let found = WORD.captures_iter(&lower);
    let words = found.filter_map(|found| Some((found.get(1)?, found.get(2)?)));
    let words: Vec<(Match<'_>, Match<'_>)> = words.collect();
    let labels = in_labels(table, &lower);
    let overlap = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
    let is_named = |at: &Range<usize>| labels.iter().any(|label| overlap(label, at));
    let mut periods = spans(&lower);
    periods.retain(|period| !is_named(&period.at));
    let periods_at = |at: usize| -> Vec<&NamedSpan> {
        let word = words.get(at).map_or(0..0, |(word, _)| word.range());
        let of_word = periods.iter().filter(|one| overlap(&one.at, &word));
        of_word.collect()
    };
    let texts: Vec<&str> = words.iter().map(|(word, _)| word.as_str()).collect();
    let page_share = table.labels().any(|label| label.is_one_of("share"));
    let mut out: Vec<Token> = Vec::new();
    let mut taken = 0;
    for (at, (word, marks)) in words.iter().enumerate() {
        if at < taken {
            continue;
        }
        let text = word.as_str();
        let mut push = |text: &str, part: TokenPart| {
            let text = text.to_owned();
            out.push(Token { text, part });
        };
        let of_word = periods_at(at);
        for (n, period) in of_word.iter().enumerate() {
            // "2019-2021" are two.
            if n > 0 {
                push("-", TokenPart::Filler);
            }
            // Of its further words nothing is left.
            if period.at.start >= word.start() {
                push(text, TokenPart::Period(period.span));
            }
        }
        if !of_word.is_empty() {
            continue;
        }
        // "2019 and 2021" are of one figure.
        let beside = [at.wrapping_sub(1), at + 1].map(&periods_at);
        let joins_periods = !beside.iter().any(Vec::is_empty);
        let cue = cue_at(texts.get(at..).unwrap_or_default()).filter(|(cue, length)| {
            let mut own = words.iter().skip(at).take(*length);
            !(own.any(|(word, _)| is_named(&word.range()))
                || *cue == Cue::Share && page_share
                || *cue == Cue::And && joins_periods)
        });
        if let Some((cue, length)) = cue {
            push(text, TokenPart::Cue(cue));
            taken = at + length;
            continue;
        }
        let stems = stems(text);
        // "Both regions": the noun names no label.
        let after = at.checked_sub(1).and_then(|before| texts.get(before));
        let noun =
            matches!(after, Some(&("both" | "all"))) && !stems.iter().any(|own| table.says(own));
        if stems.is_empty() || noun || lists(FILLERS, text) {
            push(text, TokenPart::Filler);
            continue;
        }
        push(text, TokenPart::Word(stems));
        // "A, B and C": it may end an operand.
        if marks.as_str().ends_with(',') {
            push(",", TokenPart::Filler);
        }
    }
    out
}
