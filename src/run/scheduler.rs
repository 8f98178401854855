//! Asks a plan's questions: units side by side, a conversation's turns in
//! order, every outcome in the journal before its event is sent. Questions
//! that the provider fails are asked again once the others are done.
//!
//! Reading order: `workload`, this file, `earlier_work` (what the journal holds), `services` (what runs alongside the questions), `pass` (several
//! units at a time), `worker` (the questions of one unit), `ending`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::mpsc;

use finqa_agents::llm::Stop;

use super::earlier_work::EarlierWork;
use super::ending::RunEnding;
use super::event::{Event, Finish};
use super::failures::FailureStreaks;
use super::journal::{Journal, JournalEntry, JournalError};
use super::pass::{Concurrency, PassResult, pass};
use super::services::Services;
use super::trace::RunTrace;
use super::worker::Worker;
use super::workload::{RunModels, Workload};

/// A run, ready to be started.
pub struct Scheduler {
    pub workload: Workload,
    pub models: RunModels,
    /// Stops the run.
    pub stop: Stop,
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
        let plan = Arc::new(plan);
        let trace = Arc::new(RunTrace::start(&meta, plan.mode));
        let (reads, sender) = (Arc::clone(&plan), events.clone());
        let earlier = EarlierWork::read(journal, Arc::clone(&meta), reads, sender).await?;
        let (writer, mut services) =
            Services::start(earlier.journal, earlier.last, &meta.id, &models, &stop)?;
        let failures = Arc::new(FailureStreaks::default());
        let width = Concurrency::new(concurrency, &models);
        let worker = Arc::new(Worker {
            solver,
            writer,
            events: events.clone(),
            stop: Stop {
                drain: stop.drain.clone(),
                // Giving up on the provider gives up nothing else.
                abort: stop.abort.child_token(),
            },
            plan: Arc::clone(&plan),
            known: Mutex::new(earlier.known),
            trace: Arc::clone(&trace),
            failures: Arc::clone(&failures),
            answered_before: earlier.any_answer,
            done: AtomicUsize::new(earlier.answered),
        });

        let mut passed = ask_all(&worker, earlier.open_units, &width).await;
        if let Err(failure) = services.end_batches().await {
            passed.stop(failure, &worker);
        }

        let left = plan
            .total()
            .saturating_sub(worker.done.load(Ordering::Relaxed));
        let reached = models.budget.reached().filter(|_| left != 0);
        if let Some(limit) = reached {
            worker.writer.record(JournalEntry::Paused(limit));
        }
        drop(worker);
        let ending = RunEnding {
            failure: passed.failure,
            left,
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

/// Asks the questions of some units, and those that the provider fails a second time.
async fn ask_all(worker: &Arc<Worker>, units: Vec<usize>, width: &Concurrency) -> PassResult {
    let passed = pass(worker, units, width, false).await;
    // Only a provider that answers others may be asked again.
    if passed.failure.is_some() || !worker.has_answered() {
        return passed;
    }
    pass(worker, passed.postponed, width, true).await
}
