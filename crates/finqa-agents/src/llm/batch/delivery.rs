//! Delivers the results of ended batches to the calls that wait for them.

use std::collections::HashSet;

use rust_decimal::Decimal;
use serde_json::json;
use tokio_util::bytes::Bytes;

use finqa_core::pattern;
use finqa_core::text::Pattern;

use super::api::{BatchResult, BatchState};
use super::driver::{Driver, OpenBatch};
use super::queue::BatchReply;
use super::record::BatchStage;
use crate::llm::body;
use crate::llm::error::{ErrorKind, ModelError};
use crate::llm::transport::HttpReply;

/// The results in the files of a batch, in order and with the keys of their requests, and the
/// number of lines that are not the first result of a request of the batch.
type BatchResults = (Vec<(String, BatchResult)>, usize);

impl Driver<'_> {
    /// Delivers the results of the open batches that have ended. The requests of a batch that the
    /// provider rejects as too large wait for the next wave, which has batches of half the size.
    /// Any other rejection is an error.
    pub(super) async fn deliver_ended(&mut self) -> Result<(), ModelError> {
        // Stop at a batch that is still running. It was found instead of a batch of another run.
        while let Some(open) = self.open.last().filter(|open| !open.is_running()) {
            let mut files = Vec::new();
            if let BatchState::Ended { results, .. } = &open.state {
                for path in results {
                    files.push(open.client.results(path, self.stop).await?);
                }
            }
            // Remove the batch only now, so that it stays open if its results cannot be fetched.
            let Some(mut open) = self.open.pop() else {
                break;
            };
            match std::mem::take(&mut open.state) {
                BatchState::Running => {}
                BatchState::Rejected { why, is_too_large } => {
                    let line = format!("batch {} was rejected: {why}", open.id());
                    let half = open.record.count / 2;
                    self.give_back(open).await?;
                    if half == 0 || !is_too_large {
                        let kind = ErrorKind::BadRequest { parameter: None };
                        return Err(ModelError::new(kind, line));
                    }
                    // The requests are sent again in batches of half the size.
                    self.queue.notify(line);
                    self.most_requests = half;
                }
                BatchState::Ended { early, .. } => {
                    let results = read(&open, &files);
                    let has_none = results.0.is_empty() && results.1 > 0;
                    // If no line belongs to this batch, a batch of another run was mistaken for it.
                    if has_none && !open.client.identifies_batches() {
                        self.give_up_guess(open).await?
                    } else {
                        self.deliver_batch(open, early, results)
                    }
                }
            }
        }
        Ok(())
    }

    /// Sends each call of a batch its result. A request without a result counts as refused by a
    /// busy server. It may be billed unless the batch ended early.
    fn deliver_batch(&mut self, mut open: OpenBatch, early: Option<&str>, results: BatchResults) {
        let (results, unused) = results;
        let why = early.unwrap_or("ended");
        let (mut given, mut errors, mut without) = (0, 0, 0);
        let mut is_given_up = false;
        // Deliver in the order of the result files, because the run counts failed calls in a row
        // and stops after too many. The order of the map is arbitrary.
        let mut left = std::mem::take(&mut open.calls);
        let with_result = results
            .into_iter()
            .filter_map(|(key, result)| Some((left.remove(&key)?, Some(result))));
        let mut calls: Vec<_> = with_result.collect();
        calls.extend(left.into_values().map(|call| (call, None)));
        for ((number, mut reservation), result) in calls {
            let is_lost = result.is_none() && early.is_none();
            let mut reply = if let Some(Some(reply)) = result {
                given += 1;
                errors += usize::from(reply.status != 200);
                reply
            } else {
                without += 1;
                if let Some(reservation) = reservation.take_if(|_| !is_lost) {
                    reservation.settle(Decimal::ZERO);
                }
                let message = format!("no result in batch {}, which {why}", open.id());
                HttpReply::of_json(503, &json!({"error": {"message": message}}), None)
            };
            reply.batch = Some(open.id().to_owned());
            let answer = BatchReply {
                reply,
                reservation,
                is_lost,
            };
            // The call does not exist any more if a stop has ended it.
            let call = self.queue.state.lock().calls.remove(&number);
            is_given_up |= call.is_none_or(|call| call.answer.send(answer).is_err());
        }
        self.queue.notify(format!(
            "batch {} {why}, results: {given}, errors: {errors}, requests without a result: \
             {without}, lines that are not used: {unused}",
            open.id()
        ));
        // If a call has gone, the record stays, so that a resumed run fetches its result again.
        if !is_given_up {
            self.handed.push(open.record);
        }
    }

    /// Gives up a batch that was mistaken for the run's own batch. The run's batch is then searched
    /// for again, and submitted again if it is not found.
    async fn give_up_guess(&mut self, mut open: OpenBatch) -> Result<(), ModelError> {
        self.queue.notify(format!(
            "batch {} is of another run: its results are of other requests",
            open.id()
        ));
        open.record.foreign.extend(open.record.batch.take());
        open.record.stage = BatchStage::Sending;
        self.store(&open.record).await?;
        self.look_for(open).await
    }
}

/// Reads files of results. The first readable line of a request is its result. A line that cannot
/// be read is its result only if no other line of the request can be read.
fn read(open: &OpenBatch, files: &[Bytes]) -> BatchResults {
    static KEY: Pattern = pattern!(r#""custom_id"\s*:\s*"([^"\\]+)""#);
    let lines = files
        .iter()
        .flat_map(|file| file.split(|byte| *byte == b'\n'));
    let requests = open.record.requests.iter();
    let mut keys: HashSet<&str> = requests.map(|request| request.key.as_str()).collect();
    let (mut results, mut unreadable, mut unused) = (Vec::new(), Vec::new(), 0);
    for line in lines.filter(|line| !line.iter().all(u8::is_ascii_whitespace)) {
        let text = String::from_utf8_lossy(line);
        // Read the key from the text, because a line that is not JSON may have one too.
        let key = KEY.captures(&text).and_then(|found| found.get(1));
        let key = key.and_then(|key| keys.get(key.as_str()).copied());
        let row = body::json(line).ok();
        match (key, row.and_then(|row| open.client.result(&row))) {
            (Some(key), Some(result)) => {
                keys.remove(key);
                results.push((key.to_owned(), result));
            }
            (Some(key), None) => unreadable.push((key, text.into_owned())),
            (None, _) => unused += 1,
        }
    }
    for (key, text) in unreadable {
        // The call gets the line as its reply and reports what is wrong with it.
        let reply = HttpReply::of_json(200, &text.into(), None);
        if keys.remove(key) {
            results.push((key.to_owned(), Some(reply)));
        } else {
            unused += 1;
        }
    }
    (results, unused)
}
