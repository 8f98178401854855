//! The model calls about one question: recorded before they are used, and
//! recalled by a run that was interrupted.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::models::{
    ChatMessage, ChatModel, ChatReply, ChatRequest, Cost, ErrorKind, ModelError, NodeUsage,
    PriceOf, Stop,
};

/// One model call: what was sent, what came back, what it cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Which node asked: `analyst`, `analyst_reask`, `critic`.
    pub node: String,
    /// The round it belongs to, from 1.
    pub round: u32,
    /// blake3 of the request's JSON: what a resumed run recognises it by.
    pub request_hash: String,
    /// What was sent.
    pub messages: Vec<ChatMessage>,
    /// What came back, if anything did.
    pub reply: Option<ChatReply>,
    /// The error in one line, if the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// HTTP requests sent for it, retries included.
    pub attempts: u32,
    /// Seconds from the first request to the reply, retries included.
    pub seconds: f64,
    /// What it cost. A reply's price is not known where none is listed; requests
    /// that were lost may have been billed. Journals of earlier versions do not
    /// say.
    #[serde(default = "untold")]
    pub cost: Cost,
}

fn untold() -> Cost {
    Cost::unknown(1)
}

impl Call {
    /// What it used.
    #[must_use]
    pub fn usage(&self) -> NodeUsage {
        match &self.reply {
            Some(reply) => NodeUsage::of_reply(reply, self.cost),
            None => NodeUsage::of_failure(self.attempts, self.cost),
        }
    }
}

/// Records a call.
pub type Record = Box<dyn Fn(&Call) + Send + Sync>;

/// Replies that an interrupted run has already paid for, and where new ones are
/// recorded before they are used.
#[derive(Default)]
pub struct CallMemory {
    /// In the order in which they were made. A question may send the same request
    /// twice (a critic asked again about the same answer), so each is used once.
    pub replies: Vec<Call>,
    /// Whether the models have answered an earlier process of the same run.
    pub answered_before: bool,
    /// Calls that brought no reply, when the question was asked before.
    pub failed: Vec<Call>,
    /// What a reply costs; nothing is known without it.
    pub price: Option<PriceOf>,
    /// Called with every fresh reply.
    pub record: Option<Record>,
}

/// The calls of one question.
pub struct RecordedCalls {
    /// Every call so far, failed ones among them.
    pub made: Vec<Call>,
    memory: CallMemory,
    stop: Stop,
}

impl RecordedCalls {
    /// No calls but those that failed when the question was asked before.
    #[must_use]
    pub fn new(mut memory: CallMemory, stop: Stop) -> Self {
        Self {
            made: std::mem::take(&mut memory.failed),
            memory,
            stop,
        }
    }

    /// Asks a model, or recalls the reply that an interrupted run already has.
    /// The call is recorded without the first `known` messages, which earlier
    /// calls hold.
    ///
    /// # Errors
    /// [`ModelError`]; of kind [`ErrorKind::Cancelled`] once a stop is asked for.
    pub async fn call(
        &mut self,
        model: &dyn ChatModel,
        round: u32,
        request: &ChatRequest,
        known: usize,
    ) -> Result<ChatReply, ModelError> {
        let hash = request_hash(request);
        let mut recorded = self.memory.replies.iter();
        let known_at = recorded.position(|call| call.request_hash == hash && call.reply.is_some());
        if let Some(call) = known_at.map(|at| self.memory.replies.remove(at))
            && let Some(reply) = call.reply.clone()
        {
            super::trace::recalled(model, request, &call);
            self.made.push(call);
            return Ok(reply);
        }
        // A stop finishes the request in flight and begins none.
        if self.stop.drain.is_cancelled() {
            return Err(ModelError::new(ErrorKind::Cancelled, "stopped"));
        }
        let started = Instant::now();
        let answered = model.chat(request, &self.stop).await;
        let mut call = Call {
            node: request.node.clone(),
            round,
            request_hash: hash,
            messages: request.messages.iter().skip(known).cloned().collect(),
            reply: None,
            error: None,
            attempts: 0,
            seconds: started.elapsed().as_secs_f64(),
            cost: Cost::default(),
        };
        let result = match answered {
            Ok(reply) => {
                call.attempts = reply.attempts;
                let dollars = self.memory.price.as_ref().and_then(|price| price(&reply));
                call.cost = Cost::of_reply(&reply, dollars);
                call.reply = Some(reply.clone());
                Ok(reply)
            }
            Err(mut error) => {
                // Whether the host is there now, an earlier process does not know.
                error.after_success |= self.memory.answered_before
                    && !matches!(error.kind, ErrorKind::Connect | ErrorKind::Tls);
                call.attempts = error.attempts;
                call.cost = Cost::unknown(u64::from(error.lost));
                call.error = Some(error.to_string());
                Err(error)
            }
        };
        // Recorded before it is used: what was paid for outlives the process.
        if let Some(record) = &self.memory.record {
            record(&call);
        }
        self.made.push(call);
        result
    }
}

/// What a request is recognised by: blake3 of its JSON, hex.
fn request_hash(request: &ChatRequest) -> String {
    let json = serde_json::to_vec(request).unwrap_or_default();
    blake3::hash(&json).to_hex().to_string()
}
