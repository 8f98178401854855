//! The rate limit of one session: a number of requests per second, after a burst of as many.
//! A client that asks faster waits; nothing is refused or lost.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The pace of one client. Holds one instant, so thousands cost nothing.
pub(crate) struct RateLimit {
    /// Time that one request takes of the budget; none when unlimited.
    cost: Option<Duration>,
    burst: Duration,
    /// The time at which the budget used so far is earned back.
    paid: Mutex<Option<Instant>>,
}

impl RateLimit {
    /// A pace of `per_second` requests; 0 for no limit.
    pub(crate) fn new(per_second: u32) -> Self {
        Self {
            cost: Duration::from_secs(1).checked_div(per_second),
            burst: Duration::from_secs(1),
            paid: Mutex::new(None),
        }
    }

    /// Counts one request made at `now`; gives how long it must wait.
    pub(crate) fn take(&self, now: Instant) -> Duration {
        let Some(cost) = self.cost else {
            return Duration::ZERO;
        };
        let mut paid = self.paid.lock();
        let from = paid.map_or(now, |earlier| earlier.max(now));
        let due = from + cost;
        *paid = Some(due);
        due.duration_since(now).saturating_sub(self.burst)
    }

    /// Waits until a request may continue.
    pub(crate) async fn wait(&self) {
        let delay = self.take(Instant::now());
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_the_rest_waits_its_turn() {
        let rate = RateLimit::new(10);
        let now = Instant::now();
        for _ in 0..10 {
            assert_eq!(rate.take(now), Duration::ZERO);
        }
        assert_eq!(rate.take(now), Duration::from_millis(100));
        assert_eq!(rate.take(now), Duration::from_millis(200));
        let later = now + Duration::from_secs(60);
        assert_eq!(
            rate.take(later),
            Duration::ZERO,
            "the budget is earned back"
        );
    }

    #[test]
    fn no_limit_never_waits() {
        let rate = RateLimit::new(0);
        let now = Instant::now();
        assert!((0..100_000).all(|_| rate.take(now).is_zero()));
    }
}
