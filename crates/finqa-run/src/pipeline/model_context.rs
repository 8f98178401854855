//! The state shared by the models of a run.

use std::sync::Arc;

use finqa_agents::llm::{
    BatchQueue, Budget, HttpModel, Limits, ModelConnection, Observer, PriceList, StoredReplies,
};
use finqa_core::secrets::shown_address;

use super::PipelineError;

/// The state shared by the models of a run.
#[derive(Clone)]
pub struct ModelContext {
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
    /// The queue in which requests wait for a batch.
    pub batches: Option<BatchQueue>,
}

impl ModelContext {
    /// A context with the built-in prices, and without budget and stored replies.
    pub fn new(observer: Observer) -> Self {
        Self {
            observer,
            limits: Limits::default(),
            replies: None,
            prices: Arc::default(),
            budget: Arc::default(),
            measure_only: false,
            batches: None,
        }
    }

    pub(super) fn is_replayed(&self) -> bool {
        self.replies.as_ref().is_some_and(|it| it.replays())
    }
}

/// Creates a model from its connection and the shared state, without a limiter.
pub(super) fn http_model(
    connection: ModelConnection,
    context: &ModelContext,
) -> Result<HttpModel, PipelineError> {
    let mut model = HttpModel::new(connection)?;
    model.observer = Some(Arc::clone(&context.observer));
    model.prices = Arc::clone(&context.prices);
    model.budget = Arc::clone(&context.budget);
    let model = model.with_batches(context.batches.as_ref());
    if context.budget.limits().cost.is_some() && !model.has_price() {
        let connection = model.settings();
        return Err(PipelineError::NoPrice {
            model: connection.model.clone(),
            address: shown_address(&connection.base_url),
        });
    }
    Ok(model)
}
