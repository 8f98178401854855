//! What is around the digits of a cell.

use crate::number;

/// Words that may stand before a figure of a user's table.
pub(super) const APPROXIMATE: [&str; 7] = [
    "", "about", "around", "approx", "approximately", "circa", "ca",
];

/// Words that say on which side of zero a figure is, or that it is only a bound.
const SIDES: [&str; 15] = [
    "dr", "cr", "db", "debit", "credit", "minus", "plus", "negative", "neg", "loss", "less",
    "under", "over", "below", "above",
];

/// True if a text is one figure with a sign or a mark that is not understood: `(45`, `45 Dr`,
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
    one && (sided || words.is_empty() && !text.contains(['/', ':', '#']))
}

/// The digits and the point of the first number, thousands separators dropped.
fn leading_digits(text: &str) -> String {
    text.chars()
        .skip_while(|c| !c.is_ascii_digit() && *c != '.')
        .take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
        .filter(|c| *c != ',')
        .collect()
}

/// True if the same digits follow the number in parentheses.
pub(super) fn is_doubled(text: &str) -> bool {
    let Some((front, back)) = text.rsplit_once('(') else {
        return false;
    };
    let digits = leading_digits(front);
    !digits.is_empty() && leading_digits(back) == digits
}

/// Nothing, asterisks, or a mark of up to two characters in parentheses.
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
