//! The calls of a run as they are shown: how many are in flight, how many are retried, and
//! until when nothing happens, so that a patient run does not look like one that hangs.

use std::time::Duration;

use jiff::Zoned;

use finqa_agents::llm::LimitStatus;
use finqa_core::text::counted;

/// A shorter pause is not shown: with `--rpm` there is one before every request.
const SHOWN_PAUSE: Duration = Duration::from_secs(2);

/// The calls so far.
#[derive(Debug, Default)]
pub(super) struct CallActivity {
    pub(super) retries: u64,
    limits: LimitStatus,
    /// The time of the next request, if all calls wait.
    until: Option<Zoned>,
}

impl CallActivity {
    /// Takes note of the limits; true if all calls wait.
    pub(super) fn limited(&mut self, limits: LimitStatus) -> bool {
        let pause = limits.pause.filter(|pause| *pause >= SHOWN_PAUSE);
        self.until = pause.map(|pause| Zoned::now().saturating_add(pause));
        self.limits = limits;
        self.until.is_some()
    }

    /// Nothing is in flight any more.
    pub(super) fn finished(&mut self) {
        self.limits.limit = 0;
        self.until = None;
    }

    /// In flight and limit, retries, 429s, and until when all calls wait.
    pub(super) fn text(&self) -> Option<String> {
        let LimitStatus {
            in_flight, limit, ..
        } = self.limits;
        let calls = format!("{} in flight, limit {limit}", counted(in_flight, "call"));
        let refused = self.limits.rate_limited;
        let until = self.until.as_ref();
        let parts = [
            (limit > 0).then_some(calls),
            (self.retries > 0).then(|| counted(self.retries, "retry")),
            (refused > 0).then(|| format!("{refused} × 429")),
            until.map(|until| format!("waiting until {}", until.strftime("%H:%M:%S"))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" · "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_shown_while_all_calls_wait_and_a_short_one_never() {
        let mut calls = CallActivity::default();
        assert_eq!(calls.text(), None);
        let mut at = |pause: Option<u64>| {
            let waits = calls.limited(LimitStatus {
                in_flight: 3,
                limit: 8,
                rate_limited: 2,
                pause: pause.map(Duration::from_millis),
            });
            let text = calls.text().unwrap();
            assert_eq!(waits, text.contains(" · waiting until "), "{text}");
            assert!(text.chars().count() <= 80, "{text}");
            (waits, text)
        };
        let busy = "3 calls in flight, limit 8 · 2 × 429".to_owned();
        assert_eq!(at(None), (false, busy.clone()));
        assert!(at(Some(900_000)).0);
        assert_eq!(at(Some(500)), (false, busy));
    }
}
