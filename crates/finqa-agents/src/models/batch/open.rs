//! A batch that the provider has, and the calls that wait for its results.

use std::collections::HashMap;

use serde_json::json;

use super::client::{BatchProgress, BatchResult, BatchState};
use super::openai::reply;
use super::{BatchClient, BatchRecord};
use crate::models::budget::{BudgetReservation, Spending};
use crate::models::error::{ErrorKind, ModelError};
use crate::models::transport::HttpReply;
use crate::models::types::Stop;

/// The code with which a batch is rejected where too many tokens are enqueued.
const TOO_MANY_TOKENS: &str = "token_limit_exceeded";

/// A batch that the provider has.
pub(super) struct OpenBatch {
    pub record: BatchRecord,
    pub id: String,
    pub lane: usize,
    /// The call that waits for each of its requests, and what is reserved for it.
    pub calls: HashMap<String, (u64, Option<BudgetReservation>)>,
    /// Whether its end has been asked for.
    pub cancelled: bool,
    pub state: Option<BatchState>,
}

/// What a batch that has ended gives to one of its calls.
pub(super) enum CallResult {
    Reply(HttpReply),
    /// Nothing: it was not processed, because the batch ended before.
    Late,
    /// Nothing, and it is to be sent again as if it had not been: the batch was rejected.
    Unsent,
    /// Nothing, although the batch is completed.
    Missing,
}

/// What a batch that has ended gives.
pub(super) struct BatchResults {
    pub calls: Vec<(u64, Option<BudgetReservation>, CallResult)>,
    /// How it ended, where not as it should.
    pub why: &'static str,
}

impl OpenBatch {
    pub(super) fn has_ended(&self) -> bool {
        let state = self.state.as_ref();
        state.is_some_and(|state| state.progress != BatchProgress::Running)
    }

    /// Gives its results to its calls.
    ///
    /// # Errors
    /// That results cannot be fetched, or that the provider rejects the batch for a reason
    /// that holds for all of its requests.
    pub(super) async fn results(
        &mut self,
        client: &BatchClient,
        stop: &Stop,
    ) -> Result<BatchResults, ModelError> {
        let Some(state) = self.state.take() else {
            return Ok(BatchResults {
                calls: Vec::new(),
                why: "has not ended",
            });
        };
        if state.progress == BatchProgress::Rejected {
            let kind = ErrorKind::BadRequest { parameter: None };
            let rejected = self.rejected(&state);
            return rejected.map_err(|why| ModelError::new(kind, why));
        }
        let no_results = state.results.is_empty();
        let (mut results, unread) = client.results(&state, stop).await?;
        let late = matches!(
            state.progress,
            BatchProgress::Expired | BatchProgress::Cancelled
        );
        let calls = self.calls.drain().map(|(key, (call, reservation))| {
            let result = match results.remove(&key) {
                Some(BatchResult::Reply(reply)) => CallResult::Reply(reply),
                Some(BatchResult::Unprocessed) => CallResult::Late,
                None if late => CallResult::Late,
                None => CallResult::Missing,
            };
            (call, reservation, result)
        });
        let calls = calls.collect();
        let why = match state.progress {
            BatchProgress::Expired => "expired",
            BatchProgress::Cancelled => "was cancelled",
            _ if no_results => "is completed without an output file",
            _ if unread > 0 => "ended with lines that cannot be read",
            _ => "ended",
        };
        Ok(BatchResults { calls, why })
    }

    /// A line that is at fault is its request's failure; the other requests are sent again.
    fn rejected(&mut self, state: &BatchState) -> Result<BatchResults, String> {
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
                CallResult::Reply(reply(400, &error, None))
            });
            // Nothing was processed.
            if let Some(reservation) = reservation {
                reservation.settle(Spending::NONE);
            }
            (call, None, result)
        });
        let calls = calls.collect();
        Ok(BatchResults {
            calls,
            why: "was rejected",
        })
    }
}
