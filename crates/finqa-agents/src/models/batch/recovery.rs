//! The batches that earlier processes of a run have left, and the calls that wait for them.

use std::collections::HashMap;

use super::driver::{Driver, ended};
use super::open::OpenBatch;
use super::{BatchNotice, BatchRecord, BatchStage};
use crate::models::budget::{BudgetReservation, Spending};
use crate::models::error::ModelError;

impl Driver<'_> {
    /// Finds the batches of earlier processes, and the calls that wait for their results.
    pub(super) async fn take_up(&mut self) -> Result<(), ModelError> {
        let known = self.known();
        let mut records = Vec::new();
        for record in self.run.earlier.clone() {
            let lane = self
                .clients
                .iter()
                .position(|it| it.name() == record.server);
            let Some((lane, client)) = lane.and_then(|at| Some((at, self.clients.get(at)?))) else {
                continue;
            };
            if record.too_large {
                let most = self.most_bytes.entry(lane).or_insert(u64::MAX);
                *most = (record.bytes / 2).min(*most);
            }
            if record.stage == BatchStage::Ended {
                continue;
            }
            let mut record = record;
            if record.stage == BatchStage::Sending {
                record.batch = client
                    .find(&record, &self.run.id, &known, self.stop)
                    .await?;
                record.repeated = record.batch.is_none();
            }
            let Some(id) = record.batch.clone() else {
                records.push(self.not_submitted(record));
                continue;
            };
            record.stage = BatchStage::Submitted;
            records.push(record.clone());
            self.open.push(OpenBatch {
                record,
                id,
                lane,
                calls: HashMap::new(),
                cancelled: false,
                state: None,
            });
        }
        self.attach();
        // All calls are here: nobody waits for the others, because they are recorded.
        let (open, over) = self.open.drain(..).partition(|open| !open.calls.is_empty());
        self.open = open;
        let over: Vec<OpenBatch> = over;
        records.extend(over.into_iter().map(|open| ended(open.record)));
        for open in &self.open {
            self.queue.tell(BatchNotice::Awaited {
                batch: open.id.clone(),
                requests: open.calls.len(),
            });
        }
        self.store(records).await
    }

    /// Gives up a batch that an earlier process did not submit, or not to our knowledge: its
    /// requests join the next wave.
    fn not_submitted(&self, mut record: BatchRecord) -> BatchRecord {
        if record.repeated {
            record.outcome = Some("no answer to its submission, and not listed".to_owned());
            self.queue.tell(BatchNotice::Repeated {
                wave: record.wave,
                requests: record.count,
            });
        } else {
            record.outcome = Some("not submitted".to_owned());
            for request in &record.requests {
                if let Some(reservation) = self.adopted(request.reserved) {
                    reservation.settle(Spending::NONE);
                }
            }
        }
        ended(record)
    }

    fn attach(&mut self) {
        let mut state = self.queue.state();
        let mut places = HashMap::new();
        for (at, open) in self.open.iter().enumerate() {
            for request in &open.record.requests {
                let place = (open.lane, request.key.as_str());
                places.insert(place, (at, request.reserved));
            }
        }
        let mut attached = Vec::new();
        for (number, call) in &mut state.calls {
            let Some((at, reserved)) = places.remove(&(call.lane, call.key.as_str())) else {
                continue;
            };
            call.batch = Some(at);
            attached.push((at, *number, call.key.clone(), reserved, call.upper));
        }
        drop(state);
        for (at, number, key, reserved, upper) in attached {
            // Without one, it was submitted by a process without a limit.
            let unreserved = || Some(self.queue.budget.adopt(None, upper?));
            let reservation = self.adopted(reserved).or_else(unreserved);
            if let Some(open) = self.open.get_mut(at) {
                open.calls.insert(key, (number, reservation));
            }
        }
    }

    /// The reservation that an earlier process has made under this id.
    fn adopted(&self, id: Option<u64>) -> Option<BudgetReservation> {
        let amount = self.run.amounts.get(&id?)?;
        Some(self.queue.budget.adopt(id, *amount))
    }
}
