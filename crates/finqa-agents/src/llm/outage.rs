//! The outage of a server: one that has answered the run and no longer does is given time. All
//! calls wait while one request after the other asks whether it answers again.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

/// Requests in a row without an answer, after which the server is down, if they are not all of
/// one question: a gateway gives up a prompt that takes long.
const DOWN_AFTER: u32 = 3;

/// The first and the longest wait between two probes.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub(super) struct Outage {
    /// The server has answered a request of the run, perhaps of an earlier process.
    pub(super) has_answered: bool,
    /// Requests in a row that it did not answer.
    failed: u32,
    /// The time of the first of them.
    since: Option<(Instant, Timestamp)>,
    /// Its question, and whether another question had no answer either.
    first: Option<String>,
    is_shared: bool,
    /// The attempt that asks whether it answers again.
    probe: Option<u64>,
    probes: u32,
    /// The earliest time of the next probe.
    next: Option<Instant>,
}

impl Outage {
    fn is_down(&self) -> bool {
        self.has_answered && self.is_shared && self.failed >= DOWN_AFTER
    }

    /// When it first did not answer, if it is down.
    pub(super) fn since(&self) -> Option<Timestamp> {
        let (_, at) = self.since.filter(|_| self.is_down())?;
        Some(at)
    }

    /// How long it has been down, if it is.
    pub(super) fn duration(&self) -> Option<Duration> {
        let (at, _) = self.since.filter(|_| self.is_down())?;
        Some(at.elapsed())
    }

    /// True if a probe is under way, so that nothing else may start.
    pub(super) fn is_probed(&self) -> bool {
        self.probe.is_some()
    }

    /// The earliest time of the next probe, if the server is down.
    pub(super) fn next_probe(&self) -> Option<Instant> {
        self.next
    }

    pub(super) fn attempt_started(&mut self, number: u64) {
        self.probe = self.is_down().then_some(number);
    }

    /// The server answered, if only with a refusal.
    pub(super) fn answered(&mut self) {
        *self = Self {
            has_answered: self.has_answered,
            ..Self::default()
        };
    }

    pub(super) fn not_answered(&mut self, question: &str, now: Instant) {
        self.is_shared |= self.first.get_or_insert_with(|| question.to_owned()) != question;
        self.since.get_or_insert_with(|| (now, Timestamp::now()));
        self.failed += 1;
        if self.is_down() && self.next.is_none() {
            self.next = Some(now + FIRST_WAIT);
        }
    }

    /// An attempt ended; a probe that was not answered is followed by another one, later.
    pub(super) fn attempt_ended(&mut self, number: u64, now: Instant) {
        if self.probe == Some(number) {
            self.probe = None;
            self.probes += 1;
            let wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(self.probes));
            self.next = Some(now + wait.min(LONGEST_WAIT));
        }
    }
}
