//! Events during a model call that are of interest to a waiting user.

use std::sync::Arc;

use super::retry::RetryNotice;

/// What happened during a call, for a user who waits for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallEvent {
    /// An attempt failed and will be repeated.
    Retry(RetryNotice),
    /// Something happened to a batch. The text is one line.
    Batch(String),
}

/// Receives every [`CallEvent`].
pub type Observer = Arc<dyn Fn(&CallEvent) + Send + Sync>;
