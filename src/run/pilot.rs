//! The pilot of a run: its first questions, asked before the first answer is recorded, to
//! estimate the model's accuracy from its agreement with the embedded analyst. Its calls
//! are journaled and reused when the questions are answered, and its count is journaled
//! before the first row, so that every process of the run chooses by the same figure.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use finqa_agents::pair::{AgreementCount, SecondOpinion};

use super::pass::{Concurrency, PassKind, PassResult, UnitQueue, pass};
use super::worker::{NoOutcome, PlanUnit, UnitOutcome, Worker};
use crate::dataset::HistoryMode;

/// Maximum number of pilot questions.
const QUESTIONS: usize = 100;

/// A unit whose first questions were asked.
pub(super) struct PilotUnit {
    pub unit: PlanUnit,
    /// The opinions on the questions that have an outcome.
    pub opinions: BTreeMap<usize, Option<SecondOpinion>>,
    /// The provider failed one of its questions.
    pub postponed: bool,
}

impl PilotUnit {
    /// True if one of its questions has an outcome.
    pub(super) fn has_outcome(&self) -> bool {
        !self.opinions.is_empty()
    }
}

/// Asks the first questions of a queue, those that the provider fails a second time, and puts
/// all of them back. Counts those with an outcome; if it was stopped, or there is none, the
/// result of the last pass is the error.
pub(super) async fn pilot_pass(
    worker: &Arc<Worker>,
    queue: &mut UnitQueue,
    width: &Concurrency,
) -> Result<AgreementCount, PassResult> {
    let mut first = UnitQueue::of(take(&mut queue.planned.iter_mut().flatten()));
    let mut passed = pass(worker, &mut first, width, PassKind::Pilot).await;
    let mut units = std::mem::take(&mut passed.pilot_units);
    // Only a provider that answers others may be asked again.
    if passed.failure.is_none() && units.iter().any(PilotUnit::has_outcome) {
        units.sort_by_key(|pilot| pilot.unit.first_index());
        let again = units.extract_if(.., |pilot| pilot.postponed);
        first.first = again.map(|pilot| pilot.unit).collect();
        passed = pass(worker, &mut first, width, PassKind::Pilot).await;
        units.append(&mut passed.pilot_units);
    }
    units.sort_by_key(|pilot| pilot.unit.first_index());
    let done = passed.failure.is_none()
        && !worker.stop.drain.is_cancelled()
        && units.iter().any(PilotUnit::has_outcome);
    let agreement = done.then(|| count(&units));
    for pilot in units.into_iter().rev() {
        queue.first.push_front(pilot.unit);
    }
    agreement.ok_or(passed)
}

/// Takes the units of the first questions.
fn take(units: &mut impl Iterator<Item = PlanUnit>) -> VecDeque<PlanUnit> {
    let mut questions = 0;
    let mut taken = VecDeque::new();
    while questions < QUESTIONS
        && let Some(unit) = units.next()
    {
        questions += unit.planned.len();
        taken.push_back(unit);
    }
    taken
}

/// The agreement over the questions that have an outcome, in the order of the plan, so that
/// the sum is the same whichever was asked first.
fn count(units: &[PilotUnit]) -> AgreementCount {
    let opinions: BTreeMap<_, _> = units.iter().flat_map(|unit| &unit.opinions).collect();
    let mut count = AgreementCount::default();
    for opinion in opinions.into_values() {
        count.add(opinion.as_ref());
    }
    count
}

impl Worker {
    /// Asks the questions of a unit. With the model's own history it ends at the first answer
    /// that may be replaced, because later questions depend on the choice.
    pub(super) async fn pilot(&self, mut unit: PlanUnit) -> UnitOutcome {
        let mut opinions = BTreeMap::new();
        let mut history = Vec::new();
        let mut postponed = false;
        for planned in &unit.planned {
            let earlier = unit.calls.remove(&planned.index).unwrap_or_default();
            let memory = self.memory(planned.index, earlier);
            let solved = self.solve(planned, history.clone(), memory, true, &|_| {});
            let solution = match solved.await {
                Ok(solution) => solution,
                Err(why) => match self.no_outcome(planned, why).await {
                    NoOutcome::Stopped => return UnitOutcome::Over,
                    NoOutcome::Fatal(failure) => return UnitOutcome::Fatal(failure),
                    NoOutcome::Postponed(calls) => {
                        unit.calls.insert(planned.index, calls);
                        postponed = true;
                        break;
                    }
                },
            };
            let agrees = solution.opinion.as_ref().and_then(|opinion| opinion.agrees);
            opinions.insert(planned.index, solution.opinion);
            unit.calls.insert(planned.index, solution.calls);
            if self.history == HistoryMode::Own && agrees != Some(true) {
                break;
            }
            history.push(planned.in_history(self.history, solution.answer.as_ref()));
        }
        UnitOutcome::Piloted(PilotUnit {
            unit,
            opinions,
            postponed,
        })
    }
}
