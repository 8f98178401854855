//! Decides whose query runs next. Every query first gets a brief turn, in which
//! ordinary ones finish. Those that do not are run again in the long queue, one at a
//! time, so that brief turns never wait for them. In each queue the client that has
//! used the least query time goes first; among its sessions, those that have used
//! little go before those that have used much, and known sessions before new ones.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{self, AtomicBool};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::server::state::clients::{Caller, Client};

type QueryJob = Box<dyn FnOnce() + Send>;

/// A number of workers, and the queries that wait for one.
pub(crate) struct QueryQueue {
    /// Additional seconds that a caller waits for each second that it has used.
    weight: f64,
    /// The queue's thread; `None` if jobs run on the runtime's blocking threads.
    thread: Option<mpsc::Sender<QueryJob>>,
    start: Instant,
    state: Mutex<QueueState>,
}

struct QueueState {
    free: usize,
    arrivals: u64,
    /// By client, without empty heaps.
    waiting: Vec<(Arc<Client>, BinaryHeap<QueuedQuery>)>,
    count: usize,
    /// Cancelled queries are removed when the queue is this long.
    sweep_at: usize,
}

impl QueueState {
    fn push(&mut self, client: &Arc<Client>, waiter: QueuedQuery) {
        self.count += 1;
        let own = self
            .waiting
            .iter_mut()
            .find(|(one, _)| Arc::ptr_eq(one, client));
        match own {
            Some((_, waiting)) => waiting.push(waiter),
            None => self
                .waiting
                .push((Arc::clone(client), BinaryHeap::from([waiter]))),
        }
        if self.count > self.sweep_at {
            self.waiting.retain_mut(|(_, waiting)| {
                waiting.retain(|waiter| !waiter.cancelled.load(atomic::Ordering::Relaxed));
                !waiting.is_empty()
            });
            self.count = self.waiting.iter().map(|(_, waiting)| waiting.len()).sum();
            self.sweep_at = 2 * self.count + 64;
        }
    }

    fn pop(&mut self) -> Option<QueuedQuery> {
        let now = Instant::now();
        let used = |(client, _): &(Arc<Client>, _)| client.total.used(now);
        let at = match self.waiting.len() {
            0 => return None,
            1 => 0,
            _ => {
                let used = self.waiting.iter().map(used).enumerate();
                used.min_by(|(_, a), (_, b)| a.total_cmp(b))?.0
            }
        };
        let (_, waiting) = self.waiting.get_mut(at)?;
        let next = waiting.pop();
        if waiting.is_empty() {
            self.waiting.swap_remove(at);
        }
        self.count -= 1;
        next
    }
}

struct QueuedQuery {
    /// Seconds after the queue's start.
    due: f64,
    arrival: u64,
    job: QueryJob,
    cancelled: Arc<AtomicBool>,
}

/// Marks a job as cancelled when its caller is gone.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, atomic::Ordering::Relaxed);
    }
}

impl Ord for QueuedQuery {
    /// The greatest runs next.
    fn cmp(&self, other: &Self) -> Ordering {
        let due = other.due.total_cmp(&self.due);
        due.then(other.arrival.cmp(&self.arrival))
    }
}

impl PartialOrd for QueuedQuery {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for QueuedQuery {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for QueuedQuery {}

impl QueryQueue {
    /// A queue with this many workers, on the runtime's blocking threads.
    pub(crate) fn new(workers: usize, weight: f64) -> Arc<Self> {
        Self::with_thread(None, workers, weight)
    }

    /// A queue with one worker, on its own thread: the allocator keeps memory for each
    /// thread that has ever used much.
    pub(crate) fn single_threaded(weight: f64) -> Arc<Self> {
        let (thread, jobs) = mpsc::channel::<QueryJob>();
        let work = move || {
            for job in jobs {
                job();
            }
        };
        let started = std::thread::Builder::new()
            .name("long queries".to_owned())
            .spawn(work);
        Self::with_thread(started.is_ok().then_some(thread), 1, weight)
    }

    fn with_thread(
        thread: Option<mpsc::Sender<QueryJob>>,
        workers: usize,
        weight: f64,
    ) -> Arc<Self> {
        Arc::new(Self {
            weight,
            thread,
            start: Instant::now(),
            state: Mutex::new(QueueState {
                free: workers,
                arrivals: 0,
                waiting: Vec::new(),
                count: 0,
                sweep_at: 64,
            }),
        })
    }

    /// Runs blocking work when its turn comes; returns its result and duration, or `None`
    /// if it panicked. Work that has begun is finished even if its caller is gone.
    pub(crate) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        caller: &Caller,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<(T, Duration)> {
        let (sender, receiver) = oneshot::channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let cancel = CancelOnDrop(Arc::clone(&cancelled));
        let charged = caller.clone();
        let job = Box::new(move || {
            let began = Instant::now();
            let result = work();
            let took = began.elapsed();
            charged.charge(took);
            let _ = sender.send((result, took));
        });
        self.begin(caller, job, cancelled);
        let result = receiver.await.ok();
        drop(cancel);
        result
    }

    /// Starts a job if a worker is free, otherwise queues it.
    fn begin(self: &Arc<Self>, caller: &Caller, job: QueryJob, cancelled: Arc<AtomicBool>) {
        {
            let mut state = self.state.lock();
            if state.free == 0 {
                let now = Instant::now();
                let since = now.saturating_duration_since(self.start).as_secs_f64();
                state.arrivals += 1;
                let waiter = QueuedQuery {
                    due: since + caller.account.wait(self.weight, now),
                    arrival: state.arrivals,
                    job,
                    cancelled,
                };
                state.push(&caller.client, waiter);
                return;
            }
            state.free -= 1;
        }
        let queue = Arc::clone(self);
        let work = move || queue.work(job);
        match &self.thread {
            // The thread ends only when the queue is dropped.
            Some(thread) => drop(thread.send(Box::new(work))),
            None => drop(tokio::task::spawn_blocking(work)),
        }
    }

    /// Does a job, then the waiting ones on the same thread.
    fn work(&self, mut job: QueryJob) {
        loop {
            // The caller notices a panic because the sender is dropped.
            if catch_unwind(AssertUnwindSafe(job)).is_err() {
                tracing::error!("a tool call ended in a bug");
            }
            job = loop {
                let mut state = self.state.lock();
                match state.pop() {
                    // Dropped outside the lock.
                    Some(next) if next.cancelled.load(atomic::Ordering::Relaxed) => drop(state),
                    Some(next) => break next.job,
                    None => {
                        state.free += 1;
                        return;
                    }
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::options::ServerOptions;
    use crate::server::state::clients::Clients;
    use crate::server::state::usage::NEWCOMER_DELAY_S;
    use futures::FutureExt as _;
    use futures::future::join_all;

    fn caller(clients: &Arc<Clients>, address: [u8; 4]) -> Caller {
        Caller {
            account: Arc::default(),
            client: clients.of(address.into()),
        }
    }

    /// The order in which jobs run that were queued one after the other while the
    /// only worker was busy.
    async fn order(queue: &Arc<QueryQueue>, callers: &[&Caller]) -> Vec<usize> {
        let (release, held) = mpsc::channel::<()>();
        let hold = move || held.recv().is_err();
        let mut first = Box::pin(queue.run(callers[0], hold));
        assert!(first.as_mut().now_or_never().is_none());
        let ran = Arc::new(Mutex::new(Vec::new()));
        let mut waiting: Vec<_> = (0..callers.len())
            .map(|at| {
                let ran = Arc::clone(&ran);
                let work = move || ran.lock().push(at);
                Box::pin(queue.run(callers[at], work))
            })
            .collect();
        for one in &mut waiting {
            assert!(one.as_mut().now_or_never().is_none());
        }
        drop(release);
        first.await.unwrap();
        assert!(join_all(waiting).await.iter().all(Option::is_some));
        std::mem::take(&mut *ran.lock())
    }

    /// In a single first-come-first-served queue, one client with long queries on a
    /// hundred connections made everybody wait for all of them.
    #[tokio::test]
    async fn a_session_that_has_used_little_goes_first() {
        let clients = Clients::new(&ServerOptions::default());
        let queue = QueryQueue::new(1, 10.0);
        let hogs: Vec<Caller> = (0..100).map(|_| caller(&clients, [127, 0, 0, 1])).collect();
        for hog in &hogs {
            hog.charge(Duration::from_secs(300));
        }
        let honest = caller(&clients, [127, 0, 0, 1]);
        let mut callers: Vec<&Caller> = hogs.iter().collect();
        callers.push(&honest);
        let ran = order(&queue, &callers).await;
        assert_eq!(ran.len(), 101);
        assert_eq!(ran[0], 100);
    }

    #[tokio::test]
    async fn another_client_does_not_wait_for_all_sessions_of_one() {
        let clients = Clients::new(&ServerOptions::default());
        let queue = QueryQueue::new(1, 10.0);
        let hog = caller(&clients, [10, 0, 0, 1]);
        hog.charge(Duration::from_secs(600));
        let fresh = caller(&clients, [10, 0, 0, 1]);
        let other = caller(&clients, [10, 0, 0, 2]);
        assert_eq!(order(&queue, &[&hog, &fresh, &other]).await, [2, 1, 0]);
    }

    #[tokio::test]
    async fn a_crowd_of_new_sessions_waits_and_known_ones_do_not() {
        let clients = Clients::new(&ServerOptions::default());
        let queue = QueryQueue::new(1, 10.0);
        let crowd: Vec<Caller> = (0..50).map(|_| caller(&clients, [127, 0, 0, 1])).collect();
        let known = caller(&clients, [127, 0, 0, 1]);
        known.account.set_needs_long(false);
        let mut callers: Vec<&Caller> = crowd.iter().collect();
        callers.push(&known);
        // Unless queueing them all took longer than new sessions wait.
        let began = Instant::now();
        let ran = order(&queue, &callers).await;
        assert!(ran[0] == 50 || began.elapsed().as_secs_f64() > NEWCOMER_DELAY_S);
    }

    #[tokio::test]
    async fn a_panic_in_one_query_does_not_end_the_queue() {
        let clients = Clients::new(&ServerOptions::default());
        let one = caller(&clients, [127, 0, 0, 1]);
        for queue in [QueryQueue::single_threaded(1.0), QueryQueue::new(1, 1.0)] {
            let bug = queue
                .run(&one, || assert!(one_is_two(), "on purpose"))
                .await;
            assert!(bug.is_none());
            assert_eq!(queue.run(&one, || 5).await.unwrap().0, 5);
        }
    }

    fn one_is_two() -> bool {
        std::hint::black_box(1) == 2
    }

    #[tokio::test]
    async fn cancelled_queries_are_not_run() {
        let clients = Clients::new(&ServerOptions::default());
        let queue = QueryQueue::new(1, 10.0);
        let one = caller(&clients, [127, 0, 0, 1]);
        let (release, held) = mpsc::channel::<()>();
        let mut first = Box::pin(queue.run(&one, move || held.recv().is_err()));
        assert!(first.as_mut().now_or_never().is_none());
        let done = Arc::new(AtomicBool::new(false));
        for _ in 0..1000 {
            let done = Arc::clone(&done);
            let work = move || done.store(true, atomic::Ordering::Relaxed);
            assert!(queue.run(&one, work).now_or_never().is_none());
        }
        assert!(
            queue.state.lock().count <= 65,
            "cancelled queries are removed"
        );
        let mut last = Box::pin(queue.run(&one, || 5));
        assert!(last.as_mut().now_or_never().is_none());
        drop(release);
        first.await.unwrap();
        assert_eq!(last.await.unwrap().0, 5);
        assert!(!done.load(atomic::Ordering::Relaxed));
    }
}
