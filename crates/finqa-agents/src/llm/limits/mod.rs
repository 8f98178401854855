//! How many requests may be in flight to a model, and when the next may start.
//!
//! A limit belongs to a model on its server, and counts HTTP attempts: a call that
//! waits for its next attempt holds no slot, and what is stored never reaches it. It grows
//! while it is used and answered, is lowered by a 429, and obeys the reported quotas and the
//! user's ceilings. Reading order: `quota` (the headers), `state` (the rules, without a
//! clock), this file (the waiting).

mod quota;
mod state;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::types::Stop;

pub(crate) use quota::{ReportedQuotas, reported_quotas};
pub use state::LimitOptions;
pub(crate) use state::LimitVerdict;
use state::{LimitState, StartedAttempt};

/// The limits of a run, one for each model on its server.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    limiters: Arc<Mutex<Vec<Limiter>>>,
    changed: Arc<Notify>,
}

/// The state of a run's limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LimitStatus {
    /// HTTP requests in flight.
    pub in_flight: usize,
    /// Maximum HTTP requests in flight, for now.
    pub limit: usize,
    /// Requests that were answered with 429.
    pub rate_limited: u64,
    /// The time until the next request, if every call waits.
    pub pause: Option<Duration>,
}

impl Limits {
    /// The limiter of another model.
    pub fn limiter(&self, options: LimitOptions) -> Limiter {
        let limiter = Limiter::new(options, Arc::clone(&self.changed));
        self.limiters.lock().push(limiter.clone());
        limiter
    }

    /// Conversations that are worth having in flight: those that the widest limit lets
    /// send, and as many again in place of calls that wait for their next attempt. Without
    /// a limit all that are wanted.
    pub fn conversations(&self) -> usize {
        let limiters = self.limiters.lock();
        let widest = limiters.iter().map(|limiter| {
            let queue = limiter.queue.lock();
            let limit = queue.state.limit();
            limit + queue.delayed.len().min(limit)
        });
        widest.max().unwrap_or(usize::MAX)
    }

    /// Waits until [`conversations`](Self::conversations) may have changed; for one waiter.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// All limits together; `None` without any.
    pub fn status(&self) -> Option<LimitStatus> {
        let now = Instant::now();
        let limiters = self.limiters.lock();
        let all = limiters.iter().map(|limiter| limiter.status(now));
        all.reduce(|one, other| LimitStatus {
            in_flight: one.in_flight + other.in_flight,
            limit: one.limit + other.limit,
            rate_limited: one.rate_limited + other.rate_limited,
            pause: match one.in_flight + other.in_flight {
                0 => one.pause.into_iter().chain(other.pause).min(),
                _ => None,
            },
        })
    }
}

/// The limit of one model on its server.
#[derive(Debug, Clone)]
pub struct Limiter {
    queue: Arc<Mutex<SlotQueue>>,
    /// Has the calls that wait look again whether they may start.
    wake: Arc<Notify>,
    /// Notifies the run that the limit may have changed.
    changed: Arc<Notify>,
}

#[derive(Debug, Default)]
struct SlotQueue {
    state: LimitState,
    calls: u64,
    /// The calls that wait for a slot, with the most tokens that each may use. The oldest
    /// call is first, so that a retried one does not wait behind all that began later.
    waiting: BTreeMap<u64, u64>,
    /// Calls that wait for their next attempt, and until when.
    delayed: BTreeMap<u64, Instant>,
}

impl Limiter {
    fn new(options: LimitOptions, changed: Arc<Notify>) -> Self {
        let queue = SlotQueue {
            state: LimitState::new(options),
            ..SlotQueue::default()
        };
        Self {
            queue: Arc::new(Mutex::new(queue)),
            wake: Arc::default(),
            changed,
        }
    }

    /// A call, which will make one attempt after the other.
    #[must_use]
    pub fn call(&self) -> LimitedCall {
        let mut queue = self.queue.lock();
        queue.calls += 1;
        LimitedCall {
            number: queue.calls,
            limiter: self.clone(),
            waited: Mutex::default(),
        }
    }

    fn status(&self, now: Instant) -> LimitStatus {
        let queue = self.queue.lock();
        let LimitState {
            in_flight,
            rate_limited,
            ..
        } = queue.state;
        let first = queue.waiting.values().next();
        let first = first.and_then(|tokens| queue.state.ready(now, *tokens).err()?);
        let next = queue.delayed.values().copied().chain(first).min();
        LimitStatus {
            in_flight,
            limit: queue.state.limit(),
            rate_limited,
            pause: next
                .filter(|_| in_flight == 0)
                .map(|at| at.saturating_duration_since(now)),
        }
    }
}

/// A call and its place among those that wait.
#[derive(Debug)]
pub struct LimitedCall {
    limiter: Limiter,
    number: u64,
    waited: Mutex<Duration>,
}

impl LimitedCall {
    /// Waits until an attempt that may use so many tokens may start; `None` if the run is
    /// stopped before.
    pub(crate) async fn slot(&self, tokens: u64, stop: &Stop) -> Option<Slot> {
        let mut waits_since = None;
        let place = PlaceInQueue::new(self, tokens);
        let attempt = loop {
            let woken = self.limiter.wake.notified();
            tokio::pin!(woken);
            // Before the state is read, so that no change is missed.
            woken.as_mut().enable();
            let now = Instant::now();
            let next = {
                let mut queue = self.limiter.queue.lock();
                let first = queue.waiting.keys().next();
                // Only the first needs a clock: it wakes the others.
                match first == Some(&self.number) {
                    false => None,
                    true => match queue.state.ready(now, tokens) {
                        Ok(()) => break queue.state.start(now, tokens),
                        Err(at) => at,
                    },
                }
            };
            waits_since.get_or_insert(now);
            tokio::select! {
                biased;
                () = stop.abort.cancelled() => return None,
                () = stop.drain.cancelled() => return None,
                () = woken => {}
                () = sleep_until(next.unwrap_or(now)), if next.is_some() => {}
            }
        };
        drop(place);
        if let Some(since) = waits_since {
            self.has_waited(since.elapsed());
        }
        Some(Slot {
            limiter: self.limiter.clone(),
            attempt,
            ending: Default::default(),
        })
    }

    /// Notes that the next attempt comes after `delay`.
    pub(crate) fn delayed(&self, delay: Duration) {
        let until = Instant::now() + delay;
        self.limiter.queue.lock().delayed.insert(self.number, until);
        self.limiter.changed.notify_one();
    }

    /// Counts a wait for something other than a slot.
    pub(super) fn has_waited(&self, time: Duration) {
        *self.waited.lock() += time;
    }

    /// The time waited for slots, batches and the budget.
    pub(crate) fn waited(&self) -> Duration {
        *self.waited.lock()
    }
}

impl Drop for LimitedCall {
    fn drop(&mut self) {
        let delayed = self.limiter.queue.lock().delayed.remove(&self.number);
        if delayed.is_some() {
            self.limiter.changed.notify_one();
        }
    }
}

/// A call's place among those that wait, given up when it has its slot or is cancelled.
struct PlaceInQueue<'c>(&'c LimitedCall);

impl<'c> PlaceInQueue<'c> {
    fn new(call: &'c LimitedCall, tokens: u64) -> Self {
        let mut queue = call.limiter.queue.lock();
        queue.delayed.remove(&call.number);
        queue.waiting.insert(call.number, tokens);
        Self(call)
    }
}

impl Drop for PlaceInQueue<'_> {
    fn drop(&mut self) {
        let limiter = &self.0.limiter;
        limiter.queue.lock().waiting.remove(&self.0.number);
        limiter.wake.notify_waiters();
    }
}

/// An attempt that may run. Dropped without its end, it was cancelled.
#[derive(Debug)]
pub(crate) struct Slot {
    limiter: Limiter,
    attempt: StartedAttempt,
    ending: (LimitVerdict, ReportedQuotas),
}

impl Slot {
    pub(crate) fn end(mut self, verdict: LimitVerdict, reported: ReportedQuotas) {
        self.ending = (verdict, reported);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let state = &mut self.limiter.queue.lock().state;
        let before = state.limit();
        let (verdict, reported) = &self.ending;
        state.end(Instant::now(), self.attempt, *verdict, reported);
        self.limiter.wake.notify_waiters();
        if state.limit() != before {
            tracing::debug!(from = before, to = state.limit(), "limit");
            self.limiter.changed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests;
