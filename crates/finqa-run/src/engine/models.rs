//! The models of a run: what they share, and the servers that they are on.

use std::sync::Arc;

use finqa_agents::llm::{
    BatchQueue, Budget, Limits, ModelConnection, Observer, PriceList, StoredReplies,
};

/// Step 2 of a run: its models with the state that they share, which is made before the first
/// model, and their servers.
#[derive(Clone)]
pub struct RunModels {
    /// Called for each retry and batch event.
    pub observer: Observer,
    pub limits: Limits,
    /// Stored replies, which are reused (`--cache`) or answer instead of a server (`--replay`).
    pub replies: Option<Arc<StoredReplies>>,
    /// The user's own prices.
    pub prices: Arc<PriceList>,
    pub budget: Arc<Budget>,
    /// True if prompts are only measured, so that no key is needed.
    pub measure_only: bool,
    /// The queue in which requests wait for a batch; `None` if they are sent one by one. With a
    /// queue, all units are in flight at once.
    pub batches: Option<BatchQueue>,
    /// The servers of the connected models: the analyst's, then the critic's. Empty for the
    /// embedded analyst.
    pub servers: Vec<ModelConnection>,
}

impl Default for RunModels {
    /// Built-in prices only, no limits of the budget, and no stored replies.
    fn default() -> Self {
        Self {
            observer: Arc::new(|_| {}),
            limits: Limits::default(),
            replies: None,
            prices: Arc::default(),
            budget: Arc::default(),
            measure_only: false,
            batches: None,
            servers: Vec::new(),
        }
    }
}

impl RunModels {
    /// True if stored replies answer instead of a server.
    pub(crate) fn is_replayed(&self) -> bool {
        self.replies.as_ref().is_some_and(|it| it.replays())
    }
}
