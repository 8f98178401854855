//! The tool-using agent. A model reasons, calls a tool by the provider's tool calling, sees the
//! result and continues (`ReAct`). Bad calls, missing calls and very long texts are handled in the
//! same way for every model (`episode_loop`).

use std::sync::Arc;

use async_trait::async_trait;
use tracing::Span;

use super::environment::ToolEnvironment;
use super::episode_loop::EpisodeLoop;
use super::options::ToolAgentOptions;
use super::trace;
use crate::llm::{ChatModel, Stop};
use crate::pair::{CallMemory, Interruption, RecordedCalls, Round, Solution, Solver, StopReason};
use finqa_core::outcome::Outcome;
use finqa_core::question::Question;

/// A model that plays episodes in an environment.
pub struct ToolAgent {
    model: Arc<dyn ChatModel>,
    environment: Arc<dyn ToolEnvironment>,
    options: ToolAgentOptions,
}

impl ToolAgent {
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
            // Biased, so that a stopped run begins no episode.
            biased;
            () = stop.abort.cancelled() => return Err(Interruption::Cancelled),
            begun = self.environment.begin(&question) => begun,
        };
        let (asked, mut session) = match begun {
            Ok(begun) => begun,
            Err(error) => {
                return Err(error.interrupts(Solution {
                    calls: memory.failed,
                    ..Solution::new(Outcome::ProviderError, StopReason::Failed)
                }));
            }
        };
        let calls = RecordedCalls::new(memory, stop.clone(), &question, epoch);
        let episode = EpisodeLoop::new(&*self.model, &self.options, asked, calls);
        episode.play(session.as_mut(), &question, &stop).await
    }

    fn span(&self, question: &Question, run: Option<&str>) -> Span {
        trace::episode(question, run)
    }
}
