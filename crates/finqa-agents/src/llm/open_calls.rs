//! The calls that wait for their reply, so that a display can name the oldest.

use std::sync::{Arc, Weak};
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::time::Instant;

/// A call that waits for longer than this is named.
const LONG: Duration = Duration::from_secs(60);

/// A call that has been waiting for long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    /// The node and its question.
    pub name: String,
    pub since: Timestamp,
    begun: Instant,
}

/// The oldest first; those that nobody holds have ended.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenCalls(Arc<Mutex<Vec<Weak<OpenCall>>>>);

impl OpenCalls {
    /// A call of this name, until what is returned is dropped.
    pub(super) fn begin(&self, name: String) -> Arc<OpenCall> {
        let call = Arc::new(OpenCall {
            name,
            since: Timestamp::now(),
            begun: Instant::now(),
        });
        let mut open = self.0.lock();
        open.retain(|call| call.strong_count() > 0);
        open.push(Arc::downgrade(&call));
        call
    }

    /// The call that has been waiting longest, if that is long.
    pub(super) fn longest(&self) -> Option<Arc<OpenCall>> {
        let oldest = self.0.lock().iter().find_map(Weak::upgrade)?;
        (oldest.begun.elapsed() >= LONG).then_some(oldest)
    }
}
