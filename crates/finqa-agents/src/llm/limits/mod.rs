//! How many requests may be in flight to a model, and when the next may start.
//!
//! A limit belongs to a model on its server, and counts HTTP attempts: a call that
//! waits for its next attempt holds no slot, and what is stored never reaches it. It grows
//! while it is used and answered, is lowered by a 429, and obeys the reported quotas and the
//! user's ceilings. Reading order: `quota` (the headers), `state` (the rules, without a
//! clock), this file (the waiting).

mod quota;
mod state;

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::open_calls::OpenCall;
use super::types::Stop;

pub(crate) use quota::{ReportedQuotas, reported_quotas};
pub use state::LimitOptions;
pub(crate) use state::LimitVerdict;
use state::{LimitState, StartedAttempt};

/// The limits of a run, one for each model on its server.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    limiters: Arc<Mutex<Vec<Limiter>>>,
}

/// The state of a run's limits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LimitStatus {
    /// HTTP requests in flight.
    pub in_flight: usize,
    /// Maximum HTTP requests in flight, for now.
    pub limit: usize,
    /// Requests that were answered with 429.
    pub rate_limited: u64,
    /// The time since which a server has been down, if one is.
    pub down_since: Option<Timestamp>,
    /// The call that has been waiting longest, if that is long.
    pub longest: Option<OpenCall>,
}

impl Limits {
    /// The limiter of another model.
    pub fn limiter(&self, options: LimitOptions) -> Limiter {
        let limiter = Limiter::new(options);
        self.limiters.lock().push(limiter.clone());
        limiter
    }

    /// All limits together; `None` without any.
    pub fn status(&self) -> Option<LimitStatus> {
        let limiters = self.limiters.lock();
        let all = limiters.iter().map(Limiter::status);
        all.reduce(|one, other| LimitStatus {
            in_flight: one.in_flight + other.in_flight,
            limit: one.limit + other.limit,
            rate_limited: one.rate_limited + other.rate_limited,
            down_since: one.down_since.or(other.down_since),
            longest: one.longest.or(other.longest),
        })
    }

    /// The servers have answered an earlier process of the run.
    pub fn set_answered(&self) {
        self.limiters.lock().iter().for_each(Limiter::set_answered);
    }
}

/// The limit of one model on its server.
#[derive(Debug, Clone)]
pub struct Limiter {
    state: Arc<Mutex<LimitState>>,
    /// Has the calls that wait look again whether they may start.
    wake: Arc<Notify>,
}

impl Limiter {
    pub(super) fn new(options: LimitOptions) -> Self {
        Self {
            state: Arc::new(Mutex::new(LimitState::new(options))),
            wake: Arc::default(),
        }
    }

    /// A call, which will make one attempt after the other.
    #[must_use]
    pub fn call(&self) -> LimitedCall {
        let mut state = self.state.lock();
        state.calls += 1;
        LimitedCall {
            number: state.calls,
            question: state.calls,
            limiter: self.clone(),
        }
    }

    fn status(&self) -> LimitStatus {
        let state = self.state.lock();
        LimitStatus {
            in_flight: state.in_flight,
            limit: state.limit(),
            rate_limited: state.rate_limited,
            down_since: state.outage.since().map(|(_, at)| at),
            longest: state.open.longest(),
        }
    }

    /// The model's server has answered a request of the run.
    pub(super) fn set_answered(&self) {
        self.state.lock().outage.has_answered = true;
    }

    pub(super) fn has_answered(&self) -> bool {
        self.state.lock().outage.has_answered
    }

    /// How long the server has been down, if it is.
    pub(super) fn outage(&self) -> Option<Duration> {
        let since = self.state.lock().outage.since();
        since.map(|(at, _)| at.elapsed())
    }
}

/// A call and its place among those that wait.
#[derive(Debug)]
pub struct LimitedCall {
    limiter: Limiter,
    number: u64,
    /// A number of the question that it is about; its own where that is not known.
    question: u64,
}

impl LimitedCall {
    /// The call of a question, whose name is shown where it waits for long.
    #[must_use]
    pub(super) fn about(mut self, question: &str, node: &str) -> Self {
        self.question = BuildHasherDefault::<DefaultHasher>::default().hash_one(question);
        let name = format!("{node} of {question}");
        self.limiter.state.lock().open.begin(self.number, name);
        self
    }

    /// Waits until an attempt that may use so many tokens may start; `None` if the run is
    /// stopped before.
    pub(crate) async fn slot(&self, tokens: u64, stop: &Stop) -> Option<Slot> {
        self.limiter.state.lock().waiting.insert(self.number);
        let _place = PlaceInQueue(self);
        let attempt = loop {
            let woken = self.limiter.wake.notified();
            tokio::pin!(woken);
            // Before the state is read, so that no change is missed.
            woken.as_mut().enable();
            let now = Instant::now();
            let next = {
                let mut state = self.limiter.state.lock();
                if stop.drain.is_cancelled() {
                    return None;
                }
                // Only the first needs a clock: it wakes the others.
                match state.waiting.first() == Some(&self.number) {
                    false => None,
                    true => match state.ready(now, tokens) {
                        Ok(()) => break state.start(now, tokens, self.question),
                        Err(at) => at,
                    },
                }
            };
            tokio::select! {
                biased;
                () = stop.abort.cancelled() => return None,
                () = stop.drain.cancelled() => return None,
                () = woken => {}
                () = sleep_until(next.unwrap_or(now)), if next.is_some() => {}
            }
        };
        Some(Slot {
            limiter: self.limiter.clone(),
            attempt,
            ending: Default::default(),
        })
    }
}

impl Drop for LimitedCall {
    fn drop(&mut self) {
        self.limiter.state.lock().open.end(self.number);
    }
}

/// A call's place among those that wait, given up when it has its slot or is cancelled.
struct PlaceInQueue<'c>(&'c LimitedCall);

impl Drop for PlaceInQueue<'_> {
    fn drop(&mut self) {
        let limiter = &self.0.limiter;
        limiter.state.lock().waiting.remove(&self.0.number);
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
        let (verdict, reported) = &self.ending;
        let mut state = self.limiter.state.lock();
        state.end(Instant::now(), self.attempt, *verdict, reported);
        self.limiter.wake.notify_waiters();
    }
}

#[cfg(test)]
mod tests;
