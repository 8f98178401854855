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
    /// Steps of `SQLite`'s machine that a query may take. Bounds what it can give
    /// a sort to do, which is a single step however long it takes.
    pub query_steps: u64,
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
            result_bytes: 500_000,
            value_bytes: 32_768,
            query_time: Duration::from_millis(250),
            query_steps: 4_000_000,
            heap_bytes: 64 << 20,
            idle_databases: 128,
        }
    }
}

/// What one run of a query may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueryBudget {
    pub time: Duration,
    /// Time on a processor: on a busy machine a query is not to blame for the rest.
    pub processor: Duration,
    pub steps: u64,
    /// Instructions it may compile to. `SQLite` doubles its array from 42, and
    /// refuses when the next size is over the limit: so 672 and 5,376. Code
    /// without a loop is run without a look at the clock.
    pub instructions: i32,
    /// Terms it may become before it is compiled, for which no clock is looked at.
    pub terms: usize,
    pub result_bytes: usize,
    /// Whether no other run may use more.
    pub is_full: bool,
}

impl ToolLimits {
    /// What a query may use next to others: more than an honest one takes.
    pub(super) fn brief(&self) -> QueryBudget {
        QueryBudget {
            time: Duration::from_millis(100).min(self.query_time),
            processor: Duration::from_millis(5),
            steps: 100_000.min(self.query_steps),
            instructions: 1_000,
            terms: 30_000,
            result_bytes: 65_536.min(self.result_bytes),
            is_full: false,
        }
    }

    /// What a query may use that runs alone.
    pub(super) fn full(&self) -> QueryBudget {
        QueryBudget {
            time: self.query_time,
            processor: Duration::MAX,
            steps: self.query_steps,
            instructions: 6_000,
            terms: usize::MAX,
            result_bytes: self.result_bytes,
            is_full: true,
        }
    }
}

/// The budget of the call that a database is serving, read by its hooks.
#[derive(Clone, Debug)]
pub(super) struct CallClock(Arc<CallLimits>);

#[derive(Debug)]
struct CallLimits {
    start: Instant,
    /// Microseconds after `start`.
    deadline: AtomicU64,
    /// When to look at the processor time, in microseconds after `start`, and
    /// what it may be then.
    look: AtomicU64,
    processor: AtomicU64,
    steps_left: AtomicU64,
    value_bytes: usize,
}

impl CallClock {
    pub(super) fn new(value_bytes: usize) -> Self {
        Self(Arc::new(CallLimits {
            start: Instant::now(),
            deadline: AtomicU64::new(u64::MAX),
            look: AtomicU64::new(u64::MAX),
            processor: AtomicU64::new(u64::MAX),
            steps_left: AtomicU64::new(u64::MAX),
            value_bytes,
        }))
    }

    pub(super) fn value_bytes(&self) -> usize {
        self.0.value_bytes
    }

    pub(super) fn arm(&self, budget: QueryBudget) {
        let clock = &self.0;
        let now = micros(clock.start.elapsed());
        let set = |what: &AtomicU64, from: u64, time| {
            what.store(from.saturating_add(micros(time)), Ordering::Relaxed);
        };
        set(&clock.deadline, now, budget.time);
        set(&clock.look, now, budget.processor);
        set(&clock.processor, thread_time(now), budget.processor);
        clock.steps_left.store(budget.steps, Ordering::Relaxed);
    }

    /// Whether the time is over or the steps are taken.
    pub(super) fn is_over(&self) -> bool {
        let clock = &self.0;
        let now = micros(clock.start.elapsed());
        if self.steps_are_taken() || now > clock.deadline.load(Ordering::Relaxed) {
            return true;
        }
        if now <= clock.look.load(Ordering::Relaxed) {
            return false;
        }
        // No earlier can the rest be used up.
        let most = clock.processor.load(Ordering::Relaxed);
        let rest = most.saturating_sub(thread_time(now));
        clock
            .look
            .store(now.saturating_add(rest), Ordering::Relaxed);
        rest == 0
    }

    pub(super) fn steps_are_taken(&self) -> bool {
        self.0.steps_left.load(Ordering::Relaxed) == 0
    }

    /// Counts steps taken; whether the budget is used up.
    pub(super) fn tick(&self, steps: u64) -> bool {
        // One thread at a time uses a database: nothing is lost between the two.
        let left = self.0.steps_left.load(Ordering::Relaxed);
        let left = left.saturating_sub(steps);
        self.0.steps_left.store(left, Ordering::Relaxed);
        self.is_over()
    }

    /// For functions, which the progress handler cannot interrupt.
    pub(super) fn check(&self) -> rusqlite::Result<()> {
        if self.is_over() {
            return Err(rusqlite::Error::UserFunctionError("interrupted".into()));
        }
        Ok(())
    }
}

/// Processor time of this thread in microseconds; where the system does not tell
/// it, `real` time.
#[cfg(unix)]
fn thread_time(_real: u64) -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000) + u64::try_from(time.tv_nsec).unwrap_or(0) / 1000
}

/// Processor time of this thread in microseconds; where the system does not tell
/// it, `real` time.
#[cfg(not(unix))]
fn thread_time(real: u64) -> u64 {
    real
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
