//! Reads an answer's text, with its boxes, lists, labels, years and numbers.

use super::error::RewardError;
use super::fraction;
use crate::python;

/// The effect of a `%` sign on the number before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PercentSign {
    /// The number is divided by 100.
    Divide,
    /// The number is kept, and the sign is ignored.
    Drop,
}

/// One side of a comparison: its number, if it is one, and its text in lower case.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ParsedAnswer {
    pub(super) number: Option<f64>,
    pub(super) text: String,
}

/// The contents of every `\boxed{...}`, each up to the first `}`, trimmed.
pub(super) fn boxes(text: &str) -> Vec<&str> {
    const OPEN: &str = "\\boxed{";
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, inside)) = rest.split_once(OPEN) {
        match inside.split_once('}') {
            // An empty box does not count, and boxes after it are still read.
            Some(("", _)) => rest = inside,
            Some((content, after)) => {
                found.push(python::strip(content));
                rest = after;
            }
            None => break,
        }
    }
    found
}

/// The number and the text of the first box. If that box is blank or missing, those of the whole
/// answer.
pub(super) fn normalise(answer: &str, percent: PercentSign) -> Result<ParsedAnswer, RewardError> {
    let first = boxes(answer).first().copied().filter(|b| !b.is_empty());
    let answer = python::strip(first.unwrap_or(answer));
    Ok(ParsedAnswer {
        number: number(answer, percent)?,
        text: answer.to_lowercase(),
    })
}

/// The text as a number by the rules of OpenEnv's grader; `None` if it is not a number.
pub(super) fn number(text: &str, percent: PercentSign) -> Result<Option<f64>, RewardError> {
    let text = python::strip(text);
    let text = without_text_groups(text)
        .replace("\\$", "")
        .replace('$', "");
    let text = python::strip(&text);
    // The grader applies none of its other rules to a percentage: `(5%)` is not a number.
    if text.contains('%') {
        let bare = text.replace("\\%", "").replace(['%', ','], "");
        let value = python::float(&bare);
        return Ok(match percent {
            PercentSign::Divide => value.map(|x| x / 100.0),
            PercentSign::Drop => value,
        });
    }
    let negated = text
        .strip_prefix('(')
        .and_then(|t| t.strip_suffix(')'))
        .map(|inner| format!("-{inner}"));
    let text = negated.as_deref().unwrap_or(text);
    if text.contains('/') {
        // The grader removes one sign before Python reads the fraction, so `--1/2` is +0.5.
        let fraction = match text.strip_prefix('-') {
            Some(rest) => fraction::parse(rest)?.map(|x| -x),
            None => fraction::parse(text)?,
        };
        if fraction.is_some() {
            return Ok(fraction);
        }
    }
    Ok(python::float(&text.replace(',', "")))
}

/// Removes `\text{million}` and similar groups.
fn without_text_groups(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once("\\text{") {
        let Some((_, after)) = inside.split_once('}') else {
            break;
        };
        out.push_str(before);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Splits at `,` and `;` and drops the white space after them. With `latex`, also splits at `\,`
/// and `\;`.
pub(super) fn split_list(text: &str, latex: bool) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once([',', ';']) {
        let before = if latex {
            before.strip_suffix('\\').unwrap_or(before)
        } else {
            before
        };
        parts.push(before);
        rest = after.trim_start_matches(python::is_space);
    }
    parts.push(rest);
    parts
}

/// The text after the first `:` and white space, or the whole text.
pub(super) fn without_label(text: &str) -> &str {
    text.split_once(':')
        .map_or(text, |(_, rest)| rest.trim_start_matches(python::is_space))
}

/// One part of a list of values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AnswerPart {
    /// The part's first year, `20dd`, or its first pair of years, `20dd to 20dd`.
    pub(super) year: Option<String>,
    pub(super) number: f64,
}

/// The numbers of a list, and the number of parts that are not numbers. Empty parts are skipped.
pub(super) fn parts(text: &str) -> Result<(Vec<AnswerPart>, usize), RewardError> {
    let mut found = Vec::new();
    let mut unread = 0;
    for part in split_list(text, true) {
        let spaced = part
            .replace("\\;", " ")
            .replace("\\,", " ")
            .replace("\\ ", " ");
        let part = python::strip(&spaced);
        if part.is_empty() {
            continue;
        }
        let value = match part.split_once(':') {
            None => part,
            Some((_, rest)) => {
                let rest = rest.trim_start_matches(python::is_space);
                // The grader ignores a backslash after the label.
                let rest = rest.strip_prefix('\\').unwrap_or(rest);
                rest.trim_start_matches(python::is_space)
            }
        };
        match number(value, PercentSign::Divide)? {
            Some(number) => found.push(AnswerPart {
                year: year(part),
                number,
            }),
            None => unread += 1,
        }
    }
    Ok((found, unread))
}

/// The first year, with `to` and a second year if these follow. White space is not normalised,
/// because OpenEnv's `finqa_env` compares these keys as text: `2022 -> 2023` does not match
/// `2022 to 2023`. `None` without a year.
fn year(part: &str) -> Option<String> {
    let mut text = part.to_owned();
    for arrow in ["\\rightarrow", "\u{2192}", "->", "\u{2212}>"] {
        text = text.replace(arrow, " to ");
    }
    let start = text.char_indices().map(|(i, _)| i).find_map(|i| {
        let tail = text.get(i..)?;
        Some((tail, year_length(tail)?))
    });
    let (tail, length) = start?;
    let (first, after) = tail.split_at_checked(length)?;
    let second = after
        .trim_start_matches(python::is_space)
        .strip_prefix("to")
        .map(|t| t.trim_start_matches(python::is_space))
        .and_then(|t| Some(after.len() - t.len() + year_length(t)?))
        .and_then(|end| after.get(..end));
    Some(format!("{first}{}", second.unwrap_or_default()))
}

/// The length in bytes of a `20dd` at the start. Its last two digits may be of any script. `None`
/// if there is none.
fn year_length(text: &str) -> Option<usize> {
    let mut digits = text.strip_prefix("20")?.chars();
    let (tens, units) = (digits.next()?, digits.next()?);
    python::digit(tens).and(python::digit(units))?;
    Some(2 + tens.len_utf8() + units.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_end_at_the_first_brace() {
        assert_eq!(boxes("\\boxed{\\text{Yes}}"), ["\\text{Yes"]);
        assert_eq!(boxes("\\boxed{} \\boxed{ 2 }"), ["2"]);
        assert_eq!(boxes("\\boxed{2"), Vec::<&str>::new());
    }

    #[test]
    fn years_are_keys_with_their_spaces() {
        assert_eq!(year("2022: 1").as_deref(), Some("2022"));
        assert_eq!(year("2022->2023: 1").as_deref(), Some("2022 to 2023"));
        assert_eq!(year("2022 -> 2023: 1").as_deref(), Some("2022  to  2023"));
        assert_eq!(year("2022-2023: 1").as_deref(), Some("2022"));
        assert_eq!(year("in 1999: 1"), None);
    }

    /// The expected values are outputs of OpenEnv's own helper functions.
    #[test]
    fn the_helper_vectors_agree() {
        let text = include_str!("../../tests/vectors/reward_helper_vectors.csv");
        let mut rows = 0;
        for row in csv::Reader::from_reader(text.as_bytes()).records() {
            let row = row.unwrap();
            let got = match &row[0] {
                "extract_boxed_answer" => boxes(&row[1]).first().map(|b| python::repr(b)),
                _ => number(&row[1], PercentSign::Divide)
                    .unwrap()
                    .map(python::repr_float),
            };
            assert_eq!(got.as_deref().unwrap_or("None"), &row[2], "{row:?}");
            rows += 1;
        }
        assert_eq!(rows, 18);
    }
}
