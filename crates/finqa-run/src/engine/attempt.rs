//! An attempt to ask the questions of units, several units at a time.

use std::sync::Arc;

use tokio::task::{JoinError, JoinSet};

use finqa_agents::llm::BatchQueue;

use super::models::RunModels;
use super::worker::{UnitOutcome, Worker};
use finqa_journal::run::Finish;

#[derive(Default)]
pub(super) struct AttemptResult {
    /// The units that the provider failed, by their places in the plan.
    pub postponed: Vec<usize>,
    /// The first failure that ended it.
    pub failure: Option<Finish>,
}

/// Asks the questions of some units of the plan, several units at a time. In the last
/// attempt a refusal is the question's outcome; before, a refusal of one may be a refusal of all.
pub(super) async fn attempt(
    worker: &Arc<Worker>,
    units: Vec<usize>,
    models: &RunModels,
    is_last: bool,
) -> AttemptResult {
    let batches = models.batches.as_ref();
    let most = match batches {
        None => worker.concurrency.max(1),
        // A wave holds a request of every unit.
        Some(_) => usize::MAX,
    };
    let mut units = units.into_iter();
    let mut tasks: JoinSet<UnitOutcome> = JoinSet::new();
    let mut result = AttemptResult::default();
    // No wave before every unit is in flight.
    let beginning = batches.map(BatchQueue::unit);
    loop {
        let has_capacity = loop {
            let has_capacity = tasks.len() < most;
            tokio::select! {
                biased;
                () = worker.stop.drain.cancelled() => break false,
                Some(ended) = tasks.join_next() => result.take(ended, worker),
                () = std::future::ready(()), if has_capacity => break true,
            }
        };
        let Some(at) = has_capacity.then(|| units.next()).flatten() else {
            break;
        };
        let asking = Arc::clone(worker);
        let in_flight = batches.map(BatchQueue::unit);
        tasks.spawn(async move {
            let ended = asking.ask_unit(at, is_last).await;
            drop(in_flight);
            ended
        });
    }
    drop(beginning);
    while let Some(ended) = tasks.join_next().await {
        result.take(ended, worker);
    }
    result.postponed.sort_unstable();
    result
}

impl AttemptResult {
    fn take(&mut self, ended: Result<UnitOutcome, JoinError>, worker: &Worker) {
        let failure = match ended {
            Ok(UnitOutcome::Over) => return,
            Ok(UnitOutcome::Postponed(at)) => return self.postponed.push(at),
            Ok(UnitOutcome::Fatal(failure)) => Finish::Fatal(failure),
            Err(error) => Finish::of_task(error),
        };
        self.stop(failure, worker);
    }

    /// Stops the run: the failure would repeat for every question.
    pub(super) fn stop(&mut self, failure: Finish, worker: &Worker) {
        worker.stop.drain.cancel();
        match (&self.failure, &failure) {
            (None, _) | (Some(Finish::Fatal(_)), Finish::Bug(_)) => self.failure = Some(failure),
            _ => {}
        }
    }
}
