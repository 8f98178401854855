//! The queues in which queries wait for their turn. In the brief queue, queries with the brief
//! budget run in parallel and end after milliseconds. In the long queue, queries with the full
//! budget run one at a time. A query is first tried in the brief queue and moves to the long queue
//! if it does not finish, so that an ordinary query never waits for a slow one. If the last query
//! of a session needed the long queue, its next query starts there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Semaphore;

/// A queue of queries, in the order of their arrival.
pub(crate) struct QueryQueue(Arc<Semaphore>);

impl QueryQueue {
    /// Creates a queue of which `workers` queries can run at the same time.
    pub(crate) fn new(workers: usize) -> Self {
        Self(Arc::new(Semaphore::new(workers)))
    }

    /// Runs blocking work when its turn comes; `None` if the work panicked. Work that has started
    /// runs to its end even if the caller is dropped, and keeps its turn until then.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        // Waits without an error, because the semaphore is never closed.
        let turn = Arc::clone(&self.0).acquire_owned().await.ok()?;
        let running = tokio::task::spawn_blocking(move || {
            // The turn ends with the work and not with the caller, because the thread cannot be
            // stopped.
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

/// The queue that the last query of a session needed. It decides only in which queue the next query
/// waits, and never changes a result.
#[derive(Default)]
pub(crate) struct QueryCostHistory {
    needs_long: AtomicBool,
}

impl QueryCostHistory {
    /// True if the last query needed the long queue.
    pub(crate) fn needs_long(&self) -> bool {
        // Relaxed, because a stale value only sends the next query to the other queue.
        self.needs_long.load(Ordering::Relaxed)
    }

    /// Records whether the last query needed the long queue.
    pub(crate) fn set_needs_long(&self, slow: bool) {
        self.needs_long.store(slow, Ordering::Relaxed);
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
