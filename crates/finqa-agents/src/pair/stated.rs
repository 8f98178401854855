//! The value that an answer states in words.
//!
//! A value is read where it is certain which number is meant. In a sentence with several
//! numbers, or one that says why there is no answer, nothing is guessed.

use std::sync::LazyLock;

use regex::Regex;

use finqa_core::number::{self, NumberReading, Value};
use finqa_core::page::year_of;
use finqa_core::regex;

/// The value of a stated answer, and the words that state it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StatedValue<'t> {
    /// A percent as its fraction, a yes or no as the word, a number without its scale word.
    pub(super) value: Value,
    /// The part of the text that is the value: `14.1%` of `about 14.1%`.
    pub(super) text: &'t str,
}

static NO_ANSWER: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"(?i)\b(cannot|can't|can not|could not|couldn't|unable|impossible|not possible|not available|unavailable|not (?:be )?(?:found|given|stated|provided|disclosed|reported|determined|enough)|insufficient|undetermined|unknown|does not|doesn't|no (?:data|information|figure|value|answer|such))\b"
    )
});

/// Words before a number that is a label and not an amount.
const LABELS: [&str; 12] = [
    "step", "steps", "row", "column", "page", "note", "line", "table", "section", "item", "round",
    "error",
];

pub(super) fn find_value(text: &str) -> Option<StatedValue<'_>> {
    let text = text.trim();
    if let Some(word) = yes_or_no(text) {
        return Some(StatedValue {
            value: Value::Text(word.to_lowercase()),
            text: word,
        });
    }
    // After a malformed first number the meaning of the rest is in doubt.
    number::read(text)?;
    if NO_ANSWER.is_match(text) {
        return None;
    }
    let readings: Vec<NumberReading> = number::readings(text)
        .filter(|reading| !is_label(text, reading))
        .collect();
    let amounts: Vec<&NumberReading> = readings
        .iter()
        .filter(|reading| !is_year(text, reading))
        .collect();
    let reading = match amounts.as_slice() {
        // A year answers "in which year", but only with few words around it.
        [] if text.split_whitespace().count() <= 3 => readings.first(),
        [] => None,
        [only] => Some(*only),
        [first, ..] => {
            let opening = || Some(*first).filter(|first| starts_text(text, first));
            after_equals(text, &amounts).or_else(opening)
        }
    }?;
    let value = if reading.percent {
        reading.value / 100.0
    } else {
        reading.value
    };
    Some(StatedValue {
        value: Value::Number(value),
        text: text.get(reading.span.clone())?.trim(),
    })
}

/// The value that a printed answer states: a percent as its fraction, a yes or no as the
/// word, a number without its scale word. `None` where the text states no value, or
/// leaves open which of its numbers it is.
pub fn printed_value(text: &str) -> Option<Value> {
    find_value(text).map(|stated| stated.value)
}

/// `yes` or `no` alone or before a mark: `Yes, it rose.`, but not `no change`.
fn yes_or_no(text: &str) -> Option<&str> {
    let end = text
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(text.len());
    let (word, rest) = text.split_at_checked(end)?;
    let is_word = word.eq_ignore_ascii_case("yes") || word.eq_ignore_ascii_case("no");
    let ends = rest.is_empty()
        || rest.starts_with(['.', ',', ';', ':', '!', '*', '('])
        || rest.trim_start().starts_with(['-', '–', '—', '(']);
    (is_word && ends).then_some(word)
}

/// True if the number starts the text: `$25,587 (14.1%)`.
fn starts_text(text: &str, reading: &NumberReading) -> bool {
    text.get(..reading.span.start)
        .is_some_and(|before| !before.contains(char::is_alphanumeric))
}

fn after_equals<'r>(text: &str, amounts: &[&'r NumberReading]) -> Option<&'r NumberReading> {
    let at = text.rfind(['=', '≈'])?;
    amounts
        .iter()
        .find(|reading| reading.span.start > at)
        .copied()
}

/// A calendar year without a sign, a unit or decimals.
fn is_year(text: &str, reading: &NumberReading) -> bool {
    let written = text.get(reading.span.clone()).unwrap_or_default();
    year_of(written.trim()).is_some()
}

fn is_label(text: &str, reading: &NumberReading) -> bool {
    let before = text.get(..reading.span.start).unwrap_or_default();
    let word = before
        .trim_end_matches(|c: char| c.is_whitespace() || c == '#')
        .rsplit(|c: char| !c.is_alphabetic())
        .next()
        .unwrap_or_default();
    LABELS.iter().any(|label| word.eq_ignore_ascii_case(label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_where_it_is_certain_which_number_is_meant() {
        for (text, value, words) in [
            ("14.1%", 0.141, "14.1%"),
            ("approximately 14.1%", 0.141, "14.1%"),
            ("$1.2 billion", 1.2, "$1.2 billion"),
            ("$25,587 (14.1%)", 25587.0, "$25,587"),
            ("206,588 - 181,001 = 25,587", 25587.0, "25,587"),
            ("In 2009, revenue was $5 million.", 5.0, "$5 million"),
            ("2009 revenue was 5.5", 5.5, "5.5"),
            ("from step 2: 5.5", 5.5, "5.5"),
            ("2013", 2013.0, "2013"),
            ("in 2013", 2013.0, "2013"),
            ("(12.5)", -12.5, "(12.5)"),
        ] {
            let read = find_value(text).unwrap();
            assert_eq!(
                (read.value, read.text),
                (Value::Number(value), words),
                "{text}"
            );
        }
    }

    #[test]
    fn a_text_without_a_value_states_none() {
        for text in [
            "",
            "n/a",
            "it cannot be executed: step 0 divides by zero.",
            "it cannot be executed: 100 is no row",
            "The revenue of 2009 is not given; 2008 had 5.",
            "In 2009 the company grew.",
            "revenue rose from 100 to 114",
            "no change",
        ] {
            assert_eq!(find_value(text), None, "{text}");
        }
    }

    #[test]
    fn a_word_is_yes_or_no_before_a_mark_too() {
        for (text, word) in [("yes", "yes"), ("No.", "no"), ("Yes, it rose by 5.", "yes")] {
            assert_eq!(
                printed_value(text),
                Some(Value::Text(word.to_owned())),
                "{text}"
            );
        }
    }
}
