//! Events during a model call that a waiting user wants to see.

use std::sync::Arc;

use super::retry::RetryNotice;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallEvent {
    /// An attempt failed and is repeated.
    Retry(RetryNotice),
    /// Something happened to a batch; the text is one line.
    Batch(String),
}

/// Receives every [`CallEvent`].
pub type Observer = Arc<dyn Fn(&CallEvent) + Send + Sync>;
