//! From waiting calls to waves, and from results back to the calls.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;

use super::open::{BatchResults, CallResult, OpenBatch};
use super::openai::reply;
use super::queue::{QueueEvent, QueueShared, RunBatches};
use super::{
    BatchAnswer, BatchClient, BatchNotice, BatchQueue, BatchRecord, BatchReply, BatchStage,
};
use crate::models::budget::Spending;
use crate::models::error::{ErrorKind, ModelError};
use crate::models::transport::HttpReply;
use crate::models::types::Stop;

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
            clients: Vec::new(),
            run: std::mem::take(&mut self.0.state().run),
            open: Vec::new(),
            handed: Vec::new(),
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
    pub clients: Vec<Arc<BatchClient>>,
    pub run: RunBatches,
    pub open: Vec<OpenBatch>,
    /// Batches whose results are with the calls, which may not have recorded them yet.
    pub handed: Vec<BatchRecord>,
    /// For each model the most bytes of requests that the provider enqueues at a time, where
    /// that is known.
    pub most_bytes: HashMap<usize, u64>,
}

/// The outcomes of the requests of a batch that has ended.
#[derive(Default)]
struct Answered {
    results: usize,
    /// Those of them that are errors.
    failed: usize,
    /// Requests without a result.
    again: usize,
    /// Results of calls that a stop has ended meanwhile.
    given_up: usize,
}

impl Driver<'_> {
    async fn waves(&mut self) -> Result<Option<usize>, ModelError> {
        let mut begun = false;
        loop {
            let event = tokio::select! {
                biased;
                () = self.stop.drain.cancelled() => return Ok(None),
                event = self.queue.next() => event,
            };
            if matches!(event, QueueEvent::Closed) {
                return Ok(None);
            }
            // What the calls received before is recorded, because they have made others.
            self.retire().await?;
            if !begun {
                begun = true;
                self.clients = self.queue.state().lanes.clone();
                self.take_up().await?;
                // Before anything is submitted, so that the calls that follow from their
                // results are in the same wave as those that follow from recorded ones.
                if !self.open.is_empty() && self.have_ended().await? {
                    self.hand_out().await?;
                    continue;
                }
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
        for at in 0..self.open.len() {
            self.look_at(at).await?;
        }
        Ok(self.open.iter().all(OpenBatch::has_ended))
    }

    async fn look_at(&mut self, at: usize) -> Result<(), ModelError> {
        let Some(open) = self.open.get_mut(at).filter(|open| !open.has_ended()) else {
            return Ok(());
        };
        let Some(client) = self.clients.get(open.lane) else {
            return Ok(());
        };
        match client.state(&open.id, self.stop).await {
            Ok(state) => open.state = Some(state),
            // It is processed anyway.
            Err(error) if error.kind.is_transient() && self.queue.options.waits => {
                self.queue.tell(BatchNotice::Unreachable {
                    batch: open.id.clone(),
                    why: error.to_string(),
                });
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        let now = Timestamp::now().as_millisecond();
        let since = now - open.record.submitted_at.unwrap_or(open.record.planned_at);
        let timeout = self.queue.options.timeout;
        // A clock that was set back makes no batch late.
        let late = Duration::from_millis(u64::try_from(since).unwrap_or(0)) >= timeout;
        if late && !open.has_ended() && !open.cancelled {
            self.queue.tell(BatchNotice::Cancelled {
                batch: open.id.clone(),
                after: timeout,
            });
            match client.cancel(&open.id, self.stop).await {
                Err(error) if error.kind == ErrorKind::Cancelled => return Err(error),
                // Asked again at the next look.
                Err(error) if error.kind.is_transient() => {}
                // A refusal: it has ended meanwhile, or an earlier process has cancelled it.
                Ok(()) | Err(_) => open.cancelled = true,
            }
        }
        Ok(())
    }

    /// Gives the results of the ended batches to the calls.
    async fn hand_out(&mut self) -> Result<(), ModelError> {
        for mut open in std::mem::take(&mut self.open) {
            let Some(client) = self.clients.get(open.lane).map(Arc::clone) else {
                continue;
            };
            let results = match open.results(&client, self.stop).await {
                Ok(results) => results,
                // A rejected batch is not waited for by the process that continues the run.
                Err(error) if open.record.outcome.is_some() => {
                    self.store(vec![ended(open.record)]).await?;
                    return Err(error);
                }
                Err(error) => return Err(error),
            };
            if open.record.too_large {
                let half = open.record.bytes / 2;
                let most = self.most_bytes.entry(open.lane).or_insert(half);
                *most = half.min(*most);
            }
            let why = results.why;
            let Answered {
                results,
                failed,
                again,
                given_up,
            } = self.answer(&open, &client, results);
            self.queue.tell(match open.record.outcome.clone() {
                Some(why) => BatchNotice::Rejected {
                    batch: open.id,
                    why,
                },
                None => BatchNotice::Ended {
                    batch: open.id,
                    why,
                    results,
                    failed,
                    again,
                },
            });
            open.record.outcome.get_or_insert_with(|| why.to_owned());
            // Otherwise the process that continues the run fetches the results again.
            if given_up == 0 {
                self.handed.push(open.record);
            }
        }
        Ok(())
    }

    /// Gives each call its result. One without a result joins the next wave, goes live, or
    /// fails after as many batches as there may be attempts.
    fn answer(&self, open: &OpenBatch, client: &BatchClient, results: BatchResults) -> Answered {
        let BatchResults { calls, why } = results;
        let mut answered = Answered::default();
        let mut state = self.queue.state();
        for (number, reservation, result) in calls {
            let Some(call) = state.calls.get_mut(&number) else {
                answered.given_up += 1;
                continue;
            };
            call.batch = None;
            let (reply, missing) = match result {
                CallResult::Reply(reply) => (Some(reply), false),
                CallResult::Late => (None, false),
                CallResult::Missing => (None, true),
                CallResult::Unsent => {
                    answered.again += 1;
                    continue;
                }
            };
            call.sent += 1;
            call.lost += u32::from(missing);
            let (sent, lost) = (call.sent, call.lost);
            let answer = match reply {
                Some(reply) => {
                    answered.results += 1;
                    answered.failed += usize::from(reply.status != 200);
                    BatchAnswer::Reply(Box::new(BatchReply {
                        reply: HttpReply {
                            batch: Some(open.id.clone()),
                            ..reply
                        },
                        reservation,
                        sent,
                        lost,
                    }))
                }
                None => {
                    answered.again += 1;
                    // A result that is missing may be billed.
                    if let Some(reservation) = reservation.filter(|_| !missing) {
                        reservation.settle(Spending::NONE);
                    }
                    if self.queue.options.late_live && !missing {
                        BatchAnswer::Live { sent, lost }
                    } else if sent < client.attempts() {
                        continue;
                    } else {
                        BatchAnswer::Reply(Box::new(BatchReply {
                            reply: unanswered(&open.id, why, sent),
                            reservation: None,
                            sent,
                            lost,
                        }))
                    }
                }
            };
            if let Some(call) = state.take(number)
                && call.answer.send(answer).is_err()
            {
                answered.given_up += 1;
            }
        }
        answered
    }

    /// Notes that the results that were handed out are recorded.
    async fn retire(&mut self) -> Result<(), ModelError> {
        let handed = std::mem::take(&mut self.handed);
        self.store(handed.into_iter().map(ended).collect()).await
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

    /// The ids of the run's batches.
    pub(super) fn known(&self) -> Vec<String> {
        let batches = self.run.earlier.iter();
        batches.filter_map(|it| it.batch.clone()).collect()
    }
}

/// A batch that nobody waits for any more.
pub(super) fn ended(record: BatchRecord) -> BatchRecord {
    BatchRecord {
        stage: BatchStage::Ended,
        requests: Vec::new(),
        ..record
    }
}

/// The journal's own error is reported.
pub(super) fn unstored() -> ModelError {
    ModelError::new(ErrorKind::Cancelled, "")
}

/// The reply to a request that no batch has answered: as if a busy server had turned it away.
fn unanswered(batch: &str, why: &str, sent: u32) -> HttpReply {
    let message = format!("no result in {sent} batches; the last one, {batch}, {why}");
    reply(503, &json!({"error": {"message": message}}), None)
}
