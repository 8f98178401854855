//! Asks a plan's questions: units side by side, a conversation's turns in
//! order, every outcome in the journal before its event is sent. Questions
//! that the provider fails are asked again once the others are done.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};

use finqa_agents::agents::{AgreementCount, Answer, Call, Fault, RunFailure};
use finqa_agents::models::{
    BatchQueue, Budget, CassetteReplay, ErrorKind, Limits, RunBatches, Stop,
};
use finqa_agents::solve::Solver;

use super::event::{Event, Finish};
use super::health::FailureStreaks;
use super::journal::{Journal, JournalError};
use super::pilot::{self, PilotUnit};
use super::plan::{Plan, PlannedQuestion, QuestionSource};
use super::replay::{JournalReplay, UnfinishedUnits, replay};
use super::trace::RunTrace;
use super::worker::Worker;
use super::writer;

/// A plan, ready to be run.
pub struct Scheduler {
    /// The questions.
    pub plan: Plan,
    /// The questions beyond the plan, if a server chooses them.
    pub question_source: Option<Box<dyn QuestionSource>>,
    pub solver: Arc<dyn Solver>,
    /// Maximum number of units in flight, at least 1.
    pub concurrency: usize,
    /// The rate limits of the models, which bound the units in flight.
    pub limits: Limits,
    /// The budget that its models spend from.
    pub budget: Arc<Budget>,
    /// Stops the run.
    pub stop: Stop,
    /// The recording that is replayed: when questions were answered.
    pub recording: Option<Arc<CassetteReplay>>,
    /// Estimate the model's accuracy by asking the first questions before the first answer
    /// is recorded.
    pub pilot: bool,
    /// The batch queue of its models, if any; all units are in flight then.
    pub batches: Option<BatchQueue>,
}

/// Questions that are asked one after the other, and what is known of them.
pub(super) struct PlanUnit {
    pub planned: Vec<PlannedQuestion>,
    /// Own answers of questions that are done, by place in the plan; `None`
    /// where a question has none.
    pub answers: HashMap<usize, Option<Answer>>,
    /// Calls of questions that were begun.
    pub calls: HashMap<usize, Vec<Call>>,
}

/// The state in which a unit ended.
pub(super) enum UnitOutcome {
    /// To its end, or to where the run was stopped.
    Over,
    /// To a question that the provider failed.
    Postponed(PlanUnit),
    /// To a failure that ends the run.
    Fatal(RunFailure),
    /// Through the pilot.
    Piloted(PilotUnit),
}

/// Which questions a pass asks, and how it treats provider errors.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PassKind {
    /// The pilot questions.
    Pilot,
    /// All; a refusal of one may be a refusal of all.
    First,
    /// The questions that the provider failed; a refusal is now the question's outcome.
    Last,
}

/// The result of a pass.
#[derive(Default)]
struct PassResult {
    postponed: Vec<PlanUnit>,
    pilot_units: Vec<PilotUnit>,
    /// The first failure that ended it.
    failure: Option<Finish>,
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
        let meta = Arc::new(journal.meta()?);
        let total = match &self.question_source {
            None => Some(self.plan.total()),
            Some(_) => meta.total,
        };
        let (mode, history) = (self.plan.mode, self.plan.history);
        let trace = Arc::new(RunTrace::start(&meta, mode));
        let piloted = meta.pilot;
        let JournalReplay {
            journal,
            units: planned,
            answered: resumed,
            any_answer: answered_before,
            last,
            question_source,
        } = replay(
            journal,
            total,
            meta,
            self.plan,
            self.question_source,
            events.clone(),
        )
        .await?;
        let done = Arc::new(AtomicUsize::new(resumed));
        let mut queue = UnitQueue {
            planned: Some(planned),
            question_source,
            ..UnitQueue::default()
        };
        let earlier = match &self.batches {
            None => RunBatches::default(),
            Some(_) => RunBatches {
                id: journal.meta()?.id,
                folder: journal.path().with_file_name(""),
                earlier: journal.batches()?,
                amounts: journal.amounts()?,
                recorder: None,
            },
        };
        journal.pause(None)?;
        let (writer, thread) = writer::spawn(journal, last);
        let recorder = writer.clone();
        self.budget.record_with(Some(Arc::new(move |id, amount| {
            recorder.spending(id, amount)
        })));
        let driver = self.batches.clone().map(|queue| {
            let (recorder, stop) = (writer.clone(), self.stop.clone());
            queue.begin(RunBatches {
                recorder: Some(Arc::new(move |batches| recorder.batches(batches))),
                ..earlier
            });
            tokio::spawn(async move { queue.drive(&stop).await })
        });
        let clock = self.budget.limits().time.map(|time| {
            let (budget, stop) = (Arc::clone(&self.budget), self.stop.clone());
            tokio::spawn(async move {
                tokio::time::sleep(time).await;
                budget.end_time(&stop);
            })
        });
        let health = Arc::new(FailureStreaks::default());
        let worker = Arc::new(Worker {
            solver: self.solver,
            writer,
            events: events.clone(),
            stop: Stop {
                drain: self.stop.drain.clone(),
                // Giving up on the provider gives up nothing else.
                abort: self.stop.abort.child_token(),
            },
            mode,
            history,
            trace: Arc::clone(&trace),
            health: Arc::clone(&health),
            answered_before,
            ends_with_wave: self.batches.as_ref().is_some_and(|queue| !queue.waits()),
            done: Arc::clone(&done),
            recording: self.recording,
        });
        let width = match self.batches.clone() {
            None => Concurrency {
                max: self.concurrency.max(1),
                limits: self.limits,
                batches: None,
            },
            // A wave holds a request of every unit.
            batches => Concurrency {
                max: usize::MAX,
                limits: Limits::default(),
                batches,
            },
        };
        let mut passed = PassResult::default();
        let agreement = match piloted {
            None if self.pilot => {
                let count;
                (passed, count) = pilot_pass(&worker, &mut queue, &width).await;
                count
            }
            known => known,
        };
        if let Some(count) = agreement {
            worker.writer.pilot(count);
            worker.solver.set_model_accuracy(count.model_accuracy());
        }
        let begins = agreement.is_some() || !self.pilot;
        if begins {
            passed = pass(&worker, &mut queue, &width, PassKind::First).await;
        }
        // Only a provider that answers others may be asked again.
        if begins && passed.failure.is_none() && (answered_before || health.has_answered()) {
            let mut again = UnitQueue {
                first: std::mem::take(&mut passed.postponed).into(),
                ..UnitQueue::default()
            };
            passed = pass(&worker, &mut again, &width, PassKind::Last).await;
        }
        let pending = match driver {
            None => None,
            Some(driver) => {
                self.batches.iter().for_each(BatchQueue::close);
                match driver.await {
                    Ok(Ok(pending)) => pending,
                    Ok(Err(error)) => {
                        let failure = RunFailure {
                            fault: match error.kind {
                                ErrorKind::Unstored => Fault::Usage,
                                _ => Fault::Provider,
                            },
                            message: error.to_string(),
                        };
                        passed.stop(Finish::Fatal(failure), &worker);
                        None
                    }
                    Err(error) => {
                        passed.stop(Finish::Bug(join_error_message(error)), &worker);
                        None
                    }
                }
            }
        };
        // A question source that is gone has no more questions.
        let total = match (&queue.question_source, total) {
            (None, None) => {
                let all = resumed + queue.from_source;
                worker.writer.total(all);
                Some(all)
            }
            (_, total) => total,
        };
        let answered = done.load(Ordering::Relaxed);
        let left = total.map(|total| total.saturating_sub(answered));
        let reached = self.budget.reached().filter(|_| left != Some(0));
        if let Some(limit) = reached {
            worker.writer.pause(limit);
        }
        self.budget.record_with(None);
        if let Some(clock) = clock {
            clock.abort();
        }
        drop(worker);
        let written = thread.join();
        let finish = match (written, passed.failure) {
            (Err(panic), _) => Finish::Bug(panic_message(&*panic)),
            (Ok(Err(error)), _) => return Err(error),
            (Ok(Ok(())), Some(bug @ Finish::Bug(_))) => bug,
            _ if left == Some(0) => Finish::Complete,
            (Ok(Ok(())), Some(trouble)) => trouble,
            _ if let Some(limit) = reached => Finish::BudgetReached {
                limit,
                spent: self.budget.spent_line(),
                left,
            },
            _ if let Some(requests) = pending => Finish::BatchesPending { requests },
            _ if self.stop.drain.is_cancelled() => Finish::Interrupted,
            _ => {
                // Otherwise the failures were those of earlier processes.
                let reason = health.last_failure();
                let reason = reason.unwrap_or_else(|| match self.batches {
                    Some(_) => "no answer in as many batches as --attempts allows".to_owned(),
                    None => "no answer".to_owned(),
                });
                match health.has_answered() {
                    true => Finish::Partial {
                        left: left.unwrap_or_default(),
                        reason,
                    },
                    false => Finish::Fatal(RunFailure::from_provider(reason)),
                }
            }
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

/// The units of a pass: first those asked before, then those of the plan, then those of a
/// server.
#[derive(Default)]
struct UnitQueue {
    first: VecDeque<PlanUnit>,
    planned: Option<UnfinishedUnits>,
    /// `None` once it has no more questions.
    question_source: Option<Box<dyn QuestionSource>>,
    /// The number of questions from `question_source`.
    from_source: usize,
}

impl UnitQueue {
    async fn next(&mut self) -> Result<Option<PlanUnit>, RunFailure> {
        let planned = || self.planned.as_mut().and_then(Iterator::next);
        if let Some(unit) = self.first.pop_front().or_else(planned) {
            return Ok(Some(unit));
        }
        let Some(question_source) = &mut self.question_source else {
            return Ok(None);
        };
        let Some((planned, calls)) = question_source.next_question().await? else {
            self.question_source = None;
            return Ok(None);
        };
        self.from_source += 1;
        Ok(Some(PlanUnit {
            answers: HashMap::new(),
            calls: HashMap::from([(planned.index, calls)]),
            planned: vec![planned],
        }))
    }
}

/// The number of units in flight at a time.
struct Concurrency {
    max: usize,
    limits: Limits,
    batches: Option<BatchQueue>,
}

impl Concurrency {
    fn current(&self) -> usize {
        self.limits.conversations().clamp(1, self.max)
    }
}

/// Asks the first questions of a queue, those that the provider fails a second time, and puts
/// all of them back. Counts those with an outcome; `None` if it was stopped, or there is none.
async fn pilot_pass(
    worker: &Arc<Worker>,
    queue: &mut UnitQueue,
    width: &Concurrency,
) -> (PassResult, Option<AgreementCount>) {
    let mut planned = queue.planned.iter_mut().flatten();
    let mut first = UnitQueue {
        first: pilot::take(&mut planned),
        ..UnitQueue::default()
    };
    let mut passed = pass(worker, &mut first, width, PassKind::Pilot).await;
    let mut units = std::mem::take(&mut passed.pilot_units);
    // Only a provider that answers others may be asked again.
    if passed.failure.is_none() && units.iter().any(PilotUnit::has_outcome) {
        units.sort_by_key(|pilot| first_index(&pilot.unit));
        let again = units.extract_if(.., |pilot| pilot.postponed);
        first.first = again.map(|pilot| pilot.unit).collect();
        passed = pass(worker, &mut first, width, PassKind::Pilot).await;
        units.append(&mut passed.pilot_units);
    }
    units.sort_by_key(|pilot| first_index(&pilot.unit));
    let done = passed.failure.is_none()
        && !worker.stop.drain.is_cancelled()
        && units.iter().any(PilotUnit::has_outcome);
    let count = done.then(|| pilot::count(&units));
    for pilot in units.into_iter().rev() {
        queue.first.push_front(pilot.unit);
    }
    (passed, count)
}

fn first_index(unit: &PlanUnit) -> Option<usize> {
    unit.planned.first().map(|planned| planned.index)
}

/// Asks the questions of a queue, several units at a time.
async fn pass(
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
        let next = queue.next();
        tokio::pin!(next);
        let mut probe = false;
        let unit = loop {
            let asked = tasks.len();
            let below_most = asked < width.max;
            probe = probe || (below_most && width.limits.take_probe(asked));
            let room = probe || asked < width.current();
            tokio::select! {
                biased;
                () = worker.stop.drain.cancelled() => break Ok(None),
                Some(ended) = tasks.join_next() => passed.take(ended, worker),
                unit = &mut next, if room => break unit,
                () = width.limits.changed(asked), if below_most && !room => {}
            }
        };
        let unit = match unit {
            Ok(Some(unit)) => unit,
            Ok(None) => break,
            Err(failure) => {
                passed.stop(Finish::Fatal(failure), worker);
                break;
            }
        };
        let asking = Arc::clone(worker);
        let in_flight = batches.map(BatchQueue::unit);
        tasks.spawn(async move {
            let ended = match kind {
                PassKind::Pilot => asking.pilot(unit).await,
                PassKind::First | PassKind::Last => {
                    asking.ask_unit(unit, kind == PassKind::Last).await
                }
            };
            drop(in_flight);
            ended
        });
    }
    drop(beginning);
    while let Some(ended) = tasks.join_next().await {
        passed.take(ended, worker);
    }
    passed.postponed.sort_by_key(first_index);
    passed
}

impl PassResult {
    fn take(&mut self, ended: Result<UnitOutcome, JoinError>, worker: &Worker) {
        let trouble = match ended {
            Ok(UnitOutcome::Over) => return,
            Ok(UnitOutcome::Postponed(unit)) => return self.postponed.push(unit),
            Ok(UnitOutcome::Piloted(unit)) => return self.pilot_units.push(unit),
            Ok(UnitOutcome::Fatal(failure)) => Finish::Fatal(failure),
            Err(error) => Finish::Bug(join_error_message(error)),
        };
        self.stop(trouble, worker);
    }

    /// Stops the run: the failure would repeat for every question.
    fn stop(&mut self, trouble: Finish, worker: &Worker) {
        worker.stop.drain.cancel();
        match (&self.failure, &trouble) {
            (None, _) | (Some(Finish::Fatal(_)), Finish::Bug(_)) => self.failure = Some(trouble),
            _ => {}
        }
    }
}

/// The message of a task that panicked or was cancelled.
fn join_error_message(error: JoinError) -> String {
    match error.try_into_panic() {
        Ok(panic) => panic_message(&*panic),
        Err(error) => error.to_string(),
    }
}

/// The message of a panic.
fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("without a message"))
}
