//! The rules of a limit: when an attempt may start, and what the end of an attempt changes. Every
//! time is passed in.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use super::quota::ReportedQuotas;
use crate::llm::outage::Outage;

/// A minute, plus the time by which the delays of two requests on their way to the server may
/// differ.
const MINUTE: Duration = Duration::from_millis(60_300);

/// How late a timer may wake. Later requests make up for it.
const LATENESS: Duration = Duration::from_millis(5);

/// The longest time for which a reported reset holds attempts back. A later reset belongs to a
/// quota that refills continuously.
const LONGEST_RESET: Duration = Duration::from_secs(60);

/// Ceilings on the attempts in flight, and on the attempts and tokens of a minute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LimitOptions {
    /// The limit of attempts in flight at first.
    pub start: usize,
    /// Maximum number of attempts in flight.
    pub max: usize,
    /// Maximum attempts in any minute. They are evenly spaced, because some servers count by the
    /// second.
    pub rpm: Option<u64>,
    /// Maximum tokens in any minute. A request counts with an upper bound until its reply states
    /// the tokens.
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

/// What the end of an attempt needs to know about its start.
#[derive(Debug)]
pub(super) struct StartedAttempt {
    /// The question that it is about.
    question: String,
    /// How often the limit had been cut when it started.
    cuts: u64,
    /// Requests and tokens so far, including this attempt. The number of requests is also its own
    /// number.
    used: [u64; 2],
}

/// What the end of an attempt means for the limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum LimitVerdict {
    /// Answered, with the tokens used, if known.
    Answered(Option<u64>),
    RateLimited,
    /// Refused for a reason of its own, which shows that the server answers.
    Refused,
    /// The server did not answer.
    Unanswered,
    /// Failed for another reason, or was cancelled.
    #[default]
    Unrelated,
}

/// A reported quota, in the units of `LimitState::used`.
#[derive(Debug, Clone, Copy)]
struct KnownQuota {
    /// What had been used when the reporting attempt started.
    used: u64,
    /// What may be used in total until the reset.
    allowed: u64,
    /// The time of the reset.
    until: Instant,
}

#[derive(Debug, Default)]
pub(super) struct LimitState {
    options: LimitOptions,
    pub outage: Outage,
    pub limit: usize,
    /// Number of answers since the limit last changed.
    answers: usize,
    cuts: u64,
    /// Number of attempts that were answered with 429.
    pub rate_limited: u64,
    pub in_flight: usize,
    /// With `rpm`: the earliest time of the next attempt.
    next: Option<Instant>,
    /// With `tpm`: number, start and tokens of the attempts of the last minute.
    minute: VecDeque<(u64, Instant, u64)>,
    /// Requests and tokens so far.
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

    /// The earliest time, not before `now`, at which an attempt that may use `tokens` may start;
    /// `None` if another one must end first.
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

    /// The time at which `tokens` fit into the minute's ceiling; `None` if they fit now or there is
    /// no ceiling. A request above the ceiling fits once no other request counts.
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

    /// Starts an attempt, which [`LimitState::ready_at`] allows now.
    pub(super) fn start(&mut self, now: Instant, tokens: u64, question: &str) -> StartedAttempt {
        let [requests, all_tokens] = self.used;
        let number = requests + 1;
        self.used = [number, all_tokens.saturating_add(tokens)];
        self.in_flight += 1;
        self.outage.attempt_started(number);
        if let Some(rpm) = self.options.rpm {
            let scheduled = self.next.map_or(now, |next| next.max(now - LATENESS));
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

    pub(super) fn end(
        &mut self,
        now: Instant,
        attempt: &StartedAttempt,
        verdict: LimitVerdict,
        reported: &ReportedQuotas,
    ) {
        for ((known, quota), used) in self.quotas.iter_mut().zip(reported).zip(attempt.used) {
            // A reply to an attempt that started earlier may arrive later, but its report is older.
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
        // An attempt that started before the last cut says nothing about the limit since: a burst
        // of 429s cuts once, and late answers to an old burst do not raise the limit.
        let current = attempt.cuts == self.cuts;
        match verdict {
            LimitVerdict::RateLimited if current => {
                self.cuts += 1;
                self.answers = 0;
                self.limit = (self.limit / 2).max(1);
            }
            // A limit that is less than half used is not tested, so it does not grow. Otherwise it
            // grows by one with every answer until the first 429, and then by one with every
            // limit's worth of answers.
            LimitVerdict::Answered(_) if current && self.in_flight * 2 >= self.limit => {
                self.answers += 1;
                if self.cuts == 0 || self.answers >= self.limit {
                    self.answers = 0;
                    self.limit = (self.limit + 1).min(self.options.max);
                }
            }
            _ => {}
        }
        self.in_flight -= 1;
    }
}
