//! The calls that wait for their reply, so that a display can name the oldest.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

/// A call that waits for longer than this is named.
const LONG: Duration = Duration::from_secs(60);

/// A call that has been waiting for long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    /// The node and its question.
    pub name: String,
    pub since: Timestamp,
}

/// By number, the oldest first.
#[derive(Debug, Default)]
pub(super) struct OpenCalls(BTreeMap<u64, (Instant, OpenCall)>);

impl OpenCalls {
    pub(super) fn begin(&mut self, number: u64, name: String) {
        let since = Timestamp::now();
        let call = OpenCall { name, since };
        self.0.insert(number, (Instant::now(), call));
    }

    pub(super) fn end(&mut self, number: u64) {
        self.0.remove(&number);
    }

    /// The call that has been waiting longest, if that is long.
    pub(super) fn longest(&self) -> Option<OpenCall> {
        let (begun, call) = self.0.values().next()?;
        (begun.elapsed() >= LONG).then(|| call.clone())
    }
}
