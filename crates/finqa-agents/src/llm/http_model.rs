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
use super::error::ModelError;
use super::event::Observer;
use super::http::HttpClients;
use super::limits::Limiter;
use super::price::PriceList;
use super::provider::Endpoint;
use super::request_budget::RequestBudget;
use super::settings::{ModelConnection, SettingsError};
use super::trace;
use super::transport::Transport;
use super::types::{ChatModel, ChatReply, ChatRequest, Feature, Stop, Support};

pub struct HttpModel {
    server: ModelServer,
    capabilities: Capabilities,
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
            limiter: None,
        })
    }

    /// Reports retries and corrections to `observer`.
    #[must_use]
    pub fn with_observer(mut self, observer: Observer) -> Self {
        self.server.observer = Some(observer);
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

    async fn call(&self, request: &ChatRequest, stop: &Stop) -> Result<ChatReply, ModelError> {
        let transport = self.server.transport.fresh();
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
            limited: self.limiter.as_ref().map(Limiter::call),
            request,
            stop,
        };
        call.converse().await
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
