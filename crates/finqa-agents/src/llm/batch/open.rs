//! A batch that the provider has, and the calls that wait for its results.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;

use super::api::{BatchProgress, BatchState};
use super::queue::QueueShared;
use super::results::{BatchResults, ResultLine};
use super::{BatchClient, BatchNotice, BatchRecord};
use crate::llm::budget::{BudgetReservation, Spending};
use crate::llm::error::{ErrorKind, ModelError};
use crate::llm::transport::HttpReply;
use crate::llm::types::Stop;

/// The code with which a batch is rejected where too many tokens are enqueued.
const TOO_MANY_TOKENS: &str = "token_limit_exceeded";

/// A batch that the provider has.
pub(super) struct OpenBatch {
    pub record: BatchRecord,
    pub id: String,
    pub client: Arc<BatchClient>,
    /// The call that waits for each of its requests, and what is reserved for it.
    pub calls: HashMap<String, WaitingRequest>,
    pub state: Option<BatchState>,
    /// Cancellation was requested.
    cancelled: bool,
    /// Consecutive unreadable states from the provider.
    unreadable: u32,
}

/// The number of a call, and what is reserved for it.
pub(super) type WaitingRequest = (u64, Option<BudgetReservation>);

/// The result of an ended batch for one of its calls.
pub(super) enum CallResult {
    Reply(HttpReply),
    /// No result, because the batch ended before the request was processed.
    Late,
    /// No result, because the batch was rejected: the request is sent again as if for the first time.
    Unsent,
    /// No result, although the batch is completed.
    Missing,
}

impl OpenBatch {
    pub(super) fn new(record: BatchRecord, id: String, client: Arc<BatchClient>) -> Self {
        Self {
            record,
            id,
            client,
            calls: HashMap::new(),
            state: None,
            cancelled: false,
            unreadable: 0,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        let progress = self.state.as_ref().map(|state| state.progress);
        let open = [BatchProgress::Running, BatchProgress::Cancelling];
        progress.is_some_and(|progress| !open.contains(&progress))
    }

    /// Fetches its state, and cancels it if it is late; a batch that may not be ours is
    /// given up instead.
    pub(super) async fn refresh(
        &mut self,
        queue: &QueueShared,
        stop: &Stop,
    ) -> Result<(), ModelError> {
        match self.client.state(&self.id, stop).await {
            Ok(state) => {
                self.unreadable = 0;
                self.cancelled |= state.progress == BatchProgress::Cancelling;
                self.state = Some(state);
            }
            // It is processed anyway.
            Err(error) if error.kind.is_transient() && queue.options.waits => {
                self.unreadable += u32::from(error.kind == ErrorKind::Malformed);
                if self.unreadable >= self.client.attempts() {
                    return Err(error);
                }
                queue.notify(BatchNotice::Unreachable {
                    batch: self.id.clone(),
                    why: error.to_string(),
                });
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        let now = Timestamp::now().as_millisecond();
        let since = now - self.record.submitted_at.unwrap_or(self.record.planned_at);
        let timeout = queue.options.timeout;
        // A clock that was set back makes no batch late.
        let late = Duration::from_millis(u64::try_from(since).unwrap_or(0)) >= timeout;
        if !late || self.has_ended() || self.cancelled {
            return Ok(());
        }
        if self.record.guessed {
            if let Some(state) = &mut self.state {
                state.progress = BatchProgress::GivenUp;
            }
            return Ok(());
        }
        queue.notify(BatchNotice::Cancelled {
            batch: self.id.clone(),
            after: timeout,
        });
        match self.client.cancel(&self.id, stop).await {
            Err(error) if error.kind == ErrorKind::Cancelled => return Err(error),
            // Asked again at the next look. A conflict is a refusal: it has ended meanwhile.
            Err(error) if error.kind.is_transient() && error.status != Some(409) => {}
            Ok(()) | Err(_) => self.cancelled = true,
        }
        Ok(())
    }

    /// True if the results contain one of its requests.
    pub(super) fn owns(&self, results: &mut BatchResults) -> io::Result<bool> {
        let requests = self.record.requests.iter();
        let keys: HashSet<_> = requests.map(|it| it.key.as_str()).collect();
        while let Some(line) = results.next()? {
            if let ResultLine::Result { key, .. } = line
                && keys.contains(key.as_str())
            {
                results.rewind()?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes a batch that was rejected apart: a line that is at fault is its request's
    /// failure; the other requests are sent again.
    ///
    /// # Errors
    /// That it was rejected for a reason that holds for all of its requests.
    pub(super) fn rejected(
        &mut self,
        state: &BatchState,
    ) -> Result<Vec<(WaitingRequest, CallResult)>, String> {
        let words = |code: &str, message: &str| match message {
            "" => code.to_owned(),
            message => format!("{message} ({code})"),
        };
        let first = state.faults.first();
        let why = first.map_or_else(
            || "the provider gives no reason".to_owned(),
            |fault| words(&fault.code, &fault.message),
        );
        self.record.outcome = Some(format!("rejected: {why}"));
        self.record.too_large = first.is_some_and(|fault| fault.code == TOO_MANY_TOKENS);
        let mut faults = HashMap::new();
        for fault in &state.faults {
            let at = fault.line.and_then(|line| line.checked_sub(1));
            if let Some(request) = at.and_then(|at| self.record.requests.get(at)) {
                faults.insert(request.key.clone(), fault);
            }
        }
        let smaller_fits = self.record.too_large && self.record.count > 1;
        if faults.is_empty() && !smaller_fits {
            return Err(format!("batch {} was rejected: {why}", self.id));
        }
        let calls = self.calls.drain().map(|(key, (call, reservation))| {
            let result = faults.get(&key).map_or(CallResult::Unsent, |fault| {
                let error = json!({"error": {"code": fault.code, "message": fault.message}});
                CallResult::Reply(HttpReply::of_json(400, &error, None))
            });
            // Nothing was processed.
            if let Some(reservation) = reservation {
                reservation.record_actual(Spending::NONE);
            }
            ((call, None), result)
        });
        Ok(calls.collect())
    }
}
