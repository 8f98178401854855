//! Limits the spending of a run. Every HTTP request is reserved at its upper bound before it is
//! sent, and is later counted at its actual cost.
//!
//! The upper bound must never be too low. A token is at least one byte of the text that it
//! represents, and the body of a request contains all of that text. A chat template adds a frame
//! (role names, separators, a default system message, the preamble of tools). It is covered by the
//! JSON around the texts and by the tokens that `EncodedRequest::most_input_tokens` adds. The
//! output limit bounds the rest.
//!
//! A request that was lost, and a request whose reply does not state its usage, stay counted at
//! their upper bound, because they may have been billed.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::cost::in_dollars;
use super::types::Stop;

/// The limits of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetLimits {
    /// US dollars (`--max-cost`).
    pub cost: Option<Decimal>,
    /// Time of this process (`--max-time`).
    pub time: Option<Duration>,
}

impl BudgetLimits {
    /// The limits of each of `count` processes: an equal share of the cost, and the full time,
    /// because `--max-time` applies to each process (docs/runs.md).
    #[must_use]
    pub fn for_each_of(self, count: u32) -> Self {
        let count = count.max(1);
        Self {
            cost: self.cost.map(|cost| cost / Decimal::from(count)),
            time: self.time,
        }
    }
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetLimit {
    Cost,
    Time,
}

impl BudgetLimit {
    /// The name of the option that sets the limit.
    pub fn option(self) -> &'static str {
        match self {
            Self::Cost => "--max-cost",
            Self::Time => "--max-time",
        }
    }

    /// The option that must be added to `--resume` to continue: a higher cost limit. The time limit
    /// starts again by itself.
    pub fn more(self) -> String {
        match self {
            Self::Time => String::new(),
            Self::Cost => format!(" {} MORE", self.option()),
        }
    }
}

/// Stores the amount that request `id` of the run may have spent, replacing an earlier amount of
/// this id. Resolves when the amount is durable, or to `false` if it cannot be stored.
pub(crate) type SpendingRecorder =
    Arc<dyn Fn(u64, Decimal) -> BoxFuture<'static, bool> + Send + Sync>;

/// The limits and the spending of a run, shared by its models.
#[derive(Default)]
pub struct Budget {
    limits: BudgetLimits,
    state: Mutex<BudgetState>,
    /// Notified when a request has ended, because waiting requests may then fit.
    changed: Notify,
    recorder: Mutex<Option<SpendingRecorder>>,
}

/// The spending of a run so far, in US dollars.
#[derive(Debug, Default)]
struct BudgetState {
    /// Dollars of the requests that have ended. Lost requests count with their upper bound.
    spent: Decimal,
    in_flight: Decimal,
    next_id: u64,
    reached: Option<BudgetLimit>,
    /// The upper bound of the first request that did not fit.
    refused: Option<Decimal>,
}

/// The permission to send one request. If it is dropped without
/// [`BudgetReservation::settle`], the request stays counted at its upper bound.
pub(super) struct BudgetReservation {
    budget: Arc<Budget>,
    id: u64,
    upper: Decimal,
    /// The cost of the request, as soon as it is known.
    actual: Option<Decimal>,
}

/// The reason why a request cannot be reserved.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BudgetRefusal {
    /// The request may fit after other requests in flight have ended.
    Temporary,
    /// The request does not fit even without the others in flight.
    Permanent,
}

impl BudgetReservation {
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn upper(&self) -> Decimal {
        self.upper
    }

    /// Stores the upper bound, and resolves when it is durable. `None` if the run is not recorded.
    pub(super) fn store(&self) -> Option<BoxFuture<'static, bool>> {
        self.budget.record(self.id, self.upper)
    }

    /// Counts the actual cost of the request instead of its upper bound.
    pub(super) fn settle(mut self, actual: Decimal) {
        self.actual = Some(actual);
    }
}

impl Drop for BudgetReservation {
    fn drop(&mut self) {
        {
            let mut state = self.budget.state.lock();
            state.in_flight -= self.upper;
            state.spent += self.actual.unwrap_or(self.upper);
        }
        if let Some(actual) = self.actual {
            // The upper bound is already durable, so nobody has to wait for the lower amount.
            drop(self.budget.record(self.id, actual));
        }
        self.budget.changed.notify_waiters();
    }
}

impl Budget {
    pub fn new(limits: BudgetLimits) -> Self {
        let unlimited = Self::default();
        Self {
            limits,
            ..unlimited
        }
    }

    pub fn limits(&self) -> BudgetLimits {
        self.limits
    }

    /// True if requests are counted, and therefore need an output limit.
    pub fn counts_requests(&self) -> bool {
        self.limits.cost.is_some()
    }

    /// Adds the spending of earlier processes of the run, for requests with ids up to `last_id`.
    pub fn add_earlier(&self, spent: Decimal, last_id: u64) {
        let mut state = self.state.lock();
        state.spent += spent;
        state.next_id = last_id;
    }

    /// From now on, stores every amount before its request is sent. `None` ends this.
    pub fn record_with(&self, recorder: Option<SpendingRecorder>) {
        *self.recorder.lock() = recorder;
    }

    fn record(&self, id: u64, amount: Decimal) -> Option<BoxFuture<'static, bool>> {
        let recorder = self.recorder.lock();
        recorder.as_ref().map(|record| record(id, amount))
    }

    /// Reserves a request that may spend `upper`. If it fits only after requests in flight have
    /// ended, waits for them. `None` if the run is stopped. This function stops the run itself if
    /// the request can never fit or its amount cannot be stored.
    pub(super) async fn reserve(
        self: &Arc<Self>,
        upper: Decimal,
        stop: &Stop,
    ) -> Option<BudgetReservation> {
        let reservation = loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Register before reading the state, so that no change is missed.
            changed.as_mut().enable();
            if stop.drain.is_cancelled() {
                return None;
            }
            match self.try_reserve(upper) {
                Ok(reservation) => break reservation,
                Err(BudgetRefusal::Permanent) => {
                    self.reach(BudgetLimit::Cost, stop);
                    return None;
                }
                Err(BudgetRefusal::Temporary) => {}
            }
            tokio::select! {
                // Biased, so that a stopped run reserves nothing more.
                biased;
                () = stop.drain.cancelled() => return None,
                () = stop.abort.cancelled() => return None,
                () = changed => {}
            }
        };
        // The amount must be durable before the request is sent, because the process may be killed
        // while the request is in flight.
        if let Some(durable) = reservation.store()
            && !durable.await
        {
            // Nothing was sent.
            reservation.settle(Decimal::ZERO);
            stop.drain.cancel();
            return None;
        }
        Some(reservation)
    }

    /// Reserves a request that may spend `upper`, if it fits now. Nothing is stored.
    pub(super) fn try_reserve(
        self: &Arc<Self>,
        upper: Decimal,
    ) -> Result<BudgetReservation, BudgetRefusal> {
        let mut state = self.state.lock();
        let exceeds = |total| self.limits.cost.is_some_and(|most| total > most);
        if exceeds(state.spent + upper) {
            state.refused.get_or_insert(upper);
            return Err(BudgetRefusal::Permanent);
        }
        if exceeds(state.spent + state.in_flight + upper) {
            return Err(BudgetRefusal::Temporary);
        }
        state.next_id += 1;
        Ok(self.reserved(&mut state, None, upper))
    }

    /// Takes over the reservation of a request that an earlier process sent. If the request had no
    /// reservation (no id), it is counted from now on.
    pub(super) fn adopt(self: &Arc<Self>, id: Option<u64>, upper: Decimal) -> BudgetReservation {
        let mut state = self.state.lock();
        match id {
            // `add_earlier` counted the amount as spent.
            Some(_) => state.spent -= upper,
            None => state.next_id += 1,
        }
        self.reserved(&mut state, id, upper)
    }

    /// Counts a request as in flight. A request without an `id` gets the newest one, which the
    /// caller has added.
    fn reserved(
        self: &Arc<Self>,
        state: &mut BudgetState,
        id: Option<u64>,
        upper: Decimal,
    ) -> BudgetReservation {
        state.in_flight += upper;
        BudgetReservation {
            budget: Arc::clone(self),
            id: id.unwrap_or(state.next_id),
            upper,
            actual: None,
        }
    }

    /// Ends the run because the next request would exceed a limit.
    pub(super) fn reach(&self, limit: BudgetLimit, stop: &Stop) {
        self.state.lock().reached.get_or_insert(limit);
        stop.drain.cancel();
    }

    /// Ends the run because its time limit is reached.
    pub fn end_time(&self, stop: &Stop) {
        if !stop.drain.is_cancelled() {
            self.state.lock().reached.get_or_insert(BudgetLimit::Time);
            stop.drain.cancel();
        }
    }

    /// The limit that ended the run.
    pub fn reached(&self) -> Option<BudgetLimit> {
        self.state.lock().reached
    }

    /// The spending in one line. Requests of unknown cost count at their upper bound. `None` if
    /// there is no limit, because then nothing is counted.
    pub fn spent_line(&self) -> Option<String> {
        if !self.counts_requests() {
            return None;
        }
        let state = self.state.lock();
        let next = state.refused.map_or_else(String::new, |upper| {
            format!(", the next request needs up to {}", in_dollars(upper, 4))
        });
        Some(format!("{} spent{next}", in_dollars(state.spent, 4)))
    }
}

#[cfg(test)]
mod tests;
