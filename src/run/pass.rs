//! A pass over units of questions, several of them at a time.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::task::{JoinError, JoinSet};

use finqa_agents::llm::{BatchQueue, Limits};

use super::ending::join_error_message;
use super::event::Finish;
use super::replay::UnfinishedUnits;
use super::scheduler::RunModels;
use super::worker::{PlanUnit, UnitOutcome, Worker};

/// Which questions a pass asks, and how it treats provider errors.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PassKind {
    /// All; a refusal of one may be a refusal of all.
    First,
    /// The questions that the provider failed; a refusal is now the question's outcome.
    Last,
}

#[derive(Default)]
pub(super) struct PassResult {
    pub postponed: Vec<PlanUnit>,
    /// The first failure that ended it.
    pub failure: Option<Finish>,
}

/// The units of a pass: first those asked before, then those of the plan.
#[derive(Default)]
pub(super) struct UnitQueue {
    pub first: VecDeque<PlanUnit>,
    pub planned: Option<UnfinishedUnits>,
}

impl UnitQueue {
    pub(super) fn of(first: VecDeque<PlanUnit>) -> Self {
        Self {
            first,
            planned: None,
        }
    }

    fn next(&mut self) -> Option<PlanUnit> {
        let planned = || self.planned.as_mut().and_then(Iterator::next);
        self.first.pop_front().or_else(planned)
    }
}

/// The number of units in flight at a time.
pub(super) struct Concurrency {
    max: usize,
    limits: Limits,
    batches: Option<BatchQueue>,
}

impl Concurrency {
    pub(super) fn new(max: usize, models: &RunModels) -> Self {
        match models.batches.clone() {
            None => Self {
                max: max.max(1),
                limits: models.limits.clone(),
                batches: None,
            },
            // A wave holds a request of every unit.
            batches => Self {
                max: usize::MAX,
                limits: Limits::default(),
                batches,
            },
        }
    }

    fn current(&self) -> usize {
        self.limits.conversations().clamp(1, self.max)
    }
}

/// Asks the questions of a queue, several units at a time.
pub(super) async fn pass(
    worker: &Arc<Worker>,
    queue: &mut UnitQueue,
    width: &Concurrency,
    kind: PassKind,
) -> PassResult {
    let mut tasks: JoinSet<UnitOutcome> = JoinSet::new();
    let mut passed = PassResult::default();
    let batches = width.batches.as_ref();
    // No wave before every unit is in flight.
    let beginning = batches.map(BatchQueue::unit);
    loop {
        let has_capacity = loop {
            let asked = tasks.len();
            let below_most = asked < width.max;
            let has_capacity = asked < width.current();
            tokio::select! {
                biased;
                () = worker.stop.drain.cancelled() => break false,
                Some(ended) = tasks.join_next() => passed.take(ended, worker),
                () = std::future::ready(()), if has_capacity => break true,
                () = width.limits.changed(), if below_most && !has_capacity => {}
            }
        };
        let Some(unit) = has_capacity.then(|| queue.next()).flatten() else {
            break;
        };
        let asking = Arc::clone(worker);
        let in_flight = batches.map(BatchQueue::unit);
        tasks.spawn(async move {
            let ended = asking.ask_unit(unit, kind == PassKind::Last).await;
            drop(in_flight);
            ended
        });
    }
    drop(beginning);
    while let Some(ended) = tasks.join_next().await {
        passed.take(ended, worker);
    }
    passed.postponed.sort_by_key(PlanUnit::first_index);
    passed
}

impl PassResult {
    fn take(&mut self, ended: Result<UnitOutcome, JoinError>, worker: &Worker) {
        let failure = match ended {
            Ok(UnitOutcome::Over) => return,
            Ok(UnitOutcome::Postponed(unit)) => return self.postponed.push(unit),
            Ok(UnitOutcome::Fatal(failure)) => Finish::Fatal(failure),
            Err(error) => Finish::Bug(join_error_message(error)),
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
