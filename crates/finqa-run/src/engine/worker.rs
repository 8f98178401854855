//! Asks the questions of one unit in order, and records each outcome at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use rust_decimal::Decimal;
use tokio::sync::mpsc;
use tracing::Instrument;

use finqa_agents::llm::{Cost, ErrorKind, Stop};
use finqa_agents::pair::{
    self, Answer, Call, CallMemory, Interruption, RunFailure, Solution, Solver,
};
use finqa_env::data::bare_question;
use finqa_score::dataset::{Gold, HistoryEntry, Mode, Outcome, Question, QuestionKey};
use finqa_score::score::{Row, Scores};

use super::earlier_work::QuestionWork;
use super::failures::FailureStreaks;
use super::trace;
use super::writer::JournalWriter;
use finqa_journal::run::{Event, JournalEntry, Plan, PlannedQuestion, agent, gold_of_truth};

/// The state shared by the tasks of a run.
pub(super) struct Worker {
    pub solver: Arc<dyn Solver>,
    pub writer: JournalWriter,
    /// If the receiver is gone, nothing is lost, because every output is made from the journal.
    pub events: mpsc::Sender<Event>,
    pub stop: Stop,
    /// The run's id.
    pub run: String,
    pub plan: Arc<Plan>,
    /// Earlier answers and calls of the questions in unfinished units, by the question's index in
    /// the plan. A unit removes its entries when it is asked, and puts them back if it is
    /// postponed.
    pub known: Mutex<HashMap<usize, QuestionWork>>,
    pub failures: Arc<FailureStreaks>,
    /// True if any request of the run was answered, by this process or an earlier one.
    pub run_was_answered: Arc<AtomicBool>,
    /// True if the provider has replied in this process, if only with an error.
    pub server_has_replied: Arc<AtomicBool>,
    /// Number of questions whose outcome is in the journal.
    pub done: AtomicUsize,
    /// Maximum number of units in flight.
    pub concurrency: usize,
}

/// The end of an attempt at a unit.
pub(super) enum UnitOutcome {
    /// This process asks nothing more of the unit: every question has an outcome, the run is
    /// stopping, or a question must wait for `--resume`.
    Over,
    /// The provider failed at a question, so the unit is tried again later. Contains its index in
    /// the plan.
    Postponed(usize),
    /// A failure that ends the run.
    Fatal(RunFailure),
}

impl Worker {
    /// Asks the questions of the unit at the index `at` in the plan, in order.
    pub(super) async fn ask_unit(&self, at: usize, is_last: bool) -> UnitOutcome {
        let mut history: Vec<HistoryEntry> = Vec::new();
        // Put back into `known` if the unit is postponed, so that no question is asked again.
        let mut done = Vec::new();
        // The scheduler takes the index from this plan, so the default is never used.
        for planned in self.plan.unit(at).unwrap_or_default() {
            let known = self.known.lock().remove(&planned.index);
            let earlier = match known {
                Some(QuestionWork::Answered(answer)) => {
                    history.push(planned.in_history(self.plan.history, answer.as_deref()));
                    done.push((planned.index, QuestionWork::Answered(answer)));
                    continue;
                }
                Some(QuestionWork::Begun(calls)) => calls,
                None => Vec::new(),
            };
            if self.stop.drain.is_cancelled() {
                return UnitOutcome::Over;
            }
            let failed_before = earlier.iter().filter(|call| !call.is_settled()).count();
            let asked = self.ask_question(&planned, history.clone(), earlier, is_last);
            match asked.await {
                Ok(answer) => {
                    history.push(planned.in_history(self.plan.history, answer.as_ref()));
                    let answer = answer.map(Box::new);
                    done.push((planned.index, QuestionWork::Answered(answer)));
                }
                Err(Interruption::Cancelled) => return UnitOutcome::Over,
                Err(Interruption::Fatal(failure)) => return UnitOutcome::Fatal(failure),
                Err(Interruption::Provider(failed)) => {
                    if let Some(failure) = self.postpone(&planned, &failed).await {
                        return UnitOutcome::Fatal(failure);
                    }
                    // The list begins with the failed calls of earlier attempts, which are not
                    // counted again.
                    let now = failed.calls.iter().skip(failed_before);
                    let mut failures = now.filter_map(|it| it.failure.as_ref());
                    if failures.any(ErrorKind::may_repeat_at_cost) {
                        // Each further attempt may be billed, so the question must wait for
                        // `--resume`.
                        return UnitOutcome::Over;
                    }
                    done.push((planned.index, QuestionWork::Begun(failed.calls)));
                    self.known.lock().extend(done);
                    return UnitOutcome::Postponed(at);
                }
            }
        }
        UnitOutcome::Over
    }

    /// Asks a question and records its outcome. Returns the answer, even a withheld one; `None` if
    /// the outcome has none. After an interruption the question has no outcome yet.
    async fn ask_question(
        &self,
        planned: &PlannedQuestion,
        history: Vec<HistoryEntry>,
        earlier: Vec<Call>,
        is_last: bool,
    ) -> Result<Option<Answer>, Interruption> {
        let case = &planned.case;
        let index = planned.index;
        let key = case.question.key.clone();
        let memory = self.memory(index, earlier);
        let events = self.events.clone();
        let on_round = move |round: &pair::Round| {
            // `try_send` does not wait. With a slow listener the preview of a round is lost, but
            // never a row.
            let round = Box::new(round.clone());
            let key = key.clone();
            let _ = events.try_send(Event::Round { key, round });
        };
        let failed_before = memory.failed.len();
        let started = Instant::now();
        let span = trace::question(&self.run, &self.plan, planned, &*self.solver);
        let solution = self
            .solve(planned, history, memory, is_last, &on_round)
            .instrument(span.clone())
            .await
            .inspect_err(|why| pair::trace::record_interruption(&span, why))?;
        // The calls of earlier, failed attempts are not part of this answer's latency. A solver in
        // this process records no calls, so its wall time is used.
        let latency = match solution.calls.get(failed_before..) {
            None | Some([]) => started.elapsed().as_secs_f64(),
            Some(calls) => pair::total_seconds(calls),
        };
        let answer = solution.answer_or_withheld().cloned();
        if answer.is_some() || solution.episode.is_some() {
            // Needed for solvers that record no calls. For the others, the recorder in `memory`
            // does this.
            self.run_was_answered.store(true, Ordering::Relaxed);
        }
        let row = row(planned, self.plan.mode, solution, latency);
        trace::answered(&span, &row);
        // The question's trace ends here, without the wait for the journal.
        drop(span);
        let Some(row) = self.writer.answer(row).await else {
            // The journal has failed. The writer thread returns the error.
            self.stop.drain.cancel();
            return Err(Interruption::Cancelled);
        };
        self.done.fetch_add(1, Ordering::Relaxed);
        // The receiver may be gone. Nothing is lost, because the row is in the journal.
        let _ = self
            .events
            .send(Event::Answered {
                row,
                resumed: false,
            })
            .await;
        Ok(answer)
    }

    /// Calls the solver, and decides whether its solution is the question's outcome. Before the
    /// last attempt, it is not if a refusal by the provider left it without an answer, or if a call
    /// failed in a way that `data/failures.json` does not list, because every question may fail
    /// like this. In the last attempt, it is not if such an unlisted failure left it without an
    /// answer.
    ///
    /// # Errors
    /// The interruptions of the solver, and [`Interruption::Provider`] if the solution is not the
    /// outcome. [`Interruption::Fatal`] if too many prompts were refused in the same words before
    /// any was answered.
    async fn solve(
        &self,
        planned: &PlannedQuestion,
        history: Vec<HistoryEntry>,
        memory: CallMemory,
        is_last: bool,
        on_round: &(dyn Fn(&pair::Round) + Send + Sync),
    ) -> Result<Solution, Interruption> {
        let question = Arc::new(Question {
            history,
            ..planned.case.question.clone()
        });
        let failed_before = memory.failed.len();
        let solved =
            self.solver
                .solve(question, planned.epoch, memory, self.stop.clone(), on_round);
        let solution = solved.await?;
        // Read only now, because another question may have been answered during the solver's call.
        let run_was_answered = self.run_was_answered.load(Ordering::Relaxed);
        // An answer has no reason; only the reasons of refusals are compared.
        let reason = solution.error.as_deref().unwrap_or_default();
        let refused = self
            .failures
            .record_outcome(planned.index, solution.outcome, reason)
            .filter(|_| !run_was_answered);
        if let Some(message) = refused {
            return Err(Interruption::Fatal(RunFailure::from_provider(message)));
        }
        let mut calls = solution.calls.iter().skip(failed_before);
        let is_unknown = calls.any(|call| call.failure == Some(ErrorKind::Unknown));
        let is_refused = solution.outcome == Outcome::ProviderError;
        // In the last attempt, an answer is kept although its critic's call failed in an unlisted
        // way. A question that such a failure left without an answer waits for `--resume`.
        if (is_refused || is_unknown) && (!is_last || is_refused && is_unknown) {
            Err(Interruption::Provider(Box::new(solution)))
        } else {
            Ok(solution)
        }
    }

    /// A question's earlier calls, with a callback that journals its new calls.
    fn memory(&self, index: usize, earlier: Vec<Call>) -> CallMemory {
        let (settled, failed) = earlier.into_iter().partition(Call::is_settled);
        let (writer, failures) = (self.writer.clone(), Arc::clone(&self.failures));
        let run_was_answered = Arc::clone(&self.run_was_answered);
        let server_has_replied = Arc::clone(&self.server_has_replied);
        CallMemory {
            settled,
            failed,
            record: Some(Box::new(move |call| {
                if call.reply.is_some() || call.failure == Some(ErrorKind::Unknown) {
                    server_has_replied.store(true, Ordering::Relaxed);
                }
                if call.is_answered() {
                    failures.record_answer(&call.node);
                    run_was_answered.store(true, Ordering::Relaxed);
                }
                let call = Box::new(call.clone());
                let question = index;
                writer.record(JournalEntry::Call { question, call });
            })),
        }
    }

    /// Reports that a question is postponed. If too many calls of one agent have failed in a row,
    /// returns the failure that ends the run. Otherwise `None`.
    async fn postpone(&self, planned: &PlannedQuestion, failed: &Solution) -> Option<RunFailure> {
        let last = failed.calls.last();
        // If only the critic's call failed, the question has no error of its own.
        let reason = failed.error.clone().or_else(|| last?.error.clone());
        let reason = reason.unwrap_or_default();
        let node = last.map_or("", |call| call.node.as_str());
        if let Some(message) = self.failures.record_failure(node, &reason) {
            self.stop.drain.cancel();
            // Cancels only the run's requests: this is the child token that the scheduler made.
            self.stop.abort.cancel();
            return Some(RunFailure::from_provider(message));
        }
        let event = Event::Postponed {
            key: planned.case.question.key.clone(),
            reason,
        };
        // The receiver may be gone. The question is asked again all the same.
        let _ = self.events.send(event).await;
        None
    }
}

/// The row of a solved question, with its scores. The cost of the draft is that of the analyst's
/// calls in the first round.
fn row(planned: &PlannedQuestion, mode: Mode, solution: Solution, latency: f64) -> Row {
    let case = &planned.case;
    let (key, filename, question) = as_asked(planned, &solution);
    let drafting = |call: &&Call| call.round == 1 && agent(&call.node) == pair::ANALYST;
    let cost = cost_of(solution.calls.iter());
    let draft_cost = cost_of(solution.calls.iter().filter(drafting));
    Row {
        index: planned.index,
        epoch: planned.epoch,
        key,
        turns: planned.turns,
        filename,
        kind: Some(planned.kind),
        question,
        gold: match &solution.episode {
            // A server reveals the gold of its questions only at the end of an episode.
            Some(episode) if case.gold == Gold::default() => {
                gold_of_truth(episode.ground_truth.as_deref())
            }
            _ => case.gold.clone(),
        },
        mode,
        solution,
        scores: Scores::default(),
        latency: Some(latency),
        cost,
        draft_cost,
        stamp: None,
        document: Some(Arc::clone(&case.question.document)),
        cells: None,
    }
    .with_scores()
}

/// A question's key, its file name (by which statistics are clustered) and its text. A question
/// that a server chose is known only from its episode. Its part is the episode's number in the
/// plan, so that a question that the server chooses twice has two different keys.
fn as_asked(planned: &PlannedQuestion, solution: &Solution) -> (QuestionKey, String, String) {
    let question = &planned.case.question;
    match &solution.episode {
        Some(episode) if question.text.is_empty() => (
            QuestionKey {
                id: episode.question_id.clone(),
                part: question.key.id.clone(),
            },
            episode.company.clone(),
            bare_question(&episode.question).to_owned(),
        ),
        _ => (
            question.key.clone(),
            question.document.filename.clone(),
            question.text.clone(),
        ),
    }
}

fn cost_of<'c>(calls: impl Iterator<Item = &'c Call>) -> Option<Decimal> {
    calls.map(|call| call.cost).sum::<Cost>().total()
}
