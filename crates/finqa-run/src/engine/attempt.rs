//! One attempt at asking the questions of some units, several units at a time. The scheduler makes
//! at most two attempts. The attempts of a call (`llm::retry`) are its HTTP requests.

use std::sync::Arc;

use tokio::task::{JoinError, JoinSet};

use finqa_agents::llm::BatchQueue;

use super::models::RunModels;
use super::worker::{UnitOutcome, Worker};
use finqa_journal::run::Finish;

/// The units that an attempt left open, and the failure that stopped it.
#[derive(Default)]
pub(super) struct AttemptResult {
    /// Indices in the plan of the units for which the provider failed a question.
    pub postponed: Vec<usize>,
    /// The failure that stopped the run. It is the first one, unless a later one is a bug in this
    /// program.
    pub failure: Option<Finish>,
}

/// Asks the questions of these units, several units at a time. Only in the last attempt does a
/// refusal by the provider become a question's outcome, because before that the provider may be
/// refusing every question.
pub(super) async fn pass_over_units(
    worker: &Arc<Worker>,
    units: Vec<usize>,
    models: &RunModels,
    is_last: bool,
) -> AttemptResult {
    let batches = models.batches.as_ref();
    let most = match batches {
        // With 0, no unit would start, and the loop below would wait until the run drains.
        None => worker.concurrency.max(1),
        // A batch is submitted when every unit waits for a reply, so no unit may wait for a slot.
        Some(_) => usize::MAX,
    };
    let mut units = units.into_iter();
    let mut tasks: JoinSet<UnitOutcome> = JoinSet::new();
    let mut result = AttemptResult::default();
    // Counted by the queue as one more unit, so that no batch is submitted before all units are in
    // flight.
    let beginning = batches.map(BatchQueue::unit);
    loop {
        let has_capacity = loop {
            let has_capacity = tasks.len() < most;
            // `biased` fixes the order: stop if the run drains, then take the units that have
            // ended, and start another unit only after that.
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
        // Created before the task starts, so that the queue counts the unit at once.
        let in_flight = batches.map(BatchQueue::unit);
        tasks.spawn(async move {
            let ended = asking.ask_unit(at, is_last).await;
            // Until here, the queue waits for further requests of the unit.
            drop(in_flight);
            ended
        });
    }
    drop(beginning);
    while let Some(ended) = tasks.join_next().await {
        result.take(ended, worker);
    }
    // Units end in any order; the next attempt asks them in the order of the plan.
    result.postponed.sort_unstable();
    result
}

impl AttemptResult {
    /// Records how a unit ended. A postponed unit is asked again later; a failure stops the
    /// attempt.
    fn take(&mut self, ended: Result<UnitOutcome, JoinError>, worker: &Worker) {
        let failure = match ended {
            Ok(UnitOutcome::Over) => return,
            Ok(UnitOutcome::Postponed(at)) => return self.postponed.push(at),
            Ok(UnitOutcome::Fatal(failure)) => Finish::Fatal(failure),
            Err(error) => Finish::of_task(error),
        };
        self.stop(failure, worker);
    }

    /// Stops the run, because every further question would fail in the same way.
    pub(super) fn stop(&mut self, failure: Finish, worker: &Worker) {
        worker.stop.drain.cancel();
        match (&self.failure, &failure) {
            // The first failure stays, but a bug replaces a failure of the provider. The run must
            // then end as an internal error.
            (None, _) | (Some(Finish::Fatal(_)), Finish::Bug(_)) => self.failure = Some(failure),
            _ => {}
        }
    }
}
