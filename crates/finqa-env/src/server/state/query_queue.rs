//! The turns of queries. There are two queues: brief turns, which end after milliseconds, side by
//! side, and long turns, one at a time. Every query is tried in a brief turn first, unless the
//! last one of its session needed a long one, so that an ordinary query waits for milliseconds
//! of others and never for a slow one. Sessions that have finished no brief turn yet share one:
//! a crowd that arrives at once does not hold up those that were there before.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Semaphore;

/// Queries that wait for their turn, first come, first served.
pub(crate) struct QueryQueue(Arc<Semaphore>);

impl QueryQueue {
    /// A queue of which `workers` queries run at a time.
    pub(crate) fn new(workers: usize) -> Self {
        Self(Arc::new(Semaphore::new(workers)))
    }

    /// Runs blocking work when its turn comes; `None` if it panicked. Work that has begun is
    /// finished even if its caller is gone, and keeps its turn until then.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let turn = Arc::clone(&self.0).acquire_owned().await.ok()?;
        let running = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(turn);
            result
        });
        let ended = running.await;
        ended
            .inspect_err(|bug| tracing::error!(%bug, "a tool call ended in a bug"))
            .ok()
    }
}

/// What is known of the queries of a session.
#[derive(Default)]
pub(crate) struct QueryHabit {
    needs_long: AtomicBool,
    has_finished_brief: AtomicBool,
}

impl QueryHabit {
    /// True if the last query needed a long turn.
    pub(crate) fn needs_long(&self) -> bool {
        self.needs_long.load(Ordering::Relaxed)
    }

    /// Records whether the last query needed a long turn.
    pub(crate) fn set_needs_long(&self, slow: bool) {
        self.needs_long.store(slow, Ordering::Relaxed);
        if !slow {
            self.has_finished_brief.store(true, Ordering::Relaxed);
        }
    }

    /// True if no query has finished in a brief turn.
    pub(crate) fn is_new(&self) -> bool {
        !self.has_finished_brief.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;
    use std::sync::mpsc;

    #[tokio::test]
    async fn a_panic_in_one_query_does_not_end_the_queue() {
        let queue = QueryQueue::new(1);
        let bug = queue.run(|| assert!(std::hint::black_box(false), "on purpose"));
        assert!(bug.await.is_none());
        assert_eq!(queue.run(|| 5).await, Some(5));
    }

    #[tokio::test]
    async fn a_query_whose_caller_is_gone_is_not_begun() {
        let queue = QueryQueue::new(1);
        let (release, held) = mpsc::channel::<()>();
        let mut first = Box::pin(queue.run(move || held.recv().is_err()));
        assert!(first.as_mut().now_or_never().is_none());
        let ran = Arc::new(AtomicBool::new(false));
        for _ in 0..100 {
            let ran = Arc::clone(&ran);
            let work = move || ran.store(true, Ordering::Relaxed);
            assert!(queue.run(work).now_or_never().is_none());
        }
        let mut last = Box::pin(queue.run(|| 5));
        assert!(last.as_mut().now_or_never().is_none());
        drop(release);
        first.await.unwrap();
        assert_eq!(last.await, Some(5));
        assert!(!ran.load(Ordering::Relaxed));
    }
}
