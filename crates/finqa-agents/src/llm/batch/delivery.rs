//! The results of the batches that have ended, given to the calls as they are read.

use std::collections::{HashMap, HashSet};

use serde_json::json;

use super::api::{BatchProgress, BatchResult, BatchState};
use super::driver::{Driver, HandedBatch, ended};
use super::open::{CallResult, OpenBatch, WaitingRequest};
use super::results::{BatchResults, ResultLine, storage_error};
use super::{BatchAnswer, BatchCounts, BatchNotice, BatchReply, BatchStage};
use crate::llm::budget::Spending;
use crate::llm::error::{ErrorKind, ModelError};
use crate::llm::transport::HttpReply;

/// The counts of a batch's delivery to its calls.
#[derive(Default)]
struct Delivery {
    why: &'static str,
    counts: BatchCounts,
    /// The keys of requests without an answer.
    failed: HashSet<String>,
    /// The keys of requests with an answer, which their calls may find to be unusable.
    answered: HashSet<String>,
    /// A stop has ended calls before they had their results.
    given_up: bool,
}

impl Driver<'_> {
    /// Gives the results of the ended batches to the calls. Those that go live get theirs last,
    /// once no batch is open: they may wait for what is reserved for the others.
    pub(super) async fn hand_out(&mut self) -> Result<(), ModelError> {
        self.hand_out_results().await?;
        if !self.open.is_empty() {
            return Ok(());
        }
        let mut state = self.queue.state.lock();
        for number in self.late.drain(..) {
            if let Some(call) = state.calls.remove(&number) {
                let _ = call.answer.send(BatchAnswer::Live(call.history));
            }
        }
        Ok(())
    }

    async fn hand_out_results(&mut self) -> Result<(), ModelError> {
        for mut open in std::mem::take(&mut self.open) {
            let Some(state) = open.state.take() else {
                self.open.push(open);
                continue;
            };
            let delivery = match state.progress {
                BatchProgress::GivenUp => {
                    let why =
                        "it has not ended in time (--batch-timeout), and may belong to another run";
                    self.reject_guess(open, why).await?;
                    continue;
                }
                BatchProgress::Rejected => match open.rejected(&state) {
                    Ok(calls) => self.answer_all(&open, "was rejected", calls),
                    // The process that continues the run does not wait for it.
                    Err(why) => {
                        self.store(vec![ended(open.record)]).await?;
                        let kind = ErrorKind::BadRequest { parameter: None };
                        return Err(ModelError::new(kind, why));
                    }
                },
                _ => {
                    let client = &open.client;
                    let results = client.results(&state, &self.run.folder, self.stop);
                    let mut results = results.await?;
                    if open.record.guessed && !open.owns(&mut results).map_err(storage_error)? {
                        let why = "its results are of other requests, so it is of another run";
                        self.reject_guess(open, why).await?;
                        continue;
                    }
                    self.deliver(&mut open, &state, results).await?
                }
            };
            self.conclude(open, delivery);
        }
        Ok(())
    }

    fn conclude(&mut self, mut open: OpenBatch, delivery: Delivery) {
        let Delivery {
            why,
            counts,
            failed,
            answered,
            given_up,
        } = delivery;
        if open.record.too_large {
            let half = open.record.bytes / 2;
            let most = self.most_bytes.entry(open.record.server.clone());
            let most = most.or_insert(half);
            *most = half.min(*most);
        }
        self.queue.notify(match open.record.outcome.clone() {
            Some(why) => BatchNotice::Rejected {
                batch: open.id,
                why,
            },
            None => BatchNotice::Ended {
                batch: open.id,
                why,
                counts,
            },
        });
        for request in &mut open.record.requests {
            request.failed |= failed.contains(&request.key);
        }
        if !given_up {
            open.record.outcome.get_or_insert_with(|| why.to_owned());
        }
        self.handed.push(HandedBatch {
            record: open.record,
            answered,
            given_up,
        });
    }

    /// Gives each result to its call when it is read, and then the lack of one to the others.
    async fn deliver(
        &mut self,
        open: &mut OpenBatch,
        state: &BatchState,
        mut results: BatchResults,
    ) -> Result<Delivery, ModelError> {
        let mut delivery = Delivery {
            why: match state.progress {
                BatchProgress::Expired => "expired",
                BatchProgress::Cancelled => "was canceled",
                _ if state.results.is_empty() => "is completed without an output file",
                _ => "ended",
            },
            ..Delivery::default()
        };
        let requests = open.record.requests.iter();
        let mut seen: HashMap<_, _> = requests.map(|it| (it.key.clone(), false)).collect();
        while let Some(line) = results.next().map_err(storage_error)? {
            let ResultLine::Result { key, result } = line else {
                delivery.counts.unreadable += 1;
                continue;
            };
            match seen.get_mut(&key) {
                None => delivery.counts.unknown += 1,
                Some(true) => delivery.counts.duplicate += 1,
                Some(seen) => {
                    *seen = true;
                    // Otherwise an earlier process has recorded it.
                    if let Some(request) = open.calls.remove(&key) {
                        let result = match result {
                            BatchResult::Reply(reply) => CallResult::Reply(reply),
                            BatchResult::Unprocessed => CallResult::Late,
                        };
                        self.answer(open, request, result, &mut delivery);
                        self.queue.wait_for_few().await;
                    }
                }
            }
        }
        let missing = match state.progress {
            BatchProgress::Expired | BatchProgress::Cancelled => || CallResult::Late,
            _ => || CallResult::Missing,
        };
        for request in std::mem::take(&mut open.calls).into_values() {
            self.answer(open, request, missing(), &mut delivery);
        }
        Ok(delivery)
    }

    fn answer_all(
        &mut self,
        open: &OpenBatch,
        why: &'static str,
        calls: Vec<(WaitingRequest, CallResult)>,
    ) -> Delivery {
        let mut delivery = Delivery {
            why,
            ..Delivery::default()
        };
        for (request, result) in calls {
            self.answer(open, request, result, &mut delivery);
        }
        delivery
    }

    /// Gives a call its result. One without a result joins the next wave, goes live, or
    /// fails after as many batches as there may be attempts.
    fn answer(
        &mut self,
        open: &OpenBatch,
        (number, reservation): WaitingRequest,
        result: CallResult,
        delivery: &mut Delivery,
    ) {
        let mut state = self.queue.state.lock();
        let Some(call) = state.calls.get_mut(&number) else {
            delivery.given_up = true;
            return;
        };
        call.is_sent = false;
        let key = call.key.clone();
        let counts = &mut delivery.counts;
        let (reply, missing) = match result {
            CallResult::Reply(reply) => (Some(reply), false),
            CallResult::Late => (None, false),
            CallResult::Missing => (None, true),
            CallResult::Unsent => {
                counts.again += 1;
                return;
            }
        };
        call.history.sent += 1;
        call.history.lost += u32::from(missing);
        let history = call.history;
        match &reply {
            Some(reply) if reply.status == 200 => delivery.answered.insert(key.clone()),
            _ => delivery.failed.insert(key.clone()),
        };
        // Until the calls have read their results: one that looks well may be unusable.
        let failures = self.failures.entry(key.clone()).or_default();
        *failures += 1;
        let failures = *failures;
        let is_last = failures >= open.client.attempts();
        if is_last && self.queue.options.waits {
            // The second pass, which this process makes itself, starts from zero.
            self.failures.remove(&key);
        }
        let (reply, reservation) = match reply {
            Some(reply) => {
                counts.results += 1;
                counts.failed += usize::from(reply.status != 200);
                (reply, reservation)
            }
            None => {
                counts.again += 1;
                // A result that is missing may be billed.
                if let Some(reservation) = reservation.filter(|_| !missing) {
                    reservation.record_actual(Spending::NONE);
                }
                if self.queue.options.sends_late_live && !missing {
                    // Until it goes live, it joins no wave.
                    call.is_sent = true;
                    self.late.push(number);
                    return;
                }
                if !is_last {
                    return;
                }
                (unanswered(&open.id, delivery.why, failures), None)
            }
        };
        let answer = BatchAnswer::Reply(Box::new(BatchReply {
            key,
            reply: HttpReply {
                batch: Some(open.id.clone()),
                batch_repeated: history.repeated,
                ..reply
            },
            reservation,
            history,
            is_last,
        }));
        if let Some(call) = state.calls.remove(&number)
            && call.answer.send(answer).is_err()
        {
            delivery.given_up = true;
        }
    }

    /// Gives up a batch that may not be ours: the submitted requests are looked for in
    /// other batches, and otherwise submitted again.
    async fn reject_guess(
        &mut self,
        mut open: OpenBatch,
        why: &'static str,
    ) -> Result<(), ModelError> {
        self.queue.notify(BatchNotice::NotOurs {
            wave: open.record.wave,
            batch: open.id.clone(),
            why,
        });
        let record = &mut open.record;
        record.foreign.push(std::mem::take(&mut open.id));
        (record.batch, record.guessed) = (None, false);
        record.stage = BatchStage::Sending;
        self.store(vec![open.record.clone()]).await?;
        if let Some(id) = self.find(&open.client, &mut open.record).await? {
            self.store(vec![open.record.clone()]).await?;
            open.id = id;
            self.open.push(open);
            return Ok(());
        }
        {
            let mut state = self.queue.state.lock();
            for (number, _) in open.calls.values() {
                if let Some(call) = state.calls.get_mut(number) {
                    call.is_sent = false;
                    call.history.repeat();
                }
            }
        }
        let record = self.not_submitted(open.record);
        self.store(vec![record]).await
    }
}

/// The reply to a request that no batch has answered: as if a busy server had turned it away.
fn unanswered(batch: &str, why: &str, batches: u32) -> HttpReply {
    let message = format!("no result in {batches} batches; the last one, {batch}, {why}");
    HttpReply::of_json(503, &json!({"error": {"message": message}}), None)
}
