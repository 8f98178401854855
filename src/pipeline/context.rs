//! The state shared by the models of a run.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::settings::Settings;
use finqa_agents::llm::{
    BatchQueue, Budget, Cassette, HttpClients, HttpModel, Limits, ModelConnection, Observer,
    PriceList, ResponseCache,
};
use finqa_core::secrets::shown_address;

use super::explain::JournaledCalls;
use super::{Notify, PipelineError, RunNotice};

/// The state shared by the models of a run.
#[derive(Clone)]
pub(crate) struct ModelContext {
    /// Called for each retry and batch event.
    pub observer: Observer,
    pub limits: Limits,
    pub clients: HttpClients,
    /// Records the requests, or answers them from a recording.
    pub cassette: Option<Cassette>,
    /// Stores replies and answers repeated requests.
    pub cache: Option<Arc<ResponseCache>>,
    /// The replies of an earlier run, used instead of a server.
    pub journaled: Option<Arc<Mutex<JournaledCalls>>>,
    /// The user's own prices.
    pub prices: Arc<PriceList>,
    pub budget: Arc<Budget>,
    /// Requests are only measured, so no key is needed.
    pub measure_only: bool,
    /// The queue in which requests wait for a batch.
    pub batches: Option<BatchQueue>,
}

/// Opens the cache that the settings name. A recorded or replayed run has none, because its
/// cassette holds every call.
pub(crate) fn cache(
    settings: &Settings,
    cassette: Option<&Cassette>,
    notify: &Notify,
) -> Result<Option<Arc<ResponseCache>>, PipelineError> {
    let folder = settings.model.cache.as_deref();
    let Some(folder) = folder.filter(|_| !settings.model.is_offline()) else {
        return Ok(None);
    };
    if cassette.is_some() {
        let line = format!(
            "note: the cache {} is not used, because a cassette holds every call",
            folder.display()
        );
        notify(RunNotice::Note(line));
        return Ok(None);
    }
    let notify = Arc::clone(notify);
    let warn = move |line: &str| notify(RunNotice::Warning(format!("warning: {line}")));
    let cache = ResponseCache::open(folder, Arc::new(warn))?;
    Ok(Some(Arc::new(cache)))
}

impl ModelContext {
    /// A context with the built-in prices, and without budget, cache and cassette.
    pub(crate) fn new(observer: Observer) -> Self {
        Self {
            observer,
            limits: Limits::default(),
            clients: HttpClients::default(),
            cassette: None,
            cache: None,
            journaled: None,
            prices: Arc::default(),
            budget: Arc::default(),
            measure_only: false,
            batches: None,
        }
    }

    /// A context that discards all events.
    pub(super) fn silent() -> Self {
        Self::new(Arc::new(|_, _| {}))
    }

    pub(super) fn is_replayed(&self) -> bool {
        let cassette = self.cassette.as_ref();
        self.journaled.is_some() || cassette.is_some_and(|it| it.replay().is_some())
    }
}

/// Creates a model from its connection and the shared state, without a limiter.
pub(super) fn http_model(
    connection: ModelConnection,
    context: &ModelContext,
) -> Result<HttpModel, PipelineError> {
    let model = HttpModel::with_clients(connection, &context.clients)?
        .with_observer(Arc::clone(&context.observer))
        .with_budget(Arc::clone(&context.prices), Arc::clone(&context.budget))
        .with_batches(context.batches.as_ref());
    if context.budget.limits().cost.is_some() && !model.has_price() {
        let connection = model.settings();
        return Err(PipelineError::NoPrice {
            model: connection.model.clone(),
            address: shown_address(&connection.base_url),
            listed: match context.prices.server_of(&connection.model) {
                Some(servers) => format!(" (--prices lists it for {servers})"),
                None => String::new(),
            },
        });
    }
    Ok(model)
}
