//! The batches that earlier processes of a run have left, and the calls that wait for them.

use std::collections::{HashMap, HashSet};

use super::driver::{Driver, ended};
use super::open::OpenBatch;
use super::{BatchClient, BatchNotice, BatchRecord, BatchStage};
use crate::llm::budget::{BudgetReservation, Spending};
use crate::llm::error::{ErrorKind, ModelError};

impl Driver<'_> {
    /// Finds the batches of earlier processes, and the calls that wait for their results.
    pub(super) async fn take_up(&mut self) -> Result<(), ModelError> {
        let mut records = Vec::new();
        let mut repeated = HashSet::new();
        for mut record in self.run.earlier.clone() {
            if record.too_large {
                let most = self.most_bytes.entry(record.server.clone());
                let most = most.or_insert(u64::MAX);
                *most = (record.bytes / 2).min(*most);
            }
            if record.stage != BatchStage::Ended {
                let client = self.queue.client(&record.server);
                let client = client.ok_or_else(|| elsewhere(&record))?;
                let found = match record.stage {
                    BatchStage::Sending => self.find(&client, &mut record).await?,
                    _ => record.batch.clone(),
                };
                match found {
                    None => records.push(self.not_submitted(record.clone())),
                    Some(id) => {
                        records.push(record.clone());
                        self.open.push(OpenBatch::new(record.clone(), id, client));
                    }
                }
            }
            for request in record.requests.iter().filter(|it| it.failed) {
                *self.failures.entry(request.key.clone()).or_default() += 1;
            }
            if record.repeated {
                repeated.extend(record.requests.into_iter().map(|it| it.key));
            }
        }
        self.attach(&repeated);
        // All calls are known: those missing are recorded already.
        let (open, over): (Vec<_>, Vec<_>) =
            self.open.drain(..).partition(|open| !open.calls.is_empty());
        self.open = open;
        records.extend(over.into_iter().map(|open| ended(open.record)));
        for open in &self.open {
            self.queue.notify(BatchNotice::Awaited {
                batch: open.id.clone(),
                requests: open.calls.len(),
            });
        }
        self.store(records).await
    }

    /// Looks for a batch whose submission had no answer in the provider's list.
    pub(super) async fn find(
        &self,
        client: &BatchClient,
        record: &mut BatchRecord,
    ) -> Result<Option<String>, ModelError> {
        let known = self.known();
        let found = client.find(record, &self.run.id, &known, self.stop).await?;
        record.repeated = found.is_none();
        record.guessed = found.is_some() && !client.api().identifies_batches();
        record.batch.clone_from(&found);
        if let Some(batch) = &found {
            record.stage = BatchStage::Submitted;
            self.tell_guess(record, batch);
        }
        Ok(found)
    }

    pub(super) fn tell_guess(&self, record: &BatchRecord, batch: &str) {
        if record.guessed {
            self.queue.notify(BatchNotice::AssumedOurs {
                wave: record.wave,
                batch: batch.to_owned(),
            });
        }
    }

    /// Gives up a batch that an earlier process did not submit, or not to our knowledge: its
    /// requests join the next wave.
    pub(super) fn not_submitted(&self, mut record: BatchRecord) -> BatchRecord {
        if record.repeated {
            record.outcome = Some("no answer to its submission, and not listed".to_owned());
            self.queue.notify(BatchNotice::Repeated {
                wave: record.wave,
                requests: record.count,
            });
        } else {
            record.outcome = Some("not submitted".to_owned());
            for request in &record.requests {
                if let Some(reservation) = self.adopted(request.reserved) {
                    reservation.record_actual(Spending::NONE);
                }
            }
        }
        ended(record)
    }

    /// Gives the open batches the calls that wait for them; those of `repeated` keys may be at
    /// the provider twice.
    fn attach(&mut self, repeated: &HashSet<String>) {
        let mut attached = Vec::new();
        {
            let mut places = HashMap::new();
            for (at, open) in self.open.iter().enumerate() {
                for request in open.record.requests.iter().filter(|it| !it.failed) {
                    let place = (open.client.name(), request.key.as_str());
                    places.insert(place, (at, request.reserved));
                }
            }
            let mut state = self.queue.state.lock();
            for (number, call) in &mut state.calls {
                call.history.repeated = repeated.contains(&call.key);
                // Of equal calls, which are in batches one after the other, the first.
                let place = places.remove(&(call.client.name(), call.key.as_str()));
                if let Some((at, reserved)) = place {
                    call.is_sent = true;
                    attached.push((at, *number, call.key.clone(), reserved, call.upper));
                }
            }
        }
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

fn elsewhere(record: &BatchRecord) -> ModelError {
    let batch = record.batch.as_deref().unwrap_or("without an id");
    let message = format!(
        "batch {batch} was submitted to {}, which this run does not ask",
        record.server
    );
    ModelError::new(ErrorKind::Settings, message)
}
