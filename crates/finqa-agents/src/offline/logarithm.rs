//! The natural logarithm by sums and products alone, so that every platform computes the same
//! and chooses the same answer.

/// The logarithm of a positive, normal number.
pub(crate) fn logarithm(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = f64::from(u16::try_from((bits >> 52) & 0x7ff).unwrap_or(0)) - 1023.0;
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    // ln m = 2 (t + t^3/3 + t^5/5 + ...) with t = (m - 1) / (m + 1), at most a third.
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let square = t * t;
    let series = (0..14_u32)
        .rev()
        .fold(0.0, |sum, k| sum * square + 1.0 / f64::from(2 * k + 1));
    exponent * std::f64::consts::LN_2 + 2.0 * t * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_logarithm() {
        for x in [0.01, 0.5, 0.9, 1.0, 1.7, 2.0, 3.5, 120.0] {
            assert!((logarithm(x) - f64::ln(x)).abs() < 1e-12, "{x}");
        }
    }
}
