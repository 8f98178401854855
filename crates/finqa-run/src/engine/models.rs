//! The models of a run: the state that they share, and their servers.

use std::sync::Arc;

use finqa_agents::llm::{
    BatchQueue, Budget, Limits, ModelConnection, Observer, PriceList, StoredReplies,
};

/// Step 2 of a run: its models. Their shared state is created before the first model, and their
/// servers are added as they are connected.
#[derive(Clone)]
pub struct RunModels {
    /// Called for each retry and for each notice about a batch.
    pub observer: Observer,
    pub limits: Limits,
    /// Stored replies. They are reused (`--cache`), or they replace the server (`--replay`).
    pub replies: Option<Arc<StoredReplies>>,
    /// The prices of the user's file.
    pub prices: Arc<PriceList>,
    pub budget: Arc<Budget>,
    /// True if prompts are only measured. Connecting then needs no key.
    pub measure_only: bool,
    /// The queue in which requests wait for a batch; `None` if each is sent at once. With a queue,
    /// all units are in flight at the same time.
    pub batches: Option<BatchQueue>,
    /// The servers of the connected models: first the analyst's, then the critic's. Empty for the
    /// embedded analyst.
    pub servers: Vec<ModelConnection>,
}

impl Default for RunModels {
    /// The defaults: built-in prices, an unlimited budget, and no stored replies.
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
    /// True if stored replies replace the server.
    pub(crate) fn is_replayed(&self) -> bool {
        self.replies.as_ref().is_some_and(|it| it.replays())
    }
}
