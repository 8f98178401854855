//! A model on an HTTP server, for all protocols.
//!
//! A call writes the request in the model's dialect, sends it with retries, and reads the answer.
//! If the server refuses a parameter by name, the dialect is changed for the rest of the process,
//! and the request is sent again. `protocol` writes bodies and reads answers, async-openai builds
//! the HTTP request, and `HttpCall::attempt` sends it.

mod call;
mod spending;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use async_openai::Client;
use parking_lot::Mutex;

use super::address::ServerAddress;
use super::batch::{BatchClient, BatchQueue, BatchSender};
use super::budget::Budget;
use super::capabilities::Capabilities;
use super::event::Observer;
use super::http::client;
use super::limits::{LimitOptions, Limiter};
use super::price::PriceList;
use super::protocol::{AcceptedParameters, Protocol};
use super::provider::Endpoint;
use super::settings::{ModelConnection, SettingsError};
use super::transport::Transport;

/// A model on its server, shared by its calls.
pub struct HttpModel {
    client: Client<ServerAddress>,
    transport: Transport,
    protocol: Protocol,
    settings: ModelConnection,
    /// The current dialect. A refusal changes it for the rest of the process.
    dialect: Mutex<AcceptedParameters>,
    /// Called for every retry.
    pub observer: Option<Observer>,
    batches: Option<BatchSender>,
    /// The user's prices, which take precedence over the built-in ones.
    pub prices: Arc<PriceList>,
    /// The budget from which its requests are paid.
    pub budget: Arc<Budget>,
    /// The tokens of the longest reply that exceeded its limit. This can happen because the limit
    /// does not apply to hidden reasoning. Later requests reserve at least as many tokens.
    most_written: AtomicU64,
    /// The limiter of its requests. It limits nothing until a run sets its limits.
    pub limiter: Limiter,
}

impl HttpModel {
    /// Creates a model from settings. Nothing is sent yet.
    pub fn new(settings: ModelConnection) -> Result<Self, SettingsError> {
        let endpoint = settings.endpoint();
        let protocol = settings.protocol();
        let http = client(endpoint == Endpoint::Loopback)?;
        let dialect = Capabilities::for_model(&settings.model).dialect(endpoint, protocol);
        Ok(Self {
            client: Client::build(http.clone(), ServerAddress::new(&settings)?),
            transport: Transport::new(http, settings.timeout),
            protocol,
            dialect: Mutex::new(dialect),
            prices: Arc::default(),
            budget: Arc::default(),
            most_written: AtomicU64::default(),
            settings,
            observer: None,
            batches: None,
            limiter: Limiter::new(LimitOptions::fixed(usize::MAX)),
        })
    }

    /// Sends the requests in batches if there is a queue.
    #[must_use]
    pub fn with_batches(mut self, queue: Option<&BatchQueue>) -> Self {
        if let Some(queue) = queue {
            let client = self.client.clone();
            let client = BatchClient::new(&self.settings, client, &self.transport);
            self.batches = Some(queue.sender(client));
            // A failed request is repeated in the next wave, and a wave may take a day, so there is
            // no time limit.
            self.settings.retry.give_up_after = Duration::MAX;
        }
        self
    }

    pub fn settings(&self) -> &ModelConnection {
        &self.settings
    }
}
