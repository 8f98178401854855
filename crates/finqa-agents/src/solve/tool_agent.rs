//! The tool-using agent: a model that reasons, calls a tool, sees the result and
//! continues (`ReAct`), by the provider's tool calling. What happens with bad
//! calls, missing calls and floods of text is decided here, the same for every
//! model.

use std::sync::Arc;

use async_trait::async_trait;
use tracing::Span;

use super::environment::{EnvironmentError, ToolEnvironment};
use super::episode_loop::{EpisodeFailure, EpisodeLoop};
use super::{Solver, trace};
use crate::llm::{ChatModel, Stop, ToolSpec};
use crate::pair::{
    Call, CallMemory, EpisodeEnd, Interruption, RecordedCalls, Round, RunFailure, Sampling,
    Solution, StopReason,
};
use finqa_core::outcome::Outcome;
use finqa_core::question::Question;

/// The instructions to the model before the question.
pub(super) const INSTRUCTIONS: &str = include_str!("../../../../prompts/tool_agent.txt");

/// The options of the agent.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolAgentOptions {
    /// The environment's tools.
    pub tools: Vec<ToolSpec>,
    /// Tool calls after which an episode is given up; at least 1.
    pub max_steps: u32,
    /// How replies are sampled.
    pub sampling: Sampling,
    /// Most characters of one tool result that the model is shown.
    pub result_chars: usize,
    /// Most characters of all tool results of an episode together.
    pub total_chars: usize,
    /// Record the model's calls. Those of a model inside this process cost nothing and are
    /// made again instead.
    pub recorded: bool,
}

/// Most characters of one tool result, and of all of an episode, that a model is
/// shown: about 4,000 and 50,000 tokens. The sentences of the longest page of
/// ConvFinQA fit the first, and any model's context the second.
pub const SHOWN_CHARS: (usize, usize) = (16_000, 200_000);

/// blake3 of the instructions to a model before the question: part of a run's identity.
pub fn instructions_hash() -> String {
    blake3::hash(INSTRUCTIONS.as_bytes()).to_hex().to_string()
}

/// A model that plays episodes in an environment.
pub struct ToolAgent {
    model: Arc<dyn ChatModel>,
    environment: Arc<dyn ToolEnvironment>,
    options: ToolAgentOptions,
}

impl ToolAgent {
    /// An agent by `model` in `environment`.
    pub fn new(
        model: Arc<dyn ChatModel>,
        environment: Arc<dyn ToolEnvironment>,
        options: ToolAgentOptions,
    ) -> Self {
        Self {
            model,
            environment,
            options,
        }
    }
}

#[async_trait]
impl Solver for ToolAgent {
    async fn solve(
        &self,
        question: Arc<Question>,
        epoch: u32,
        memory: CallMemory,
        stop: Stop,
        _on_round: &(dyn for<'r> Fn(&'r Round) + Send + Sync),
    ) -> Result<Solution, Interruption> {
        let begun = tokio::select! {
            biased;
            () = stop.abort.cancelled() => return Err(Interruption::Cancelled),
            begun = self.environment.begin(&question) => begun,
        };
        let (asked, mut session) = match begun {
            Ok(begun) => begun,
            Err(error) => return Err(interruption(error, memory.failed)),
        };
        let calls = RecordedCalls::new(memory, stop.clone(), &question, epoch);
        let mut episode = EpisodeLoop::new(&*self.model, &self.options, asked, calls);
        match episode.run(session.as_mut(), &stop).await {
            Ok(()) => {
                if episode.record.ground_truth.is_none() {
                    // A server that fails only now has still graded the episode.
                    episode.record.ground_truth = session.ground_truth().await.unwrap_or_default();
                }
                Ok(episode.into_solution(&question))
            }
            Err(EpisodeFailure::Environment(error)) => {
                Err(interruption(error, episode.calls.calls))
            }
            Err(EpisodeFailure::Interrupted(why)) => Err(why),
            Err(EpisodeFailure::Provider(message)) => {
                episode.finish(EpisodeEnd::Failed, Some(message));
                let solution = episode.into_solution(&question);
                Err(Interruption::Provider(Box::new(solution)))
            }
        }
    }

    fn span(&self, question: &Question, run: Option<&str>) -> Span {
        trace::episode(question, run)
    }
}

/// The consequence of an environment's failure for a question.
fn interruption(error: EnvironmentError, made: Vec<Call>) -> Interruption {
    match error.fatal {
        Some(fault) => Interruption::Fatal(RunFailure {
            message: error.message,
            fault,
        }),
        None => Interruption::Provider(Box::new(Solution {
            error: Some(error.message),
            calls: made,
            ..Solution::new(Outcome::ProviderError, StopReason::Failed)
        })),
    }
}
