//! Solvers: a question goes in with what an interrupted run remembers of it, a
//! solved answer with its calls comes out.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;

use crate::agents::{CallMemory, Interruption, Pair, Round, Settled};
use crate::models::Stop;
use finqa_core::question::Question;

/// Something that answers questions. A run holds one and knows no more of it.
pub trait Solver: Send + Sync {
    /// Answers one question in the pass `epoch` (from 0); `on_round` is called
    /// with every round that has its verdict.
    ///
    /// # Errors
    /// [`Interruption`] if the question is left without an outcome; every other
    /// trouble is an outcome in [`Settled`].
    fn solve<'a>(
        &'a self,
        question: Arc<Question>,
        epoch: u32,
        memory: CallMemory,
        stop: Stop,
        on_round: &'a (dyn Fn(&Round) + Send + Sync),
    ) -> BoxFuture<'a, Result<Settled, Interruption>>;
}

impl Solver for Pair {
    fn solve<'a>(
        &'a self,
        question: Arc<Question>,
        epoch: u32,
        memory: CallMemory,
        stop: Stop,
        on_round: &'a (dyn Fn(&Round) + Send + Sync),
    ) -> BoxFuture<'a, Result<Settled, Interruption>> {
        self.ask(question, epoch, memory, stop, on_round).boxed()
    }
}
