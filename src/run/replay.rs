//! What earlier processes of a run have left: every row as an event, and as far as
//! questions to come need it, kept. A journal may be larger than the memory, so
//! that its rows pass one by one and without what was sent and replied.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use tokio::sync::mpsc;

use super::event::Event;
use super::identity::RunMeta;
use super::journal::{Journal, JournalError};
use super::plan::{Dealer, PlannedQuestion};
use super::scheduler::PlanUnit;
use crate::score::Stamp;

/// What a journal holds of a run so far.
pub(super) struct JournalReplay {
    pub journal: Journal,
    /// The units that are not done, each with what earlier processes left of it.
    pub units: VecDeque<PlanUnit>,
    /// Questions that have an outcome.
    pub answered: usize,
    /// Whether any of them has an answer.
    pub any_answer: bool,
    /// The last answer's stamp.
    pub last: Stamp,
    /// Deals what is not planned; it knows what the journal holds.
    pub dealer: Option<Box<dyn Dealer>>,
}

/// Passes on to `events` and `dealer` what a journal holds of a run of `total` questions,
/// of which those in `planned` are known.
///
/// # Errors
/// [`JournalError`] if it cannot be read.
pub(super) async fn replay(
    journal: Journal,
    total: Option<usize>,
    meta: Arc<RunMeta>,
    planned: Vec<Vec<PlannedQuestion>>,
    dealer: Option<Box<dyn Dealer>>,
    events: mpsc::Sender<Event>,
) -> Result<JournalReplay, JournalError> {
    let told =
        tokio::task::spawn_blocking(move || tell(journal, total, meta, planned, dealer, &events));
    told.await
        .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

fn tell(
    journal: Journal,
    total: Option<usize>,
    meta: Arc<RunMeta>,
    planned: Vec<Vec<PlannedQuestion>>,
    mut dealer: Option<Box<dyn Dealer>>,
    events: &mpsc::Sender<Event>,
) -> Result<JournalReplay, JournalError> {
    let done = journal.answered_questions()?;
    // Nothing is lost if nobody receives events any more.
    let _ = events.blocking_send(Event::Started {
        meta,
        total,
        answered: done.len(),
    });
    let mut units = unfinished(planned, &done);
    let mut unit_of: HashMap<usize, usize> = HashMap::new();
    for (at, unit) in units.iter().enumerate() {
        unit_of.extend(unit.planned.iter().map(|planned| (planned.index, at)));
    }
    let mut any_answer = false;
    let mut last = Stamp::default();
    journal.for_each_result(|row| {
        any_answer |= row.solution.answer.is_some();
        if let Some(unit) = unit_of.get(&row.index).and_then(|at| units.get_mut(*at)) {
            unit.answers.insert(row.index, row.solution.answer.clone());
        }
        last = last.past(&row);
        if let Some(dealer) = &mut dealer {
            dealer.answered(&row);
        }
        let row = Arc::new(row);
        let _ = events.blocking_send(Event::Answered { row, resumed: true });
    })?;
    for (index, calls) in journal.open_calls()? {
        if let Some(dealer) = &mut dealer {
            dealer.begun(index, calls);
        } else if let Some(unit) = unit_of.get(&index).and_then(|at| units.get_mut(*at)) {
            unit.calls.insert(index, calls);
        }
    }
    Ok(JournalReplay {
        units,
        answered: done.len(),
        any_answer,
        last,
        dealer,
        journal,
    })
}

/// The units with a question that has no outcome.
fn unfinished(planned: Vec<Vec<PlannedQuestion>>, done: &HashSet<usize>) -> VecDeque<PlanUnit> {
    let left = planned
        .into_iter()
        .filter(|unit| !unit.iter().all(|planned| done.contains(&planned.index)));
    left.map(|planned| PlanUnit {
        planned,
        answers: HashMap::new(),
        calls: HashMap::new(),
    })
    .collect()
}
