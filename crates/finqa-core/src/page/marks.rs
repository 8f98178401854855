//! Interprets the words and marks around the digits of a cell.

use crate::number;

/// Words that may precede a figure in a user's table without changing it.
pub(super) const APPROXIMATE: [&str; 7] = [
    "", "about", "around", "approx", "approximately", "circa", "ca",
];

/// Words that give a figure a sign or make it a bound.
const SIDES: [&str; 15] = [
    "dr", "cr", "db", "debit", "credit", "minus", "plus", "negative", "neg", "loss", "less",
    "under", "over", "below", "above",
];

/// True if a text is one figure with a sign or mark that cannot be interpreted: `(45`, `45 Dr`,
/// `<0.1`, `minus 45`.
pub(super) fn lacks_meaning(text: &str) -> bool {
    let digits = |c: char| c.is_ascii_digit() || matches!(c, ',' | '.');
    let mut runs = text
        .split(|c: char| !digits(c))
        .filter(|run| run.contains(|c: char| c.is_ascii_digit()));
    let one = runs.next().is_some_and(|run| number::whole(run).is_ok()) && runs.next().is_none();
    let words = text
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty());
    let known = |word: &str| number::is_currency(word) || number::scale_of_word(word).is_some();
    let side = |word: &&str| SIDES.contains(&word.to_lowercase().as_str());
    let words: Vec<&str> = words.collect();
    let sided = words.iter().any(side) && words.iter().all(|word| side(word) || known(word));
    // A text with one of these marks, such as the date `12/31/31`, is not a figure.
    one && (sided || words.is_empty() && !text.contains(['/', ':', '#']))
}

/// The digits and decimal point of the first number, without thousands separators.
fn leading_digits(text: &str) -> String {
    text.chars()
        .skip_while(|c| !c.is_ascii_digit() && *c != '.')
        .take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
        .filter(|c| *c != ',')
        .collect()
}

/// True if the number is repeated in parentheses.
pub(super) fn is_doubled(text: &str) -> bool {
    let Some((front, back)) = text.rsplit_once('(') else {
        return false;
    };
    let digits = leading_digits(front);
    !digits.is_empty() && leading_digits(back) == digits
}

/// A name without a footnote mark in brackets at its end: "EMEA" for "EMEA (1)".
pub fn without_footnote(name: &str) -> &str {
    let at = name.rfind('(');
    match at.and_then(|at| name.split_at_checked(at)) {
        Some((bare, mark)) if is_footnote(mark) && !bare.trim().is_empty() => bare.trim_end(),
        _ => name,
    }
}

/// True for a footnote mark, which is asterisks or daggers, or up to two characters in brackets.
/// Also true for an empty text.
pub(super) fn is_footnote(text: &str) -> bool {
    if text.chars().all(|c| matches!(c, '*' | '†' | '‡')) {
        return true;
    }
    let open = |c| matches!(c, '(' | '[');
    let close = |c| matches!(c, ')' | ']');
    text.split_whitespace()
        .collect::<String>()
        .strip_prefix(open)
        .and_then(|rest| rest.strip_suffix(close))
        .is_some_and(|mark| {
            (1..=2).contains(&mark.len()) && mark.chars().all(|c| c.is_ascii_alphanumeric())
        })
}
