//! Recognises that a server is down. If a server has answered the run before but no longer does,
//! all calls wait, while one request at a time (the probe) tests whether it answers again.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

/// The number of consecutive requests without an answer after which the server counts as down. They
/// must not all be about one question, because a gateway may give up a prompt that takes long. Set
/// by hand: fewer may be chance.
const DOWN_AFTER: u32 = 3;

/// The wait before the first probe, as before the first retry. It doubles after each probe.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait between two probes, as between two retries.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Counts the requests that a server did not answer, and decides when a server that is down is
/// probed.
#[derive(Debug, Default)]
pub(super) struct Outage {
    /// True if the server has answered a request of the run, possibly of an earlier process.
    pub(super) has_answered: bool,
    /// The number of consecutive requests that it did not answer.
    failed: u32,
    /// The time of the first of these requests.
    since: Option<(Instant, Timestamp)>,
    /// The question of the first of these requests.
    first: Option<String>,
    /// True if one of these requests was about another question.
    is_shared: bool,
    /// The number of the attempt that is the probe.
    probe: Option<u64>,
    probes: u32,
    /// The earliest time of the next probe.
    next: Option<Instant>,
}

impl Outage {
    fn is_down(&self) -> bool {
        self.has_answered && self.is_shared && self.failed >= DOWN_AFTER
    }

    /// The time since which the server has been down; `None` if it is not down.
    pub(super) fn since(&self) -> Option<Timestamp> {
        let (_, at) = self.since.filter(|_| self.is_down())?;
        Some(at)
    }

    /// The time for which the server has been down; `None` if it is not down.
    pub(super) fn duration(&self) -> Option<Duration> {
        let (at, _) = self.since.filter(|_| self.is_down())?;
        Some(at.elapsed())
    }

    /// True if a probe is in flight, so that no other attempt may start.
    pub(super) fn is_probed(&self) -> bool {
        self.probe.is_some()
    }

    /// The earliest time of the next probe; `None` if the server is not down.
    pub(super) fn next_probe(&self) -> Option<Instant> {
        self.next
    }

    /// Records that an attempt started. It is the probe if the server is down.
    pub(super) fn attempt_started(&mut self, number: u64) {
        self.probe = self.is_down().then_some(number);
    }

    /// Records that the server answered. A refusal is an answer too, and it ends an outage.
    pub(super) fn answered(&mut self) {
        *self = Self {
            has_answered: self.has_answered,
            ..Self::default()
        };
    }

    /// Records that the server did not answer a request about this question.
    pub(super) fn not_answered(&mut self, question: &str, now: Instant) {
        self.is_shared |= self.first.get_or_insert_with(|| question.to_owned()) != question;
        self.since.get_or_insert_with(|| (now, Timestamp::now()));
        self.failed += 1;
        if self.is_down() && self.next.is_none() {
            self.next = Some(now + FIRST_WAIT);
        }
    }

    /// Records that an attempt ended. If it was a probe without an answer, schedules the next
    /// probe.
    pub(super) fn attempt_ended(&mut self, number: u64, now: Instant) {
        if self.probe == Some(number) {
            self.probe = None;
            self.probes += 1;
            let wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(self.probes));
            self.next = Some(now + wait.min(LONGEST_WAIT));
        }
    }
}
