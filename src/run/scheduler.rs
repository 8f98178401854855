//! Asks a plan's questions: units side by side, a conversation's turns in
//! order, every outcome in the journal before anybody hears of it. Questions
//! that the provider fails are asked again once the others are done.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tokio::sync::{Semaphore, mpsc};
use tokio::task::{JoinError, JoinSet};

use finqa_agents::agents::{Answer, Call};
use finqa_agents::models::{PriceOf, Stop};
use finqa_agents::solve::Solver;

use super::event::{Event, Finish};
use super::health::Health;
use super::journal::{Journal, JournalError};
use super::plan::{Plan, Planned};
use super::replay::{Replayed, replay};
use super::trace::RunTrace;
use super::worker::Worker;
use super::writer;

/// A plan, ready to be run.
pub struct Scheduler {
    /// What is asked.
    pub plan: Plan,
    /// Who answers.
    pub solver: Arc<dyn Solver>,
    /// Units in flight at a time; at least 1.
    pub concurrency: usize,
    /// What replies cost.
    pub price: PriceOf,
    /// How it is stopped.
    pub stop: Stop,
}

/// Questions that are asked one after the other, and what is known of them.
pub(super) struct Unit {
    pub planned: Vec<Planned>,
    /// Own answers of questions that are done, by place in the plan; `None`
    /// where a question has none.
    pub answers: HashMap<usize, Option<Answer>>,
    /// Calls of questions that were begun.
    pub calls: HashMap<usize, Vec<Call>>,
}

/// How far a unit came.
pub(super) enum UnitEnd {
    /// To its end, or to where the run was stopped.
    Over,
    /// To a question that the provider failed.
    Postponed(Unit),
    /// To a failure that makes going on useless.
    Fatal(String),
}

/// What the units of a pass came to.
#[derive(Default)]
struct Passed {
    postponed: Vec<Unit>,
    /// The first failure that ended it.
    trouble: Option<Finish>,
}

impl Scheduler {
    /// Runs to the end, or until stopped, telling `events` everything.
    ///
    /// # Errors
    /// [`JournalError`] if the journal fails; the run can be resumed from what it holds.
    pub async fn run(
        self,
        journal: Journal,
        events: mpsc::Sender<Event>,
    ) -> Result<Finish, JournalError> {
        let started = Instant::now();
        let meta = Arc::new(journal.meta()?);
        let total = self.plan.total();
        let trace = Arc::new(RunTrace::start(&meta, self.plan.mode));
        let Replayed {
            journal,
            answers,
            calls,
            last,
        } = replay(journal, total, meta, events.clone()).await?;
        let done = Arc::new(AtomicUsize::new(answers.len()));
        let answered_before = answers.values().any(Option::is_some);
        let units = units(self.plan.units, answers, calls);
        let (writer, thread) = writer::spawn(journal, last);
        let health = Arc::new(Health::default());
        let worker = Arc::new(Worker {
            solver: self.solver,
            price: self.price,
            writer,
            events: events.clone(),
            stop: Stop {
                drain: self.stop.drain.clone(),
                // Giving up on the provider gives up nothing else.
                abort: self.stop.abort.child_token(),
            },
            mode: self.plan.mode,
            history: self.plan.history,
            trace: Arc::clone(&trace),
            health: Arc::clone(&health),
            answered_before,
            done: Arc::clone(&done),
        });
        let mut passed = pass(&worker, units, self.concurrency, false).await;
        // Only a provider that answers others may be asked again.
        if passed.trouble.is_none() && (answered_before || health.has_answered()) {
            let again = std::mem::take(&mut passed.postponed);
            passed = pass(&worker, again, self.concurrency, true).await;
        }
        drop(worker);
        let written = thread.join();
        let left = total.saturating_sub(done.load(Ordering::Relaxed));
        let finish = match (written, passed.trouble) {
            (Err(panic), _) => Finish::Bug(panicked(&*panic)),
            (Ok(Err(error)), _) => return Err(error),
            (Ok(Ok(())), Some(bug @ Finish::Bug(_))) => bug,
            _ if left == 0 => Finish::Complete,
            (Ok(Ok(())), Some(trouble)) => trouble,
            _ if self.stop.drain.is_cancelled() => Finish::Interrupted,
            _ if health.has_answered() => Finish::Partial {
                left,
                reason: health.last_failure(),
            },
            _ => Finish::Fatal(health.last_failure()),
        };
        trace.finish(&finish);
        let finished = Event::Finished {
            finish: finish.clone(),
            elapsed: started.elapsed(),
        };
        let _ = events.send(finished).await;
        Ok(finish)
    }
}

/// The units that are not done, each with what earlier processes left of it.
fn units(
    planned: Vec<Vec<Planned>>,
    mut answers: HashMap<usize, Option<Answer>>,
    mut calls: HashMap<usize, Vec<Call>>,
) -> Vec<Unit> {
    let units = planned.into_iter().map(|planned| {
        let indices = planned.iter().map(|planned| planned.index);
        Unit {
            answers: indices
                .clone()
                .filter_map(|index| Some((index, answers.remove(&index)?)))
                .collect(),
            calls: indices
                .filter_map(|index| Some((index, calls.remove(&index)?)))
                .collect(),
            planned,
        }
    });
    units
        .filter(|unit| unit.answers.len() < unit.planned.len())
        .collect()
}

/// Asks the units' questions, so many units at a time. In the last pass a
/// refusal of one question is its outcome.
async fn pass(worker: &Arc<Worker>, units: Vec<Unit>, concurrency: usize, last: bool) -> Passed {
    let slots = Arc::new(Semaphore::new(concurrency.max(1)));
    let mut tasks: JoinSet<UnitEnd> = JoinSet::new();
    let mut passed = Passed::default();
    for unit in units {
        let slot = tokio::select! {
            biased;
            () = worker.stop.drain.cancelled() => break,
            slot = Arc::clone(&slots).acquire_owned() => slot,
        };
        let asking = Arc::clone(worker);
        tasks.spawn(async move {
            let _slot = slot;
            asking.unit(unit, last).await
        });
        while let Some(ended) = tasks.try_join_next() {
            passed.take(ended, worker);
        }
    }
    while let Some(ended) = tasks.join_next().await {
        passed.take(ended, worker);
    }
    let first = |unit: &Unit| unit.planned.first().map(|planned| planned.index);
    passed.postponed.sort_by_key(first);
    passed
}

impl Passed {
    fn take(&mut self, ended: Result<UnitEnd, JoinError>, worker: &Worker) {
        let trouble = match ended {
            Ok(UnitEnd::Over) => return,
            Ok(UnitEnd::Postponed(unit)) => return self.postponed.push(unit),
            Ok(UnitEnd::Fatal(message)) => Finish::Fatal(message),
            Err(error) => Finish::Bug(match error.try_into_panic() {
                Ok(panic) => panicked(&*panic),
                Err(error) => error.to_string(),
            }),
        };
        // What fails for one fails for all: begin no more.
        worker.stop.drain.cancel();
        match (&self.trouble, &trouble) {
            (None, _) | (Some(Finish::Fatal(_)), Finish::Bug(_)) => self.trouble = Some(trouble),
            _ => {}
        }
    }
}

/// What a task or thread panicked with.
fn panicked(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("without a message"))
}
