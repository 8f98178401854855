//! What earlier processes of a run have left: told again, and as far as
//! questions to come need it, kept. A journal may be larger than the memory, so
//! that its rows pass one by one and without what was sent and replied.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::mpsc;

use finqa_agents::agents::{Answer, Call};

use super::event::Event;
use super::identity::RunMeta;
use super::journal::{Journal, JournalError};
use super::plan::Dealer;
use crate::score::Stamp;

/// What a journal holds of a run so far.
pub(super) struct JournalReplay {
    pub journal: Journal,
    /// Own answers of questions that have an outcome, by place in the plan;
    /// `None` where one has none.
    pub answers: HashMap<usize, Option<Answer>>,
    /// Calls of questions that were in flight.
    pub calls: HashMap<usize, Vec<Call>>,
    /// The last answer's stamp.
    pub last: Stamp,
    /// Deals what is not planned; it knows what the journal holds.
    pub dealer: Option<Box<dyn Dealer>>,
}

/// Tells `events` and `dealer` what a journal holds of a run of `total` questions.
///
/// # Errors
/// [`JournalError`] if it cannot be read.
pub(super) async fn replay(
    journal: Journal,
    total: Option<usize>,
    meta: Arc<RunMeta>,
    dealer: Option<Box<dyn Dealer>>,
    events: mpsc::Sender<Event>,
) -> Result<JournalReplay, JournalError> {
    let told = tokio::task::spawn_blocking(move || tell(journal, total, meta, dealer, &events));
    told.await
        .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

fn tell(
    journal: Journal,
    total: Option<usize>,
    meta: Arc<RunMeta>,
    mut dealer: Option<Box<dyn Dealer>>,
    events: &mpsc::Sender<Event>,
) -> Result<JournalReplay, JournalError> {
    let answered = journal.answered()?;
    // Whoever listens no longer misses nothing of the run.
    let _ = events.blocking_send(Event::Started {
        meta,
        total,
        answered,
    });
    let mut answers = HashMap::with_capacity(answered);
    let mut last = Stamp::default();
    journal.for_each_result(|row| {
        answers.insert(row.index, row.solution.answer.clone());
        last = last.past(&row);
        if let Some(dealer) = &mut dealer {
            dealer.answered(&row);
        }
        let row = Arc::new(row);
        let _ = events.blocking_send(Event::Answered { row, resumed: true });
    })?;
    let mut calls = journal.open_calls()?;
    if let Some(dealer) = &mut dealer {
        for (index, calls) in calls.drain() {
            dealer.begun(index, calls);
        }
    }
    Ok(JournalReplay {
        calls,
        answers,
        last,
        dealer,
        journal,
    })
}
