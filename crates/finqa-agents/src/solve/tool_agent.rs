//! The tool-using agent: a model that reasons, calls a tool, sees the result and
//! continues (`ReAct`), by the provider's tool calling. What happens with bad
//! calls, missing calls and floods of text is decided here, the same for every
//! model.

use std::sync::Arc;

use async_trait::async_trait;
use tracing::Span;

use super::environment::{EnvironmentError, ToolEnvironment};
use super::episode_loop::{EpisodeFailure, EpisodeLoop};
use super::options::ToolAgentOptions;
use super::{Solver, trace};
use crate::llm::{ChatModel, Stop};
use crate::pair::{
    Call, CallMemory, EpisodeEnd, Interruption, RecordedCalls, Round, RunFailure, Solution,
    StopReason,
};
use finqa_core::outcome::Outcome;
use finqa_core::question::Question;

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
