//! Asks a plan's questions: several units at a time, and the turns of a conversation in order. An
//! outcome is in the journal before its event is sent. Questions that the provider failed are asked
//! again after all others.
//!
//! Reading order: this file, `earlier_work` (reads the journal), `background_tasks` (tasks next to
//! the questions), `attempt` (several units at a time), `worker` (the questions of one unit).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tracing::info;

use finqa_agents::llm::{BudgetLimit, Stop};
use finqa_agents::pair::{Fault, RunFailure, Solver};

use super::attempt::{AttemptResult, pass_over_units};
use super::background_tasks::BackgroundTasks;
use super::earlier_work::EarlierWork;
use super::failures::FailureStreaks;
use super::models::RunModels;
use super::worker::Worker;
use finqa_journal::run::{Event, Finish, Journal, JournalEntry, JournalError, Plan};

/// Target that log filters name. It differs from the module path, so that a filter still works
/// after code moves to another package.
const TARGET: &str = "convfinqa::run::scheduler";

/// A run, ready to be started.
pub struct Scheduler {
    /// The questions in the order in which they are asked.
    pub plan: Plan,
    pub solver: Arc<dyn Solver>,
    /// Maximum number of units in flight, at least 1.
    pub concurrency: usize,
    pub models: RunModels,
    /// The tokens that stop the run.
    pub stop: Stop,
}

impl Scheduler {
    /// Asks the questions without an outcome until all have one or the run is stopped. Sends
    /// `events`; the last one is [`Event::Finished`].
    ///
    /// # Errors
    /// [`JournalError`] if the journal fails. Entries that it already has are kept.
    pub async fn run(
        self,
        journal: Journal,
        events: mpsc::Sender<Event>,
    ) -> Result<Finish, JournalError> {
        let started = Instant::now();
        let (models, stop) = (self.models, self.stop);
        let meta = Arc::new(journal.meta()?);
        let plan = Arc::new(self.plan);
        let (model, questions) = (meta.identity.model.as_str(), meta.total);
        info!(
            target: TARGET,
            { "convfinqa.run.id" = meta.id, model, questions },
            "run started"
        );
        let (reads, sender) = (Arc::clone(&plan), events.clone());
        let earlier = EarlierWork::read(journal, Arc::clone(&meta), reads, sender).await?;
        let (writer, mut services) =
            BackgroundTasks::start(earlier.journal, earlier.last, &meta.id, &models, &stop)?;
        if earlier.any_answer {
            // A server that has answered an earlier process is the right one, so it may count as
            // down.
            models.limits.set_answered();
        }
        let worker = Arc::new(Worker {
            solver: self.solver,
            writer,
            events: events.clone(),
            stop: Stop {
                drain: stop.drain.clone(),
                // A child token, because giving up on the provider must cancel only its requests.
                // The caller's token also ends the delivery to MLflow.
                abort: stop.abort.child_token(),
            },
            run: meta.id.clone(),
            plan,
            known: Mutex::new(earlier.known),
            failures: Arc::new(FailureStreaks::default()),
            run_was_answered: Arc::new(earlier.any_answer.into()),
            server_has_replied: Arc::default(),
            done: AtomicUsize::new(earlier.answered),
            concurrency: self.concurrency,
        });

        let mut asked = ask_all(&worker, earlier.open_units, &models).await;
        if let Err(failure) = services.end_batches().await {
            asked.stop(failure, &worker);
        }

        // Every task has ended, so the counts are final.
        let end = RunEnd::of(&worker, &models);
        if let Some(limit) = end.reached {
            worker.writer.record(JournalEntry::Paused(limit));
        }
        // `join` waits until every `JournalWriter` is dropped, and the worker has one.
        drop(worker);
        // The journal's failure comes before all others, because the tasks notice it only as a
        // cancellation.
        let finish = match services.join() {
            Err(panic) => Finish::of_panic(&*panic),
            Ok(Err(error)) => return Err(error),
            Ok(Ok(())) => end.finish(asked.failure, &models, &stop),
        };
        // Only the name is logged. The error that ended the run is printed on a line of its own.
        info!(target: TARGET, finish = finish.name(), "run finished");
        let finished = Event::Finished {
            finish: finish.clone(),
            elapsed: started.elapsed(),
        };
        // The caller may have stopped listening.
        let _ = events.send(finished).await;
        Ok(finish)
    }
}

/// What decides how a run ends, apart from a failure that stopped it.
struct RunEnd {
    /// The number of questions without an outcome.
    left: usize,
    /// The limit of the budget that left questions without an outcome.
    reached: Option<BudgetLimit>,
    run_was_answered: bool,
    /// Whose fault it is if no request of the run was answered.
    fault: Fault,
    /// The last failure of a call.
    reason: String,
}

impl RunEnd {
    fn of(worker: &Worker, models: &RunModels) -> Self {
        let done = worker.done.load(Ordering::Relaxed);
        let left = worker.plan.total().saturating_sub(done);
        // There is no reason to quote if no call of this process has failed.
        let reason = worker.failures.last_failure();
        Self {
            left,
            reached: models.budget.reached().filter(|_| left != 0),
            run_was_answered: worker.run_was_answered.load(Ordering::Relaxed),
            fault: if worker.server_has_replied.load(Ordering::Relaxed) {
                Fault::Failing
            } else {
                Fault::Provider
            },
            reason: reason.unwrap_or_else(|| "no answer".to_owned()),
        }
    }

    /// The first of the reasons for which the run ended. Bugs come first. A run whose last question
    /// got its outcome is complete, even if it was stopped at the same time.
    fn finish(self, failure: Option<Finish>, models: &RunModels, stop: &Stop) -> Finish {
        let Self { left, reason, .. } = self;
        match (failure, self.reached) {
            (Some(bug @ Finish::Bug(_)), _) => bug,
            _ if left == 0 => Finish::Complete,
            (Some(failure), _) => failure,
            (_, Some(limit)) => Finish::BudgetReached {
                limit,
                spent: models.budget.spent_line(),
                left,
            },
            _ if stop.drain.is_cancelled() => Finish::Interrupted,
            _ if self.run_was_answered => Finish::Partial { left, reason },
            _ => Finish::Fatal(RunFailure {
                message: reason,
                fault: self.fault,
            }),
        }
    }
}

/// Asks the questions of these units. Those that the provider failed are asked a second time.
async fn ask_all(worker: &Arc<Worker>, units: Vec<usize>, models: &RunModels) -> AttemptResult {
    let first = pass_over_units(worker, units, models, false).await;
    // Make no second attempt if the provider has not answered any request of the run and has not
    // replied in this process.
    let has_replied = [&worker.run_was_answered, &worker.server_has_replied];
    let has_replied = has_replied.iter().any(|is| is.load(Ordering::Relaxed));
    if first.failure.is_some() || !has_replied {
        return first;
    }
    pass_over_units(worker, first.postponed, models, true).await
}
