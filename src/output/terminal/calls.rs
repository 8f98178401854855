//! The calls of a run as they are shown: how many are in flight, how many are retried, and
//! until when nothing happens, so that a patient run does not look like one that hangs.

use std::time::{Duration, Instant};

use jiff::Zoned;

use finqa_agents::llm::LimitStatus;
use finqa_core::text::counted;

/// Least time between two plain lines about retries.
const INTERVAL: Duration = Duration::from_secs(5);

/// A shorter pause is not shown: with `--rpm` there is one before every request.
const SHOWN_PAUSE: Duration = Duration::from_secs(2);

/// The calls so far.
#[derive(Debug, Default)]
pub(super) struct CallActivity {
    retries: u64,
    limits: LimitStatus,
    /// The time of the next request, if all calls wait.
    until: Option<Zoned>,
    /// The time of the last printed line.
    last_line: Option<Instant>,
}

impl CallActivity {
    /// Counts a retry; whether a line about it is due.
    pub(super) fn retried(&mut self) -> bool {
        self.retries += 1;
        self.is_due()
    }

    /// Takes note of the limits; whether a line is due because all calls wait.
    pub(super) fn limited(&mut self, limits: LimitStatus) -> bool {
        let pause = limits.pause.filter(|pause| *pause >= SHOWN_PAUSE);
        self.until = pause.map(|pause| Zoned::now().saturating_add(pause));
        self.limits = limits;
        self.until.is_some() && self.is_due()
    }

    /// Nothing is in flight any more.
    pub(super) fn finished(&mut self) {
        self.limits.limit = 0;
        self.until = None;
    }

    fn is_due(&mut self) -> bool {
        let due = self.last_line.is_none_or(|last| last.elapsed() >= INTERVAL);
        if due {
            self.last_line = Some(Instant::now());
        }
        due
    }

    /// In flight and limit, retries, 429s, and until when all calls wait.
    pub(super) fn text(&self) -> Option<String> {
        let LimitStatus {
            in_flight,
            limit,
            rate_limited,
            ..
        } = self.limits;
        let mut parts = Vec::new();
        if limit > 0 {
            parts.push(format!(
                "{} in flight, limit {limit}",
                counted(in_flight, "call")
            ));
        }
        if self.retries > 0 {
            parts.push(counted(self.retries, "retry"));
        }
        if rate_limited > 0 {
            parts.push(format!("{rate_limited} × 429"));
        }
        if let Some(until) = &self.until {
            parts.push(format!("waiting until {}", until.strftime("%H:%M:%S")));
        }
        (!parts.is_empty()).then(|| parts.join(" · "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_retry_is_shown_at_once_and_many_at_a_bounded_rate() {
        let mut calls = CallActivity::default();
        assert_eq!(calls.text(), None);
        assert_eq!((0..1000).filter(|_| calls.retried()).count(), 1);
        assert_eq!(calls.text().unwrap(), "1000 retries");
    }

    #[test]
    fn a_wait_is_shown_while_all_calls_wait_and_a_short_one_never() {
        let mut calls = CallActivity::default();
        let mut at = |pause: Option<u64>| {
            calls.limited(LimitStatus {
                in_flight: 3,
                limit: 8,
                rate_limited: 2,
                pause: pause.map(Duration::from_millis),
            });
            calls.text().unwrap()
        };
        assert_eq!(at(None), "3 calls in flight, limit 8 · 2 × 429");
        let waiting = at(Some(900_000));
        assert!(waiting.contains(" · waiting until "), "{waiting}");
        assert!(waiting.chars().count() <= 80, "{waiting}");
        assert!(!at(Some(500)).contains("waiting"));
        assert!(!at(None).contains("waiting"));
    }
}
