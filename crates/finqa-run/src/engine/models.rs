//! What the models of a run share.

use std::sync::Arc;

use finqa_agents::llm::{BatchQueue, Budget, Limits};

/// The state that the models of a run share.
#[derive(Default)]
pub struct RunModels {
    pub budget: Arc<Budget>,
    pub limits: Limits,
    /// The batch queue, if any; all units are in flight then.
    pub batches: Option<BatchQueue>,
}
