//! Retries of a run as they are shown: how many, and until when the last of
//! them waits, so that a patient run does not look like one that hangs.

use std::time::{Duration, Instant};

use jiff::Zoned;

use super::progress::ProgressOptions;

/// Least time between two plain lines about retries.
const INTERVAL: Duration = Duration::from_secs(5);

/// The retries so far.
#[derive(Debug, Default)]
pub(super) struct Retries {
    count: u64,
    /// When the longest wait known ends.
    until: Option<Zoned>,
    /// When a line was last printed.
    told: Option<Instant>,
}

impl Retries {
    /// Counts a retry after `delay`; whether a line about it is due.
    pub(super) fn add(&mut self, delay: Duration) -> bool {
        self.count += 1;
        let until = Zoned::now().saturating_add(delay);
        if self.until.as_ref().is_none_or(|known| *known < until) {
            self.until = Some(until);
        }
        let due = self.told.is_none_or(|told| told.elapsed() >= INTERVAL);
        if due {
            self.told = Some(Instant::now());
        }
        due
    }

    /// How many, and until when is waited; nothing before the first.
    pub(super) fn text(&self) -> Option<String> {
        let noun = if self.count == 1 { "retry" } else { "retries" };
        let waiting = self.until.as_ref().filter(|until| **until > Zoned::now());
        match (self.count, waiting) {
            (0, _) => None,
            (count, None) => Some(format!("{count} {noun}")),
            (count, Some(until)) => Some(format!(
                "{count} {noun}, waiting until {}",
                until.strftime("%H:%M:%S")
            )),
        }
    }
}

/// The line about a retry: every one where all is shown; else the status, if one
/// is `due`, where no bar shows it.
pub(super) fn line(
    options: ProgressOptions,
    due: bool,
    attempt: u32,
    delay: Duration,
    reason: &str,
    status: impl FnOnce() -> String,
) -> Option<String> {
    if options.verbose {
        let seconds = delay.as_secs_f64();
        return Some(format!(
            "  request {attempt} failed ({reason}); again in {seconds:.1} s"
        ));
    }
    let plain = !options.terminal && !options.logged;
    (due && plain).then(|| format!("{}: {reason}", status()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_retry_is_told_at_once_and_a_storm_at_a_bounded_rate() {
        let mut retries = Retries::default();
        assert_eq!(retries.text(), None);
        let lines = (0..1000).filter(|_| retries.add(Duration::from_secs(900)));
        assert_eq!(lines.count(), 1);
        let text = retries.text().unwrap();
        assert!(text.starts_with("1000 retries, waiting until "), "{text}");
    }

    #[test]
    fn a_wait_that_is_over_is_not_shown() {
        let mut retries = Retries::default();
        assert!(retries.add(Duration::ZERO));
        assert_eq!(retries.text().unwrap(), "1 retry");
    }
}
