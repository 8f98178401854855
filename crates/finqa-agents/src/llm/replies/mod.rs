//! Stored replies: a folder with the replies of models. `--cache` stores replies there and reuses
//! them, and `--replay` uses only replies from the folder.
//!
//! Every reply is stored, and every failure that settles its call, but no failure that may pass.
//! Reading order: `folder` (the files), this file (the rules, and the model that applies them).

mod folder;

use std::sync::Arc;

use async_trait::async_trait;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::error::{ErrorKind, ModelError};
use super::reply_check::usable_reply;
use super::types::{ChatModel, ChatReply, ChatRequest, Stop};

use folder::CallOutcome;
pub use folder::{RepliesError, StoredReplies};

/// The part of a request that determines its reply, with the node, epoch and repeat for which it is
/// asked. Requests with equal keys share a reply. `server` consists of provider, API, address and
/// model.
fn key(server: &str, request: &ChatRequest) -> Value {
    // A request can always be serialised.
    let mut fields = serde_json::to_value(request).unwrap_or_default();
    if let Some(fields) = fields.as_object_mut() {
        fields.shift_remove("node");
    }
    json!({
        "server": server,
        // The requests for several samples of a draft can be equal except for the node (`analyst`,
        // `analyst#2`, …).
        "node": request.node,
        "epoch": request.origin.epoch,
        "repeat": request.origin.repeat,
        "request": fields,
    })
}

impl StoredReplies {
    /// Wraps a model so that it is only asked if there is no stored reply, and in a replay never.
    pub fn wrap(self: &Arc<Self>, model: Arc<dyn ChatModel>, server: &str) -> Arc<dyn ChatModel> {
        Arc::new(StoredModel {
            model,
            replies: Arc::clone(self),
            server: server.to_owned(),
        })
    }

    /// The stored outcome, or a failure that describes the nearest stored request.
    async fn replayed(self: &Arc<Self>, key: Value, question: &str) -> CallOutcome {
        let missing = match self.read(&key) {
            Ok(Some(outcome)) => return outcome,
            Ok(None) => {
                // The description reads the whole folder, which must not block other questions.
                let (replies, question) = (Arc::clone(self), question.to_owned());
                let described = spawn_blocking(move || replies.miss(&key, &question)).await;
                described.unwrap_or_else(|error| format!("a reply is not stored ({error})"))
            }
            Err(damage) => damage,
        };
        CallOutcome::Failure(ModelError::new(ErrorKind::NotStored, missing))
    }

    /// The stored outcome, if it may be reused. A reply without an answer and an unknown failure
    /// may not be reused, although a replay needs them. A damaged entry is replaced by the next
    /// reply.
    fn reusable(&self, key: &Value, request: &ChatRequest) -> Option<CallOutcome> {
        let found = self.read(key).unwrap_or_else(|damage| {
            self.warn(&format!("{damage}; the model is asked again"));
            None
        });
        found.filter(|outcome| match outcome {
            CallOutcome::Reply(reply) => !may_pass(request, reply),
            CallOutcome::Failure(error) => error.kind != ErrorKind::Unknown,
        })
    }
}

/// True for a failure that is the outcome of its call, because the request itself is at fault.
fn settles(error: &ModelError) -> bool {
    matches!(
        error.kind,
        ErrorKind::ContentFilter
            | ErrorKind::ContextTooLong
            | ErrorKind::OutputLimitTooHigh
            | ErrorKind::BadRequest { .. }
            | ErrorKind::Unknown
    )
}

/// True for a reply without an answer, if another request may get an answer.
fn may_pass(request: &ChatRequest, reply: &ChatReply) -> bool {
    let is_silent = reply.content.trim().is_empty() && reply.tool_calls.is_empty();
    is_silent && !reply.is_withheld() || usable_reply(request, reply.clone()).is_err()
}

/// A model whose replies are stored and reused.
struct StoredModel {
    model: Arc<dyn ChatModel>,
    replies: Arc<StoredReplies>,
    server: String,
}

#[async_trait]
impl ChatModel for StoredModel {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn cost(&self, reply: &ChatReply) -> Option<Decimal> {
        self.model.cost(reply)
    }

    fn sends_batches(&self) -> bool {
        self.model.sends_batches()
    }

    async fn chat(&self, request: &ChatRequest, stop: &Stop) -> Result<ChatReply, ModelError> {
        let key = key(&self.server, request);
        let question = &request.origin.question;
        // A replay repeats the attempts and the cost of the run. A reused reply costs nothing, but
        // keeps its latency, because a model is not faster if its replies are stored.
        if self.replies.replays {
            return self.replies.replayed(key, question).await.into();
        }
        // In a batch, no call may wait for another one, because a wave is complete only when all
        // calls wait in it.
        let _turn = if self.model.sends_batches() {
            None
        } else {
            Some(self.replies.turn(&key).await)
        };
        match self.replies.reusable(&key, request) {
            None => {}
            Some(CallOutcome::Reply(reply)) => {
                return Ok(ChatReply {
                    attempts: 0,
                    lost: 0,
                    cached: true,
                    ..reply
                });
            }
            Some(CallOutcome::Failure(error)) => {
                return Err(ModelError {
                    attempts: 0,
                    lost: 0,
                    ..error
                });
            }
        }
        let outcome = self.model.chat(request, stop).await;
        let stored = match &outcome {
            Ok(reply) => Some(CallOutcome::Reply(reply.clone())),
            Err(error) if settles(error) => Some(CallOutcome::Failure(error.clone())),
            Err(_) => None,
        };
        if let Some(stored) = stored {
            self.replies.store(key, question, stored);
        }
        outcome
    }
}
