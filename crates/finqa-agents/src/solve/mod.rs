//! Solvers: a question goes in with what an interrupted run remembers of it, a
//! solved answer with its calls comes out. Two exist: the pair of analyst and
//! critic, and the agent that uses an environment's tools.

mod environment;
mod episode_loop;
mod options;
mod tool_agent;
mod trace;
mod written;

use std::sync::Arc;

use async_trait::async_trait;
use tracing::Span;

use crate::llm::Stop;
use crate::pair::{self, CallMemory, Interruption, Pair, Round, Solution};
use finqa_core::question::Question;

pub use environment::{
    EnvironmentError, EpisodeQuestion, EpisodeSession, StartedEpisode, StepReply, ToolEnvironment,
};
pub use options::{SHOWN_CHARS, ToolAgentOptions, instructions_hash};
pub use tool_agent::ToolAgent;

/// Something that answers questions. A run uses it through this trait alone.
#[async_trait]
pub trait Solver: Send + Sync {
    /// Answers one question in the pass `epoch` (from 0); `on_round` is called
    /// with every round that has its verdict.
    ///
    /// # Errors
    /// [`Interruption`] if the question is left without an outcome; every other
    /// error is an outcome in [`Solution`].
    async fn solve(
        &self,
        question: Arc<Question>,
        epoch: u32,
        memory: CallMemory,
        stop: Stop,
        on_round: &(dyn for<'r> Fn(&'r Round) + Send + Sync),
    ) -> Result<Solution, Interruption>;

    /// The span of a question, the root of its trace; `run` it is asked in, if any.
    fn span(&self, question: &Question, run: Option<&str>) -> Span {
        pair::trace::question(question, run)
    }
}

#[async_trait]
impl Solver for Pair {
    async fn solve(
        &self,
        question: Arc<Question>,
        epoch: u32,
        memory: CallMemory,
        stop: Stop,
        on_round: &(dyn for<'r> Fn(&'r Round) + Send + Sync),
    ) -> Result<Solution, Interruption> {
        self.ask(question, epoch, memory, stop, on_round).await
    }
}
