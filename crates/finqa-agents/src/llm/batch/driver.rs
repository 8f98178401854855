//! Combines waiting calls into batches: submits the batches, finds those of earlier processes, and
//! waits for their results.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::join_all;
use jiff::Timestamp;
use rust_decimal::Decimal;

use super::api::BatchState;
use super::client::{BatchClient, FIRST_POLL, LAST_POLL};
use super::queue::{BatchQueue, QueueShared};
use super::record::{BatchRecord, BatchStage, BatchedRequest, RunBatches};
use crate::llm::budget::{BudgetLimit, BudgetRefusal, BudgetReservation};
use crate::llm::error::{ErrorKind, ModelError};
use crate::llm::retry::cancelled;
use crate::llm::types::Stop;

/// Maximum number of requests in a batch. With 20 KB each, they fit into OpenAI's limit of 200 MB.
/// The 20 KB are set by hand.
const MOST_REQUESTS: usize = 10_000;

impl BatchQueue {
    /// Sends waves until there are no conversations left or the run is stopped.
    ///
    /// # Errors
    /// An error because of which no batch can be sent or fetched. It drains the run.
    pub async fn drive(&self, run: RunBatches, stop: &Stop) -> Result<(), ModelError> {
        let mut driver = Driver {
            queue: &self.0,
            stop,
            run,
            open: Vec::new(),
            handed: Vec::new(),
            most_requests: MOST_REQUESTS,
        };
        let ended = driver.waves().await;
        if ended.is_err() {
            // Drain on every error, even if a batch could not be journaled; otherwise the calls
            // would wait forever.
            stop.drain.cancel();
        }
        for open in &driver.open {
            let (id, count) = (open.id(), open.calls.len());
            self.0.notify(format!(
                "batch {id} stays at the provider, requests: {count}; --resume fetches its results"
            ));
        }
        self.0.closed().await;
        // All calls have ended, so their results are in the journal, unless the calls were aborted.
        if !stop.abort.is_cancelled() {
            // It fails only if the journal does, which reports its own error.
            let _ = driver.retire().await;
        }
        match ended {
            Err(error) if error.kind == ErrorKind::Cancelled => Ok(()),
            ended => ended,
        }
    }
}

/// Sends the batches of a run and fetches their results.
pub(super) struct Driver<'q> {
    pub queue: &'q QueueShared,
    pub stop: &'q Stop,
    run: RunBatches,
    /// Batches whose results were not delivered to the calls yet.
    pub open: Vec<OpenBatch>,
    /// Batches whose results were delivered, but may not be in the journal yet.
    pub handed: Vec<BatchRecord>,
    /// Maximum number of requests in a batch. It is halved if a provider does not accept so many.
    pub most_requests: usize,
}

/// A submitted batch, and the calls that wait for its results.
pub(super) struct OpenBatch {
    pub record: BatchRecord,
    pub client: Arc<BatchClient>,
    /// The call that waits for the result of each request, by the key of the request.
    pub calls: HashMap<String, BatchedCall>,
    pub state: BatchState,
}

/// The number of a call, and the amount that is reserved for it.
pub(super) type BatchedCall = (u64, Option<BudgetReservation>);

impl OpenBatch {
    fn new(record: BatchRecord, client: Arc<BatchClient>) -> Self {
        Self {
            record,
            client,
            calls: HashMap::new(),
            state: BatchState::default(),
        }
    }

    /// The provider's id; empty before the batch is submitted.
    pub(super) fn id(&self) -> &str {
        self.record.batch.as_deref().unwrap_or_default()
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.state, BatchState::Running)
    }
}

impl Driver<'_> {
    /// Sends one wave after another, until the run is drained or no call will come.
    async fn waves(&mut self) -> Result<(), ModelError> {
        // A copy, because `plan` numbers new batches after all of `run.earlier`.
        let mut earlier = self.run.earlier.clone();
        earlier.retain(|record| record.stage != BatchStage::Ended);
        loop {
            let is_wave = tokio::select! {
                // Biased, so that a stopped run starts no further wave.
                biased;
                () = self.stop.drain.cancelled() => return Ok(()),
                is_wave = self.queue.next() => is_wave,
            };
            if !is_wave {
                // No call waits for the remaining batches of earlier processes.
                self.handed.append(&mut earlier);
                return Ok(());
            }
            // The calls have made further calls in the meantime, so the results of the last wave
            // are in the journal.
            self.retire().await?;
            for record in std::mem::take(&mut earlier) {
                self.take_up(record).await?;
            }
            // While batches of earlier processes are open, calls that these batches do not answer
            // wait for the next wave.
            if self.open.is_empty() {
                for open in self.plan() {
                    self.submit_batch(open).await?;
                }
            }
            self.poll().await?;
            self.deliver_ended().await?;
        }
    }

    /// Marks the delivered batches as ended, because their results are in the journal.
    async fn retire(&mut self) -> Result<(), ModelError> {
        for record in std::mem::take(&mut self.handed) {
            self.end(record).await?;
        }
        Ok(())
    }

    /// Marks a batch as ended, because no call needs it any more.
    async fn end(&mut self, mut record: BatchRecord) -> Result<(), ModelError> {
        record.stage = BatchStage::Ended;
        record.requests.clear();
        self.store(&record).await
    }

    /// Stores a batch in the journal and among the known ones.
    pub(super) async fn store(&mut self, record: &BatchRecord) -> Result<(), ModelError> {
        let known = &mut self.run.earlier;
        known.retain(|it| it.number != record.number);
        known.push(record.clone());
        if (self.run.recorder)(record.clone()).await {
            Ok(())
        } else {
            // The journal reports its own error.
            Err(cancelled())
        }
    }

    /// Continues a batch of an earlier process, for the calls that wait for its results. If no call
    /// waits, the batch counts as delivered. An error if this run does not ask the batch's server.
    async fn take_up(&mut self, record: BatchRecord) -> Result<(), ModelError> {
        let client = self.queue.state.lock().clients.get(&record.server).cloned();
        let Some(client) = client else {
            let (number, server) = (record.number, record.server);
            let message = format!("batch {number} is at {server}, which this run does not ask");
            return Err(ModelError::new(ErrorKind::Settings, message));
        };
        let mut open = OpenBatch::new(record, client);
        self.attach(&mut open);
        if open.calls.is_empty() {
            // No call needs the batch, because all its results are in the journal.
            self.handed.push(open.record);
            return Ok(());
        }
        if open.record.stage == BatchStage::Sending {
            return self.look_for(open).await;
        }
        self.wait_for(open, "waiting for");
        Ok(())
    }

    /// Attaches the calls that wait for a batch of an earlier process, and the amounts that were
    /// reserved for them.
    fn attach(&self, open: &mut OpenBatch) {
        let budget = &self.queue.budget;
        let requests = open.record.requests.iter();
        let mut reserved: HashMap<_, _> = requests.map(|it| (&it.key, it.reserved)).collect();
        let mut state = self.queue.state.lock();
        for (number, call) in &mut state.calls {
            if call.is_sent || call.client.name() != open.record.server {
                continue;
            }
            // Equal calls are in consecutive batches, so the first of them gets this batch's
            // result.
            let Some(reserved) = reserved.remove(&call.key) else {
                continue;
            };
            call.is_sent = true;
            let earlier = reserved.and_then(|id| {
                let amount = self.run.amounts.get(&id)?;
                Some(budget.adopt(Some(id), *amount))
            });
            // A request without a reservation was submitted by a process without a limit.
            let reserved = earlier.or_else(|| Some(budget.adopt(None, call.upper?)));
            open.calls.insert(call.key.clone(), (*number, reserved));
        }
    }

    /// Looks for a batch in the provider's list, because its submission was not answered or a batch
    /// of another run was mistaken for it. If the list does not have it, its requests join the next
    /// wave.
    pub(super) async fn look_for(&mut self, open: OpenBatch) -> Result<(), ModelError> {
        let found = open.client.find(&self.run, &open.record, self.stop).await?;
        if let Some(id) = found {
            return self.submitted(open, id, "found").await;
        }
        let count = open.record.count;
        self.queue.notify(format!(
            "a submission had no answer and is not in the provider's list; it is repeated, requests: {count}"
        ));
        self.give_back(open).await
    }

    async fn submitted(
        &mut self,
        mut open: OpenBatch,
        id: String,
        what: &str,
    ) -> Result<(), ModelError> {
        open.record.stage = BatchStage::Submitted;
        open.record.batch = Some(id);
        self.store(&open.record).await?;
        self.wait_for(open, what);
        Ok(())
    }

    fn wait_for(&mut self, open: OpenBatch, what: &str) {
        let (id, count) = (open.id(), open.calls.len());
        let line = format!("{what} batch {id}, requests: {count}");
        self.queue.notify(line);
        self.open.push(open);
    }

    /// Lets the calls of an unprocessed batch join the next wave.
    pub(super) async fn give_back(&mut self, open: OpenBatch) -> Result<(), ModelError> {
        for (number, reservation) in open.calls.into_values() {
            if let Some(reservation) = reservation {
                reservation.settle(Decimal::ZERO);
            }
            if let Some(call) = self.queue.state.lock().calls.get_mut(&number) {
                call.is_sent = false;
            }
        }
        self.end(open.record).await
    }

    /// Submits a batch after its amounts and its record are stored. If the server has no Batch API,
    /// the calls are given back.
    async fn submit_batch(&mut self, open: OpenBatch) -> Result<(), ModelError> {
        let calls = open.calls.values();
        let reserved = calls.filter_map(|(_, reservation)| reservation.as_ref()?.store());
        if join_all(reserved).await.contains(&false) {
            return Err(cancelled());
        }
        self.store(&open.record).await?;
        let lines: Vec<_> = {
            let state = self.queue.state.lock();
            let requests = open.record.requests.iter();
            let requests = requests.filter_map(|it| {
                let (number, _) = open.calls.get(&it.key)?;
                Some((it.key.clone(), Arc::clone(&state.calls.get(number)?.body)))
            });
            requests.collect()
        };
        let (client, record) = (&open.client, &open.record);
        let submitted = client.submit(&self.run, record, &lines, self.stop);
        match submitted.await {
            Ok(id) => self.submitted(open, id, "submitted").await,
            // The submission may have arrived. When the run is resumed, the batch is searched for.
            Err(error) => {
                if error.kind == ErrorKind::NotFound {
                    self.give_back(open).await?;
                }
                Err(error)
            }
        }
    }

    /// Plans one batch per model from the waiting requests, within the limits. A request that does
    /// not fit now waits for the next wave. A request that can never fit drains the run.
    fn plan(&self) -> Vec<OpenBatch> {
        let mut planned: Vec<OpenBatch> = Vec::new();
        let numbers = self.run.earlier.iter().map(|it| it.number);
        let mut number = numbers.max().unwrap_or_default();
        let budget = &self.queue.budget;
        let mut state = self.queue.state.lock();
        for (at, call) in &mut state.calls {
            let name = call.client.name();
            let mut open = planned.iter_mut().find(|open| open.record.server == name);
            // Each result goes to one call, so an equal call waits for the next wave.
            if open.as_ref().is_some_and(|open| {
                open.record.count >= self.most_requests || open.calls.contains_key(&call.key)
            }) {
                continue;
            }
            let reserved = call.upper.map(|upper| budget.try_reserve(upper));
            let reservation = match reserved.transpose() {
                Ok(reservation) => reservation,
                Err(refusal) => {
                    // Requests that are planned already are sent first. The next wave drains the
                    // run.
                    if refusal == BudgetRefusal::Permanent && planned.is_empty() {
                        budget.reach(BudgetLimit::Cost, self.stop);
                    }
                    break;
                }
            };
            if open.is_none() {
                number += 1;
                let record = BatchRecord {
                    number,
                    server: name.to_owned(),
                    planned_at: Timestamp::now().as_millisecond(),
                    ..BatchRecord::default()
                };
                planned.push(OpenBatch::new(record, Arc::clone(&call.client)));
                open = planned.last_mut();
            }
            let Some(open) = open else { continue };
            call.is_sent = true;
            open.record.count += 1;
            open.record.requests.push(BatchedRequest {
                key: call.key.clone(),
                reserved: reservation.as_ref().map(BudgetReservation::id),
            });
            open.calls.insert(call.key.clone(), (*at, reservation));
        }
        planned
    }

    /// Asks for the state of the open batches until all have ended.
    async fn poll(&mut self) -> Result<(), ModelError> {
        let mut delay = FIRST_POLL;
        loop {
            for open in self.open.iter_mut().filter(|open| open.is_running()) {
                match open
                    .client
                    .state(open.id(), open.record.count, self.stop)
                    .await
                {
                    Ok(state) => open.state = state,
                    // `state` has asked again for a malformed reply until `give_up_after`.
                    Err(error)
                        if error.kind == ErrorKind::Malformed || !error.kind.is_transient() =>
                    {
                        return Err(error);
                    }
                    // The batch continues in spite of the error, so ask again later.
                    Err(error) => {
                        let line = format!("cannot ask about batch {} for now: {error}", open.id());
                        self.queue.notify(line);
                    }
                }
            }
            if !self.open.iter().any(OpenBatch::is_running) {
                return Ok(());
            }
            tokio::select! {
                // Biased, so that a stopped run does not ask again.
                biased;
                () = self.stop.drain.cancelled() => return Err(cancelled()),
                () = tokio::time::sleep(delay) => {}
            }
            delay = (delay * 2).min(LAST_POLL);
        }
    }
}
