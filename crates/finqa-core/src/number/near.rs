//! Comparisons of numbers that may differ a little. The caller decides how much.

/// Equal up to the noise of binary fractions.
pub fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// True if `x` misses `target` by no more than this share of it.
pub fn within(x: f64, target: f64, share: f64) -> bool {
    (x - target).abs() <= share * target.abs()
}

/// True if `x` rounds to `written`, whose last digit is worth `unit`. The tolerance is a
/// little wider than half a unit, because binary fractions miss halves by a hair.
pub fn rounds_to(x: f64, written: f64, unit: f64) -> bool {
    (x - written).abs() <= 0.5 * unit * (1.0 + 1e-9)
}

/// A number unchanged, as a percent of the fraction that it may be, and as a fraction of
/// the percent that it may be.
pub fn percent_forms(x: f64) -> [f64; 3] {
    [x, x * 100.0, x * 0.01]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearness_is_relative_and_a_half_rounds_to_either_side() {
        assert!(same(0.1 + 0.2, 0.3) && !same(1.0, 1.000_001));
        assert!(within(100.5, 100.0, 0.005) && !within(100.6, 100.0, 0.005));
        assert!(rounds_to(1.005, 1.01, 0.01) && rounds_to(1.005, 1.0, 0.01));
        assert!(!rounds_to(1.006, 1.0, 0.01));
    }
}
