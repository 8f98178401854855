//! Limits the number of requests in flight to a model, and decides when the next may start.
//!
//! Each model on its server has a limit for the HTTP attempts in flight. A call that waits for its
//! next attempt has no slot, and a stored reply needs none. The limit grows while it is used and
//! requests are answered, and is halved by a 429. Attempts also wait for the quotas that the server
//! reports and for the ceilings that the user sets. While the server is down, only one attempt at a
//! time, the probe, may start.
//!
//! Reading order: `quota` (the headers), `state` (the rules, which have no clock), this file (the
//! waiting).

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

/// The limits of a run, one for each model on each server.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    limiters: Arc<Mutex<Vec<Limiter>>>,
}

/// The state of a run's limits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LimitStatus {
    /// HTTP requests in flight.
    pub in_flight: usize,
    /// The current maximum of HTTP requests in flight.
    pub limit: usize,
    /// Number of requests that were answered with 429.
    pub rate_limited: u64,
    /// The earliest time since which a server has been down; `None` if no server is down.
    pub down_since: Option<Timestamp>,
    /// The call that has been waiting longest, if it has waited long.
    pub longest: Option<Arc<OpenCall>>,
}

impl Limits {
    /// Adds the limiter of another model.
    pub fn limiter(&self, options: LimitOptions) -> Limiter {
        let limiter = Limiter::new(options);
        self.limiters.lock().push(limiter.clone());
        limiter
    }

    /// The combined state of all limits; `None` if there are none.
    pub fn status(&self) -> Option<LimitStatus> {
        let limiters = self.limiters.lock();
        let all = limiters.iter().map(Limiter::status);
        all.reduce(|one, other| LimitStatus {
            in_flight: one.in_flight + other.in_flight,
            limit: one.limit + other.limit,
            rate_limited: one.rate_limited + other.rate_limited,
            down_since: [one.down_since, other.down_since]
                .into_iter()
                .flatten()
                .min(),
            longest: [one.longest, other.longest]
                .into_iter()
                .flatten()
                .min_by_key(|call| call.since),
        })
    }

    /// Records that the servers have answered an earlier process of the run.
    pub fn set_answered(&self) {
        for limiter in self.limiters.lock().iter() {
            limiter.outage().has_answered = true;
        }
    }
}

/// The limit of one model on one server.
#[derive(Debug, Clone)]
pub struct Limiter {
    state: Arc<Mutex<LimitState>>,
    /// Locked by the attempt that starts next. Other attempts wait for the lock in the order of
    /// their arrival.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Wakes the attempt that has the turn, so that it checks again whether it may start.
    wake: Arc<Notify>,
    /// The calls in progress.
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

    /// The state of the server's outage. The limiter is locked while the returned guard exists.
    pub(super) fn outage(&self) -> MappedMutexGuard<'_, Outage> {
        MutexGuard::map(self.state.lock(), |state| &mut state.outage)
    }

    /// Waits until an attempt for `question` that may use `tokens` may start. `None` if the run is
    /// stopped before.
    pub(crate) async fn slot(&self, question: &str, tokens: u64, stop: &Stop) -> Option<Slot> {
        let start = async {
            // Held until the attempt starts. The lock is fair, so attempts start in the order of
            // arrival.
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
                    // A default, because a disabled branch is evaluated too.
                    () = sleep_until(next.unwrap_or(now)), if next.is_some() => {}
                }
            }
        };
        let attempt = tokio::select! {
            // Biased, so that a stopped run starts no attempt even if a slot is free.
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

/// The permission for one attempt. If it is dropped without [`Slot::end`], the attempt counts as
/// cancelled.
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
