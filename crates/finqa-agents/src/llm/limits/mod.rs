//! How many requests may be in flight to a model, and when the next may start.
//!
//! A limit belongs to a model on its server, and counts HTTP attempts: a call that
//! waits for its next attempt holds no slot, and what is stored never reaches it. It grows
//! while it is used and answered, is lowered by a 429, and obeys the reported quotas and the
//! user's ceilings. While the server is down, it lets through what asks whether it answers
//! again. Reading order: `quota` (the headers), `state` (the rules, without a clock), this file
//! (the waiting).

mod quota;
mod state;

use std::sync::Arc;

use jiff::Timestamp;
use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::open_calls::{OpenCall, OpenCalls};
use super::outage::Outage;
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
    pub longest: Option<Arc<OpenCall>>,
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
        for limiter in self.limiters.lock().iter() {
            limiter.outage().has_answered = true;
        }
    }
}

/// The limit of one model on its server.
#[derive(Debug, Clone)]
pub struct Limiter {
    state: Arc<Mutex<LimitState>>,
    /// Held by the attempt that starts next; the others wait for it in their order.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Has that attempt look again whether it may start.
    wake: Arc<Notify>,
    /// The calls that have not ended.
    pub(super) open: OpenCalls,
}

impl Limiter {
    pub(super) fn new(options: LimitOptions) -> Self {
        Self {
            state: Arc::new(Mutex::new(LimitState::new(options))),
            turn: Arc::default(),
            wake: Arc::default(),
            open: OpenCalls::default(),
        }
    }

    fn status(&self) -> LimitStatus {
        let state = self.state.lock();
        LimitStatus {
            in_flight: state.in_flight,
            limit: state.limit,
            rate_limited: state.rate_limited,
            down_since: state.outage.since(),
            longest: self.open.longest(),
        }
    }

    /// Whether its server answers; locked meanwhile.
    pub(super) fn outage(&self) -> MappedMutexGuard<'_, Outage> {
        MutexGuard::map(self.state.lock(), |state| &mut state.outage)
    }

    /// Waits until an attempt about a question that may use so many tokens may start; `None` if
    /// the run is stopped before.
    pub(crate) async fn slot(&self, question: &str, tokens: u64, stop: &Stop) -> Option<Slot> {
        let start = async {
            let _turn = self.turn.lock().await;
            loop {
                let now = Instant::now();
                let next = {
                    let mut state = self.state.lock();
                    match state.ready_at(now, tokens) {
                        Some(at) if at == now => break state.start(now, tokens, question),
                        at => at,
                    }
                };
                tokio::select! {
                    () = self.wake.notified() => {}
                    () = sleep_until(next.unwrap_or(now)), if next.is_some() => {}
                }
            }
        };
        let attempt = tokio::select! {
            biased;
            () = stop.abort.cancelled() => return None,
            () = stop.drain.cancelled() => return None,
            attempt = start => attempt,
        };
        Some(Slot {
            limiter: self.clone(),
            attempt,
            ending: Default::default(),
        })
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
        state.end(Instant::now(), &self.attempt, *verdict, reported);
        self.limiter.wake.notify_one();
    }
}

#[cfg(test)]
mod tests;
