//! What a run is made of: its questions, the solver that answers them, and what its models share.

use std::sync::Arc;

use finqa_agents::llm::{BatchQueue, Budget};
use finqa_agents::solve::Solver;

use super::plan::Plan;

/// The questions of a run, and the solver that answers them.
pub struct Workload {
    /// The questions, in order.
    pub plan: Plan,
    pub solver: Arc<dyn Solver>,
    /// Maximum number of units in flight, at least 1.
    pub concurrency: usize,
}

impl Workload {
    /// The questions of a plan, one unit at a time.
    pub fn new(plan: Plan, solver: Arc<dyn Solver>) -> Self {
        Self {
            plan,
            solver,
            concurrency: 1,
        }
    }
}

/// The state that the models of a run share.
#[derive(Default)]
pub struct RunModels {
    pub budget: Arc<Budget>,
    /// The batch queue, if any; all units are in flight then.
    pub batches: Option<BatchQueue>,
}
