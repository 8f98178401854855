//! What the models of a run share.

use std::sync::Arc;

use finqa_agents::llm::{BatchQueue, Budget, Limits, Observer, PriceList, StoredReplies};

/// What the models of a run share, before the first of them is made.
#[derive(Clone)]
pub struct RunModels {
    /// Called for each retry and batch event.
    pub observer: Observer,
    pub limits: Limits,
    /// The folder of replies that are reused, or replayed without a server.
    pub replies: Option<Arc<StoredReplies>>,
    /// The user's own prices.
    pub prices: Arc<PriceList>,
    pub budget: Arc<Budget>,
    /// Requests are only measured, so no key is needed.
    pub measure_only: bool,
    /// The queue in which requests wait for a batch, if any; all units are in flight then.
    pub batches: Option<BatchQueue>,
}

impl Default for RunModels {
    /// With the built-in prices, and without budget and stored replies.
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
