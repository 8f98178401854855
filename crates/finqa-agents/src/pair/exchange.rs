//! The state that the two agents share while they answer one question.

use std::collections::VecDeque;
use std::sync::Arc;

use tracing::Span;

use crate::llm::{ChatMessage, ChatModel, ChatReply, ChatRequest, FinishReason, ModelError, Stop};
use crate::parse::Analysis;
use crate::prompt::{Prompt, Prompts};
use finqa_core::outcome::Outcome;
use finqa_core::question::Question;
use finqa_core::text;

use super::answer::Answer;
use super::calls::{CallMemory, RecordedCalls};
use super::failure::QuestionFailure;
use super::opinion::SecondOpinion;
use super::settings::Sampling;
use super::solution::{Round, StopReason, VoteTally};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Route {
    /// The analyst has an answer.
    Submit,
    /// The analyst cannot continue, or has nothing new.
    Stop,
    /// The critic accepts the answer, or the loop is over.
    Accept,
    /// The critic sends it back.
    Revise,
}

/// A chat model in the part of one of the agents.
pub(super) struct LlmAgent {
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) prompts: Arc<Prompts>,
    pub(super) sampling: Sampling,
    /// First drafts of the analyst in each pass.
    pub(super) samples: u32,
}

pub struct Exchange {
    pub question: Arc<Question>,
    /// Rounds with an answer, oldest first.
    pub rounds: Vec<Round>,
    pub calls: RecordedCalls,
    /// Set when the exchange cannot continue.
    pub(crate) failure: Option<QuestionFailure>,
    /// Set by the critic node when it ends the loop.
    pub stop: Option<StopReason>,
    /// The embedded analyst's answer, if it was asked.
    pub opinion: Option<SecondOpinion>,
    /// The votes of the samples of the first draft, if there were several.
    pub votes: Option<VoteTally>,
    /// The first sample's answer, where another was chosen.
    pub first_sample: Option<Box<Answer>>,
    /// The repetition of the question, from 0.
    pub epoch: u32,
    /// What the embedded analyst has left to draft, once it is asked.
    pub(super) candidates: Option<EmbeddedCandidates>,
    /// The span of the round in progress.
    pub(super) round: Span,
}

/// Analyses of the embedded analyst that it has not drafted yet, best first.
pub(super) struct EmbeddedCandidates {
    pub(super) left: VecDeque<Analysis>,
    /// Why the best of them is only a guess, if so.
    pub(super) doubt: Option<String>,
}

impl Exchange {
    pub(crate) fn new(question: Arc<Question>, epoch: u32, memory: CallMemory, stop: Stop) -> Self {
        let calls = RecordedCalls::new(memory, stop, &question, epoch);
        Self {
            question,
            rounds: Vec::new(),
            calls,
            failure: None,
            stop: None,
            opinion: None,
            votes: None,
            first_sample: None,
            epoch,
            candidates: None,
            round: Span::none(),
        }
    }

    /// The number of the round in progress, from 1.
    pub(crate) fn next_round(&self) -> u32 {
        u32::try_from(self.rounds.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1)
    }

    /// Asks a model, or recalls the reply that an interrupted run already has. A reply that
    /// is filtered, refused or cut off is returned as a failure.
    pub(crate) async fn call(
        &mut self,
        model: &dyn ChatModel,
        round: u32,
        request: ChatRequest,
    ) -> Result<String, QuestionFailure> {
        content(self.calls.call(model, round, request, 0).await)
    }

    /// Sends several requests in parallel; the replies are in their order.
    pub(crate) async fn call_all(
        &mut self,
        model: &dyn ChatModel,
        round: u32,
        requests: Vec<ChatRequest>,
    ) -> Vec<Result<String, QuestionFailure>> {
        let replies = self.calls.call_all(model, round, requests).await;
        replies.into_iter().map(content).collect()
    }

    /// True if the second opinion disagrees with `answer`.
    pub(super) fn opinion_disagrees(&self, answer: &Answer) -> bool {
        let opinion = self.opinion.as_ref();
        opinion.is_some_and(|opinion| !opinion.agrees_with(answer))
    }
}

/// The messages of a prompt.
pub(super) fn opening(prompt: Prompt) -> Vec<ChatMessage> {
    vec![
        ChatMessage::system(prompt.system),
        ChatMessage {
            stable_bytes: prompt.page_bytes,
            ..ChatMessage::user(prompt.user)
        },
    ]
}

fn content(reply: Result<ChatReply, ModelError>) -> Result<String, QuestionFailure> {
    let reply = reply.map_err(|error| QuestionFailure::from(&error))?;
    if let Some(refusal) = &reply.refusal {
        // Control characters are kept, because a run records what was written; a terminal
        // shows them as symbols.
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
        FinishReason::Length => Err(QuestionFailure::new(
            Outcome::Truncated,
            "the reply was cut at the output limit; raise --max-tokens",
        )),
        _ => Ok(reply.content),
    }
}
