//! Python's `float(Fraction(text))`: a quotient of integers, rounded once. Where an integer does
//! not fit 64 bits, both are rounded to doubles before they are divided, and the result may be
//! the next double.

use super::error::RewardError;
use crate::python;

/// Python refuses to read longer integers (`sys.int_info.default_max_str_digits`).
const MAX_DIGITS: usize = 4300;

/// The value that Python gives `int/int`; `Ok(None)` where it raises `ValueError` or
/// `ZeroDivisionError`, which the grader ignores.
///
/// # Errors
/// If the quotient is too large for a double, on which the grader raises.
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

fn quotient(numerator: &str, denominator: &str) -> Option<f64> {
    let (numerator, denominator) = (digits(numerator)?, digits(denominator)?);
    if let (Ok(numerator), Ok(denominator)) = (numerator.parse(), denominator.parse()) {
        return exact_quotient(numerator, denominator);
    }
    let (numerator, denominator): (f64, f64) = (numerator.parse().ok()?, denominator.parse().ok()?);
    (denominator != 0.0 && denominator.is_finite()).then_some(numerator / denominator)
}

/// The double next to the quotient; `None` for a division by zero.
fn exact_quotient(numerator: u64, denominator: u64) -> Option<f64> {
    // Shifted to its full width, the quotient has 64 digits or more. With a last one for what
    // is left, its conversion is the only rounding: more than 53 digits are there to decide it.
    let shift = u128::from(numerator).leading_zeros().min(127);
    let (shifted, denominator) = (u128::from(numerator) << shift, u128::from(denominator));
    let rest = u128::from(shifted.checked_rem(denominator)? > 0);
    let whole = shifted / denominator;
    Some((whole | rest) as f64 / 2_f64.powi(i32::try_from(shift).ok()?))
}

/// The digits of `\d+(_\d+)*`, which may be of any script.
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

    /// Each expectation is Python's. The quotient of the rounded integers is another double.
    #[test]
    fn integers_beyond_a_doubles_are_rounded_once() {
        for (text, value) in [
            ("9007199254740993/3", 3_002_399_751_580_331.0),
            ("18014398509481985/7", 2_573_485_501_354_569.5),
            ("9007199254740995/10", 900_719_925_474_099.5),
            (
                "18446744073709551615/9007199254740993", 2_047.999_999_999_999_8,
            ),
            ("18446744073709551615/1", 18_446_744_073_709_551_615.0),
            ("1/18446744073709551615", 5.421_010_862_427_522e-20),
            // The rest of the division decides.
            (
                "109311374014989169/443960097282418290", 0.246_218_916_258_711_53,
            ),
            (
                "15561003510495585057/703908571069704852",
                22.106_569_162_594_628,
            ),
        ] {
            assert_eq!(parse(text), Ok(Some(value)), "{text}");
        }
    }

    proptest! {
        /// Below 2^53 both sides are exact doubles, and IEEE division rounds once.
        #[test]
        fn agrees_with_ieee_division(a in 0_u64..1 << 53, b in 1_u64..1 << 53) {
            let expected = a as f64 / b as f64;
            prop_assert_eq!(parse(&format!("{a}/{b}")).unwrap(), Some(expected));
        }
    }
}
