//! The limits themselves: what may start now, and what the end of an attempt teaches.
//! Every time is passed in.

use std::ops::RangeInclusive;
use std::time::Duration;

use tokio::time::Instant;

use super::quota::{KINDS, ReportedQuotas, TokenBound};
use super::window::SlidingWindow;

/// The longest that a reported reset holds attempts back. A longer one belongs to a limit
/// of a day, which refills all the time.
const LONGEST_RESET: Duration = Duration::from_secs(60);

/// The pauses of a run in which every call waits for its next attempt: the first after the
/// first 429, doubled after each further one.
const PROBE_PAUSES: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(60);

/// The weight of the newest attempt in a moving share.
const NEWEST: f64 = 1.0 / 16.0;

/// Maximum number of concurrent attempts, and of started attempts per minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitOptions {
    /// Attempts in flight at first.
    pub start: usize,
    /// Maximum number of attempts in flight.
    pub max: usize,
    /// Attempts in any minute.
    pub rpm: Option<u64>,
    /// Tokens in any minute, counted as an upper bound until the reply says how many.
    pub tpm: Option<u64>,
}

impl LimitOptions {
    /// So many attempts in flight, fewer after a 429.
    pub fn fixed(attempts: usize) -> Self {
        Self {
            start: attempts,
            max: attempts,
            rpm: None,
            tpm: None,
        }
    }
}

/// The state that an attempt's end needs from its start.
#[derive(Debug, Clone, Copy)]
pub(super) struct StartedAttempt {
    number: u64,
    /// The number of cuts of the limit when it started.
    cuts: u64,
    /// The use of each reported limit, including this attempt.
    used: [u64; KINDS],
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct AttemptEnd {
    pub verdict: LimitVerdict,
    /// The tokens used, if known.
    pub tokens: Option<u64>,
    pub(crate) quotas: ReportedQuotas,
}

/// The meaning of an attempt for the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitVerdict {
    Answered,
    RateLimited,
    /// Failed for another reason, or was cancelled.
    Unrelated,
}

/// The rest of a reported limit.
#[derive(Debug, Clone, Copy)]
struct KnownQuota {
    limit: Option<u64>,
    remaining: u64,
    /// The use when the reporting attempt started.
    used: u64,
    /// The reporting attempt.
    reported_by: u64,
    /// The time of the reset.
    until: Instant,
}

#[derive(Debug)]
pub(super) struct LimitState {
    max: f64,
    limit: f64,
    /// Before the first 429 the limit grows by one with every answer, then by one with
    /// every limit's worth of answers.
    cautious: bool,
    cuts: u64,
    rate_limited: u64,
    /// The share of attempts that were answered with 429, of the last ones.
    refused: f64,
    /// The share of those that were not answered.
    failed: f64,
    probe_pause: Duration,
    probe_at: Option<Instant>,
    in_flight: usize,
    started: u64,
    requests: Option<SlidingWindow>,
    tokens: Option<SlidingWindow>,
    used: [u64; KINDS],
    quotas: [Option<KnownQuota>; KINDS],
}

impl LimitState {
    pub(super) fn new(options: LimitOptions) -> Self {
        let max = options.max.max(1);
        Self {
            max: as_f64(max),
            limit: as_f64(options.start.clamp(1, max)),
            cautious: false,
            cuts: 0,
            rate_limited: 0,
            refused: 0.0,
            failed: 0.0,
            probe_pause: *PROBE_PAUSES.start(),
            probe_at: None,
            in_flight: 0,
            started: 0,
            requests: options.rpm.map(SlidingWindow::spread_over_a_minute),
            tokens: options.tpm.map(SlidingWindow::per_minute),
            used: [0; KINDS],
            quotas: [None; KINDS],
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and a usize"
    )]
    pub(super) fn limit(&self) -> usize {
        self.limit as usize
    }

    /// How many of the calls that wait for their next attempt others may take the place of:
    /// as many as the limit where none is answered, more where most are.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and saturating"
    )]
    pub(super) fn replaced(&self, delayed: usize) -> usize {
        delayed.min((self.limit / self.failed) as usize)
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Attempts that were answered with 429.
    pub(super) fn rate_limited(&self) -> u64 {
        self.rate_limited
    }

    /// The time at which one more call may probe whether attempts are answered again,
    /// although the refused ones wait.
    pub(super) fn probe_at(&self) -> Option<Instant> {
        self.probe_at
    }

    pub(super) fn probed(&mut self, now: Instant) {
        self.probe_at = Some(now + self.probe_pause);
    }

    /// Checks whether an attempt may start now; otherwise returns the earliest time, if
    /// time decides.
    pub(super) fn ready(&mut self, now: Instant, bound: TokenBound) -> Result<(), Option<Instant>> {
        if self.in_flight >= self.limit() {
            return Err(None);
        }
        let requests = self.requests.as_mut().and_then(|it| it.free_at(now, 1));
        let tokens = self.tokens.as_mut();
        let tokens = tokens.and_then(|it| it.free_at(now, bound.total()));
        let quotas = self
            .quotas
            .iter_mut()
            .zip(self.used)
            .zip(bound.amounts())
            .filter_map(|((quota, used), amount)| {
                let known = quota.filter(|known| known.until > now);
                *quota = known;
                known?.free_at(used, amount)
            });
        match quotas.chain(requests).chain(tokens).max() {
            None => Ok(()),
            Some(at) => Err(Some(at)),
        }
    }

    /// Starts an attempt that is [`ready`](Self::ready).
    pub(super) fn start(&mut self, now: Instant, bound: TokenBound) -> StartedAttempt {
        let number = self.started;
        self.started += 1;
        self.in_flight += 1;
        if let Some(requests) = &mut self.requests {
            requests.add(number, now, 1);
        }
        if let Some(tokens) = &mut self.tokens {
            tokens.add(number, now, bound.total());
        }
        for (used, amount) in self.used.iter_mut().zip(bound.amounts()) {
            *used = used.saturating_add(amount);
        }
        StartedAttempt {
            number,
            cuts: self.cuts,
            used: self.used,
        }
    }

    pub(super) fn end(&mut self, now: Instant, attempt: StartedAttempt, end: &AttemptEnd) {
        if let (Some(window), Some(tokens)) = (&mut self.tokens, end.tokens) {
            window.correct(attempt.number, tokens);
        }
        let reported = end.quotas.iter().zip(attempt.used);
        for (known, (quota, used)) in self.quotas.iter_mut().zip(reported) {
            // The replies of attempts that started earlier arrive late at times.
            let newer = known.is_none_or(|known| known.reported_by < attempt.number);
            if let Some(quota) = quota.filter(|_| newer) {
                *known = Some(KnownQuota {
                    limit: quota.limit,
                    remaining: quota.remaining,
                    used,
                    reported_by: attempt.number,
                    until: now + quota.reset.min(LONGEST_RESET),
                });
            }
        }
        // What started before the last cut says nothing about the limit since: a burst of
        // 429s cuts once, and late answers to an old burst do not raise it.
        let current = attempt.cuts == self.cuts;
        let answered = end.verdict == LimitVerdict::Answered;
        if answered && current {
            self.probe_pause = *PROBE_PAUSES.start();
        }
        count_in(&mut self.failed, !answered);
        if end.verdict != LimitVerdict::Unrelated {
            count_in(&mut self.refused, !answered);
        }
        match end.verdict {
            LimitVerdict::RateLimited => {
                self.rate_limited += 1;
                if current {
                    self.cuts += 1;
                    // A server that refuses some attempts whatever the limit is needs no
                    // smaller one for each of them.
                    let share = if self.cautious { self.refused } else { 1.0 };
                    self.cautious = true;
                    self.limit = (self.limit * (1.0 - share / 2.0)).max(1.0);
                    self.probed(now);
                    self.probe_pause = (self.probe_pause * 2).min(*PROBE_PAUSES.end());
                }
            }
            // A limit that is not used is not tested either.
            LimitVerdict::Answered if current && self.in_flight * 2 >= self.limit() => {
                let step = if self.cautious { 1.0 / self.limit } else { 1.0 };
                self.limit = (self.limit + step).min(self.max);
            }
            _ => {}
        }
        self.in_flight -= 1;
    }
}

impl KnownQuota {
    /// The time at which `amount` fits; `None` if now.
    fn free_at(&self, used: u64, amount: u64) -> Option<Instant> {
        let since = used.saturating_sub(self.used);
        let amount = self.limit.map_or(amount, |limit| amount.min(limit));
        (self.remaining.saturating_sub(since) < amount).then_some(self.until)
    }
}

/// Counts an attempt in a share of the last ones.
fn count_in(share: &mut f64, is: bool) {
    *share += (f64::from(u8::from(is)) - *share) * NEWEST;
}

fn as_f64(count: usize) -> f64 {
    count as f64
}
