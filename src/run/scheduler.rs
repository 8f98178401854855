//! Asks a plan's questions: units side by side, a conversation's turns in
//! order, every outcome in the journal before anybody hears of it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use rust_decimal::Decimal;
use thiserror::Error;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::agents::{self, Answer, Call, CallMemory, Interruption, Pair, Settled, own_history};
use crate::dataset::{HistoryEntry, Question};
use crate::score::Scores;

use super::event::{Event, Finish};
use super::journal::{Journal, JournalError};
use super::plan::{HistoryMode, Mode, Plan, Planned, gold_history};
use super::replay::replay;
use super::row::Row;
use super::trace::{self, RunTrace};
use super::writer::{self, Writer};

/// How a run is stopped from outside.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    /// No new question is begun; those in flight are finished.
    pub drain: CancellationToken,
    /// Calls in flight are given up too.
    pub abort: CancellationToken,
}

/// What ends a run early, other than the user or the provider.
#[derive(Debug, Error)]
pub enum RunError {
    /// The journal cannot be read or written; what is in it stays.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// What a question's calls cost in US dollars; `None` if a price is unknown.
pub type Price = Arc<dyn Fn(&[Call]) -> Option<Decimal> + Send + Sync>;

/// A plan, ready to be run.
pub struct Scheduler {
    /// What is asked.
    pub plan: Plan,
    /// Who answers.
    pub pair: Arc<Pair>,
    /// Units in flight at a time; at least 1.
    pub concurrency: usize,
    /// What calls cost.
    pub price: Price,
    /// How it is stopped.
    pub stop: Stop,
}

/// What one unit's task needs.
struct Worker {
    pair: Arc<Pair>,
    price: Price,
    writer: Writer,
    events: mpsc::Sender<Event>,
    stop: Stop,
    mode: Mode,
    history: HistoryMode,
    trace: Arc<RunTrace>,
}

/// Own answers by place in the plan; `None` where a question has none.
type Answers = HashMap<usize, Option<Answer>>;

/// What earlier processes of this run have left.
struct Earlier {
    /// Own answers of turns that are done, by place in the plan.
    answers: Answers,
    /// Calls of questions that were in flight.
    calls: HashMap<usize, Vec<Call>>,
}

impl Scheduler {
    /// Runs to the end, or until stopped, telling `events` everything.
    ///
    /// # Errors
    /// [`RunError`] if the journal fails; the run can be resumed from what it holds.
    pub async fn run(
        self,
        journal: Journal,
        events: mpsc::Sender<Event>,
    ) -> Result<Finish, RunError> {
        let started = Instant::now();
        let meta = Arc::new(journal.meta()?);
        let trace = Arc::new(RunTrace::start(&meta, self.plan.mode));
        let replayed = replay(journal, self.plan.total(), meta, events.clone()).await?;
        let mut earlier = Earlier {
            answers: replayed.answers,
            calls: replayed.calls,
        };
        let (writer, thread) = writer::spawn(replayed.journal, replayed.last);
        let worker = Arc::new(Worker {
            pair: self.pair,
            price: self.price,
            writer,
            events: events.clone(),
            stop: self.stop.clone(),
            mode: self.plan.mode,
            history: self.plan.history,
            trace: Arc::clone(&trace),
        });
        let slots = Arc::new(Semaphore::new(self.concurrency.max(1)));
        let mut tasks: JoinSet<Option<String>> = JoinSet::new();
        let mut fatal = None;
        for unit in self.plan.units {
            let slot = tokio::select! {
                biased;
                () = self.stop.drain.cancelled() => break,
                slot = Arc::clone(&slots).acquire_owned() => slot,
            };
            let before = earlier.take(&unit);
            if before.answers.len() == unit.len() {
                continue;
            }
            let worker = Arc::clone(&worker);
            tasks.spawn(async move {
                let _slot = slot;
                worker.unit(unit, before).await
            });
            while let Some(ended) = tasks.try_join_next() {
                fatal = fatal.or(ended.unwrap_or_else(|error| Some(error.to_string())));
            }
        }
        while let Some(ended) = tasks.join_next().await {
            fatal = fatal.or(ended.unwrap_or_else(|error| Some(error.to_string())));
        }
        drop(worker);
        thread.join()?;
        let finish = match fatal {
            Some(message) => Finish::Fatal(message),
            None if self.stop.drain.is_cancelled() => Finish::Interrupted,
            None => Finish::Complete,
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

impl Earlier {
    /// The part that concerns one unit.
    fn take(&mut self, unit: &[Planned]) -> Self {
        let indices = unit.iter().map(|planned| planned.index);
        Self {
            answers: indices
                .clone()
                .filter_map(|index| self.answers.remove(&index).map(|answer| (index, answer)))
                .collect(),
            calls: indices
                .filter_map(|index| self.calls.remove(&index).map(|calls| (index, calls)))
                .collect(),
        }
    }
}

impl Worker {
    /// Asks a unit's questions in order; the message that makes going on
    /// useless, if there is one.
    async fn unit(&self, unit: Vec<Planned>, mut earlier: Earlier) -> Option<String> {
        let mut history: Vec<HistoryEntry> = Vec::new();
        for planned in unit {
            let text = planned.case.question.text.clone();
            let own = match earlier.answers.remove(&planned.index) {
                Some(answer) => answer,
                None => {
                    if self.stop.drain.is_cancelled() {
                        return None;
                    }
                    let calls = earlier.calls.remove(&planned.index).unwrap_or_default();
                    match self.question(&planned, history.clone(), calls).await {
                        Ok(answer) => answer,
                        Err(Interruption::Cancelled) => return None,
                        Err(Interruption::Fatal(message)) => {
                            // What fails for one fails for all: begin no more.
                            self.stop.drain.cancel();
                            return Some(message);
                        }
                    }
                }
            };
            history.push(match self.history {
                HistoryMode::Own => own_history(&text, own.as_ref()),
                HistoryMode::Gold => gold_history(&text, &planned.case.gold),
            });
        }
        None
    }

    async fn question(
        &self,
        planned: &Planned,
        history: Vec<HistoryEntry>,
        earlier: Vec<Call>,
    ) -> Result<Option<Answer>, Interruption> {
        let case = &planned.case;
        let index = planned.index;
        let key = case.question.key.clone();
        let _ = self
            .events
            .send(Event::Asked {
                index,
                key: key.clone(),
            })
            .await;
        let question = Arc::new(Question {
            history,
            ..case.question.clone()
        });
        // Seconds that an earlier process spent on replies that are now recalled.
        let replies: Vec<Call> = earlier
            .into_iter()
            .filter(|call| call.reply.is_some())
            .collect();
        let recalled: f64 = replies.iter().map(|call| call.seconds).sum();
        let writer = self.writer.clone();
        let memory = CallMemory {
            replies,
            record: Some(Box::new(move |call| writer.call(index, call))),
        };
        let events = self.events.clone();
        let tell = move |round: &crate::agents::Round| {
            // A slow listener loses a round's preview, never a row.
            let round = Box::new(round.clone());
            let _ = events.try_send(Event::Round {
                index,
                key: key.clone(),
                round,
            });
        };
        let started = Instant::now();
        let span = self.trace.question(planned);
        let settled = self
            .pair
            .ask(question, memory, self.stop.abort.clone(), &tell)
            .instrument(span.clone())
            .await
            .inspect_err(|why| agents::trace::interrupted(&span, why))?;
        let latency = recalled + started.elapsed().as_secs_f64();
        let cost = (self.price)(&settled.calls);
        let drafting = settled.calls.iter().filter(|call| call.round == 1);
        let drafting = drafting.filter(|call| call.node.starts_with("analyst"));
        let draft_cost = (self.price)(&drafting.cloned().collect::<Vec<_>>());
        let answer = settled.answer.clone();
        let row = row(planned, self.mode, settled, latency, [cost, draft_cost]);
        trace::answered(&span, &row);
        drop(span);
        let Some(row) = self.writer.answer(row).await else {
            // The journal is broken; its own error is what the user is told.
            self.stop.drain.cancel();
            return Err(Interruption::Cancelled);
        };
        let _ = self
            .events
            .send(Event::Answered {
                row,
                resumed: false,
            })
            .await;
        Ok(answer)
    }
}

fn row(
    planned: &Planned,
    mode: Mode,
    settled: Settled,
    latency: f64,
    [cost, draft_cost]: [Option<Decimal>; 2],
) -> Row {
    let Planned {
        index,
        case,
        kind,
        epoch,
        turns,
    } = planned;
    Row {
        index: *index,
        epoch: *epoch,
        key: case.question.key.clone(),
        turns: *turns,
        filename: case.question.document.filename.clone(),
        kind: *kind,
        question: case.question.text.clone(),
        gold: case.gold.clone(),
        mode,
        settled,
        scores: Scores::default(),
        latency,
        cost,
        draft_cost,
        stamp: None,
    }
    .scored(&case.question.document)
}
