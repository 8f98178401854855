//! Lines for the user outside of a run's events.

use std::sync::Arc;

/// A line for the user outside of a run's events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunNotice {
    /// Information.
    Note(String),
    /// A warning, shown even with `--quiet`.
    Warning(String),
}

/// Shows a notice.
pub type Notify = Arc<dyn Fn(RunNotice) + Send + Sync>;
