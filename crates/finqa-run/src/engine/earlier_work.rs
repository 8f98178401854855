//! Reads from the journal what earlier processes of a run have done. Every row is sent as an event.
//! Only the answers that later turns need are kept, because a journal may be larger than memory.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tokio::sync::mpsc;

use finqa_agents::pair::{Answer, Call};
use finqa_journal::run::{Event, Journal, JournalError, Plan, RunMeta};
use finqa_score::score::Stamp;

/// The work of earlier processes on a question.
pub(super) enum QuestionWork {
    /// The question has an outcome. Contains its answer, if there is one.
    Answered(Option<Box<Answer>>),
    /// The question has no outcome yet. Contains the calls that were made for it so far.
    Begun(Vec<Call>),
}

/// The state of a run before this process asks a question.
pub(super) struct EarlierWork {
    pub journal: Journal,
    /// Indices in the plan of the units that have a question without an outcome.
    pub open_units: Vec<usize>,
    /// The earlier work on the questions of these units, by the question's index in the plan.
    pub known: HashMap<usize, QuestionWork>,
    /// Number of questions with an outcome.
    pub answered: usize,
    /// True if a model has replied, or a question has an answer.
    pub any_answer: bool,
    /// The stamp of the last row in the journal.
    pub last: Stamp,
}

impl EarlierWork {
    /// Reads the journal of a run with this plan. Sends each row to `events`.
    pub(super) async fn read(
        journal: Journal,
        meta: Arc<RunMeta>,
        plan: Arc<Plan>,
        events: mpsc::Sender<Event>,
    ) -> Result<Self, JournalError> {
        let read =
            tokio::task::spawn_blocking(move || Self::send_rows(journal, meta, &plan, &events));
        read.await
            // Continue a panic in the caller, so that `pipeline` reports it as a bug.
            .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }

    /// Does the work of [`Self::read`] on a blocking thread.
    fn send_rows(
        journal: Journal,
        meta: Arc<RunMeta>,
        plan: &Plan,
        events: &mpsc::Sender<Event>,
    ) -> Result<Self, JournalError> {
        let done = journal.answered_questions()?;
        // If the receiver is gone, nothing is lost, because every output is made from the journal.
        let _ = events.blocking_send(Event::Started {
            meta,
            total: plan.total(),
            answered: done.len(),
        });
        let mut open_units = Vec::new();
        let mut needed = HashSet::new();
        for (at, unit) in plan.units().enumerate() {
            if unit.iter().any(|planned| !done.contains(&planned.index)) {
                open_units.push(at);
                needed.extend(unit.iter().map(|planned| planned.index));
            }
        }
        let calls = journal.open_calls()?;
        let replied = calls.values().flatten().any(Call::is_answered);
        let begun = calls.into_iter();
        let mut known: HashMap<_, _> = begun
            .map(|(index, calls)| (index, QuestionWork::Begun(calls)))
            .collect();
        let (mut any_answer, mut last) = (replied, Stamp::default());
        journal.for_each_row(|row| {
            any_answer |= row.solution.answer_or_withheld().is_some();
            if needed.contains(&row.index) {
                let answer = row.solution.answer_or_withheld().cloned().map(Box::new);
                known.insert(row.index, QuestionWork::Answered(answer));
            }
            last = last.after_row(&row);
            let row = Arc::new(row);
            let _ = events.blocking_send(Event::Answered { row, resumed: true });
        })?;
        Ok(Self {
            journal,
            open_units,
            known,
            answered: done.len(),
            any_answer,
            last,
        })
    }
}
