//! The retry loop of model calls. It decides how often and how long a request is repeated, and can
//! be interrupted.
//!
//! The waits are those of `backoff`, which is used only in this file. Its own loops are not used,
//! because they follow a server's hint beyond every limit, and do not count attempts.

use std::future::Future;
use std::time::Duration;

use backoff::backoff::Backoff;
use backoff::{ExponentialBackoff, ExponentialBackoffBuilder};
use futures::FutureExt;
use jiff::SignedDuration;
use tokio::time::Instant;

use super::error::{ErrorKind, ModelError, constant_words};
use super::types::Stop;

/// The limits for repeating a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryOptions {
    /// Maximum number of attempts of one request, including the first. At least one attempt is
    /// made.
    pub max_attempts: u32,
    /// Maximum number of attempts to connect. It is small for a server that has not answered yet,
    /// so that a mistyped address is reported within seconds.
    pub connect_attempts: u32,
    /// Maximum number of attempts that may time out. Each of them may have been answered and
    /// billed.
    pub max_timeouts: u32,
    /// No attempt starts later than this after the first attempt, or after the beginning of an
    /// outage.
    pub give_up_after: Duration,
    /// The first wait. It doubles with each attempt.
    pub first_delay: Duration,
    /// The longest wait if the server does not ask for one. A wait that the server asks for is
    /// followed up to `give_up_after`.
    pub max_delay: Duration,
}

/// The wait that a server asks for is mentioned in the error if it has at least this length. Set by
/// hand: shorter waits need no explanation.
const LONG_HINT: Duration = Duration::from_secs(60);

/// The text between the reason why a reply cannot be read and the beginning of that reply.
pub(super) const QUOTE: &str = "; it begins with ";

/// The default of `--attempts`. The waits between six attempts add up to at most 15.5 s, unless the
/// server asks for longer ones.
pub(super) const DEFAULT_ATTEMPTS: u32 = 6;

/// Set by hand. The first and the longest wait bound the load on a failing server; the numbers of
/// attempts bound the time until a wrong address is reported, and what a timeout may cost;
/// `give_up_after` bounds how long a run waits for a server that is down.
impl Default for RetryOptions {
    fn default() -> Self {
        Self {
            max_attempts: DEFAULT_ATTEMPTS,
            connect_attempts: 3,
            max_timeouts: 2,
            give_up_after: Duration::from_secs(600),
            first_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(30),
        }
    }
}

/// A failed attempt that will be repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryNotice {
    /// The number of the failed attempt, from 1.
    pub attempt: u32,
    /// The wait before the next attempt.
    pub delay: Duration,
    pub reason: ErrorKind,
    pub message: String,
}

impl RetryNotice {
    /// The reason of the failure, for people. For a timeout, it is our own text, because there is
    /// no message from the server.
    pub fn words(&self) -> String {
        if self.message.trim().is_empty() {
            self.reason.to_string()
        } else {
            format!("{}: {}", self.reason, self.message)
        }
    }
}

/// Runs `operation` until it succeeds, fails permanently, fails as often or as long as the options
/// allow, returns an unusable reply twice in the same way, or is stopped. While the server is down,
/// only the time is limited, not the attempts. Draining ends a wait at once. Aborting also ends a
/// running attempt, unless its outcome has arrived.
pub(super) async fn retry<T, F, Fut>(
    options: RetryOptions,
    stop: &Stop,
    notify: &(dyn Fn(RetryNotice) + Sync),
    mut operation: F,
) -> Result<T, ModelError>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, Box<ModelError>>>,
{
    let mut failed = FailedAttempts::new(options);
    for attempt in 1.. {
        if stop.abort.is_cancelled() {
            break;
        }
        let running = operation();
        tokio::pin!(running);
        let outcome = tokio::select! {
            biased;
            // A reply that has already arrived was paid for, so use it.
            () = stop.abort.cancelled() => match running.as_mut().now_or_never() {
                Some(outcome) => outcome,
                None => break,
            },
            outcome = &mut running => outcome,
        };
        let error = match outcome {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let notice = failed.count(attempt, error).map_err(|error| *error)?;
        let delay = notice.delay;
        notify(notice);
        tokio::select! {
            // Biased, so that a stopped run makes no further attempt.
            biased;
            () = stop.abort.cancelled() => break,
            () = stop.drain.cancelled() => break,
            () = tokio::time::sleep(delay) => {}
        }
    }
    Err(cancelled())
}

/// What the failed attempts of a request have used up.
struct FailedAttempts {
    options: RetryOptions,
    started: Instant,
    waits: ExponentialBackoff,
    /// The attempts that count, and those of them that timed out.
    counted: u32,
    timeouts: u32,
    /// The reason why the last reply could not be used.
    unusable: Option<String>,
}

impl FailedAttempts {
    fn new(options: RetryOptions) -> Self {
        Self {
            options,
            started: Instant::now(),
            // Each wait is chosen at random between half of the delay and the full delay, so that
            // calls that failed at the same time are not repeated at the same time.
            waits: ExponentialBackoffBuilder::new()
                .with_initial_interval(options.first_delay.mul_f64(0.75))
                .with_max_interval(options.max_delay.mul_f64(0.75))
                .with_randomization_factor(1.0 / 3.0)
                .with_multiplier(2.0)
                .with_max_elapsed_time(None)
                .build(),
            counted: 0,
            timeouts: 0,
            unusable: None,
        }
    }

    /// Counts a failed attempt. Returns the wait before the next attempt, or the error if the
    /// request is not sent again.
    fn count(
        &mut self,
        attempt: u32,
        mut error: Box<ModelError>,
    ) -> Result<RetryNotice, Box<ModelError>> {
        let delay = self.delay(&error);
        self.timeouts += u32::from(error.kind == ErrorKind::Timeout);
        self.counted += u32::from(error.outage.is_none());
        let is_same = self.is_unusable_again(&error);
        if !error.kind.is_transient() || is_same || self.timeouts >= self.options.max_timeouts {
            return Err(error);
        }
        // Do not charge the wait for the limits to this call's deadline.
        self.started += error.queued;
        if error.outage.is_some() {
            // Do not charge the outage to this call's deadline.
            self.started = Instant::now();
        }
        if self.is_over(&mut error, delay) {
            return Err(error);
        }
        Ok(RetryNotice {
            attempt,
            delay,
            reason: error.kind,
            message: error.message,
        })
    }

    /// The wait after this failure.
    fn delay(&mut self, error: &ModelError) -> Duration {
        let own = self.waits.next_backoff().unwrap_or(self.options.max_delay);
        match error.retry_after {
            // A hint never shortens our own wait. Calls that were refused together got the same
            // hint, so a random wait is added: a quarter of our own, which is set by hand.
            Some(hint) => hint.max(own).saturating_add(own / 4),
            None => own,
        }
    }

    /// True if the reply could not be used in the same way as the last reply that could not.
    fn is_unusable_again(&mut self, error: &ModelError) -> bool {
        let way = match error.kind {
            // The message quotes the model's output, which differs each time, so do not compare it.
            ErrorKind::BadGeneration => Some(String::new()),
            ErrorKind::Malformed => error.message.split(QUOTE).next().map(constant_words),
            _ => None,
        };
        way.is_some() && std::mem::replace(&mut self.unusable, way.clone()) == way
    }

    /// True if another attempt after this delay would exceed the number of attempts or the time. If
    /// the time decides, the error says so.
    fn is_over(&self, error: &mut ModelError, delay: Duration) -> bool {
        let options = self.options;
        let most = match error.kind {
            ErrorKind::Connect => options.connect_attempts.min(options.max_attempts),
            _ => options.max_attempts,
        };
        let limit = options.give_up_after;
        let long_hint = error
            .retry_after
            .filter(|hint| *hint >= LONG_HINT.min(limit));
        if let Some(hint) = long_hint {
            error.add(&format!("it asks to wait {}", shown(hint)));
        }
        let waited = error.outage.unwrap_or_else(|| self.started.elapsed());
        let is_late = waited.saturating_add(delay) > limit;
        if long_hint.is_some_and(|hint| hint > limit) {
            error.add(&format!("give_up_after is {}", shown(limit)));
            error.is_given_up = true;
        } else if error.outage.is_some() && is_late {
            error.add(&format!("no answer for {} (give_up_after)", shown(limit)));
            error.is_given_up = true;
        }
        error.is_given_up || error.outage.is_none() && (self.counted >= most || is_late)
    }
}

/// A time with its unit, in the form of options.
fn shown(time: Duration) -> String {
    let time = SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX);
    format!("{time:#}")
}

/// The error of a call that was stopped from outside.
pub(super) fn cancelled() -> ModelError {
    ModelError::new(ErrorKind::Cancelled, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::error::Scope;
    use parking_lot::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};
    use tokio::sync::Notify;

    fn failure(hint: Option<u64>) -> Box<ModelError> {
        Box::new(ModelError {
            retry_after: hint.map(Duration::from_millis),
            ..ModelError::new(ErrorKind::RateLimited, "slow down")
        })
    }

    /// Milliseconds instead of seconds, which does not change the arithmetic.
    const QUICK: RetryOptions = RetryOptions {
        max_attempts: 6,
        connect_attempts: 3,
        max_timeouts: 2,
        give_up_after: Duration::from_secs(60),
        first_delay: Duration::from_micros(500),
        max_delay: Duration::from_millis(30),
    };

    async fn run(
        options: RetryOptions,
        make: impl Fn(u32) -> Result<u32, Box<ModelError>>,
    ) -> (Result<u32, ModelError>, Vec<RetryNotice>, u32) {
        let notices = Mutex::new(Vec::new());
        let calls = AtomicU32::new(0);
        let outcome = retry(
            options,
            &Stop::default(),
            &|notice| notices.lock().push(notice),
            || {
                let made = &make;
                let calls = &calls;
                async move { made(calls.fetch_add(1, Ordering::Relaxed) + 1) }
            },
        )
        .await;
        let calls = calls.load(Ordering::Relaxed);
        (outcome, notices.into_inner(), calls)
    }

    #[tokio::test]
    async fn attempts_are_bounded_those_to_connect_more_and_waits_double() {
        let (outcome, notices, calls) = run(QUICK, |_| Err(failure(None))).await;
        assert_eq!(outcome.unwrap_err().kind, ErrorKind::RateLimited);
        assert_eq!(calls, 6);
        assert_eq!(notices.len(), 5);
        let mut expected = QUICK.first_delay;
        for (index, notice) in (1..).zip(&notices) {
            assert_eq!(notice.attempt, index);
            assert!(notice.delay >= expected / 2 && notice.delay <= expected);
            expected *= 2;
        }
        let refused = || Box::new(ModelError::new(ErrorKind::Connect, "refused"));
        let (outcome, _, calls) = run(QUICK, |_| Err(refused())).await;
        assert_eq!((outcome.unwrap_err().kind, calls), (ErrorKind::Connect, 3));
    }

    #[tokio::test]
    async fn a_reply_that_is_unusable_twice_in_the_same_way_is_not_asked_for_again() {
        let unusable = |kind, words: &str| Err(Box::new(ModelError::new(kind, words)));
        use ErrorKind::{BadGeneration, Malformed};
        // The model's output differs each time, but is equally useless.
        let (_, _, calls) = run(QUICK, |at| {
            unusable(BadGeneration, &"{ \"answer\": ".repeat(at as usize))
        })
        .await;
        assert_eq!(calls, 2);
        let (_, _, calls) = run(QUICK, |at| {
            unusable(Malformed, &format!("not JSON{QUOTE}`<{at}>`"))
        })
        .await;
        assert_eq!(calls, 2);
        let (_, _, calls) = run(QUICK, |at| match at {
            2 => unusable(Malformed, "another"),
            _ => unusable(BadGeneration, "the same"),
        })
        .await;
        assert_eq!(calls, 4);
        let words = ["a", "b", "c", "d", "e"];
        let (outcome, _, _) = run(QUICK, |at| match words.get(at as usize - 1) {
            Some(words) => unusable(Malformed, words),
            None => Ok(42),
        })
        .await;
        assert_eq!(outcome.unwrap(), 42);
    }

    #[tokio::test]
    async fn a_hint_is_obeyed_and_never_shortens_our_own_wait() {
        let (_, notices, _) = run(QUICK, |attempt| {
            Err(failure(match attempt {
                1 => Some(3),
                2 => Some(20),
                3 => Some(0),
                _ => None,
            }))
        })
        .await;
        let waits = notices.iter().map(|it| it.delay.as_secs_f64() * 1000.0);
        let waits: Vec<f64> = waits.collect();
        assert!((3.0..3.2).contains(&waits[0]), "{waits:?}");
        assert!((20.0..20.3).contains(&waits[1]), "{waits:?}");
        assert!((1.0..2.6).contains(&waits[2]), "{waits:?}");
    }

    /// The wait was once cut to 90 s without a message, and the server refused again.
    #[tokio::test(start_paused = true)]
    async fn a_retry_after_above_90_seconds_is_obeyed_and_above_the_total_time_ends_the_call() {
        let hint = |seconds: u64| {
            move |attempt| match attempt {
                1 => Err(failure(Some(seconds * 1000))),
                _ => Ok(42),
            }
        };
        let options = RetryOptions::default();
        let (outcome, notices, _) = run(options, hint(300)).await;
        assert_eq!(outcome.unwrap(), 42);
        assert_eq!(notices[0].delay.as_secs(), 300);
        let words = notices[0].words();
        assert!(words.ends_with("slow down; it asks to wait 5m"), "{words}");
        let (outcome, notices, calls) = run(options, hint(3600)).await;
        let error = outcome.unwrap_err();
        assert_eq!((notices.len(), calls, error.scope()), (0, 1, Scope::Run));
        let said = "slow down; it asks to wait 1h; give_up_after is 10m";
        assert_eq!(error.message, said);
    }

    /// The first 429 after an outage once ended the call.
    #[tokio::test(start_paused = true)]
    async fn the_time_of_an_outage_is_not_the_calls_own() {
        let options = RetryOptions::default();
        let (outcome, _, calls) = run(options, |attempt| match attempt {
            1..=60 => Err(Box::new(ModelError {
                outage: Some(options.give_up_after / 2),
                ..ModelError::new(ErrorKind::ServerError, "maintenance")
            })),
            61 => Err(failure(None)),
            _ => Ok(42),
        })
        .await;
        assert_eq!((outcome.unwrap(), calls), (42, 62));
    }

    /// Waits that are longer than any test.
    const PATIENT: RetryOptions = RetryOptions {
        first_delay: Duration::from_secs(300),
        max_delay: Duration::from_secs(300),
        give_up_after: Duration::from_secs(3000),
        ..QUICK
    };

    #[tokio::test]
    async fn aborting_gives_up_no_reply_that_is_there_and_starts_no_attempt() {
        let stop = Stop::default();
        let (arrived, starts) = (Notify::new(), AtomicU32::new(0));
        let call = || {
            retry(PATIENT, &stop, &|_| (), || async {
                starts.fetch_add(1, Ordering::Relaxed);
                arrived.notified().await;
                Ok::<_, Box<ModelError>>(42)
            })
        };
        let mut answered = Box::pin(call());
        assert!((&mut answered).now_or_never().is_none());
        arrived.notify_one();
        stop.abort.cancel();
        assert_eq!(answered.await.unwrap(), 42);
        arrived.notify_one();
        assert_eq!(call().await.unwrap_err().kind, ErrorKind::Cancelled);
        assert_eq!(starts.into_inner(), 1);
    }
}
