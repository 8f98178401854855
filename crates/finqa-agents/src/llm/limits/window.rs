//! A ceiling over a sliding window: what `--rpm` and `--tpm` promise.
//!
//! A bucket that starts full lets through twice its ceiling in the first minute, and one
//! that starts empty wastes the first; a window keeps its promise in every minute.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// A minute, and what two requests may differ in on their way to the server.
const MINUTE: Duration = Duration::from_millis(60_300);

/// At most `ceiling` in any `span`.
#[derive(Debug)]
pub(super) struct SlidingWindow {
    span: Duration,
    ceiling: u64,
    /// Attempt, when it started, and how much it counts; oldest first.
    entries: VecDeque<(u64, Instant, u64)>,
    sum: u64,
}

impl SlidingWindow {
    /// Maximum in any minute.
    pub(super) fn per_minute(ceiling: u64) -> Self {
        Self::new(MINUTE, ceiling)
    }

    /// Maximum in any minute, evenly spaced because some servers count by the second.
    pub(super) fn spread_over_a_minute(ceiling: u64) -> Self {
        let at_once = ceiling.div_ceil(60).max(1);
        let parts = u32::try_from(ceiling / at_once).unwrap_or(u32::MAX).max(1);
        Self::new(MINUTE / parts, at_once)
    }

    fn new(span: Duration, ceiling: u64) -> Self {
        Self {
            span,
            ceiling: ceiling.max(1),
            entries: VecDeque::new(),
            sum: 0,
        }
    }

    /// The earliest time at which `amount` fits; `None` if now. An amount above the ceiling
    /// fits when nothing else counts.
    pub(super) fn free_at(&mut self, now: Instant, amount: u64) -> Option<Instant> {
        while let Some(&(_, at, counted)) = self.entries.front()
            && at + self.span <= now
        {
            self.sum -= counted;
            self.entries.pop_front();
        }
        let amount = amount.min(self.ceiling);
        let mut excess = (self.sum + amount).saturating_sub(self.ceiling);
        if excess == 0 {
            return None;
        }
        let freed = self.entries.iter().find(|(_, _, counted)| {
            excess = excess.saturating_sub(*counted);
            excess == 0
        });
        freed.map(|(_, at, _)| *at + self.span)
    }

    /// Counts `amount` for an attempt; attempts come in rising order.
    pub(super) fn add(&mut self, attempt: u64, now: Instant, amount: u64) {
        self.entries.push_back((attempt, now, amount));
        self.sum += amount;
    }

    /// Replaces what was counted for an attempt by what it really took.
    pub(super) fn correct(&mut self, attempt: u64, amount: u64) {
        let found = self.entries.binary_search_by_key(&attempt, |entry| entry.0);
        if let Some(entry) = found.ok().and_then(|at| self.entries.get_mut(at)) {
            self.sum = self.sum - entry.2 + amount;
            entry.2 = amount;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_spread_over_the_minute_and_tokens_are_not() {
        for (ceiling, at_once, parts) in [(1, 1, 1), (10, 1, 10), (90, 2, 45), (6000, 100, 60)] {
            let window = SlidingWindow::spread_over_a_minute(ceiling);
            assert_eq!(window.ceiling, at_once, "{ceiling}");
            assert_eq!(window.span, MINUTE / parts, "{ceiling}");
        }
        assert_eq!(SlidingWindow::per_minute(30_000).ceiling, 30_000);
    }

    #[test]
    fn requests_fit_again_when_enough_has_left_the_window() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let mut window = SlidingWindow::new(10 * second, 100);
        window.add(0, start, 60);
        window.add(1, start + second, 30);
        assert_eq!(window.free_at(start + second, 10), None);
        assert_eq!(
            window.free_at(start + second, 11),
            Some(start + 10 * second)
        );
        assert_eq!(
            window.free_at(start + second, 500),
            Some(start + 11 * second)
        );
        assert_eq!(window.free_at(start + 11 * second, 500), None);
    }

    #[test]
    fn an_upper_bound_is_corrected_by_what_was_used() {
        let start = Instant::now();
        let mut window = SlidingWindow::per_minute(100);
        window.add(7, start, 90);
        assert!(window.free_at(start, 20).is_some());
        window.correct(7, 15);
        assert_eq!(window.free_at(start, 85), None);
        // It has left the window.
        window.correct(3, 1000);
        assert_eq!(window.free_at(start, 85), None);
    }
}
