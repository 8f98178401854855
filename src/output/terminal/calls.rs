//! The calls of a run as they are shown: how many are in flight and how many are retried, so
//! that a patient run does not look like one that hangs.

use finqa_agents::llm::LimitStatus;
use finqa_core::text::counted;

use super::style::joined;

/// The calls so far.
#[derive(Debug, Default)]
pub(super) struct CallActivity {
    pub(super) retries: u64,
    pub(super) limits: LimitStatus,
}

impl CallActivity {
    /// Nothing is in flight any more.
    pub(super) fn finished(&mut self) {
        self.limits.limit = 0;
    }

    /// In flight and limit, retries, and 429s.
    pub(super) fn text(&self) -> Option<String> {
        let LimitStatus {
            in_flight,
            limit,
            rate_limited,
        } = self.limits;
        let calls = format!("{} in flight, limit {limit}", counted(in_flight, "call"));
        let text = joined([
            (limit > 0).then_some(calls),
            (self.retries > 0).then(|| counted(self.retries, "retry")),
            (rate_limited > 0).then(|| format!("{rate_limited} × 429")),
        ]);
        (!text.is_empty()).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_in_flight_their_limit_and_refusals_are_shown() {
        let mut calls = CallActivity::default();
        assert_eq!(calls.text(), None);
        calls.limits = LimitStatus {
            in_flight: 3,
            limit: 8,
            rate_limited: 2,
        };
        let text = calls.text().unwrap();
        assert_eq!(text, "3 calls in flight, limit 8 · 2 × 429");
    }
}
