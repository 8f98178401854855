//! What a tool call may use.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Bounds of one query. An honest query over a filed table stays far below them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolLimits {
    /// Longest statement, in bytes.
    pub statement_bytes: usize,
    /// Most rows a query may return.
    pub result_rows: usize,
    /// Longest result, in bytes: of its values and names, and of the JSON text
    /// that they become.
    pub result_bytes: usize,
    /// Longest single text, blob or row that a query may make, in bytes.
    pub value_bytes: usize,
    /// Real time a query may run before it is interrupted.
    pub query_time: Duration,
    /// Memory that all queries of the process may hold together, idle databases
    /// included. The first limit that is set holds: it can only be lowered.
    pub heap_bytes: usize,
    /// Prepared in-memory databases kept for reuse, over all tables.
    pub idle_databases: usize,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            statement_bytes: 10_000,
            result_rows: 20_000,
            result_bytes: 2_000_000,
            value_bytes: 65_536,
            query_time: Duration::from_millis(250),
            heap_bytes: 512 << 20,
            idle_databases: 256,
        }
    }
}

/// The deadline of the call that a database is serving, read by its hooks.
#[derive(Clone, Debug)]
pub(super) struct CallClock {
    start: Instant,
    /// Microseconds after `start`.
    deadline: Arc<AtomicU64>,
    value_bytes: usize,
}

impl CallClock {
    pub(super) fn new(value_bytes: usize) -> Self {
        Self {
            start: Instant::now(),
            deadline: Arc::new(AtomicU64::new(u64::MAX)),
            value_bytes,
        }
    }

    pub(super) fn value_bytes(&self) -> usize {
        self.value_bytes
    }

    pub(super) fn arm(&self, time: Duration) {
        let deadline = micros(self.start.elapsed()).saturating_add(micros(time));
        self.deadline.store(deadline, Ordering::Relaxed);
    }

    pub(super) fn is_over(&self) -> bool {
        micros(self.start.elapsed()) > self.deadline.load(Ordering::Relaxed)
    }

    /// For functions, which the progress handler cannot interrupt.
    pub(super) fn check(&self) -> rusqlite::Result<()> {
        if self.is_over() {
            return Err(rusqlite::Error::UserFunctionError("interrupted".into()));
        }
        Ok(())
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
