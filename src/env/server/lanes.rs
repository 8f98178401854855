//! Whose query runs next. Every query first has a brief turn, in which honest
//! ones are done; one that is not done runs again in the long lane, one at a
//! time, so that the brief turns never wait for it. In each lane the client goes
//! first that has used the least; of its sessions, those that have used little go
//! before those that have used much, and those that are known before those that
//! never asked.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{self, AtomicBool};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::clients::Client;

/// The query time that one session, or one client outside its sessions, has used
/// of late: half of it is forgotten each second.
#[derive(Default)]
pub(super) struct Account {
    used: Mutex<Option<(Instant, f64)>>,
    /// Its last query needed the long lane.
    slow: AtomicBool,
    /// One of its queries was brief.
    known: AtomicBool,
}

/// Seconds that a query waits behind others whose caller is not known: a crowd
/// that comes at once waits, and not those who were there before.
const UNKNOWN: f64 = 1.0;

impl Account {
    /// Seconds used.
    pub fn used(&self, now: Instant) -> f64 {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.map_or(0.0, |(then, seconds)| remaining(then, seconds, now))
    }

    fn charge(&self, time: Duration, now: Instant) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let before = used.map_or(0.0, |(then, seconds)| remaining(then, seconds, now));
        *used = Some((now, before + time.as_secs_f64()));
    }
}

fn remaining(then: Instant, seconds: f64, now: Instant) -> f64 {
    seconds * (-now.saturating_duration_since(then).as_secs_f64()).exp2()
}

/// Who asks: a session of a client, or a client without one.
#[derive(Clone)]
pub(super) struct Caller {
    account: Arc<Account>,
    /// The client it belongs to.
    pub client: Arc<Client>,
}

impl Caller {
    /// A session of a client, or a client outside its sessions.
    pub fn new(account: Arc<Account>, client: Arc<Client>) -> Self {
        Self { account, client }
    }

    /// Notes query time used.
    fn charge(&self, time: Duration) {
        let now = Instant::now();
        self.account.charge(time, now);
        self.client.total.charge(time, now);
    }

    /// Whether its last query was one for the long lane.
    pub fn is_slow(&self) -> bool {
        self.account.slow.load(atomic::Ordering::Relaxed)
    }

    /// Notes whether its last query was one for the long lane.
    pub fn set_slow(&self, slow: bool) {
        self.account.slow.store(slow, atomic::Ordering::Relaxed);
        if !slow {
            self.account.known.store(true, atomic::Ordering::Relaxed);
        }
    }

    /// Seconds that it waits behind others of its client.
    fn wait(&self, weight: f64, now: Instant) -> f64 {
        let known = self.account.known.load(atomic::Ordering::Relaxed);
        weight * self.account.used(now) + if known { 0.0 } else { UNKNOWN }
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// Places to run in, and those who wait for one.
pub(super) struct Lane {
    /// Seconds that a caller waits longer for each second that it has used.
    weight: f64,
    /// Where its work is done; none for the runtime's threads.
    thread: Option<mpsc::Sender<Job>>,
    start: Instant,
    state: Mutex<State>,
}

struct State {
    free: usize,
    arrivals: u64,
    /// By client, none of them empty.
    waiting: Vec<(Arc<Client>, BinaryHeap<Waiter>)>,
    count: usize,
    /// Those who gave up are dropped from the list when it is so long.
    sweep_at: usize,
}

impl State {
    fn push(&mut self, client: &Arc<Client>, waiter: Waiter) {
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
                waiting.retain(|waiter| !waiter.wake.is_closed());
                !waiting.is_empty()
            });
            self.count = self.waiting.iter().map(|(_, waiting)| waiting.len()).sum();
            self.sweep_at = 2 * self.count + 64;
        }
    }

    fn pop(&mut self) -> Option<Waiter> {
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

struct Waiter {
    /// Seconds after the lane's start.
    due: f64,
    arrival: u64,
    wake: oneshot::Sender<Turn>,
}

impl Ord for Waiter {
    /// The greatest is the next.
    fn cmp(&self, other: &Self) -> Ordering {
        let due = other.due.total_cmp(&self.due);
        due.then(other.arrival.cmp(&self.arrival))
    }
}

impl PartialOrd for Waiter {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiter {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiter {}

/// A place in a lane; dropping it gives it to the next.
struct Turn(Option<Arc<Lane>>);

impl Lane {
    /// A lane of so many places, on the runtime's threads.
    pub fn new(places: usize, weight: f64) -> Arc<Self> {
        Self::on(None, places, weight)
    }

    /// A lane of one place, on a thread of its own: the allocator keeps memory for
    /// each thread that has ever used much.
    pub fn alone(weight: f64) -> Arc<Self> {
        let (thread, jobs) = mpsc::channel::<Job>();
        let work = move || {
            for job in jobs {
                // Whoever waits for it learns of a bug when its answer is dropped.
                let _ = catch_unwind(AssertUnwindSafe(job));
            }
        };
        let started = std::thread::Builder::new()
            .name("long queries".to_owned())
            .spawn(work);
        Self::on(started.is_ok().then_some(thread), 1, weight)
    }

    fn on(thread: Option<mpsc::Sender<Job>>, places: usize, weight: f64) -> Arc<Self> {
        Arc::new(Self {
            weight,
            thread,
            start: Instant::now(),
            state: Mutex::new(State {
                free: places,
                arrivals: 0,
                waiting: Vec::new(),
                count: 0,
                sweep_at: 64,
            }),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place.
    async fn turn(self: &Arc<Self>, caller: &Caller) -> Turn {
        let waiting = {
            let mut state = self.state();
            if state.free > 0 {
                state.free -= 1;
                return Turn(Some(Arc::clone(self)));
            }
            let now = Instant::now();
            let since = now.saturating_duration_since(self.start).as_secs_f64();
            let due = since + caller.wait(self.weight, now);
            let (wake, waiting) = oneshot::channel();
            state.arrivals += 1;
            let arrival = state.arrivals;
            state.push(&caller.client, Waiter { due, arrival, wake });
            waiting
        };
        // The sender is dropped only after those who gave up, never before one who waits.
        waiting.await.unwrap_or(Turn(None))
    }

    /// Runs blocking work in its turn, to its end even where nobody waits for it any
    /// more, and says how long it took; `None` where it ended in a bug.
    pub async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        caller: &Caller,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<(T, Duration)> {
        let turn = self.turn(caller).await;
        let caller = caller.clone();
        let (tell, told) = oneshot::channel();
        let job = move || {
            let began = Instant::now();
            let result = work();
            let took = began.elapsed();
            caller.charge(took);
            drop(turn);
            let _ = tell.send((result, took));
        };
        match &self.thread {
            // The thread ends when the lane is dropped, and not before.
            Some(thread) => drop(thread.send(Box::new(job))),
            None => drop(tokio::task::spawn_blocking(job)),
        }
        told.await.ok()
    }

    fn pass_on(self: &Arc<Self>) {
        loop {
            let next = {
                let mut state = self.state();
                let next = state.pop();
                if next.is_none() {
                    state.free += 1;
                }
                next
            };
            let Some(next) = next else { return };
            match next.wake.send(Turn(Some(Arc::clone(self)))) {
                Ok(()) => return,
                // It gave up: the place goes to the one after it.
                Err(mut turn) => turn.0 = None,
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(lane) = self.0.take() {
            lane.pass_on();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::clients::Clients;
    use super::super::options::ServerOptions;
    use super::*;
    use futures::FutureExt as _;
    use std::pin::pin;

    fn caller(clients: &Arc<Clients>, address: [u8; 4]) -> Caller {
        Caller::new(Arc::default(), clients.of(address.into()))
    }

    /// One place for all, first come first served, was the old rule: who asked for
    /// long queries on a hundred connections made everybody wait for all of them.
    #[tokio::test]
    async fn who_has_used_little_goes_before_who_has_used_much() {
        let clients = Clients::new(&ServerOptions::default());
        let lane = Lane::new(1, 10.0);
        let hogs: Vec<Caller> = (0..100).map(|_| caller(&clients, [127, 0, 0, 1])).collect();
        let honest = caller(&clients, [127, 0, 0, 1]);
        for hog in &hogs {
            hog.charge(Duration::from_secs(30));
        }
        let first = lane.turn(&hogs[0]).await;
        let mut waiting: Vec<_> = hogs[1..]
            .iter()
            .map(|hog| Box::pin(lane.turn(hog)))
            .collect();
        for turn in &mut waiting {
            assert!(turn.now_or_never().is_none());
        }
        let mut own = pin!(lane.turn(&honest));
        assert!(own.as_mut().now_or_never().is_none());
        drop(first);
        let own = own.now_or_never().expect("the next turn");
        for turn in &mut waiting {
            assert!(turn.now_or_never().is_none());
        }
        drop(own);
        // Each place is passed on, in whatever order.
        for _ in 1..hogs.len() {
            let next = waiting
                .iter_mut()
                .position(|turn| turn.now_or_never().is_some());
            drop(waiting.swap_remove(next.expect("a turn")));
        }
        assert!(waiting.is_empty());
    }

    #[tokio::test]
    async fn another_client_does_not_wait_for_all_sessions_of_one() {
        let clients = Clients::new(&ServerOptions::default());
        let lane = Lane::new(1, 10.0);
        let hog = caller(&clients, [10, 0, 0, 1]);
        hog.charge(Duration::from_secs(60));
        let fresh = caller(&clients, [10, 0, 0, 1]);
        let other = caller(&clients, [10, 0, 0, 2]);
        let first = lane.turn(&hog).await;
        let mut fresh = pin!(lane.turn(&fresh));
        assert!(fresh.as_mut().now_or_never().is_none());
        let mut other = pin!(lane.turn(&other));
        assert!(other.as_mut().now_or_never().is_none());
        drop(first);
        assert!(fresh.as_mut().now_or_never().is_none());
        assert!(other.now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_crowd_of_newcomers_waits_and_not_those_who_are_known() {
        let clients = Clients::new(&ServerOptions::default());
        let lane = Lane::new(1, 10.0);
        let callers: Vec<Caller> = (0..50).map(|_| caller(&clients, [127, 0, 0, 1])).collect();
        let known = caller(&clients, [127, 0, 0, 1]);
        known.set_slow(false);
        let first = lane.turn(&known).await;
        let mut crowd: Vec<_> = callers.iter().map(|one| Box::pin(lane.turn(one))).collect();
        for turn in &mut crowd {
            assert!(turn.now_or_never().is_none());
        }
        let mut own = pin!(lane.turn(&known));
        assert!(own.as_mut().now_or_never().is_none());
        drop(first);
        assert!(own.now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_bug_in_one_query_does_not_end_the_lane() {
        let clients = Clients::new(&ServerOptions::default());
        let one = caller(&clients, [127, 0, 0, 1]);
        for lane in [Lane::alone(1.0), Lane::new(1, 1.0)] {
            let bug = lane.run(&one, || assert!(one_is_two(), "on purpose")).await;
            assert!(bug.is_none());
            assert_eq!(lane.run(&one, || 5).await.expect("an answer").0, 5);
        }
    }

    fn one_is_two() -> bool {
        std::hint::black_box(1) == 2
    }

    #[tokio::test]
    async fn a_place_is_not_lost_with_those_who_gave_up() {
        let clients = Clients::new(&ServerOptions::default());
        let lane = Lane::new(1, 10.0);
        let one = caller(&clients, [127, 0, 0, 1]);
        let first = lane.turn(&one).await;
        for _ in 0..1000 {
            assert!(lane.turn(&one).now_or_never().is_none());
        }
        assert!(lane.state().count <= 65, "they are swept out");
        let mut last = pin!(lane.turn(&one));
        assert!(last.as_mut().now_or_never().is_none());
        drop(first);
        drop(last.now_or_never().expect("a turn"));
        assert_eq!(lane.state().free, 1);
    }
}
