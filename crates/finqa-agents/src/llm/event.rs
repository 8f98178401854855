//! Events during a model call that are of interest to a waiting user.

use std::sync::Arc;

use super::retry::RetryNotice;

/// An event of a call that is shown to a waiting user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallEvent {
    /// An attempt failed and will be repeated.
    Retry(RetryNotice),
    /// Something happened to a batch. The text is one line.
    Batch(String),
}

/// Receives every [`CallEvent`].
pub type Observer = Arc<dyn Fn(&CallEvent) + Send + Sync>;
