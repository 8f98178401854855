//! The state that the two agents share while they work on one question.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tracing::Span;

use crate::models::{
    ChatModel, ChatReply, ChatRequest, Cost, ErrorKind, FinishReason, Message, ModelError,
    NodeUsage, PriceOf, Scope, Stop,
};
use finqa_core::outcome::Outcome;
use finqa_core::question::Question;

use super::answer::{Round, Settled, StopReason};
use super::opinion::SecondOpinion;
use super::vote::Tally;

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
    pub messages: Vec<Message>,
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

/// Puts a call down.
pub type Record = Box<dyn Fn(&Call) + Send + Sync>;

/// Replies that an interrupted run has already paid for, and where new ones are
/// put down before they are used.
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

/// Why a question cannot go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The outcome it comes to.
    pub outcome: Outcome,
    /// One line.
    pub message: String,
    /// Whom it concerns: it is an outcome only if the request alone is at fault.
    pub scope: Scope,
}

impl Failure {
    /// An outcome with its reason.
    pub(crate) fn new(outcome: Outcome, message: impl Into<String>) -> Self {
        Self {
            outcome,
            message: message.into(),
            scope: Scope::Request,
        }
    }

    /// Whether it is the question's own outcome, and not the provider's or the
    /// run's trouble.
    pub(crate) fn is_outcome(&self) -> bool {
        self.scope == Scope::Request
    }
}

impl From<&ModelError> for Failure {
    fn from(error: &ModelError) -> Self {
        let outcome = match error.kind {
            ErrorKind::ContentFilter => Outcome::ContentFilter,
            _ => Outcome::ProviderError,
        };
        Self {
            outcome,
            message: error.to_string(),
            scope: error.scope(),
        }
    }
}

/// One question on its way between analyst and critic.
pub struct Exchange {
    /// What is asked.
    pub question: Arc<Question>,
    /// Rounds that have an answer, oldest first.
    pub rounds: Vec<Round>,
    /// Every call so far.
    pub calls: Vec<Call>,
    /// Set when the exchange cannot go on.
    pub failure: Option<Failure>,
    /// Set by the critic node when it stops the loop.
    pub stop: Option<StopReason>,
    /// What the embedded rules make of the question, if they were asked.
    pub opinion: Option<SecondOpinion>,
    /// How the samples of the first draft voted, if there were several.
    pub votes: Option<Tally>,
    /// Replies already paid for.
    pub memory: CallMemory,
    /// Ends waits and calls in flight.
    pub stop_calls: Stop,
    /// Which repetition of the question it is, from 0.
    pub epoch: u32,
    /// The round that is being written, in the question's trace.
    pub(super) round: Span,
}

impl Exchange {
    /// A fresh exchange about `question`.
    #[must_use]
    pub fn new(question: Arc<Question>, epoch: u32, mut memory: CallMemory, stop: Stop) -> Self {
        Self {
            question,
            rounds: Vec::new(),
            calls: std::mem::take(&mut memory.failed),
            failure: None,
            stop: None,
            opinion: None,
            votes: None,
            memory,
            stop_calls: stop,
            epoch,
            round: Span::none(),
        }
    }

    /// The number of the round that is being written, from 1.
    #[must_use]
    pub fn next_round(&self) -> u32 {
        u32::try_from(self.rounds.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1)
    }

    /// Asks a model, or recalls the reply that an interrupted run already has.
    /// A reply that is a filter, a refusal or cut off comes back as a failure.
    ///
    /// # Errors
    /// A [`Failure`] with the outcome that it means for the question.
    pub async fn call(
        &mut self,
        model: &dyn ChatModel,
        round: u32,
        request: &ChatRequest,
    ) -> Result<String, Failure> {
        let hash = request_hash(request);
        let known = self
            .memory
            .replies
            .iter()
            .position(|call| call.request_hash == hash);
        if let Some(call) = known.map(|at| self.memory.replies.remove(at)) {
            let result = call.reply.as_ref().map_or_else(
                || {
                    Err(Failure::new(
                        Outcome::ProviderError,
                        "the recorded call has no reply",
                    ))
                },
                content,
            );
            super::trace::recalled(model, request, &call);
            self.calls.push(call);
            return result;
        }
        // A stop finishes the request in flight and begins none.
        if self.stop_calls.drain.is_cancelled() {
            return Err(Failure {
                scope: Scope::Cancelled,
                ..Failure::new(Outcome::ProviderError, "stopped")
            });
        }
        let started = std::time::Instant::now();
        let answered = model.chat(request, &self.stop_calls).await;
        let mut call = Call {
            node: request.node.clone(),
            round,
            request_hash: hash,
            messages: request.messages.clone(),
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
                let result = content(&reply);
                call.reply = Some(reply);
                result
            }
            Err(mut error) => {
                // Whether the host is there now, an earlier process does not know.
                error.after_success |= self.memory.answered_before
                    && !matches!(error.kind, ErrorKind::Connect | ErrorKind::Tls);
                call.attempts = error.attempts;
                call.cost = Cost::unknown(u64::from(error.lost));
                call.error = Some(error.to_string());
                Err(Failure::from(&error))
            }
        };
        // Put down before it is used: what was paid for outlives the process.
        if let Some(record) = &self.memory.record {
            record(&call);
        }
        self.calls.push(call);
        result
    }

    /// Closes the exchange with the best candidate among its rounds.
    #[must_use]
    pub fn settle(self) -> Settled {
        super::best::settle(self)
    }
}

/// What a request is recognised by: blake3 of its JSON, hex.
fn request_hash(request: &ChatRequest) -> String {
    let json = serde_json::to_vec(request).unwrap_or_default();
    blake3::hash(&json).to_hex().to_string()
}

fn content(reply: &ChatReply) -> Result<String, Failure> {
    if let Some(refusal) = &reply.refusal {
        return Err(Failure::new(
            Outcome::Refusal,
            format!("the model declined: {}", one_line(refusal)),
        ));
    }
    match &reply.finish {
        FinishReason::ContentFilter => Err(Failure::new(
            Outcome::ContentFilter,
            "the provider's content filter stopped the reply",
        )),
        FinishReason::Length => Err(Failure::new(
            Outcome::Truncated,
            "the reply was cut at the output limit; raise --max-tokens",
        )),
        _ => Ok(reply.content.clone()),
    }
}

/// The first 200 characters of a text on one line.
pub(crate) fn one_line(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", flat.get(..at).unwrap_or(&flat)),
        None => flat,
    }
}
