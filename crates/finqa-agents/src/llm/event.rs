//! Events during a model call: retries, corrections, batches.

use std::sync::Arc;

use super::capabilities::Correction;
use super::retry::RetryNotice;

/// An event within a call that a waiting user wants to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallEvent {
    /// An attempt failed and is repeated.
    Retry(RetryNotice),
    /// A parameter was refused and is left out or renamed from now on.
    Correction(Correction),
    /// What happened to a batch, in one line.
    Batch(String),
}

/// Receives every [`CallEvent`], with the node that asked.
pub type Observer = Arc<dyn Fn(&str, &CallEvent) + Send + Sync>;
