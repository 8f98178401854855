//! The interface through which a run asks for answers.

use std::sync::Arc;

use async_trait::async_trait;
use tracing::Span;

use crate::llm::Stop;
use finqa_core::question::Question;

use super::calls::CallMemory;
use super::failure::Interruption;
use super::solution::{Round, Solution};
use super::trace;

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
        trace::question(question, run)
    }
}
