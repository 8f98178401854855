//! The rules of a limit: when an attempt may start, and what changes when an attempt ends. The
//! current time is always passed in.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use super::quota::ReportedQuotas;
use crate::llm::outage::Outage;

/// A minute, plus the time by which the delays of two requests on their way to the server can
/// differ, which is set by hand.
const MINUTE: Duration = Duration::from_millis(60_300);

/// The longest delay of a timer for which later requests make up. Set by hand.
const LATENESS: Duration = Duration::from_millis(5);

/// The longest time for which a reported reset delays attempts, set by hand. A later reset belongs
/// to a quota that refills continuously.
const LONGEST_RESET: Duration = Duration::from_secs(60);

/// Maximum numbers of attempts in flight, and of attempts and tokens per minute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LimitOptions {
    /// The limit of attempts in flight at the start.
    pub start: usize,
    /// Maximum number of attempts in flight.
    pub max: usize,
    /// Maximum number of attempts per minute. They are evenly spaced, because some servers count
    /// per second.
    pub rpm: Option<u64>,
    /// Maximum number of tokens per minute. A request counts with an upper bound until its reply
    /// states its tokens.
    pub tpm: Option<u64>,
}

impl LimitOptions {
    /// At most `attempts` in flight from the start, and fewer after a 429.
    pub fn fixed(attempts: usize) -> Self {
        Self {
            start: attempts,
            max: attempts,
            ..Self::default()
        }
    }
}

/// The data about the start of an attempt that are needed at its end.
#[derive(Debug)]
pub(super) struct StartedAttempt {
    /// The question for which the attempt is made.
    question: String,
    /// The number of times that the limit had been cut when the attempt started.
    cuts: u64,
    /// Requests and tokens up to and including this attempt. The number of requests is also the
    /// attempt's number.
    used: [u64; 2],
}

/// The meaning of an attempt's end for the limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum LimitVerdict {
    /// The request was answered. The value is the number of tokens used, if known.
    Answered(Option<u64>),
    RateLimited,
    /// The request was refused for its own reason, which shows that the server answers.
    Refused,
    /// The server did not answer.
    Unanswered,
    /// The attempt failed for another reason, or was cancelled.
    #[default]
    Unrelated,
}

/// A reported quota, in the units of `LimitState::used`.
#[derive(Debug, Clone, Copy)]
struct KnownQuota {
    /// The amount that had been used when the reporting attempt started.
    used: u64,
    /// The total amount that may be used until the reset.
    allowed: u64,
    /// The time of the reset.
    until: Instant,
}

/// The state from which a limiter decides when the next attempt may start.
#[derive(Debug, Default)]
pub(super) struct LimitState {
    options: LimitOptions,
    pub outage: Outage,
    /// The current maximum of attempts in flight. It is at least 1, because no attempt would start
    /// otherwise.
    pub limit: usize,
    /// The number of answers since the last change of the limit.
    answers: usize,
    cuts: u64,
    /// Number of attempts that were answered with 429.
    pub rate_limited: u64,
    pub in_flight: usize,
    /// With `rpm`, the earliest time of the next attempt.
    next: Option<Instant>,
    /// With `tpm`, the attempts of the last minute, each with its number, start and tokens.
    minute: VecDeque<(u64, Instant, u64)>,
    /// The requests and tokens so far.
    used: [u64; 2],
    quotas: [Option<KnownQuota>; 2],
}

impl LimitState {
    pub(super) fn new(options: LimitOptions) -> Self {
        Self {
            limit: options.start.min(options.max).max(1),
            options,
            ..Self::default()
        }
    }

    /// The earliest time, not before `now`, at which an attempt that may use `tokens` may start.
    /// `None` if another attempt must end first.
    pub(super) fn ready_at(&self, now: Instant, tokens: u64) -> Option<Instant> {
        if self.in_flight >= self.limit || self.outage.is_probed() {
            return None;
        }
        let quotas = self.quotas.iter().zip(self.used).zip([1, tokens]);
        let quotas = quotas.filter_map(|((known, used), amount)| {
            let known = (*known)?;
            (used.saturating_add(amount) > known.allowed).then_some(known.until)
        });
        let times = quotas.chain(self.next).chain(self.tokens_free_at(tokens));
        let times = times.chain(self.outage.next_probe());
        Some(times.fold(now, Instant::max))
    }

    /// The time at which `tokens` fit under the ceiling of a minute; `None` if they fit now or
    /// there is no ceiling. A request above the ceiling fits when no other request counts.
    fn tokens_free_at(&self, tokens: u64) -> Option<Instant> {
        let ceiling = self.options.tpm?.max(1);
        let counted: u64 = self.minute.iter().map(|(.., tokens)| tokens).sum();
        let mut excess = (counted + tokens.min(ceiling)).saturating_sub(ceiling);
        let last_to_leave = self.minute.iter().take_while(|(.., tokens)| {
            let needed = excess > 0;
            excess = excess.saturating_sub(*tokens);
            needed
        });
        last_to_leave.last().map(|(_, at, _)| *at + MINUTE)
    }

    /// Starts an attempt. [`LimitState::ready_at`] must allow it now.
    pub(super) fn start(&mut self, now: Instant, tokens: u64, question: &str) -> StartedAttempt {
        let [requests, all_tokens] = self.used;
        let number = requests + 1;
        self.used = [number, all_tokens.saturating_add(tokens)];
        self.in_flight += 1;
        self.outage.attempt_started(number);
        if let Some(rpm) = self.options.rpm {
            let scheduled = self.next.map_or(now, |next| next.max(now - LATENESS));
            // The lower limit of 1 prevents a division by zero.
            self.next = Some(scheduled + MINUTE.div_f64(rpm.max(1) as f64));
        }
        if self.options.tpm.is_some() {
            while self.minute.front().is_some_and(|it| it.1 + MINUTE <= now) {
                self.minute.pop_front();
            }
            self.minute.push_back((number, now, tokens));
        }
        StartedAttempt {
            question: question.to_owned(),
            cuts: self.cuts,
            used: self.used,
        }
    }

    /// Ends an attempt. Its verdict and the quotas that its reply reports decide when others may
    /// start.
    pub(super) fn end(
        &mut self,
        now: Instant,
        attempt: &StartedAttempt,
        verdict: LimitVerdict,
        reported: &ReportedQuotas,
    ) {
        for ((known, quota), used) in self.quotas.iter_mut().zip(reported).zip(attempt.used) {
            // Replies may arrive out of order, so ignore the report of an attempt that started
            // earlier.
            let newer = known.is_none_or(|known| known.used < used);
            if let Some(quota) = quota.filter(|_| newer) {
                *known = Some(KnownQuota {
                    used,
                    allowed: used.saturating_add(quota.remaining),
                    until: now + quota.reset.min(LONGEST_RESET),
                });
            }
        }
        let [number, _] = attempt.used;
        // A 429 takes no tokens. After another failure, the tokens are not known, so the upper
        // bound stays counted.
        let tokens = match verdict {
            LimitVerdict::Answered(tokens) => tokens,
            LimitVerdict::RateLimited => Some(0),
            LimitVerdict::Refused | LimitVerdict::Unanswered | LimitVerdict::Unrelated => None,
        };
        match verdict {
            LimitVerdict::Unanswered => self.outage.not_answered(&attempt.question, now),
            LimitVerdict::Unrelated => {}
            _ => self.outage.answered(),
        }
        self.outage.attempt_ended(number, now);
        let mut minute = self.minute.iter_mut();
        if let (Some(entry), Some(tokens)) = (minute.find(|it| it.0 == number), tokens) {
            entry.2 = tokens;
        }
        self.rate_limited += u64::from(verdict == LimitVerdict::RateLimited);
        // An attempt that started before the last cut does not tell anything about the current
        // limit. A burst of 429s therefore cuts only once, and late answers to an old burst do not
        // raise the limit.
        let current = attempt.cuts == self.cuts;
        match verdict {
            LimitVerdict::RateLimited if current => {
                self.cuts += 1;
                self.answers = 0;
                self.limit = (self.limit / 2).max(1);
            }
            // An answer while less than half of the limit is in use does not show that the limit
            // could be higher, so the limit stays. Otherwise it grows by one with every answer
            // until the first 429, and then by one with as many answers as the limit.
            LimitVerdict::Answered(_) if current && self.in_flight * 2 >= self.limit => {
                self.answers += 1;
                if self.cuts == 0 || self.answers >= self.limit {
                    self.answers = 0;
                    self.limit = (self.limit + 1).min(self.options.max);
                }
            }
            // Other failures say nothing about the number of requests that the server allows.
            _ => {}
        }
        self.in_flight -= 1;
    }
}
