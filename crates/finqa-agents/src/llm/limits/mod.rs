//! How many requests may be in flight to a model, and when the next may start.
//!
//! A limit belongs to an endpoint, a model and a key, and counts HTTP attempts: a call that
//! waits for its next attempt holds no slot, and what a cache or a journal answers never
//! reaches it. It grows while it is used and answered, shrinks with 429s, and obeys the
//! reported quotas and the user's ceilings. Reading order: `state` (the rules, without a
//! clock), `window` (the ceilings), `quota` (the headers), this file (the waiting).

mod attempt;
mod quota;
mod state;
mod window;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::settings::ModelConnection;
use super::types::Stop;

pub(super) use attempt::{end_slot, token_bound};
pub(crate) use quota::{ReportedQuotas, TokenBound, reported_quotas};
pub use state::LimitOptions;
pub(crate) use state::{AttemptEnd, LimitVerdict};
use state::{LimitState, StartedAttempt};

/// The limits of a run, one for each endpoint, model and key.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    limiters: Arc<Mutex<Vec<(LimitKey, Limiter)>>>,
    changed: Arc<Notify>,
}

/// Endpoint, model and the hash of the key.
type LimitKey = (String, String, blake3::Hash);

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
    /// The limiter of a connection, created with `options` on first use.
    pub fn limiter(&self, connection: &ModelConnection, options: LimitOptions) -> Limiter {
        let key = (
            connection.base_url.clone(),
            connection.model.clone(),
            blake3::hash(connection.key().as_bytes()),
        );
        let mut limiters = self.limiters.lock();
        if let Some((_, known)) = limiters.iter().find(|(known, _)| *known == key) {
            return known.clone();
        }
        let limiter = Limiter::new(options, Arc::clone(&self.changed));
        limiters.push((key, limiter.clone()));
        limiter
    }

    /// Conversations that are worth having in flight: those that the widest limit lets
    /// send, and others in place of calls that wait for their next attempt. Without a limit
    /// all that are wanted.
    pub fn conversations(&self) -> usize {
        let limiters = self.limiters.lock();
        let widest = limiters.iter().map(|(_, limiter)| {
            let queue = limiter.queue.lock();
            queue.state.limit() + queue.state.replaced(queue.delayed.len())
        });
        widest.max().unwrap_or(usize::MAX)
    }

    /// True if one more conversation may begin because all these `conversations` wait for
    /// their next attempt. The pauses between such conversations grow while they are
    /// refused too, so that a long `Retry-After` of every call does not freeze the run.
    #[must_use]
    pub fn take_probe(&self, conversations: usize) -> bool {
        let now = Instant::now();
        let due = self.probe_at(conversations).is_some_and(|at| at <= now);
        if due {
            for (_, limiter) in self.limiters.lock().iter() {
                limiter.queue.lock().state.probed(now);
            }
        }
        due
    }

    /// The time at which [`take_probe`](Self::take_probe) may succeed; `None` unless all of
    /// them wait.
    fn probe_at(&self, conversations: usize) -> Option<Instant> {
        let limiters = self.limiters.lock();
        let mut delayed = 0;
        let mut at = None;
        for (_, limiter) in limiters.iter() {
            let queue = limiter.queue.lock();
            if queue.state.in_flight() > 0 || !queue.waiting.is_empty() {
                return None;
            }
            delayed += queue.delayed.len();
            at = at.max(queue.state.probe_at());
        }
        at.filter(|_| delayed > 0 && delayed >= conversations)
    }

    /// Waits until [`conversations`](Self::conversations) may have changed, or until a probe is
    /// due with this many conversations in flight; for one waiter.
    pub async fn changed(&self, conversations: usize) {
        let probe = async {
            match self.probe_at(conversations) {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.changed.notified() => {}
            () = probe => {}
        }
    }

    /// All limits together; `None` without any.
    pub fn status(&self) -> Option<LimitStatus> {
        let now = Instant::now();
        let limiters = self.limiters.lock();
        let all = limiters.iter().map(|(_, limiter)| limiter.status(now));
        all.reduce(|one, other| LimitStatus {
            in_flight: one.in_flight + other.in_flight,
            limit: one.limit + other.limit,
            rate_limited: one.rate_limited + other.rate_limited,
            pause: match (one.pause, other.pause) {
                _ if one.in_flight + other.in_flight > 0 => None,
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            },
        })
    }
}

/// The limit of one endpoint, model and key.
#[derive(Debug, Clone)]
pub struct Limiter {
    queue: Arc<Mutex<SlotQueue>>,
    /// Notifies the run that the limit may have changed.
    changed: Arc<Notify>,
}

#[derive(Debug)]
struct SlotQueue {
    state: LimitState,
    calls: u64,
    /// Calls that wait for a slot. The oldest call is first, so that a retried one does not
    /// wait behind all that began later.
    waiting: BTreeMap<u64, Waiter>,
    /// Calls that wait for their next attempt, and until when.
    delayed: BTreeMap<u64, Instant>,
}

#[derive(Debug)]
struct Waiter {
    bound: TokenBound,
    granted: Option<StartedAttempt>,
    wake: Arc<Notify>,
}

impl SlotQueue {
    /// Gives slots to those who wait, in order, as far as they go.
    fn grant(&mut self, now: Instant) {
        let mut granted = false;
        for waiter in self.waiting.values_mut().filter(|it| it.granted.is_none()) {
            if self.state.ready(now, waiter.bound).is_err() {
                break;
            }
            waiter.granted = Some(self.state.start(now, waiter.bound));
            waiter.wake.notify_one();
            granted = true;
        }
        if granted {
            self.wake_first();
        }
    }

    /// Has the first that waits look again at how long it must.
    fn wake_first(&self) {
        if let Some((_, first)) = self.first() {
            first.wake.notify_one();
        }
    }

    /// The first call that waits for its slot.
    fn first(&self) -> Option<(u64, &Waiter)> {
        let mut waiting = self.waiting.iter().filter(|(_, it)| it.granted.is_none());
        waiting.next().map(|(number, waiter)| (*number, waiter))
    }

    /// The earliest time at which the first waiting call may start.
    fn next_start(&mut self, now: Instant) -> Option<Instant> {
        let bound = self.first()?.1.bound;
        self.state.ready(now, bound).err()?
    }
}

impl Limiter {
    fn new(options: LimitOptions, changed: Arc<Notify>) -> Self {
        let queue = SlotQueue {
            state: LimitState::new(options),
            calls: 0,
            waiting: BTreeMap::new(),
            delayed: BTreeMap::new(),
        };
        Self {
            queue: Arc::new(Mutex::new(queue)),
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
        let mut queue = self.queue.lock();
        let in_flight = queue.state.in_flight();
        let next = queue.next_start(now);
        let next = next.into_iter().chain(queue.delayed.values().copied());
        LimitStatus {
            pause: match in_flight {
                0 => next.min().map(|at| at.saturating_duration_since(now)),
                _ => None,
            },
            in_flight,
            limit: queue.state.limit(),
            rate_limited: queue.state.rate_limited(),
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
    /// Waits until an attempt may start; `None` if the run is stopped before.
    pub(crate) async fn slot(&self, bound: TokenBound, stop: &Stop) -> Option<Slot> {
        let asked = Instant::now();
        let wake = {
            let mut queue = self.limiter.queue.lock();
            queue.delayed.remove(&self.number);
            if queue.waiting.is_empty() && queue.state.ready(asked, bound).is_ok() {
                let attempt = queue.state.start(asked, bound);
                return Some(self.granted(attempt));
            }
            let wake = Arc::new(Notify::new());
            let waiter = Waiter {
                bound,
                granted: None,
                wake: Arc::clone(&wake),
            };
            queue.waiting.insert(self.number, waiter);
            wake
        };
        let place = PlaceInQueue(self);
        loop {
            let next = {
                let mut queue = self.limiter.queue.lock();
                let now = Instant::now();
                queue.grant(now);
                let waiter = queue.waiting.get(&self.number);
                if waiter.is_some_and(|waiter| waiter.granted.is_some()) {
                    break;
                }
                // Only the first needs a clock: it wakes the others.
                let is_first = queue.first().is_some_and(|(first, _)| first == self.number);
                is_first.then(|| queue.next_start(now)).flatten()
            };
            let time = async {
                match next {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = stop.abort.cancelled() => return None,
                () = stop.drain.cancelled() => return None,
                () = wake.notified() => {}
                () = time => {}
            }
        }
        self.has_waited(asked.elapsed());
        place.take()
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

    fn granted(&self, attempt: StartedAttempt) -> Slot {
        Slot {
            limiter: self.limiter.clone(),
            attempt: Some(attempt),
        }
    }
}

impl Drop for LimitedCall {
    fn drop(&mut self) {
        if self
            .limiter
            .queue
            .lock()
            .delayed
            .remove(&self.number)
            .is_some()
        {
            self.limiter.changed.notify_one();
        }
    }
}

/// A call's place among those that wait, given up when the call is.
struct PlaceInQueue<'c>(&'c LimitedCall);

impl PlaceInQueue<'_> {
    fn take(&self) -> Option<Slot> {
        let waiter = self.0.limiter.queue.lock().waiting.remove(&self.0.number)?;
        waiter.granted.map(|attempt| self.0.granted(attempt))
    }
}

impl Drop for PlaceInQueue<'_> {
    fn drop(&mut self) {
        // A slot that was granted in the meantime is freed by its own drop.
        drop(self.take());
        let mut queue = self.0.limiter.queue.lock();
        queue.grant(Instant::now());
        queue.wake_first();
    }
}

/// An attempt that may run. Dropped without its end, it was cancelled.
#[derive(Debug)]
pub(crate) struct Slot {
    limiter: Limiter,
    attempt: Option<StartedAttempt>,
}

impl Slot {
    pub(crate) fn end(mut self, end: &AttemptEnd) {
        self.finish(end);
    }

    fn finish(&mut self, end: &AttemptEnd) {
        let Some(attempt) = self.attempt.take() else {
            return;
        };
        let now = Instant::now();
        let mut queue = self.limiter.queue.lock();
        let before = queue.state.limit();
        queue.state.end(now, attempt, end);
        queue.grant(now);
        queue.wake_first();
        if queue.state.limit() != before {
            tracing::debug!(from = before, to = queue.state.limit(), "limit");
            self.limiter.changed.notify_one();
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.finish(&AttemptEnd {
            verdict: LimitVerdict::Unrelated,
            tokens: None,
            quotas: ReportedQuotas::default(),
        });
    }
}

#[cfg(test)]
mod tests;
