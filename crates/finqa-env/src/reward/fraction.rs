//! Reads a fraction of integers like Python's `float(Fraction(text))`. Integers beyond 2^53 are
//! rounded to doubles before the division, so the last digit can differ from Python's. Python also
//! reads integers beyond the range of a double; here such a denominator makes the text no fraction.

use super::error::RewardError;
use crate::python;

/// Python refuses to read integers with more digits than this
/// (`sys.int_info.default_max_str_digits`).
const MAX_DIGITS: usize = 4300;

/// The value of `int/int`. `Ok(None)` if Python raises `ValueError` or `ZeroDivisionError`, which
/// OpenEnv's grader catches.
///
/// # Errors
/// If the quotient is too large for a double. OpenEnv's grader does not catch this exception.
pub(super) fn parse(text: &str) -> Result<Option<f64>, RewardError> {
    let text = python::strip(text);
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    // Python 3.11 allows no space around the slash.
    let Some(value) = text.split_once('/').and_then(|(a, b)| quotient(a, b)) else {
        return Ok(None);
    };
    if value.is_infinite() {
        return Err(RewardError::FractionTooLarge);
    }
    Ok(Some(if negative { -value } else { value }))
}

/// `None` if a side is not an integer, or if the denominator is 0 or too large for a double.
fn quotient(numerator: &str, denominator: &str) -> Option<f64> {
    let (numerator, denominator) = (digits(numerator)?, digits(denominator)?);
    let (numerator, denominator): (f64, f64) = (numerator.parse().ok()?, denominator.parse().ok()?);
    (denominator != 0.0 && denominator.is_finite()).then_some(numerator / denominator)
}

/// The digits of an integer in Python's syntax, `\d+(_\d+)*`, without underscores. They are
/// converted to ASCII, because Python accepts digits of any script. `None` for any other text, and
/// for more digits than Python reads.
fn digits(text: &str) -> Option<String> {
    let mut digits = String::with_capacity(text.len());
    let mut after_digit = false;
    for c in text.chars() {
        if let Some(value) = python::digit(c) {
            digits.push(char::from_digit(value, 10)?);
            after_digit = true;
        } else if c == '_' && after_digit {
            after_digit = false;
        } else {
            return None;
        }
    }
    (after_digit && digits.len() <= MAX_DIGITS).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_integers_over_integers() {
        for (text, value) in [
            ("1/2", Some(0.5)),
            (" -1/2 ", Some(-0.5)),
            ("+4100/9876", Some(4100.0 / 9876.0)),
            ("1_000/2", Some(500.0)),
            ("0/5", Some(0.0)),
            ("0/0", None),
            ("1/00", None),
            ("1/0", None),
            ("1 /2", None),
            ("1/2/3", None),
            ("1.5/2", None),
            ("--1/2", None),
            ("/2", None),
            ("1/", None),
            ("1__0/2", None),
        ] {
            assert_eq!(parse(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn a_number_beyond_a_double_is_too_large_above_and_unknown_below() {
        let nines = "9".repeat(400);
        assert_eq!(
            parse(&format!("{nines}/7")),
            Err(RewardError::FractionTooLarge)
        );
        assert_eq!(parse(&format!("1/{nines}")), Ok(None));
        assert_eq!(parse(&format!("{}/2", "1".repeat(4301))), Ok(None));
    }

    proptest! {
        /// Below 2^53, both sides are exact doubles, and IEEE division rounds only once.
        #[test]
        fn agrees_with_ieee_division(a in 0_u64..1 << 53, b in 1_u64..1 << 53) {
            let expected = a as f64 / b as f64;
            prop_assert_eq!(parse(&format!("{a}/{b}")).unwrap(), Some(expected));
        }
    }
}
