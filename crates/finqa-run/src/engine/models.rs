//! State that all models of a run share: limits, stored replies, prices and the budget.

use std::sync::Arc;

use finqa_agents::llm::{BatchQueue, Budget, Limits, Observer, PriceList, StoredReplies};

/// State that all models of a run share. It is made before the first model.
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
        }
    }
}

impl RunModels {
    /// True if stored replies answer instead of a server.
    pub(crate) fn is_replayed(&self) -> bool {
        self.replies.as_ref().is_some_and(|it| it.replays())
    }
}
