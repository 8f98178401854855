//! Rates with clustered intervals, paired comparison, percentiles.
//!
//! Questions on one report page succeed and fail together, so a page
//! (`filename`) is the cluster of every interval: Wilson's on n over the design
//! effect for a rate, a cluster bootstrap for the difference of two runs.

mod bound;
mod difference;
mod latency;
mod logistic;
mod paired;
mod rate;

pub use bound::{ErrorBound, answers_needed, clopper_pearson};
pub use difference::{PairedDifference, questions_to_detect};
pub use latency::{LatencySummary, percentile};
pub use logistic::Logistic;
pub use paired::{Interval, PairedTest, clustered_mcnemar};
pub use rate::{MeanShare, Rate, RateTally, wilson};
