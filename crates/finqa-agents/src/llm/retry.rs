//! The one retry loop: how often, how long, and how it is interrupted.
//!
//! `backoff` is used here and nowhere else, so that replacing it changes one file. Three
//! of its habits are avoided: its `retry_after` bypasses every budget, its `From<E>`
//! would make any error transient, and it has no limit of attempts. So the server's hint
//! goes through `RetryBudget`, errors are mapped by hand, and the budget counts.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use backoff::backoff::Backoff;
use futures::FutureExt;
use parking_lot::Mutex;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tokio::sync::watch;
use tokio::time::Instant;

use super::error::{ErrorKind, ModelError};
use super::types::Stop;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryOptions {
    /// Maximum attempts of one request, the first included; at least one is made.
    pub max_attempts: u32,
    /// Maximum attempts to reach a server that has not answered once in this process: a
    /// mistyped host should be reported in less than a minute.
    pub first_contact_attempts: u32,
    /// No attempt starts later than this after the first one.
    pub total: Duration,
    /// The first wait; each further one is twice as long.
    pub first_delay: Duration,
    /// The longest wait without a hint; a server's hint is obeyed within `total`.
    pub max_delay: Duration,
}

/// The default of `--attempts`.
pub(super) const DEFAULT_ATTEMPTS: u32 = 6;

impl Default for RetryOptions {
    fn default() -> Self {
        Self {
            max_attempts: DEFAULT_ATTEMPTS,
            first_contact_attempts: 3,
            total: Duration::from_secs(600),
            first_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(30),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryNotice {
    /// From 1.
    pub attempt: u32,
    /// The wait before the next attempt.
    pub delay: Duration,
    pub reason: ErrorKind,
    pub message: String,
}

impl RetryNotice {
    /// The reason of the failure, for people: a timeout has no words from a server.
    pub fn words(&self) -> String {
        if self.message.trim().is_empty() {
            self.reason.to_string()
        } else {
            format!("{}: {}", self.reason, self.message)
        }
    }
}

#[derive(Debug)]
pub(super) struct FailedAttempt {
    /// The error if it was the last attempt.
    pub error: Box<ModelError>,
    pub(crate) retry_limit: RetryLimit,
    /// The delay that the server asked for.
    pub(crate) hint: Option<Duration>,
}

/// The number of attempts that a failure is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetryLimit {
    None,
    /// [`RetryOptions::first_contact_attempts`].
    FirstContact,
    /// [`RetryOptions::max_attempts`].
    Full,
}

impl FailedAttempt {
    /// A failure that another attempt would not fix.
    pub(crate) fn permanent(error: ModelError) -> Self {
        Self {
            error: Box::new(error),
            retry_limit: RetryLimit::None,
            hint: None,
        }
    }

    /// The call was stopped from outside.
    pub(crate) fn cancelled() -> Self {
        Self::permanent(cancelled())
    }
}

/// The last failure's limit and hint; written by the loop, read when `backoff` asks.
type RetryAdvice = Arc<Mutex<(RetryLimit, Option<Duration>)>>;

/// Attempts, time and waits of one request.
#[derive(Debug)]
struct RetryBudget {
    options: RetryOptions,
    started: Instant,
    attempts: u32,
    delay: Duration,
    advice: RetryAdvice,
    rng: ChaCha8Rng,
}

impl RetryBudget {
    /// Between half and all of `delay`, so that calls that failed together do not return
    /// together.
    fn jittered(&mut self, delay: Duration) -> Duration {
        delay.mul_f64(self.rng.random_range(0.5..=1.0))
    }
}

impl Backoff for RetryBudget {
    fn next_backoff(&mut self) -> Option<Duration> {
        let options = self.options;
        let (retry_limit, hint) = *self.advice.lock();
        self.attempts = self.attempts.saturating_add(1);
        let limit = match retry_limit {
            RetryLimit::None => 1,
            RetryLimit::FirstContact => options.first_contact_attempts.min(options.max_attempts),
            RetryLimit::Full => options.max_attempts,
        };
        if self.attempts >= limit {
            return None;
        }
        let own = self.jittered(self.delay.min(options.max_delay));
        self.delay = self.delay.saturating_mul(2).min(options.max_delay);
        let wait = match hint {
            // Every refused call got the same hint: spread them behind it.
            Some(hint) => hint.max(own).saturating_add(self.jittered(own) / 4),
            None => own,
        };
        let ends = self.started.elapsed().saturating_add(wait);
        (ends <= options.total).then_some(wait)
    }
}

/// Runs `operation` until it succeeds, fails permanently, the budget is spent, or it is
/// stopped: draining ends a wait at once, aborting ends a running attempt too, unless its outcome
/// is there.
///
/// `seed` drives the jitter.
pub(super) async fn retry<T, F, Fut>(
    options: RetryOptions,
    seed: u64,
    stop: &Stop,
    notify: &(dyn Fn(RetryNotice) + Sync),
    mut operation: F,
) -> Result<T, ModelError>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, FailedAttempt>>,
{
    let advice: RetryAdvice = Arc::new(Mutex::new((RetryLimit::Full, None)));
    let budget = RetryBudget {
        options,
        started: Instant::now(),
        attempts: 0,
        delay: options.first_delay,
        advice: Arc::clone(&advice),
        rng: ChaCha8Rng::seed_from_u64(seed),
    };
    let mut tries: u32 = 0;
    // There is no wait before the first attempt.
    let (running, mut phase) = watch::channel(true);
    let attempts = backoff::future::retry_notify(
        budget,
        || {
            // `backoff` calls this before it waits, so nothing may happen outside the future.
            let attempt = operation();
            let advice = Arc::clone(&advice);
            let running = &running;
            async move {
                if stop.abort.is_cancelled() {
                    return Err(backoff::Error::permanent(cancelled()));
                }
                running.send_replace(true);
                let outcome = attempt.await;
                running.send_replace(false);
                outcome.map_err(|failed| {
                    *advice.lock() = (failed.retry_limit, failed.hint);
                    match failed.retry_limit {
                        RetryLimit::None => backoff::Error::permanent(*failed.error),
                        _ => backoff::Error::transient(*failed.error),
                    }
                })
            }
        },
        |error: ModelError, delay| {
            tries = tries.saturating_add(1);
            notify(RetryNotice {
                attempt: tries,
                delay,
                reason: error.kind,
                message: error.message,
            });
        },
    );
    let waits_while_draining = async {
        stop.drain.cancelled().await;
        let _ = phase.wait_for(|running| !running).await;
    };
    tokio::pin!(attempts);
    tokio::select! {
        biased;
        // A reply that has arrived is paid for.
        () = stop.abort.cancelled() => {
            attempts.now_or_never().unwrap_or(Err(cancelled()))
        }
        outcome = &mut attempts => outcome,
        () = waits_while_draining => Err(cancelled()),
    }
}

fn cancelled() -> ModelError {
    ModelError::new(ErrorKind::Cancelled, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use tokio::sync::Notify;

    fn failure(retry_limit: RetryLimit, hint: Option<u64>) -> FailedAttempt {
        FailedAttempt {
            error: Box::new(ModelError::new(ErrorKind::RateLimited, "slow down")),
            retry_limit,
            hint: hint.map(Duration::from_millis),
        }
    }

    /// Milliseconds in place of seconds: the arithmetic is the same.
    const QUICK: RetryOptions = RetryOptions {
        max_attempts: 6,
        first_contact_attempts: 3,
        total: Duration::from_secs(60),
        first_delay: Duration::from_micros(500),
        max_delay: Duration::from_millis(30),
    };

    async fn run(
        options: RetryOptions,
        make: impl Fn(u32) -> Result<u32, FailedAttempt>,
    ) -> (Result<u32, ModelError>, Vec<RetryNotice>, u32) {
        let notices = Mutex::new(Vec::new());
        let calls = AtomicU32::new(0);
        let outcome = retry(
            options,
            7,
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
    async fn attempts_are_bounded_and_waits_double() {
        let (outcome, notices, calls) = run(QUICK, |_| Err(failure(RetryLimit::Full, None))).await;
        assert_eq!(outcome.unwrap_err().kind, ErrorKind::RateLimited);
        assert_eq!(calls, 6);
        assert_eq!(notices.len(), 5);
        let mut expected = QUICK.first_delay;
        for (index, notice) in (1..).zip(&notices) {
            assert_eq!(notice.attempt, index);
            assert!(notice.delay >= expected / 2 && notice.delay <= expected);
            expected *= 2;
        }
    }

    #[tokio::test]
    async fn a_permanent_failure_is_not_repeated() {
        let (outcome, notices, calls) =
            run(QUICK, |_| Err(failure(RetryLimit::None, Some(1)))).await;
        assert!(outcome.is_err());
        assert_eq!((calls, notices.len()), (1, 0));
    }

    #[tokio::test]
    async fn attempts_at_a_server_never_reached_end_early() {
        let (_, _, calls) = run(QUICK, |_| Err(failure(RetryLimit::FirstContact, None))).await;
        assert_eq!(calls, 3);
    }

    #[tokio::test]
    async fn a_hint_is_obeyed_and_never_shortens_our_own_wait() {
        let (_, notices, _) = run(QUICK, |attempt| {
            Err(failure(
                RetryLimit::Full,
                [Some(3), Some(20), Some(0), None][usize::try_from(attempt - 1).unwrap().min(3)],
            ))
        })
        .await;
        let waits: Vec<f64> = notices
            .iter()
            .map(|n| n.delay.as_secs_f64() * 1000.0)
            .collect();
        assert!((3.0..3.2).contains(&waits[0]), "{waits:?}");
        assert!((20.0..20.3).contains(&waits[1]), "{waits:?}");
        assert!((1.0..2.6).contains(&waits[2]), "{waits:?}");
    }

    /// It was once cut to 90 s without a word, and the server refused again.
    #[tokio::test(start_paused = true)]
    async fn a_retry_after_above_90_seconds_is_obeyed_and_above_the_total_time_ends_the_call() {
        let hint = |seconds: u64| {
            move |attempt| match attempt {
                1 => Err(failure(RetryLimit::Full, Some(seconds * 1000))),
                _ => Ok(42),
            }
        };
        let options = RetryOptions::default();
        let (outcome, notices, _) = run(options, hint(300)).await;
        assert_eq!(outcome.unwrap(), 42);
        assert_eq!(notices[0].delay.as_secs(), 300);
        let (outcome, notices, calls) = run(options, hint(3600)).await;
        assert_eq!(outcome.unwrap_err().kind, ErrorKind::RateLimited);
        assert_eq!((notices.len(), calls), (0, 1));
    }

    #[tokio::test]
    async fn hints_cannot_outlast_the_total_time() {
        let options = RetryOptions {
            max_attempts: 1000,
            total: Duration::from_millis(100),
            ..QUICK
        };
        let (outcome, notices, _) =
            run(options, |_| Err(failure(RetryLimit::Full, Some(40)))).await;
        assert!(outcome.is_err());
        let waited: Duration = notices.iter().map(|notice| notice.delay).sum();
        assert!(waited <= options.total, "{waited:?}");
    }

    /// Waits that outlast any test.
    const PATIENT: RetryOptions = RetryOptions {
        first_delay: Duration::from_secs(300),
        max_delay: Duration::from_secs(300),
        total: Duration::from_secs(3000),
        ..QUICK
    };

    /// The result of a call that always fails, stopped in its first wait.
    async fn stopped_while_waiting(stopped: impl Fn(&Stop)) -> ErrorKind {
        let stop = Stop::default();
        let waits = Notify::new();
        let notify = |_| waits.notify_one();
        let (outcome, ()) = tokio::join!(
            retry(PATIENT, 1, &stop, &notify, || async {
                Err::<(), _>(failure(RetryLimit::Full, None))
            }),
            async {
                waits.notified().await;
                stopped(&stop);
            }
        );
        outcome.unwrap_err().kind
    }

    #[tokio::test]
    async fn draining_and_aborting_end_a_wait_at_once() {
        let drained = stopped_while_waiting(|stop| stop.drain.cancel()).await;
        assert_eq!(drained, ErrorKind::Cancelled);
        let aborted = stopped_while_waiting(|stop| stop.abort.cancel()).await;
        assert_eq!(aborted, ErrorKind::Cancelled);
    }

    #[tokio::test]
    async fn aborting_gives_up_no_reply_that_is_there_and_starts_no_attempt() {
        let stop = Stop::default();
        let (arrived, starts) = (Notify::new(), AtomicU32::new(0));
        let call = || {
            retry(PATIENT, 1, &stop, &|_| (), || async {
                starts.fetch_add(1, Ordering::Relaxed);
                arrived.notified().await;
                Ok::<_, FailedAttempt>(42)
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

    #[tokio::test]
    async fn draining_lets_a_running_attempt_finish_and_starts_no_other() {
        let stop = Stop::default();
        let drained = stop.drain.clone();
        let answered = retry(PATIENT, 1, &stop, &|_| (), || async {
            drained.cancel();
            tokio::task::yield_now().await;
            Ok::<_, FailedAttempt>(42)
        });
        assert_eq!(answered.await.unwrap(), 42);
        let failed = retry(PATIENT, 1, &stop, &|_| (), || async {
            Err::<(), _>(failure(RetryLimit::Full, None))
        });
        assert_eq!(failed.await.unwrap_err().kind, ErrorKind::Cancelled);
    }
}
