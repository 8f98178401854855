//! What the models of a run share.

use std::sync::{Arc, Mutex};

use crate::settings::Settings;
use finqa_agents::models::{
    BatchQueue, Budget, Cassette, HttpClients, HttpModel, Limits, ModelConnection, Observer,
    PriceList, ResponseCache,
};
use finqa_core::secrets::shown_address;

use super::explain::JournaledCalls;
use super::{Notify, PipelineError, RunNotice};

/// What the models of a run share.
#[derive(Clone)]
pub(crate) struct ModelContext {
    /// Hears of retries.
    pub observer: Observer,
    pub limits: Limits,
    pub clients: HttpClients,
    /// Requests are recorded to it, or answered from it.
    pub cassette: Option<Cassette>,
    /// Replies are kept in it, and given again.
    pub cache: Option<Arc<ResponseCache>>,
    /// The replies of an earlier run that take the place of every server.
    pub journaled: Option<Arc<Mutex<JournaledCalls>>>,
    /// The user's own prices.
    pub prices: Arc<PriceList>,
    pub budget: Arc<Budget>,
    /// Whether requests are only measured, so that no key is needed.
    pub measured: bool,
    /// Requests wait in it for a batch.
    pub batches: Option<BatchQueue>,
}

/// Opens the cache that the settings name. A cassette holds every call of a run, so a run
/// that is recorded or replayed has none.
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
    /// Nothing but an observer: the built-in prices, no budget, no store of replies.
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
            measured: false,
            batches: None,
        }
    }

    /// Nobody hears of anything.
    pub(super) fn silent() -> Self {
        Self::new(Arc::new(|_, _| {}))
    }

    pub(super) fn is_replayed(&self) -> bool {
        let cassette = self.cassette.as_ref();
        self.journaled.is_some() || cassette.is_some_and(|it| it.replay().is_some())
    }
}

/// A model by these settings with what the models of the run share, but for its limiter.
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
            listed: match context.prices.servers_of(&connection.model) {
                Some(servers) => format!(" (--prices lists it for {servers})"),
                None => String::new(),
            },
        });
    }
    Ok(model)
}
