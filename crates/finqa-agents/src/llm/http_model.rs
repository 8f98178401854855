//! A model behind an HTTP server, whatever its protocol.
//!
//! A call is: write the request in the model's dialect, send it with retries,
//! read the answer; if the server refuses a parameter by name, change the dialect
//! permanently and send again. `protocol` writes bodies and reads answers, async-openai builds
//! the HTTP request, and `HttpCall::attempt` is where each one is sent.

mod answer;
mod call;

use std::hash::RandomState;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use async_openai::Client;
use async_trait::async_trait;
use parking_lot::Mutex;
use rust_decimal::Decimal;
use tracing::Instrument;

use call::{HttpCall, ModelServer};

use super::address::ServerAddress;
use super::batch::{BatchClient, BatchQueue};
use super::budget::Budget;
use super::capabilities::Capabilities;
use super::cassette::{Cassette, CassetteCall};
use super::error::{ErrorKind, ModelError};
use super::event::Observer;
use super::http::HttpClients;
use super::limits::Limiter;
use super::price::PriceList;
use super::provider::Endpoint;
use super::request_budget::RequestBudget;
use super::retry::RetryOptions;
use super::settings::{ModelConnection, SettingsError};
use super::trace;
use super::transport::Transport;
use super::types::{ChatModel, ChatReply, ChatRequest, Feature, Stop, Support};

pub struct HttpModel {
    server: ModelServer,
    capabilities: Capabilities,
    cassette: Option<Cassette>,
    limiter: Option<Limiter>,
}

impl HttpModel {
    /// A model by these settings; nothing is sent yet.
    pub fn new(settings: ModelConnection) -> Result<Self, SettingsError> {
        Self::with_clients(settings, &HttpClients::default())
    }

    /// The same, on the connections that other models of these clients use too.
    ///
    /// # Errors
    /// As [`HttpModel::new`].
    pub fn with_clients(
        settings: ModelConnection,
        clients: &HttpClients,
    ) -> Result<Self, SettingsError> {
        let endpoint = settings.endpoint();
        let protocol = settings.protocol();
        let http = clients.get(settings.timeouts.connect, endpoint == Endpoint::Loopback)?;
        let capabilities = Capabilities::for_model(&settings.model);
        Ok(Self {
            server: ModelServer {
                client: Client::build(http.clone(), ServerAddress::new(&settings)?),
                transport: Transport::new(http, settings.timeouts.attempt, settings.max_body),
                protocol,
                dialect: Mutex::new(capabilities.dialect(endpoint, protocol)),
                budget: RequestBudget::new(&settings, Arc::default(), Arc::default()),
                settings,
                reached: AtomicBool::new(false),
                answered: AtomicBool::new(false),
                jitter: RandomState::new(),
                observer: None,
                batches: None,
            },
            capabilities,
            cassette: None,
            limiter: None,
        })
    }

    /// Reports retries and corrections to `observer`.
    #[must_use]
    pub fn with_observer(mut self, observer: Observer) -> Self {
        self.server.observer = Some(observer);
        self
    }

    /// Records the calls to `cassette`, or answers them from it without a request.
    #[must_use]
    pub fn with_cassette(mut self, cassette: Option<Cassette>) -> Self {
        self.cassette = cassette;
        if self.is_replayed() {
            // The waits are recorded, and so is how often a request was repeated.
            self.server.settings.retry = RetryOptions::without_limit();
        }
        self
    }

    /// Applies these limits.
    #[must_use]
    pub fn with_limiter(mut self, limiter: Limiter) -> Self {
        self.limiter = Some(limiter);
        self
    }

    /// Sends the requests in batches.
    #[must_use]
    pub fn with_batches(mut self, queue: Option<&BatchQueue>) -> Self {
        if let Some(queue) = queue {
            let client = self.server.client.clone();
            let client = BatchClient::new(&self.server.settings, client, &self.server.transport);
            self.server.batches = Some(queue.sender(client));
            // Waves decide when a request is repeated, and a wave may take a day.
            self.server.settings.retry.total = Duration::MAX;
        }
        self
    }

    /// Prices tokens by the user's list before the built-in one, and spends from a budget.
    #[must_use]
    pub fn with_budget(mut self, own: Arc<PriceList>, budget: Arc<Budget>) -> Self {
        self.server.budget = RequestBudget::new(&self.server.settings, own, budget);
        self
    }

    /// True if the price of its tokens is known.
    pub fn has_price(&self) -> bool {
        self.server.budget.has_price()
    }

    pub fn settings(&self) -> &ModelConnection {
        &self.server.settings
    }

    fn is_replayed(&self) -> bool {
        let cassette = self.cassette.as_ref();
        cassette.is_some_and(|it| it.replay().is_some())
    }

    async fn call(&self, request: &ChatRequest, stop: &Stop) -> Result<ChatReply, ModelError> {
        let mut dialect = self.server.dialect();
        let cassette = self.cassette.clone().map(|cassette| {
            let call = CassetteCall::new(cassette, request, self.server.protocol.path(), dialect);
            dialect = call.dialect();
            call
        });
        let transport = self.server.transport.fresh(cassette);
        // A replayed request is not sent.
        let limiter = self.limiter.as_ref().filter(|_| !self.is_replayed());
        let batches = self.server.batches.as_ref();
        let _begun = batches.map(|sender| sender.begin(&request.origin));
        let call = HttpCall {
            model: &self.server,
            client: self
                .server
                .client
                .clone()
                .with_http_service(transport.clone()),
            transport,
            limited: limiter.map(Limiter::call),
            request,
            stop,
        };
        let outcome = call.converse(dialect).await;
        // A cancelled call is made again by the run that is resumed.
        if !matches!(&outcome, Err(error) if error.kind == ErrorKind::Cancelled) {
            call.transport.finish(&self.server.settings.secrets());
        }
        outcome
    }
}

impl std::fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpModel")
            .field("settings", &self.server.settings)
            .field("dialect", &self.server.dialect())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl ChatModel for HttpModel {
    fn name(&self) -> &str {
        &self.server.settings.model
    }

    fn supports(&self, feature: Feature) -> Support {
        self.capabilities.support(feature, &self.server.dialect())
    }

    fn cost(&self, reply: &ChatReply) -> Option<Decimal> {
        let usage = reply.usage.as_ref();
        self.server
            .budget
            .cost(&reply.model, usage, reply.batch.is_some())
    }

    fn sends_batches(&self) -> bool {
        self.server.batches.is_some()
    }

    async fn chat(&self, request: &ChatRequest, stop: &Stop) -> Result<ChatReply, ModelError> {
        let span = trace::chat(&self.server.settings.model, request);
        trace::server(&span, &self.server.settings);
        let outcome = self.call(request, stop).instrument(span.clone()).await;
        trace::record_end(&span, &outcome, |reply| self.cost(reply));
        outcome
    }
}
