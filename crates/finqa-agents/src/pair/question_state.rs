//! The state that the two agents share while they answer one question, and their model calls.

use std::sync::Arc;

use tracing::Span;

use crate::llm::{ChatMessage, ChatModel, ChatReply, ChatRequest, FinishReason, ModelError, Stop};
use crate::parse;
use crate::prompt::{Prompt, Prompts};
use finqa_core::outcome::Outcome;
use finqa_core::question::Question;
use finqa_core::text;

use super::calls::{CallMemory, RecordedCalls};
use super::failure::QuestionFailure;
use super::settings::Sampling;
use super::solution::{Solution, StopReason};

/// The route that a node returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Route {
    /// The analyst has an answer.
    Submit,
    /// The analyst failed, or has no new answer.
    Stop,
    /// The critic accepts the answer, or no further round is allowed.
    Accept,
    /// The critic sends the answer back.
    Revise,
}

/// A chat model as one of the agents.
pub(super) struct LlmAgent {
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) prompts: Arc<Prompts>,
    pub(super) sampling: Sampling,
    /// The number of first drafts that the analyst samples.
    pub(super) samples: u32,
}

/// All data about one question that the nodes read and change.
pub struct QuestionState {
    pub(super) question: Arc<Question>,
    /// The result so far. Closing the state sets its outcome and its answer.
    pub(super) so_far: Solution,
    pub(super) calls: RecordedCalls,
    /// The failure because of which the agents cannot continue.
    pub(super) failure: Option<QuestionFailure>,
    /// The epoch, from 0.
    pub(super) epoch: u32,
    /// The span of the last round.
    pub(super) round: Span,
}

impl QuestionState {
    pub(super) fn new(question: Arc<Question>, epoch: u32, memory: CallMemory, stop: Stop) -> Self {
        let calls = RecordedCalls::new(memory, stop, &question, epoch);
        Self {
            question,
            so_far: Solution::new(Outcome::ParseFailure, StopReason::NoVerdict),
            calls,
            failure: None,
            epoch,
            round: Span::none(),
        }
    }

    /// The number of the round in progress, from 1.
    pub(super) fn next_round(&self) -> u32 {
        u32::try_from(self.so_far.rounds.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1)
    }

    /// Asks a model, or recalls the reply that an interrupted run already received. If the reply is
    /// filtered, refused or cut off, a failure is returned.
    pub(super) async fn call(
        &mut self,
        model: &dyn ChatModel,
        round: u32,
        request: ChatRequest,
    ) -> Result<String, QuestionFailure> {
        content(self.calls.call(model, round, request, 0).await)
    }

    /// Sends several requests in parallel; the replies are in the same order. If the provider or
    /// the run failed, the whole call fails, because the other requests cannot change that.
    pub(super) async fn call_all(
        &mut self,
        model: &dyn ChatModel,
        requests: Vec<ChatRequest>,
    ) -> Result<Vec<Result<String, QuestionFailure>>, QuestionFailure> {
        let round = self.next_round();
        let replies = self.calls.call_all(model, round, requests).await;
        let settled = replies.into_iter().map(|reply| match content(reply) {
            Err(failure) if !failure.is_outcome() => Err(failure),
            settled => Ok(settled),
        });
        settled.collect()
    }
}

/// The first messages of a conversation, made from a prompt.
pub(super) fn opening(prompt: Prompt) -> Vec<ChatMessage> {
    vec![
        ChatMessage::system(prompt.system),
        ChatMessage {
            stable_bytes: prompt.page_bytes,
            ..ChatMessage::user(prompt.user)
        },
    ]
}

/// The text of a reply. A reply that was refused, filtered, or cut off before its object was
/// complete is a failure.
fn content(reply: Result<ChatReply, ModelError>) -> Result<String, QuestionFailure> {
    let reply = reply.map_err(|error| QuestionFailure::from(&error))?;
    if let Some(refusal) = &reply.refusal {
        // Control characters are not removed, because a run records exactly what the model wrote. A
        // terminal shows them as symbols.
        // The limit is set by hand: the message is one line.
        let words = text::cut(&text::single_spaced(refusal), 200, "…");
        return Err(QuestionFailure::new(
            Outcome::Refusal,
            format!("the model declined: {words}"),
        ));
    }
    match &reply.finish {
        FinishReason::ContentFilter => Err(QuestionFailure::new(
            Outcome::ContentFilter,
            "the provider's content filter stopped the reply",
        )),
        FinishReason::Length if !is_whole(&reply.content) => Err(QuestionFailure {
            // The reply is quoted when the model is asked again, so cut it: a long quote would lead
            // a model that repeats itself to continue. The limit is set by hand.
            cut: Some(text::cut(reply.content.trim(), 1000, "…")).filter(|it| !it.is_empty()),
            ..QuestionFailure::new(
                Outcome::Truncated,
                "the reply was cut at the output limit; raise --max-tokens",
            )
        }),
        _ => Ok(reply.content),
    }
}

/// True if only white space and the end of a fence follow a closed object. A model that must write
/// JSON may fill the rest of its limit with white space.
fn is_whole(reply: &str) -> bool {
    let is_filler = |c: char| c.is_whitespace() || c == '`';
    parse::after_object(reply).is_some_and(|rest| rest.chars().all(is_filler))
}
