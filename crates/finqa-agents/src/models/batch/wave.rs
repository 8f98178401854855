//! A wave: the waiting requests, split at the limits of the APIs and of the budget.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use serde_json::value::RawValue;

use super::client::BatchLine;
use super::driver::{Driver, ended, unstored};
use super::open::OpenBatch;
use super::record::BatchedRequest;
use super::{BatchNotice, BatchRecord, BatchStage};
use crate::models::budget::{BudgetReservation, NoRoom, Spending};
use crate::models::error::ModelError;

/// A batch that is about to be sent.
struct PlannedBatch {
    lane: usize,
    bytes: u64,
    /// Key, call and body of each request.
    requests: Vec<(String, u64, Arc<RawValue>)>,
    reservations: HashMap<u64, BudgetReservation>,
}

impl Driver<'_> {
    /// Submits the waiting requests that are in no batch, as far as the limits go; whether
    /// there were any.
    pub(super) async fn submit(&mut self) -> Result<bool, ModelError> {
        let planned = self.plan();
        if planned.is_empty() {
            return Ok(false);
        }
        let mut stored = Vec::new();
        for batch in &planned {
            let amounts = batch.reservations.values();
            stored.extend(amounts.filter_map(BudgetReservation::store));
        }
        if futures::future::join_all(stored).await.contains(&false) {
            return Err(unstored());
        }
        let wave = self.run.earlier.iter().map(|record| record.wave).max();
        let wave = wave.unwrap_or(0) + 1;
        let mut records = Vec::new();
        for (batch, part) in planned.iter().zip(1..) {
            let Some(client) = self.clients.get(batch.lane) else {
                continue;
            };
            let requests = batch.requests.iter().map(|(key, call, _)| BatchedRequest {
                key: key.clone(),
                reserved: batch.reservations.get(call).map(BudgetReservation::id),
            });
            records.push(BatchRecord {
                wave,
                part,
                server: client.name().to_owned(),
                stage: BatchStage::Planned,
                file: None,
                batch: None,
                count: batch.requests.len(),
                bytes: batch.bytes,
                planned_at: Timestamp::now().as_millisecond(),
                submitted_at: None,
                repeated: false,
                outcome: None,
                too_large: false,
                requests: requests.collect(),
            });
        }
        self.store(records.clone()).await?;
        for (batch, record) in planned.into_iter().zip(records) {
            self.submit_batch(batch, record).await?;
        }
        Ok(true)
    }

    async fn submit_batch(
        &mut self,
        batch: PlannedBatch,
        mut record: BatchRecord,
    ) -> Result<(), ModelError> {
        let Some(client) = self.clients.get(batch.lane).map(Arc::clone) else {
            return Ok(());
        };
        let lines = batch.requests.iter();
        let lines: Vec<_> = lines
            .map(|(key, _, body)| BatchLine { key, body })
            .collect();
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
        let (id, repeated) = match sent.await {
            Ok(submitted) => submitted,
            Err(error) => {
                // What may have arrived is looked for when the run is continued.
                if !may_have_arrived.load(Ordering::Relaxed) && !error.lost_an_answer() {
                    record.outcome = Some(error.to_string());
                    self.store(vec![ended(record)]).await?;
                    let reservations = batch.reservations.into_values();
                    reservations.for_each(|it| it.settle(Spending::NONE));
                }
                return Err(error);
            }
        };
        record.stage = BatchStage::Submitted;
        record.batch = Some(id.clone());
        record.repeated = repeated;
        record.submitted_at = Some(Timestamp::now().as_millisecond());
        self.store(vec![record.clone()]).await?;
        if repeated {
            self.queue.tell(BatchNotice::Repeated {
                wave: record.wave,
                requests: record.count,
            });
        }
        self.queue.tell(BatchNotice::Submitted {
            wave: record.wave,
            batch: id.clone(),
            requests: record.count,
        });
        let at = self.open.len();
        let mut reservations = batch.reservations;
        let mut calls = HashMap::new();
        for (key, number, _) in batch.requests {
            if let Some(call) = self.queue.state().calls.get_mut(&number) {
                call.batch = Some(at);
            }
            calls.insert(key, (number, reservations.remove(&number)));
        }
        self.open.push(OpenBatch {
            record,
            id,
            lane: batch.lane,
            calls,
            cancelled: false,
            state: None,
        });
        Ok(())
    }

    /// Splits the waiting requests at the limits of the APIs and of the budget. What does not
    /// fit waits for the next wave; what can never fit drains the run.
    fn plan(&self) -> Vec<PlannedBatch> {
        let mut planned: Vec<PlannedBatch> = Vec::new();
        let mut current: BTreeMap<usize, usize> = BTreeMap::new();
        let mut enqueued: HashMap<usize, u64> = HashMap::new();
        for open in &self.open {
            *enqueued.entry(open.lane).or_default() += open.record.bytes;
        }
        let budget = &self.queue.budget;
        let state = self.queue.state();
        let waiting = state.calls.iter().filter(|(_, call)| call.batch.is_none());
        for (number, call) in waiting {
            let Some(client) = self.clients.get(call.lane) else {
                continue;
            };
            let limits = client.limits();
            let bytes = call.body.get().len() as u64 + limits.frame;
            let enqueued = enqueued.entry(call.lane).or_default();
            let most = self.most_bytes.get(&call.lane);
            if *enqueued > 0 && most.is_some_and(|most| *enqueued + bytes > *most) {
                continue;
            }
            let reservation = match call.upper.map(|upper| budget.try_reserve(upper)) {
                None => None,
                Some(Ok(reservation)) => Some(reservation),
                Some(Err(NoRoom::ForNow)) => break,
                Some(Err(NoRoom::Ever(limit))) => {
                    if planned.is_empty() && self.open.is_empty() {
                        budget.reach(limit, self.stop);
                    }
                    break;
                }
            };
            *enqueued += bytes;
            let at = current.get(&call.lane).filter(|at| {
                planned
                    .get(**at)
                    .is_some_and(|batch| limits.fit(batch.requests.len(), batch.bytes, bytes))
            });
            let at = at.copied().unwrap_or_else(|| {
                planned.push(PlannedBatch {
                    lane: call.lane,
                    bytes: 0,
                    requests: Vec::new(),
                    reservations: HashMap::new(),
                });
                planned.len() - 1
            });
            current.insert(call.lane, at);
            if let Some(batch) = planned.get_mut(at) {
                batch.bytes += bytes;
                let body = Arc::clone(&call.body);
                batch.requests.push((call.key.clone(), *number, body));
                batch
                    .reservations
                    .extend(reservation.map(|it| (*number, it)));
            }
        }
        planned
    }
}
