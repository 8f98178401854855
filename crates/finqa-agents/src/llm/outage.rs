//! Recognises that a server is down. A server that has answered the run and no longer does is given
//! time: all calls wait, while one request at a time, the probe, tests whether it answers again.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

/// Number of requests in a row without an answer after which the server is down, unless all are
/// about one question: a gateway may give up a prompt that takes long.
const DOWN_AFTER: u32 = 3;

/// The wait before the first probe; it doubles after each one.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait between two probes.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub(super) struct Outage {
    /// True if the server has answered a request of the run, perhaps of an earlier process.
    pub(super) has_answered: bool,
    /// Requests in a row that it did not answer.
    failed: u32,
    /// The time of the first of them.
    since: Option<(Instant, Timestamp)>,
    /// The question of the first of them.
    first: Option<String>,
    /// True if one of them was about another question.
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

    /// The time since which the server has been down, if it is.
    pub(super) fn since(&self) -> Option<Timestamp> {
        let (_, at) = self.since.filter(|_| self.is_down())?;
        Some(at)
    }

    /// How long the server has been down, if it is.
    pub(super) fn duration(&self) -> Option<Duration> {
        let (at, _) = self.since.filter(|_| self.is_down())?;
        Some(at.elapsed())
    }

    /// True if a probe is in flight, so that nothing else may start.
    pub(super) fn is_probed(&self) -> bool {
        self.probe.is_some()
    }

    /// The earliest time of the next probe, if the server is down.
    pub(super) fn next_probe(&self) -> Option<Instant> {
        self.next
    }

    /// Notes that an attempt started, which is the probe if the server is down.
    pub(super) fn attempt_started(&mut self, number: u64) {
        self.probe = self.is_down().then_some(number);
    }

    /// Notes that the server answered, if only with a refusal, which ends an outage.
    pub(super) fn answered(&mut self) {
        *self = Self {
            has_answered: self.has_answered,
            ..Self::default()
        };
    }

    /// Notes that the server did not answer a request about this question.
    pub(super) fn not_answered(&mut self, question: &str, now: Instant) {
        self.is_shared |= self.first.get_or_insert_with(|| question.to_owned()) != question;
        self.since.get_or_insert_with(|| (now, Timestamp::now()));
        self.failed += 1;
        if self.is_down() && self.next.is_none() {
            self.next = Some(now + FIRST_WAIT);
        }
    }

    /// Notes that an attempt ended. If it was a probe without an answer, the next one is scheduled.
    pub(super) fn attempt_ended(&mut self, number: u64, now: Instant) {
        if self.probe == Some(number) {
            self.probe = None;
            self.probes += 1;
            let wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(self.probes));
            self.next = Some(now + wait.min(LONGEST_WAIT));
        }
    }
}
