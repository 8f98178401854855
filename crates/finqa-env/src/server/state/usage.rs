//! The query time that sessions and clients have used, which decides whose query runs next.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The recent query time of one session, or of one client outside its sessions:
/// half of it is forgotten each second.
#[derive(Default)]
pub(crate) struct UsageAccount {
    used: Mutex<Option<(Instant, f64)>>,
    /// The last query needed the long queue.
    needs_long: AtomicBool,
    /// One of its queries finished in its brief turn.
    has_finished_brief: AtomicBool,
}

/// Seconds that a query of an unknown caller waits behind others: a crowd that
/// arrives at once waits, and not the callers that were there before.
pub(super) const NEWCOMER_DELAY_S: f64 = 1.0;

impl UsageAccount {
    /// Seconds of recent query time.
    pub(crate) fn used(&self, now: Instant) -> f64 {
        let used = self.used.lock();
        used.map_or(0.0, |(then, seconds)| remaining(then, seconds, now))
    }

    /// Records query time.
    pub(super) fn charge(&self, time: Duration, now: Instant) {
        let mut used = self.used.lock();
        let before = used.map_or(0.0, |(then, seconds)| remaining(then, seconds, now));
        *used = Some((now, before + time.as_secs_f64()));
    }

    /// True if the last query needed the long queue.
    pub(crate) fn needs_long(&self) -> bool {
        self.needs_long.load(Ordering::Relaxed)
    }

    /// Records whether the last query needed the long queue.
    pub(crate) fn set_needs_long(&self, slow: bool) {
        self.needs_long.store(slow, Ordering::Relaxed);
        if !slow {
            self.has_finished_brief.store(true, Ordering::Relaxed);
        }
    }

    /// Seconds that its owner waits behind others of the same client.
    pub(super) fn wait(&self, weight: f64, now: Instant) -> f64 {
        let known = self.has_finished_brief.load(Ordering::Relaxed);
        weight * self.used(now) + if known { 0.0 } else { NEWCOMER_DELAY_S }
    }
}

fn remaining(then: Instant, seconds: f64, now: Instant) -> f64 {
    seconds * (-now.saturating_duration_since(then).as_secs_f64()).exp2()
}
