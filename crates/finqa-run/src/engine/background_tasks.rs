//! Background tasks of a run: the journal's writer, the batch driver, and the time limit.

use std::sync::Arc;
use std::thread;

use tokio::task::JoinHandle;

use finqa_agents::llm::{BatchQueue, Budget, ModelError, RunBatches, Stop};
use finqa_agents::pair::RunFailure;

use super::models::RunModels;
use super::writer::{self, JournalWriter, WriterThread};
use finqa_journal::run::{Finish, Journal, JournalEntry, JournalError};
use finqa_score::score::Stamp;

/// The task that submits requests of a queue as batches and fetches their replies.
type BatchDriver = JoinHandle<Result<(), ModelError>>;

/// The background tasks of a run in progress.
pub(super) struct BackgroundTasks {
    writer: WriterThread,
    batches: Option<(BatchQueue, BatchDriver)>,
    /// Stops the run when the time of `--max-time` is over.
    clock: Option<JoinHandle<()>>,
    budget: Arc<Budget>,
}

impl BackgroundTasks {
    /// Starts the tasks for the run `id`. `last` is the stamp of the run's last row so far.
    pub(super) fn start(
        journal: Journal,
        last: Stamp,
        id: &str,
        models: &RunModels,
        stop: &Stop,
    ) -> Result<(JournalWriter, Self), JournalError> {
        // Read now, because the writer thread takes the journal.
        let (earlier, amounts) = match &models.batches {
            None => Default::default(),
            Some(_) => (journal.batches()?, journal.amounts()?),
        };
        // The run is in progress again, so it no longer counts as paused by a limit.
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

    /// Closes the batch queue and waits until its driver returns.
    ///
    /// # Errors
    /// The [`Finish`] of the run if the batch driver failed.
    pub(super) async fn end_batches(&mut self) -> Result<(), Finish> {
        let Some((queue, driving)) = self.batches.take() else {
            return Ok(());
        };
        queue.close();
        let driven = driving.await.map_err(Finish::of_task)?;
        driven.map_err(|error| Finish::Fatal(RunFailure::from(&error)))
    }

    /// Waits until all entries are in the journal. Drop every other [`JournalWriter`] first;
    /// otherwise this waits for ever.
    pub(super) fn join(self) -> thread::Result<Result<(), JournalError>> {
        // The budget's recorder has a `JournalWriter`, which keeps the thread from ending.
        self.budget.record_with(None);
        if let Some(clock) = self.clock {
            clock.abort();
        }
        self.writer.join()
    }
}
