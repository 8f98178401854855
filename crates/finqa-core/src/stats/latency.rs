//! Summarises latencies by their mean and percentiles.

use serde::{Deserialize, Serialize};

/// The latencies of a run's questions, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    /// Number of questions with a latency.
    pub n: usize,
    pub mean: f64,
    pub min: f64,
    pub max: f64,
    pub p25: f64,
    pub p50: f64,
    pub p75: f64,
    pub p95: f64,
    pub p99: f64,
}

impl LatencySummary {
    /// Summarises latencies in seconds; latencies that are not finite are skipped. `None` if no
    /// latency remains.
    pub fn of(seconds: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut seconds: Vec<f64> = seconds.into_iter().filter(|s| s.is_finite()).collect();
        seconds.sort_by(f64::total_cmp);
        let (min, max) = (*seconds.first()?, *seconds.last()?);
        let at = |q| percentile(&seconds, q);
        let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
        Some(Self {
            n: seconds.len(),
            mean,
            min,
            max,
            p25: at(0.25),
            p50: at(0.5),
            p75: at(0.75),
            p95: at(0.95),
            p99: at(0.99),
        })
    }
}

/// The `q` quantile (0 to 1) of values in ascending order, by linear interpolation between the two
/// nearest ranks, as numpy and spreadsheets compute it. NaN if there are no values.
pub fn percentile(ascending: &[f64], q: f64) -> f64 {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank between 0 and the number of values"
    )]
    let (below, share) = {
        let rank = ascending.len().saturating_sub(1) as f64 * q.clamp(0.0, 1.0);
        (rank.floor() as usize, rank.fract())
    };
    match (ascending.get(below), ascending.get(below + 1)) {
        (Some(low), Some(high)) => low + (high - low) * share,
        (Some(low), None) => *low,
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolates_linearly() {
        let values = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(percentile(&values, 0.0), 1.0);
        assert_eq!(percentile(&values, 0.25), 1.75);
        assert_eq!(percentile(&values, 0.5), 3.0);
        assert_eq!(percentile(&values, 1.0), 8.0);
        assert_eq!(percentile(&[5.0], 0.99), 5.0);
        assert!(percentile(&[], 0.5).is_nan());
    }

    #[test]
    fn mean_and_median_are_those_of_the_finite_values() {
        let values = (0..101).map(|i| f64::from(i * i % 37));
        let summary = LatencySummary::of(values).unwrap();
        assert!((summary.mean - 1835.0 / 101.0).abs() < 1e-12);
        assert_eq!(summary.p50, 16.0);
        assert!(LatencySummary::of([f64::NAN]).is_none());
    }
}
