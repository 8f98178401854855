//! Compares numbers that may differ slightly. The caller chooses the tolerance.

/// True if two numbers are equal except for the rounding errors of binary fractions. The limit is
/// set by hand: a single rounding error is about 1e-16 of the number.
pub fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// True if `x` differs from `target` by at most `share` of `target`.
pub fn within(x: f64, target: f64, share: f64) -> bool {
    (x - target).abs() <= share * target.abs()
}

/// The relative error allowed for a number that was computed from rounded figures. It is the 0.5 %
/// that the rule financial equivalence allows (docs/scoring.md).
pub const NEAR: f64 = 0.005;

/// The value of one unit in the last of `decimals` decimals, such as 0.01 for 2. Limited to 300
/// decimals, because `powi` divides by 10^decimals, which is infinite from 10^309 on.
pub fn last_digit(decimals: u32) -> f64 {
    10_f64.powi(-i32::try_from(decimals.min(300)).unwrap_or(300))
}

/// The largest distance between a number and the rounded number, whose last digit has the value
/// `unit`. It is slightly more than half a unit, because binary fractions represent halves
/// inexactly.
pub fn half_unit(unit: f64) -> f64 {
    0.5 * unit * (1.0 + 1e-9)
}

/// True if `x` rounds to `written`, whose last digit has the value `unit`.
pub fn rounds_to(x: f64, written: f64, unit: f64) -> bool {
    (x - written).abs() <= half_unit(unit)
}

/// True if `x`, truncated at the last digit of `written`, is `written`. That digit has the value
/// `unit`.
pub fn truncates_to(x: f64, written: f64, unit: f64) -> bool {
    // Slightly enlarged, because 3.3 / 0.1 is just below 33 and would be cut to 32.
    let cut = (x / unit * (1.0 + 1e-12)).trunc();
    // Both are integers, so any limit below 1 compares them.
    (cut - (written / unit).round()).abs() < 0.5
}

/// The three possible values of a number that may or may not be a percentage: unchanged, a fraction
/// converted to percent, and a percentage converted to a fraction. `x * 0.01` can differ from
/// `x / 100.0` in the last bit; all callers compare with a tolerance.
pub fn percent_forms(x: f64) -> [f64; 3] {
    [x, x * 100.0, x * 0.01]
}

/// A share in both of its forms, such as 14 % and 0.14.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PercentReading {
    pub percent: f64,
    pub fraction: f64,
}

impl PercentReading {
    /// Reads a value that is a percentage if `in_percent`, and otherwise a fraction.
    pub fn of(value: f64, in_percent: bool) -> Self {
        if in_percent {
            Self {
                percent: value,
                fraction: value / 100.0,
            }
        } else {
            Self {
                percent: value * 100.0,
                fraction: value,
            }
        }
    }

    /// Reads a value that is displayed as `percent` percent. It is a percentage if it is closer to
    /// `percent` than 100 times the value is, and otherwise a fraction.
    pub fn shown_as(percent: f64, value: f64) -> Self {
        let distance = |number: f64| (number - percent).abs();
        let as_fraction = Self::of(value, false);
        if distance(as_fraction.percent) <= distance(value) {
            as_fraction
        } else {
            Self::of(value, true)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_read_by_what_it_is_shown_as() {
        let shown = |percent, value| PercentReading::shown_as(percent, value).percent;
        assert_eq!(shown(25.1, 0.25), 25.0);
        assert_eq!(shown(14.1, 14.136), 14.136);
        assert_eq!(shown(0.5, 0.5), 0.5);
        assert_eq!(PercentReading::of(44.0, true).fraction, 0.44);
    }

    #[test]
    fn a_number_may_be_a_percent_or_a_fraction_of_one() {
        assert_eq!(percent_forms(2.0), [2.0, 200.0, 0.02]);
    }

    #[test]
    fn the_rest_is_cut_off_towards_zero() {
        assert!(truncates_to(1.019, 1.01, last_digit(2)) && truncates_to(-1.019, -1.01, 0.01));
        assert!(!truncates_to(1.019, 1.02, 0.01) && truncates_to(1.1 * 3.0, 3.3, 0.1));
        assert!(last_digit(u32::MAX) > 0.0);
    }

    #[test]
    fn nearness_is_relative_and_a_half_rounds_to_either_side() {
        assert!(same(0.1 + 0.2, 0.3) && !same(1.0, 1.000_001));
        assert!(within(100.5, 100.0, 0.005) && !within(100.6, 100.0, 0.005));
        assert!(rounds_to(1.005, 1.01, 0.01) && rounds_to(1.005, 1.0, 0.01));
        assert!(!rounds_to(1.006, 1.0, 0.01));
    }
}
