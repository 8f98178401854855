//! Computes rates with clustered intervals, compares two runs, and summarises latencies.
//!
//! Questions on one report page tend to be right or wrong together, so every interval is clustered
//! by page (`filename`). The interval of a rate is Wilson's, for n divided by the design effect.
//! The interval of a difference of two runs is a cluster bootstrap.

mod bound;
mod difference;
mod latency;
mod logistic;
mod paired;
mod rate;

pub use bound::{ErrorBound, answers_needed};
pub use difference::{PairedDifference, questions_to_detect};
pub use latency::{LatencySummary, percentile};
pub use logistic::Logistic;
pub use paired::{Interval, PairedTest, clustered_mcnemar};
pub use rate::{MeanShare, Rate, RateTally, wilson};
