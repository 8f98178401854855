//! The interface by which a run gets answers.

use std::sync::Arc;

use async_trait::async_trait;
use tracing::Span;

use crate::llm::Stop;
use finqa_core::question::Question;

use super::calls::CallMemory;
use super::failure::Interruption;
use super::solution::{Round, Solution};
use super::trace;

/// A way to answer questions. A run uses it only through this trait.
#[async_trait]
pub trait Solver: Send + Sync {
    /// Answers one question in pass `epoch` (from 0). `on_round` is called for every round after
    /// its verdict.
    ///
    /// # Errors
    /// [`Interruption`] if the question has no outcome yet. Every other failure is an outcome in
    /// [`Solution`].
    async fn solve(
        &self,
        question: Arc<Question>,
        epoch: u32,
        memory: CallMemory,
        stop: Stop,
        on_round: &(dyn for<'r> Fn(&'r Round) + Send + Sync),
    ) -> Result<Solution, Interruption>;

    /// The span of a question, which is the root of its trace. `run` is the id of the run that asks
    /// the question, if there is one.
    fn span(&self, question: &Question, run: Option<&str>) -> Span {
        trace::question(question, run)
    }
}
