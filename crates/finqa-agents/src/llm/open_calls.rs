//! Lists the calls that wait for their reply, so that a display can name the oldest one.

use std::sync::{Arc, Weak};
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::time::Instant;

/// A call that has waited for this time is named. Set by hand.
const LONG: Duration = Duration::from_secs(60);

/// A call that waits for its reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    /// The node and its question.
    pub name: String,
    pub since: Timestamp,
    begun: Instant,
}

/// Calls in the order in which they began. A call has ended when its handle is dropped.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenCalls(Arc<Mutex<Vec<Weak<OpenCall>>>>);

impl OpenCalls {
    /// Adds a call, which is open until the returned handle is dropped.
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

    /// The call that has been waiting longest; `None` if it has waited for less than [`LONG`].
    pub(super) fn longest(&self) -> Option<Arc<OpenCall>> {
        let oldest = self.0.lock().iter().find_map(Weak::upgrade)?;
        (oldest.begun.elapsed() >= LONG).then_some(oldest)
    }
}
