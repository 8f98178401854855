//! What runs alongside the questions: the journal's writer, the driver of the batches, and the
//! limit on time.

use std::sync::Arc;
use std::thread;

use tokio::task::JoinHandle;

use finqa_agents::llm::{BatchQueue, Budget, ModelError, RunBatches, Stop};
use finqa_agents::pair::RunFailure;

use super::models::RunModels;
use super::writer::{self, JournalWriter, WriterThread};
use finqa_journal::run::{Finish, Journal, JournalEntry, JournalError};
use finqa_score::score::Stamp;

/// The task that submits the waves of a batch queue.
type BatchDriver = JoinHandle<Result<(), ModelError>>;

pub(super) struct Services {
    writer: WriterThread,
    batches: Option<(BatchQueue, BatchDriver)>,
    /// Ends the run once its time is over.
    clock: Option<JoinHandle<()>>,
    budget: Arc<Budget>,
}

impl Services {
    /// Starts them for the run `id`, whose last row has the stamp `last`.
    pub(super) fn start(
        journal: Journal,
        last: Stamp,
        id: &str,
        models: &RunModels,
        stop: &Stop,
    ) -> Result<(JournalWriter, Self), JournalError> {
        let (earlier, amounts) = match &models.batches {
            None => Default::default(),
            Some(_) => (journal.batches()?, journal.amounts()?),
        };
        journal.unpause()?;
        let (writer, thread) = writer::spawn(journal, last);
        let budget = Arc::clone(&models.budget);
        let recorder = writer.clone();
        budget.record_with(Some(Arc::new(move |id, amount| {
            recorder.store(JournalEntry::Spending { id, amount })
        })));
        let batches = models.batches.clone().map(|queue| {
            let (recorder, stop, driver) = (writer.clone(), stop.clone(), queue.clone());
            queue.begin(id);
            let run = RunBatches {
                id: id.to_owned(),
                earlier,
                amounts,
                recorder: Arc::new(move |batch| recorder.store(JournalEntry::Batch(batch))),
            };
            let driving = tokio::spawn(async move { driver.drive(run, &stop).await });
            (queue, driving)
        });
        let clock = budget.limits().time.map(|time| {
            let (budget, stop) = (Arc::clone(&budget), stop.clone());
            tokio::spawn(async move {
                tokio::time::sleep(time).await;
                budget.end_time(&stop);
            })
        });
        let services = Self {
            writer: thread,
            batches,
            clock,
            budget,
        };
        Ok((writer, services))
    }

    /// Waits for the driver of the batches, which gets no more requests.
    ///
    /// # Errors
    /// The way the run ends because of a failed batch.
    pub(super) async fn end_batches(&mut self) -> Result<(), Finish> {
        let Some((queue, driving)) = self.batches.take() else {
            return Ok(());
        };
        queue.close();
        let driven = driving.await.map_err(Finish::of_task)?;
        driven.map_err(|error| Finish::Fatal(RunFailure::from_provider(error.to_string())))
    }

    /// Waits until everything is in the journal. Every other [`JournalWriter`] must be dropped.
    pub(super) fn join(self) -> thread::Result<Result<(), JournalError>> {
        self.budget.record_with(None);
        if let Some(clock) = self.clock {
            clock.abort();
        }
        self.writer.join()
    }
}
