//! From waiting calls to waves, and from results back to the calls.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::open::OpenBatch;
use super::queue::{QueueEvent, QueueShared, RunBatches};
use super::{BatchQueue, BatchRecord, BatchStage};
use crate::llm::error::{ErrorKind, ModelError};
use crate::llm::types::Stop;

/// The time between two looks at a batch, at first and at most.
const FIRST_POLL: Duration = Duration::from_millis(250);
const LAST_POLL: Duration = Duration::from_secs(60);

impl BatchQueue {
    /// Sends wave after wave until no conversation is left or the run is stopped. A queue
    /// that does not wait drains the run once a wave is submitted; gives how many requests
    /// are at the provider then.
    ///
    /// # Errors
    /// What keeps all batches from being sent or fetched, which drains the run.
    pub async fn drive(&self, stop: &Stop) -> Result<Option<usize>, ModelError> {
        let mut driver = Driver {
            queue: &self.0,
            stop,
            run: std::mem::take(&mut self.0.state.lock().run),
            open: Vec::new(),
            handed: Vec::new(),
            late: Vec::new(),
            failures: HashMap::new(),
            most_bytes: HashMap::new(),
        };
        let ended = driver.waves().await;
        // Also when a batch could not be journaled: the calls wait for it.
        if !matches!(ended, Ok(None)) {
            stop.drain.cancel();
        }
        let ended = match ended {
            Err(error) if error.kind == ErrorKind::Cancelled => Ok(None),
            ended => ended,
        };
        self.0.closed().await;
        // What the calls have received is in the journal, unless they were given up.
        if !stop.abort.is_cancelled() {
            let _ = driver.retire().await;
        }
        ended
    }
}

pub(super) struct Driver<'q> {
    pub queue: &'q QueueShared,
    pub stop: &'q Stop,
    pub run: RunBatches,
    pub open: Vec<OpenBatch>,
    /// Batches whose results are with the calls.
    pub handed: Vec<HandedBatch>,
    /// Calls that are to be sent live.
    pub late: Vec<u64>,
    /// In how many batches a request was, by its key, until its call has a reply.
    pub failures: HashMap<String, u32>,
    /// For each model, by the name of its client, the most bytes of requests that the provider
    /// enqueues at a time, where that is known.
    pub most_bytes: HashMap<String, u64>,
}

/// A batch whose results are with the calls.
pub(super) struct HandedBatch {
    pub record: BatchRecord,
    /// The keys of requests that the provider answered, unless it is in an unusable way.
    pub answered: HashSet<String>,
    /// A stop has ended calls before they had their results.
    pub given_up: bool,
}

impl Driver<'_> {
    async fn waves(&mut self) -> Result<Option<usize>, ModelError> {
        let mut has_begun = false;
        loop {
            let event = tokio::select! {
                biased;
                () = self.stop.drain.cancelled() => return Ok(None),
                event = self.queue.next() => event,
            };
            if matches!(event, QueueEvent::Closed) {
                // No call waits for batches of earlier processes.
                let left = self.run.earlier.clone().into_iter();
                let left = left.filter(|it| !has_begun && it.stage != BatchStage::Ended);
                self.store(left.map(ended).collect()).await?;
                return Ok(None);
            }
            // What the calls received before is recorded, because they have made others.
            self.retire().await?;
            if !has_begun {
                has_begun = true;
                self.take_up().await?;
                // Before anything is submitted, so that the calls that follow from their
                // results are in the same wave as those that follow from recorded ones.
                if !self.open.is_empty() && self.have_ended().await? {
                    self.hand_out().await?;
                    continue;
                }
            }
            if !self.queue.options.waits && self.end_exhausted() {
                continue;
            }
            let submitted = self.submit().await?;
            if submitted && !self.queue.options.waits {
                return Ok(Some(self.pending()));
            }
            if !self.poll().await? {
                return Ok(Some(self.pending()));
            }
            self.hand_out().await?;
        }
    }

    /// Ends the calls whose requests were sent as often as `--attempts` allows, by this and
    /// earlier processes: otherwise each pass and each process would send them once more.
    /// Returns true if there are any.
    fn end_exhausted(&self) -> bool {
        let calls = &mut self.queue.state.lock().calls;
        let waiting = calls.len();
        calls.retain(|_, call| {
            let failures = self.failures.get(&call.key).copied().unwrap_or(0);
            call.is_sent || failures < call.client.attempts()
        });
        calls.len() < waiting
    }

    fn pending(&self) -> usize {
        self.open.iter().map(|batch| batch.calls.len()).sum()
    }

    /// Looks at the open batches until all have ended; false if they have not, and are not
    /// waited for.
    async fn poll(&mut self) -> Result<bool, ModelError> {
        let mut delay = FIRST_POLL;
        loop {
            if self.have_ended().await? {
                return Ok(true);
            }
            if !self.queue.options.waits {
                return Ok(false);
            }
            tokio::select! {
                biased;
                () = self.stop.drain.cancelled() => {
                    return Err(ModelError::new(ErrorKind::Cancelled, ""));
                }
                () = tokio::time::sleep(delay) => {}
            }
            delay = (delay * 2).min(LAST_POLL);
        }
    }

    /// Looks at the open batches once; whether all have ended.
    async fn have_ended(&mut self) -> Result<bool, ModelError> {
        for open in self.open.iter_mut().filter(|open| !open.has_ended()) {
            open.refresh(self.queue, self.stop).await?;
        }
        Ok(self.open.iter().all(OpenBatch::has_ended))
    }

    /// Notes that the results that were handed out are recorded, and which of them were of no
    /// use.
    async fn retire(&mut self) -> Result<(), ModelError> {
        let unusable = std::mem::take(&mut self.queue.state.lock().unusable);
        let failures = &mut self.failures;
        let handed = self.handed.drain(..).map(|mut handed| {
            for request in &mut handed.record.requests {
                if !handed.answered.contains(&request.key) {
                    continue;
                }
                match unusable.contains(&request.key) {
                    true => request.failed = true,
                    false => drop(failures.remove(&request.key)),
                }
            }
            // The process that continues the run fetches again what was given up.
            match handed.given_up {
                true => handed.record,
                false => ended(handed.record),
            }
        });
        let handed: Vec<_> = handed.collect();
        self.store(handed).await
    }

    /// Stores batches in the journal, and here.
    pub(super) async fn store(&mut self, records: Vec<BatchRecord>) -> Result<(), ModelError> {
        if records.is_empty() {
            return Ok(());
        }
        for record in &records {
            let place = |it: &&mut BatchRecord| it.place() == record.place();
            match self.run.earlier.iter_mut().find(place) {
                Some(known) => *known = record.clone(),
                None => self.run.earlier.push(record.clone()),
            }
        }
        if let Some(store) = &self.run.recorder
            && !store(records).await
        {
            return Err(unstored());
        }
        Ok(())
    }

    /// The batches that are not looked for: the run's own, and what is known to be foreign.
    pub(super) fn known(&self) -> Vec<String> {
        let batches = self.run.earlier.iter();
        let ids = batches.flat_map(|it| it.batch.iter().chain(&it.foreign));
        ids.cloned().collect()
    }
}

/// The record of a batch that no call waits for. Requests that the provider may have
/// received twice are kept for their calls' counts, and those without an answer because
/// they are counted.
pub(super) fn ended(mut record: BatchRecord) -> BatchRecord {
    record.stage = BatchStage::Ended;
    if !record.repeated {
        record.requests.retain(|request| request.failed);
    }
    record
}

/// The journal's own error is reported.
pub(super) fn unstored() -> ModelError {
    ModelError::new(ErrorKind::Cancelled, "")
}
