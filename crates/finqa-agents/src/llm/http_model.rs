//! A model behind an HTTP server, whatever its protocol.
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
use super::protocol::{ApiDialect, Protocol};
use super::provider::Endpoint;
use super::settings::{ModelConnection, SettingsError};
use super::transport::Transport;

/// A model on its server, shared by its calls.
pub struct HttpModel {
    client: Client<ServerAddress>,
    transport: Transport,
    protocol: Protocol,
    settings: ModelConnection,
    /// The current dialect, which a refusal changes for the rest of the process.
    dialect: Mutex<ApiDialect>,
    /// Called for every retry.
    pub observer: Option<Observer>,
    batches: Option<BatchSender>,
    /// The user's prices, which take precedence over the built-in ones.
    pub prices: Arc<PriceList>,
    /// The budget that its requests spend from.
    pub budget: Arc<Budget>,
    /// Tokens of the longest reply that exceeded its limit, because hidden reasoning is not bound
    /// by the limit. Later requests are reserved with at least as many.
    most_written: AtomicU64,
    /// Limits its requests once a run has set it; nothing does before.
    pub limiter: Limiter,
}

impl HttpModel {
    /// Makes a model from settings; nothing is sent yet.
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

    /// Sends the requests in batches, if there is a queue.
    #[must_use]
    pub fn with_batches(mut self, queue: Option<&BatchQueue>) -> Self {
        if let Some(queue) = queue {
            let client = self.client.clone();
            let client = BatchClient::new(&self.settings, client, &self.transport);
            self.batches = Some(queue.sender(client));
            // A failed request is repeated in the next wave, and a wave may take a day, so no time
            // limit applies.
            self.settings.retry.give_up_after = Duration::MAX;
        }
        self
    }

    pub fn settings(&self) -> &ModelConnection {
        &self.settings
    }
}
