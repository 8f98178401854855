//! Asks a plan's questions: units side by side, a conversation's turns in
//! order, every outcome in the journal before its event is sent. Questions
//! that the provider fails are asked again once the others are done.
//!
//! Reading order: this file, `services` (what runs alongside the questions), `pass` (several
//! units at a time), `worker` (the questions of one unit), `ending`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tokio::sync::mpsc;

use finqa_agents::llm::{BatchQueue, Budget, Limits, Stop};
use finqa_agents::solve::Solver;

use super::ending::RunEnding;
use super::event::{Event, Finish};
use super::failures::FailureStreaks;
use super::journal::{Journal, JournalEntry, JournalError};
use super::pass::{Concurrency, PassKind, PassResult, UnitQueue, pass};
use super::plan::Plan;
use super::replay::replay;
use super::services::Services;
use super::trace::RunTrace;
use super::worker::Worker;

/// A run, ready to be started.
pub struct Scheduler {
    pub workload: Workload,
    pub models: RunModels,
    /// Stops the run.
    pub stop: Stop,
}

/// The questions of a run, and the solver that answers them.
pub struct Workload {
    /// The questions, in order.
    pub plan: Plan,
    pub solver: Arc<dyn Solver>,
    /// Maximum number of units in flight, at least 1.
    pub concurrency: usize,
}

/// The state that the models of a run share.
#[derive(Default)]
pub struct RunModels {
    /// The rate limits, which bound the units in flight.
    pub limits: Limits,
    pub budget: Arc<Budget>,
    /// The batch queue, if any; all units are in flight then.
    pub batches: Option<BatchQueue>,
    /// Calls are answered by stored replies.
    pub replays: bool,
}

impl Workload {
    /// The questions of a plan, one unit at a time.
    pub fn new(plan: Plan, solver: Arc<dyn Solver>) -> Self {
        Self {
            plan,
            solver,
            concurrency: 1,
        }
    }
}

impl Scheduler {
    /// Runs to the end, or until stopped, and sends all `events`.
    ///
    /// # Errors
    /// [`JournalError`] if the journal fails; the run can be resumed from what it holds.
    pub async fn run(
        self,
        journal: Journal,
        events: mpsc::Sender<Event>,
    ) -> Result<Finish, JournalError> {
        let started = Instant::now();
        let (models, stop) = (self.models, self.stop);
        let Workload {
            plan,
            solver,
            concurrency,
        } = self.workload;
        let meta = Arc::new(journal.meta()?);
        let total = plan.total();
        let (mode, history) = (plan.mode, plan.history);
        let trace = Arc::new(RunTrace::start(&meta, mode));
        let replayed = replay(journal, Arc::clone(&meta), plan, events.clone()).await?;
        let (writer, mut services) =
            Services::start(replayed.journal, replayed.last, &meta.id, &models, &stop)?;
        let failures = Arc::new(FailureStreaks::default());
        let width = Concurrency::new(concurrency, &models);
        let mut queue = UnitQueue {
            planned: Some(replayed.units),
            ..UnitQueue::default()
        };
        let worker = Arc::new(Worker {
            solver,
            writer,
            events: events.clone(),
            stop: Stop {
                drain: stop.drain.clone(),
                // Giving up on the provider gives up nothing else.
                abort: stop.abort.child_token(),
            },
            mode,
            history,
            trace: Arc::clone(&trace),
            failures: Arc::clone(&failures),
            answered_before: replayed.any_answer,
            done: AtomicUsize::new(replayed.answered),
            replays: models.replays,
        });

        let mut passed = ask_all(&worker, &mut queue, &width).await;
        if let Err(failure) = services.end_batches().await {
            passed.stop(failure, &worker);
        }

        let left = total.saturating_sub(worker.done.load(Ordering::Relaxed));
        let reached = models.budget.reached().filter(|_| left != 0);
        if let Some(limit) = reached {
            worker.writer.record(JournalEntry::Paused(limit));
        }
        drop(worker);
        let ending = RunEnding {
            failure: passed.failure,
            left: Some(left),
            reached,
            spent: models.budget.spent_line(),
            interrupted: stop.drain.is_cancelled(),
            has_answered: failures.has_answered(),
            // Otherwise the failures were those of earlier processes.
            reason: failures
                .last_failure()
                .unwrap_or_else(|| "no answer".to_owned()),
        };
        let finish = ending.finish(services.join())?;
        trace.finish(&finish);
        let finished = Event::Finished {
            finish: finish.clone(),
            elapsed: started.elapsed(),
        };
        let _ = events.send(finished).await;
        Ok(finish)
    }
}

/// Asks all questions, and those that the provider fails a second time.
async fn ask_all(worker: &Arc<Worker>, queue: &mut UnitQueue, width: &Concurrency) -> PassResult {
    let passed = pass(worker, queue, width, PassKind::First).await;
    // Only a provider that answers others may be asked again.
    if passed.failure.is_some() || !worker.has_answered() {
        return passed;
    }
    let mut again = UnitQueue::of(passed.postponed.into());
    pass(worker, &mut again, width, PassKind::Last).await
}
