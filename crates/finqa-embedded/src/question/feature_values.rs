//! Turns conditions, counts and shares into the values of features.

/// 1 if the condition is true, 0 otherwise.
pub(crate) fn flag(condition: bool) -> f64 {
    f64::from(condition)
}

pub(crate) fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

/// The share that a part is of a whole; 0 if the whole is 0.
pub(crate) fn part_of(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
