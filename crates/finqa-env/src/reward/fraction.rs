//! `float(Fraction(text))`: exact, correctly rounded, of any length.

use super::RewardError;
use crate::python;

/// Python refuses to read longer integers (`sys.int_info.default_max_str_digits`).
const MAX_DIGITS: usize = 4300;

/// What Python makes of `int/int`.
///
/// `Ok(None)` where it raises `ValueError` or `ZeroDivisionError`, which the
/// grader swallows.
///
/// # Errors
/// If the quotient is too large for a double: the grader raises then.
pub(super) fn parse(text: &str) -> Result<Option<f64>, RewardError> {
    let text = python::strip(text);
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    // Python 3.11 allows no space around the slash.
    let Some((numerator, denominator)) = text.split_once('/') else {
        return Ok(None);
    };
    let (Some(numerator), Some(denominator)) = (Big::parse(numerator), Big::parse(denominator))
    else {
        return Ok(None);
    };
    if denominator.is_zero() {
        return Ok(None);
    }
    let value = quotient(numerator, denominator).ok_or(RewardError::FractionTooLarge)?;
    Ok(Some(if negative { -value } else { value }))
}

/// The double nearest to `a / b`, ties to even; `None` on overflow.
fn quotient(mut a: Big, mut b: Big) -> Option<f64> {
    if a.is_zero() {
        return Some(0.0);
    }
    // Scale so that the integer quotient has 64 or 65 bits: 53 and plenty to round by.
    let shift = 64 + b.bits() - a.bits();
    if shift >= 0 {
        a.shift_left(shift.unsigned_abs());
    } else {
        b.shift_left(shift.unsigned_abs());
    }
    let mut whole: u128 = 0;
    b.shift_left(65);
    for _ in 0..=65 {
        whole <<= 1;
        if a.at_least(&b) {
            a.subtract(&b);
            whole |= 1;
        }
        b.halve();
    }
    // The last bit only says whether anything is left below.
    let sticky = (whole << 1) | u128::from(!a.is_zero());
    scale(sticky, -(shift + 1))
}

/// `mantissa * 2^exponent`, rounded once, ties to even; `None` on overflow.
fn scale(mantissa: u128, exponent: i64) -> Option<f64> {
    let bits = i64::from(128 - mantissa.leading_zeros());
    let top = bits - 1 + exponent;
    if top > 1023 {
        return None;
    }
    // A subnormal has fewer bits to keep.
    let keep = if top >= -1022 { 53 } else { 53 - (-1022 - top) };
    if keep < 0 {
        return Some(0.0);
    }
    let drop = bits - keep;
    let drop_bits = u32::try_from(drop).ok().filter(|d| (1..128).contains(d))?;
    let kept = mantissa >> drop_bits;
    let rest = mantissa & ((1_u128 << drop_bits) - 1);
    let half = 1_u128 << (drop_bits - 1);
    let up = rest > half || (rest == half && kept & 1 == 1);
    let rounded = u64::try_from(kept + u128::from(up)).ok()?;
    #[allow(
        clippy::cast_precision_loss,
        reason = "at most 2^53, which a double holds exactly"
    )]
    let mut value = rounded as f64;
    // Two exact steps: one power of two may itself be out of a double's range.
    let power = exponent + drop;
    let first = power.clamp(-1000, 1000);
    value *= exact_power_of_two(first)?;
    value *= exact_power_of_two(power - first)?;
    value.is_finite().then_some(value)
}

fn exact_power_of_two(power: i64) -> Option<f64> {
    let biased = u64::try_from(power + 1023)
        .ok()
        .filter(|b| (1..2047).contains(b))?;
    Some(f64::from_bits(biased << 52))
}

/// A natural number of any length; little-endian limbs, no leading zeros.
#[derive(Clone, Debug)]
struct Big(Vec<u32>);

impl Big {
    /// `\d+(_\d+)*` in digits of any script.
    fn parse(text: &str) -> Option<Self> {
        let mut big = Self(Vec::new());
        let mut digits = 0;
        let mut after_digit = false;
        for c in text.chars() {
            if let Some(value) = python::digit(c) {
                digits += 1;
                big.push_digit(value);
                after_digit = true;
            } else if c == '_' && after_digit {
                after_digit = false;
            } else {
                return None;
            }
            if digits > MAX_DIGITS {
                return None;
            }
        }
        after_digit.then_some(big)
    }

    fn push_digit(&mut self, digit: u32) {
        let mut carry = u64::from(digit);
        for limb in &mut self.0 {
            carry += u64::from(*limb) * 10;
            *limb = low(carry);
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(low(carry));
        }
    }

    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn bits(&self) -> i64 {
        let limbs = i64::try_from(self.0.len()).unwrap_or(i64::MAX / 64);
        let spare = self.0.last().map_or(0, |l| l.leading_zeros());
        limbs * 32 - i64::from(spare)
    }

    fn shift_left(&mut self, by: u64) {
        let (limbs, bits) = (by / 32, by % 32);
        let mut carry = 0_u64;
        for limb in &mut self.0 {
            carry |= u64::from(*limb) << bits;
            *limb = low(carry);
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(low(carry));
        }
        let zeros = usize::try_from(limbs).unwrap_or(0);
        self.0.splice(0..0, std::iter::repeat_n(0, zeros));
    }

    fn halve(&mut self) {
        let mut carry = 0;
        for limb in self.0.iter_mut().rev() {
            let next = *limb << 31;
            *limb = (*limb >> 1) | carry;
            carry = next;
        }
        self.trim();
    }

    fn at_least(&self, other: &Self) -> bool {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length
            .then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
            .is_ge()
    }

    /// `other` is not larger.
    fn subtract(&mut self, other: &Self) {
        let mut borrow = 0_i64;
        for (i, limb) in self.0.iter_mut().enumerate() {
            let take = other.0.get(i).copied().unwrap_or(0);
            let difference = i64::from(*limb) - i64::from(take) + borrow;
            borrow = difference >> 32;
            *limb = low(difference.rem_euclid(1 << 32).unsigned_abs());
        }
        self.trim();
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the low half is what is wanted"
)]
fn low(x: u64) -> u32 {
    x as u32
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
    fn large_numbers_round_once() {
        let nines = "9".repeat(400);
        assert_eq!(parse(&format!("{nines}/{nines}")), Ok(Some(1.0)));
        assert_eq!(parse(&format!("1/{nines}")), Ok(Some(0.0)));
        assert_eq!(
            parse(&format!("{nines}/7")),
            Err(RewardError::FractionTooLarge)
        );
        // 5e-324 is the smallest subnormal; half of it ties to even, to zero.
        assert_eq!(parse(&format!("5/1{}", "0".repeat(324))), Ok(Some(5e-324)));
        assert_eq!(parse(&format!("1/1{}", "0".repeat(310))), Ok(Some(1e-310)));
        assert_eq!(parse(&format!("{}/2", "1".repeat(4301))), Ok(None));
    }

    proptest! {
        /// Below 2^53 both sides are exact doubles, and IEEE division rounds once.
        #[test]
        fn agrees_with_ieee_division(a in 0_u64..1 << 53, b in 1_u64..1 << 53) {
            let expected = a as f64 / b as f64;
            prop_assert_eq!(parse(&format!("{a}/{b}")).unwrap(), Some(expected));
        }

        #[test]
        fn a_common_factor_changes_nothing(a in 1_u64.., b in 1_u64.., k in 1_u64..) {
            let short = parse(&format!("{a}/{b}")).unwrap();
            let (ka, kb) = (u128::from(a) * u128::from(k), u128::from(b) * u128::from(k));
            prop_assert_eq!(parse(&format!("{ka}/{kb}")).unwrap(), short);
        }
    }
}
