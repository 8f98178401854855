//! Replays the journal of a resumed run: sends every row as an event and keeps the answers
//! that later turns need. A journal may be larger than memory, so rows are read one by one
//! and without the texts of their calls.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tokio::sync::mpsc;

use super::event::Event;
use super::identity::RunMeta;
use super::journal::{Journal, JournalError};
use super::plan::Plan;
use super::worker::PlanUnit;
use crate::score::Stamp;
use finqa_agents::pair::{Answer, Call};

/// The state of a run so far, from its journal.
pub(super) struct JournalReplay {
    pub journal: Journal,
    /// The units that are not done.
    pub units: UnfinishedUnits,
    /// Questions that have an outcome.
    pub answered: usize,
    /// True if any of them has an answer.
    pub any_answer: bool,
    /// The last answer's stamp.
    pub last: Stamp,
}

/// The units of a plan with an unanswered question, each with the answers and calls of
/// earlier processes. Made one at a time.
pub(super) struct UnfinishedUnits {
    plan: Plan,
    /// The place of the next unit.
    at: usize,
    done: HashSet<usize>,
    /// Of units that are begun.
    answers: HashMap<usize, Option<Answer>>,
    calls: HashMap<usize, Vec<Call>>,
}

impl Iterator for UnfinishedUnits {
    type Item = PlanUnit;

    fn next(&mut self) -> Option<PlanUnit> {
        let planned = loop {
            let planned = self.plan.unit(self.at)?;
            self.at += 1;
            if !planned.iter().all(|it| self.done.contains(&it.index)) {
                break planned;
            }
        };
        let places = || planned.iter().map(|it| it.index);
        Some(PlanUnit {
            answers: places()
                .filter_map(|at| self.answers.remove_entry(&at))
                .collect(),
            calls: places()
                .filter_map(|at| self.calls.remove_entry(&at))
                .collect(),
            planned,
        })
    }
}

/// Passes on to `events` what a journal holds of the run of a plan.
pub(super) async fn replay(
    journal: Journal,
    meta: Arc<RunMeta>,
    plan: Plan,
    events: mpsc::Sender<Event>,
) -> Result<JournalReplay, JournalError> {
    let replayed =
        tokio::task::spawn_blocking(move || send_recorded_rows(journal, meta, plan, &events));
    replayed
        .await
        .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

fn send_recorded_rows(
    journal: Journal,
    meta: Arc<RunMeta>,
    plan: Plan,
    events: &mpsc::Sender<Event>,
) -> Result<JournalReplay, JournalError> {
    let done = journal.answered_questions()?;
    // Nothing is lost if the receiver is gone.
    let _ = events.blocking_send(Event::Started {
        meta,
        total: Some(plan.total()),
        answered: done.len(),
    });
    let started = plan.units().filter(|unit| {
        let open = |at: &usize| !done.contains(at);
        unit.len() > 1 && unit.iter().any(|it| open(&it.index))
    });
    let started: HashSet<usize> = started.flatten().map(|it| it.index).collect();
    let mut answers = HashMap::new();
    let mut any_answer = false;
    let mut last = Stamp::default();
    journal.for_each_result(|row| {
        any_answer |= row.solution.answer.is_some();
        if started.contains(&row.index) {
            answers.insert(row.index, row.solution.answer.clone());
        }
        last = last.after_row(&row);
        let row = Arc::new(row);
        let _ = events.blocking_send(Event::Answered { row, resumed: true });
    })?;
    let calls = journal.open_calls()?;
    Ok(JournalReplay {
        answered: done.len(),
        units: UnfinishedUnits {
            plan,
            at: 0,
            done,
            answers,
            calls,
        },
        any_answer,
        last,
        journal,
    })
}
