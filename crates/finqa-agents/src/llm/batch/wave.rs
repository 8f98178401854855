//! A wave: the waiting requests, split at the limits of the APIs and of the budget.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::join_all;
use jiff::Timestamp;
use serde_json::value::RawValue;

use super::api::BatchLine;
use super::client::Submission;
use super::driver::{Driver, ended, unstored};
use super::open::OpenBatch;
use super::record::BatchedRequest;
use super::{BatchClient, BatchNotice, BatchRecord, BatchStage};
use crate::llm::budget::{BudgetRefusal, BudgetReservation, Spending};
use crate::llm::error::ModelError;

/// A batch that is about to be sent.
struct PlannedBatch {
    client: Arc<BatchClient>,
    bytes: u64,
    requests: Vec<PlannedRequest>,
}

struct PlannedRequest {
    key: String,
    /// The number of the call.
    call: u64,
    body: Arc<RawValue>,
    reservation: Option<BudgetReservation>,
}

impl PlannedBatch {
    fn record(&self, wave: u32, part: u32) -> BatchRecord {
        let requests = self.requests.iter().map(|request| BatchedRequest {
            key: request.key.clone(),
            reserved: request.reservation.as_ref().map(BudgetReservation::id),
            failed: false,
        });
        BatchRecord {
            wave,
            part,
            server: self.client.name().to_owned(),
            count: self.requests.len(),
            bytes: self.bytes,
            dialect: Some(self.client.dialect()),
            planned_at: Timestamp::now().as_millisecond(),
            requests: requests.collect(),
            ..BatchRecord::default()
        }
    }

    fn reservations(&self) -> impl Iterator<Item = &BudgetReservation> {
        self.requests
            .iter()
            .filter_map(|it| it.reservation.as_ref())
    }
}

impl Driver<'_> {
    /// Submits the waiting requests that are in no batch, as far as the limits go; whether
    /// there were any.
    pub(super) async fn submit(&mut self) -> Result<bool, ModelError> {
        let planned = self.plan();
        if planned.is_empty() {
            return Ok(false);
        }
        store_all(planned.iter().flat_map(PlannedBatch::reservations)).await?;
        let wave = self.run.earlier.iter().map(|record| record.wave).max();
        let wave = wave.unwrap_or(0) + 1;
        let planned = planned.into_iter().zip(1..);
        let planned: Vec<_> = planned
            .map(|(batch, part)| (batch.record(wave, part), batch))
            .collect();
        let records = planned.iter().map(|(record, _)| record.clone());
        self.store(records.collect()).await?;
        for (record, batch) in planned {
            self.submit_batch(batch, record).await?;
        }
        Ok(true)
    }

    async fn submit_batch(
        &mut self,
        batch: PlannedBatch,
        mut record: BatchRecord,
    ) -> Result<(), ModelError> {
        let client = Arc::clone(&batch.client);
        let lines = batch.requests.iter().map(|request| BatchLine {
            key: &request.key,
            body: &request.body,
        });
        let lines: Vec<_> = lines.collect();
        let may_have_arrived = AtomicBool::new(false);
        let name = format!("convfinqa-{}-{}.jsonl", self.run.id, record.place());
        let sent = async {
            record.file = client.upload(&lines, &name, self.stop).await?;
            record.stage = BatchStage::Sending;
            self.store(vec![record.clone()]).await?;
            let known = self.known();
            let run = &self.run.id;
            let submitted =
                client.submit(&record, run, &lines, &known, &may_have_arrived, self.stop);
            submitted.await
        };
        let sent = sent.await;
        let Submission {
            id,
            guessed,
            repeated,
        } = match sent {
            Ok(submitted) => submitted,
            Err(error) => {
                // What may have arrived is looked for when the run is continued.
                if !may_have_arrived.load(Ordering::Relaxed) && !error.lost_an_answer() {
                    record.outcome = Some(error.to_string());
                    self.store(vec![ended(record)]).await?;
                    let reservations = batch.requests.into_iter().filter_map(|it| it.reservation);
                    reservations.for_each(|it| it.record_actual(Spending::NONE));
                }
                return Err(error);
            }
        };
        record.stage = BatchStage::Submitted;
        record.batch = Some(id.clone());
        (record.guessed, record.repeated) = (guessed, repeated);
        record.submitted_at = Some(Timestamp::now().as_millisecond());
        self.store(vec![record.clone()]).await?;
        if repeated {
            self.reserve_lost(&batch).await?;
            self.queue.notify(BatchNotice::Repeated {
                wave: record.wave,
                requests: record.count,
            });
        }
        self.tell_guess(&record, &id);
        self.queue.notify(BatchNotice::Submitted {
            wave: record.wave,
            batch: id.clone(),
            requests: record.count,
        });
        let mut open = OpenBatch::new(record, id, client);
        let mut state = self.queue.state.lock();
        for request in batch.requests {
            if let Some(call) = state.calls.get_mut(&request.call) {
                call.is_sent = true;
                if repeated {
                    call.history.repeat();
                }
            }
            let waiting = (request.call, request.reservation);
            open.calls.insert(request.key, waiting);
        }
        drop(state);
        self.open.push(open);
        Ok(())
    }

    /// Counts a submission that was lost and repeated as spent: it may have arrived.
    async fn reserve_lost(&self, batch: &PlannedBatch) -> Result<(), ModelError> {
        let budget = &self.queue.budget;
        let lost = batch.reservations().map(|it| budget.adopt(None, it.upper));
        store_all(&lost.collect::<Vec<_>>()).await
    }

    /// Splits the waiting requests at the limits of the APIs and of the budget. What does not
    /// fit waits for the next wave; what can never fit drains the run.
    fn plan(&self) -> Vec<PlannedBatch> {
        let mut planned: Vec<PlannedBatch> = Vec::new();
        // For each model, the batch that is filled.
        let mut current: HashMap<&str, usize> = HashMap::new();
        let mut enqueued: HashMap<&str, u64> = HashMap::new();
        for open in &self.open {
            *enqueued.entry(open.client.name()).or_default() += open.record.bytes;
        }
        let budget = &self.queue.budget;
        let state = self.queue.state.lock();
        let sent = state.calls.values().filter(|call| call.is_sent);
        let mut keys: HashSet<_> = sent.map(|call| (call.client.name(), &call.key)).collect();
        let waiting = state.calls.iter().filter(|(_, call)| !call.is_sent);
        for (number, call) in waiting {
            let client = &call.client;
            let limits = client.api().limits();
            let bytes = call.body.get().len() as u64 + limits.frame;
            let enqueued = enqueued.entry(client.name()).or_default();
            let most = self.most_bytes.get(client.name());
            if *enqueued > 0 && most.is_some_and(|most| *enqueued + bytes > *most) {
                continue;
            }
            // A result goes to one call: an equal one waits for the next wave.
            if !keys.insert((client.name(), &call.key)) {
                continue;
            }
            let reservation = match call.upper.map(|upper| budget.try_reserve(upper)) {
                None => None,
                Some(Ok(reservation)) => Some(reservation),
                Some(Err(BudgetRefusal::Temporary)) => break,
                Some(Err(BudgetRefusal::Permanent(limit))) => {
                    if planned.is_empty() && self.open.is_empty() {
                        budget.reach(limit, self.stop);
                    }
                    break;
                }
            };
            *enqueued += bytes;
            let at = current.get(client.name()).filter(|at| {
                planned
                    .get(**at)
                    .is_some_and(|batch| limits.fit(batch.requests.len(), batch.bytes, bytes))
            });
            let at = at.copied().unwrap_or_else(|| {
                planned.push(PlannedBatch {
                    client: Arc::clone(client),
                    bytes: 0,
                    requests: Vec::new(),
                });
                planned.len() - 1
            });
            current.insert(client.name(), at);
            if let Some(batch) = planned.get_mut(at) {
                batch.bytes += bytes;
                batch.requests.push(PlannedRequest {
                    key: call.key.clone(),
                    call: *number,
                    body: Arc::clone(&call.body),
                    reservation,
                });
            }
        }
        planned
    }
}

async fn store_all(
    reservations: impl IntoIterator<Item = &BudgetReservation>,
) -> Result<(), ModelError> {
    let stored = reservations
        .into_iter()
        .filter_map(BudgetReservation::store);
    match join_all(stored).await.contains(&false) {
        true => Err(unstored()),
        false => Ok(()),
    }
}
