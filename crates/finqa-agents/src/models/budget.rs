//! What a run may spend: every HTTP request is reserved at its upper bound before it is
//! sent, and settled at what it used.
//!
//! An upper bound must be one. A token is at least one byte of the text that it represents,
//! and the body of a request holds all of that text; the frame of a chat template
//! (role names, separators, a default system message, the preamble of tools) is covered by
//! the JSON around the texts and by [`TEMPLATE_TOKENS`]. The output limit bounds the rest.
//!
//! A request that was lost, and one whose reply does not say what it used, stay counted at
//! their upper bound, because they may have been billed.

use std::ops::{Add, AddAssign, Sub};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::types::Stop;

/// Tokens that a server's chat template may add to a request.
const TEMPLATE_TOKENS: u64 = 1024;

/// The most tokens that a server can read in a request with a body of this many bytes.
pub(super) fn most_input_tokens(body: &str) -> u64 {
    (body.len() as u64).saturating_add(TEMPLATE_TOKENS)
}

/// Money and tokens, spent or reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spending {
    /// US dollars; `None` if a part has no known price.
    pub dollars: Option<Decimal>,
    /// Tokens read and written.
    pub tokens: u64,
}

impl Spending {
    pub const NONE: Self = Self {
        dollars: Some(Decimal::ZERO),
        tokens: 0,
    };
}

impl Add for Spending {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            dollars: self.dollars.zip(other.dollars).map(|(a, b)| a + b),
            tokens: self.tokens.saturating_add(other.tokens),
        }
    }
}

impl AddAssign for Spending {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Spending {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            dollars: self.dollars.zip(other.dollars).map(|(a, b)| a - b),
            tokens: self.tokens.saturating_sub(other.tokens),
        }
    }
}

/// The limits of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetLimits {
    /// US dollars (`--max-cost`).
    pub cost: Option<Decimal>,
    /// Tokens read and written (`--max-tokens-total`).
    pub tokens: Option<u64>,
    /// Time of this process (`--max-time`).
    pub time: Option<Duration>,
}

impl BudgetLimits {
    /// An equal part of them for each of `count` processes; each has the whole time.
    #[must_use]
    pub fn for_each_of(self, count: u32) -> Self {
        let count = count.max(1);
        Self {
            cost: self.cost.map(|cost| cost / Decimal::from(count)),
            tokens: self.tokens.map(|tokens| tokens / u64::from(count)),
            time: self.time,
        }
    }
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetLimit {
    Cost,
    Tokens,
    Time,
}

impl BudgetLimit {
    /// The option that sets it.
    #[must_use]
    pub fn option(self) -> &'static str {
        match self {
            Self::Cost => "--max-cost",
            Self::Tokens => "--max-tokens-total",
            Self::Time => "--max-time",
        }
    }

    /// What else `--resume` needs; the time begins anew.
    #[must_use]
    pub fn more(self) -> String {
        match self {
            Self::Time => String::new(),
            Self::Cost | Self::Tokens => format!(" {} MORE", self.option()),
        }
    }
}

/// Stores what request `id` of the run may have spent; the last amount of an id is valid.
/// Resolves once it is durable, to `false` if it cannot be stored.
pub(crate) type SpendingRecorder =
    Arc<dyn Fn(u64, Spending) -> BoxFuture<'static, bool> + Send + Sync>;

/// What a run may spend and has spent; shared by its models.
#[derive(Default)]
pub struct Budget {
    limits: BudgetLimits,
    state: Mutex<BudgetState>,
    /// A request ended, and others may fit now.
    changed: Notify,
    recorder: Mutex<Option<SpendingRecorder>>,
}

#[derive(Debug)]
struct BudgetState {
    /// Settled requests, and lost ones at their upper bound.
    spent: Spending,
    /// The lost ones among them.
    bounded: Spending,
    in_flight: Spending,
    next_id: u64,
    reached: Option<BudgetLimit>,
}

impl Default for BudgetState {
    fn default() -> Self {
        Self {
            spent: Spending::NONE,
            bounded: Spending::NONE,
            in_flight: Spending::NONE,
            next_id: 0,
            reached: None,
        }
    }
}

/// A request that may be sent. Dropped without [`BudgetReservation::settle`] it stays counted at
/// its upper bound.
pub(super) struct BudgetReservation<'b> {
    budget: &'b Budget,
    id: u64,
    pub(super) upper: Spending,
    /// What it used, once that is known.
    actual: Option<Spending>,
}

impl BudgetReservation<'_> {
    /// Counts what the request used in place of its upper bound.
    pub(super) fn settle(mut self, actual: Spending) {
        self.actual = Some(actual);
    }
}

impl Drop for BudgetReservation<'_> {
    fn drop(&mut self) {
        {
            let mut state = self.budget.state();
            state.in_flight = state.in_flight - self.upper;
            state.spent += self.actual.unwrap_or(self.upper);
            if self.actual.is_none() {
                state.bounded += self.upper;
            }
        }
        if let Some(actual) = self.actual {
            // The upper bound is durable already: nobody waits for the lower amount.
            drop(self.budget.record(self.id, actual));
        }
        self.budget.changed.notify_waiters();
    }
}

impl Budget {
    #[must_use]
    pub fn new(limits: BudgetLimits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    #[must_use]
    pub fn limits(&self) -> BudgetLimits {
        self.limits
    }

    /// Whether requests are counted, and so need an output limit.
    #[must_use]
    pub fn counts_requests(&self) -> bool {
        self.limits.cost.is_some() || self.limits.tokens.is_some()
    }

    /// Adds what earlier processes of the run have spent, with requests up to `last_id`.
    pub fn add_earlier(&self, spent: Spending, last_id: u64) {
        let mut state = self.state();
        state.spent += spent;
        state.next_id = last_id;
    }

    /// From now on every amount is stored before its request is sent; with `None` no more.
    pub fn record_with(&self, recorder: Option<SpendingRecorder>) {
        *self.recorder.lock().unwrap_or_else(PoisonError::into_inner) = recorder;
    }

    fn record(&self, id: u64, amount: Spending) -> Option<BoxFuture<'static, bool>> {
        let recorder = self.recorder.lock();
        let recorder = recorder.unwrap_or_else(PoisonError::into_inner);
        recorder.as_ref().map(|record| record(id, amount))
    }

    /// Reserves a request that may spend `upper`, and waits for requests in flight while it
    /// fits only without them. `None` if the run is stopped: by `stop`, or because the
    /// request can never fit, which drains the run.
    pub(super) async fn reserve(
        &self,
        upper: Spending,
        stop: &Stop,
    ) -> Option<BudgetReservation<'_>> {
        let reservation = loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Before the state is read, so that no change is missed.
            changed.as_mut().enable();
            if stop.drain.is_cancelled() {
                return None;
            }
            {
                let mut state = self.state();
                if let Some(limit) = self.passed_by(state.spent + upper) {
                    state.reached.get_or_insert(limit);
                    stop.drain.cancel();
                    return None;
                }
                if self
                    .passed_by(state.spent + state.in_flight + upper)
                    .is_none()
                {
                    state.in_flight += upper;
                    state.next_id += 1;
                    break BudgetReservation {
                        budget: self,
                        id: state.next_id,
                        upper,
                        actual: None,
                    };
                }
            }
            tokio::select! {
                biased;
                () = stop.drain.cancelled() => return None,
                () = stop.abort.cancelled() => return None,
                () = changed => {}
            }
        };
        // Durable before it is sent: a process that is killed has spent it, perhaps.
        if let Some(durable) = self.record(reservation.id, upper)
            && !durable.await
        {
            reservation.settle(Spending::NONE);
            stop.drain.cancel();
            return None;
        }
        Some(reservation)
    }

    /// Ends the run because its time is over.
    pub fn end_time(&self, stop: &Stop) {
        if !stop.drain.is_cancelled() {
            self.state().reached.get_or_insert(BudgetLimit::Time);
            stop.drain.cancel();
        }
    }

    /// The limit that ended the run.
    #[must_use]
    pub fn reached(&self) -> Option<BudgetLimit> {
        self.state().reached
    }

    /// What was spent, in one line: requests of unknown cost at their upper bound.
    #[must_use]
    pub fn spent_line(&self) -> String {
        let state = self.state();
        let (spent, bounded) = (state.spent, state.bounded);
        let dollars = spent.dollars.filter(|_| self.limits.cost.is_some());
        let amount = |of: Spending| match dollars.and(of.dollars) {
            Some(dollars) => format!("${dollars:.4}"),
            None => format!("{} tokens", of.tokens),
        };
        let most = match bounded {
            Spending { tokens: 0, .. } => String::new(),
            _ => format!(
                ", of it at most {} for requests that were lost",
                amount(bounded)
            ),
        };
        format!("{} spent{most}", amount(spent))
    }

    fn passed_by(&self, total: Spending) -> Option<BudgetLimit> {
        let BudgetLimits { cost, tokens, .. } = self.limits;
        let over = |most: Decimal| total.dollars.is_none_or(|dollars| dollars > most);
        if cost.is_some_and(over) {
            Some(BudgetLimit::Cost)
        } else if tokens.is_some_and(|most| total.tokens > most) {
            Some(BudgetLimit::Tokens)
        } else {
            None
        }
    }

    fn state(&self) -> MutexGuard<'_, BudgetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_share_money_and_tokens_and_each_has_the_whole_time() {
        let whole = BudgetLimits {
            cost: Some(Decimal::from(10)),
            tokens: Some(1_000_001),
            time: Some(Duration::from_secs(60)),
        };
        let each = whole.for_each_of(8);
        assert_eq!(each.cost, Some(Decimal::new(125, 2)));
        assert_eq!((each.tokens, each.time), (Some(125_000), whole.time));
        assert_eq!(whole.for_each_of(1), whole);
        // Together they never have more than the whole.
        let third = whole.for_each_of(3).cost.unwrap();
        assert!(third * Decimal::from(3) <= Decimal::from(10));
    }
    use futures::FutureExt;

    fn of(dollars: u32) -> Spending {
        Spending {
            dollars: Some(dollars.into()),
            tokens: u64::from(dollars),
        }
    }

    fn capped(dollars: u32) -> Budget {
        Budget::new(BudgetLimits {
            cost: Some(dollars.into()),
            ..BudgetLimits::default()
        })
    }

    #[test]
    fn a_prompt_is_bounded_by_its_bytes_and_what_a_chat_template_adds() {
        assert_eq!(most_input_tokens("{é}"), 4 + 1024);
    }

    #[tokio::test]
    async fn a_request_waits_for_those_in_flight_and_fits_once_they_are_settled() {
        let (budget, stop) = (capped(10), Stop::default());
        let first = budget.reserve(of(6), &stop).await.unwrap();
        let mut second = Box::pin(budget.reserve(of(6), &stop));
        assert!(second.as_mut().now_or_never().is_none());
        first.settle(of(1));
        second.await.unwrap().settle(of(6));
        assert_eq!(budget.state().spent, of(7));
        assert_eq!(budget.state().in_flight, Spending::NONE);
        assert!(!stop.drain.is_cancelled());
    }

    #[tokio::test]
    async fn what_can_never_fit_drains_the_run() {
        let (budget, stop) = (capped(10), Stop::default());
        budget.add_earlier(of(5), 3);
        assert!(budget.reserve(of(6), &stop).await.is_none());
        assert!(stop.drain.is_cancelled());
        assert_eq!(budget.reached(), Some(BudgetLimit::Cost));
        assert!(budget.reserve(of(1), &stop).await.is_none(), "it drains");
    }

    #[tokio::test]
    async fn a_lost_request_stays_counted_at_its_upper_bound() {
        let (budget, stop) = (capped(10), Stop::default());
        drop(budget.reserve(of(6), &stop).await.unwrap());
        assert_eq!(budget.state().spent, of(6));
        assert_eq!(
            budget.spent_line(),
            "$6.0000 spent, of it at most $6.0000 for requests that were lost"
        );
        assert!(budget.reserve(of(5), &stop).await.is_none());
    }

    #[tokio::test]
    async fn an_unknown_price_never_fits_a_cap_of_money() {
        let unknown = Spending {
            dollars: None,
            tokens: 1,
        };
        assert!(
            capped(10)
                .reserve(unknown, &Stop::default())
                .await
                .is_none()
        );
        let tokens = Budget::new(BudgetLimits {
            tokens: Some(1),
            ..BudgetLimits::default()
        });
        let stop = Stop::default();
        tokens
            .reserve(unknown, &stop)
            .await
            .unwrap()
            .settle(unknown);
        assert!(tokens.reserve(unknown, &stop).await.is_none());
        assert_eq!(tokens.reached(), Some(BudgetLimit::Tokens));
    }

    #[tokio::test]
    async fn an_amount_is_stored_before_its_request_is_sent_and_again_when_it_is_known() {
        let (budget, stop) = (capped(10), Stop::default());
        budget.add_earlier(Spending::NONE, 7);
        let stored = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&stored);
        budget.record_with(Some(Arc::new(move |id, amount| {
            sink.lock().unwrap().push((id, amount));
            async { true }.boxed()
        })));
        let request = budget.reserve(of(6), &stop).await.unwrap();
        assert_eq!(*stored.lock().unwrap(), [(8, of(6))]);
        request.settle(of(2));
        assert_eq!(*stored.lock().unwrap(), [(8, of(6)), (8, of(2))]);
    }

    #[tokio::test]
    async fn nothing_is_sent_that_cannot_be_stored() {
        let (budget, stop) = (capped(10), Stop::default());
        budget.record_with(Some(Arc::new(|_, _| async { false }.boxed())));
        assert!(budget.reserve(of(1), &stop).await.is_none());
        assert!(stop.drain.is_cancelled());
        assert_eq!(
            budget.reached(),
            None,
            "the journal's own error is reported"
        );
        assert_eq!(budget.state().spent, Spending::NONE);
    }
}
