//! The limits of a query, and how much of them the running query has left.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Limits of one query. Ordinary queries over a table of a filing stay far below them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolLimits {
    /// Maximum length of a statement, in bytes.
    pub statement_bytes: usize,
    /// Maximum number of rows of a result.
    pub result_rows: usize,
    /// Maximum size of a result in bytes, both of its values and names and of the JSON text.
    pub result_bytes: usize,
    /// Maximum size of one text, blob or row that a query produces, in bytes.
    pub value_bytes: usize,
    /// Wall-clock time after which a query is interrupted.
    pub query_time: Duration,
    /// Maximum number of steps of `SQLite`'s virtual machine. It also limits the rows that a query
    /// can sort, because the sort itself is a single step of any duration.
    pub query_steps: u64,
    /// Maximum number of prepared in-memory databases that are kept for reuse, over all tables.
    pub idle_databases: usize,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            // Set by hand. docs/finqa-environment.md ("The tools") explains these limits.
            statement_bytes: 10_000,
            result_rows: 20_000,
            result_bytes: 500_000,
            value_bytes: 32_768,
            query_time: Duration::from_millis(250),
            query_steps: 4_000_000,
            idle_databases: 128,
        }
    }
}

/// Limits the memory of all `SQLite` databases of this process together. Without this limit, a
/// query can take as much memory as it can fill within its time. A later call can lower the limit
/// but not raise it.
///
/// Only for a process without any other database, such as the journal of a run. A query that takes
/// all the memory would make that database fail too.
///
/// # Errors
/// If `SQLite` cannot be used.
pub fn limit_process_memory(bytes: usize) -> std::io::Result<()> {
    let set = rusqlite::Connection::open_in_memory().and_then(|connection| {
        connection.execute_batch(&format!("PRAGMA hard_heap_limit = {bytes}"))
    });
    set.map_err(std::io::Error::other)
}

/// The limits of one run of a query.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueryBudget {
    pub time: Duration,
    pub steps: u64,
    /// Maximum number of instructions to which the statement compiles. It is limited because code
    /// without a loop runs without a check of the clock. `SQLite` doubles its array of instructions
    /// from 42 and refuses a size over the limit, so the effective limits are 672 and 5,376.
    pub(crate) instructions: i32,
    /// Maximum number of terms to which `SQLite` may expand the statement before compiling it. It
    /// is limited because the expansion does not check the clock. It is unlimited in the full
    /// budget, with which only one query runs at a time.
    pub(crate) terms: usize,
    pub(crate) result_bytes: usize,
    /// True for the largest budget. A query that exceeds it fails.
    pub(crate) is_full: bool,
}

impl ToolLimits {
    /// The budget of a query that runs in parallel with others. It is enough for ordinary queries,
    /// and is set by hand.
    pub(super) fn brief(&self) -> QueryBudget {
        QueryBudget {
            time: Duration::from_millis(50).min(self.query_time),
            // An ordinary query needs less. A query that needs more runs again with the full
            // budget.
            steps: 100_000.min(self.query_steps),
            instructions: 1_000,
            terms: 30_000,
            result_bytes: 65_536.min(self.result_bytes),
            is_full: false,
        }
    }

    /// The budget of a query that did not finish within the brief budget. Only one query at a time
    /// has this budget. Its number of instructions is set by hand.
    pub(super) fn full(&self) -> QueryBudget {
        QueryBudget {
            time: self.query_time,
            steps: self.query_steps,
            instructions: 6_000,
            terms: usize::MAX,
            result_bytes: self.result_bytes,
            is_full: true,
        }
    }
}

/// The remaining budget of a database's current query. The database's hooks and functions read it.
#[derive(Clone, Debug)]
pub(super) struct CallBudget(Arc<CallLimits>);

/// The fields are atomic because the hooks and functions of a database share them. Relaxed access
/// is enough, because only one thread at a time uses a database.
#[derive(Debug)]
struct CallLimits {
    start: Instant,
    /// The end of the query's time, in microseconds after `start`.
    deadline: AtomicU64,
    steps_left: AtomicU64,
    value_bytes: usize,
}

impl CallBudget {
    /// Time and steps are unlimited until [`Self::arm`] sets them for a query.
    pub(super) fn new(value_bytes: usize) -> Self {
        Self(Arc::new(CallLimits {
            start: Instant::now(),
            deadline: AtomicU64::new(u64::MAX),
            steps_left: AtomicU64::new(u64::MAX),
            value_bytes,
        }))
    }

    pub(super) fn value_bytes(&self) -> usize {
        self.0.value_bytes
    }

    pub(super) fn arm(&self, budget: QueryBudget) {
        let end = self.0.start.elapsed().saturating_add(budget.time);
        self.0.deadline.store(micros(end), Ordering::Relaxed);
        self.0.steps_left.store(budget.steps, Ordering::Relaxed);
    }

    /// True if the time or the steps are used up.
    pub(super) fn is_over(&self) -> bool {
        let now = micros(self.0.start.elapsed());
        self.has_no_steps_left() || now > self.0.deadline.load(Ordering::Relaxed)
    }

    pub(super) fn has_no_steps_left(&self) -> bool {
        self.0.steps_left.load(Ordering::Relaxed) == 0
    }

    /// Subtracts steps, and returns whether the budget is used up.
    pub(super) fn tick(&self, steps: u64) -> bool {
        // A plain load and store is enough, because only one thread at a time uses a database.
        let left = self.0.steps_left.load(Ordering::Relaxed);
        let left = left.saturating_sub(steps);
        self.0.steps_left.store(left, Ordering::Relaxed);
        self.is_over()
    }

    /// Fails if the budget is used up. Our SQL functions call this themselves, because the progress
    /// handler cannot interrupt a function.
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
