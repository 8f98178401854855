//! What the models of a run share.

use std::sync::Arc;

use finqa_agents::llm::{BatchQueue, Budget};

/// The state that the models of a run share.
#[derive(Default)]
pub struct RunModels {
    pub budget: Arc<Budget>,
    /// The batch queue, if any; all units are in flight then.
    pub batches: Option<BatchQueue>,
}
