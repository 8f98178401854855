//! A model behind an HTTP server, whatever its protocol.
//!
//! A call is: write the request in the model's dialect, send it with retries,
//! read the answer; if the server refuses a parameter by name, change the dialect
//! permanently and send again. `protocol` writes bodies and reads answers, async-openai builds
//! the HTTP request, and `HttpCall::attempt` is where each one is sent.

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

/// A model on its server, as its calls share it.
pub struct HttpModel {
    client: Client<ServerAddress>,
    transport: Transport,
    protocol: Protocol,
    settings: ModelConnection,
    /// The present dialect; a refusal changes it for the rest of the process.
    dialect: Mutex<ApiDialect>,
    /// Hears of retries.
    pub observer: Option<Observer>,
    batches: Option<BatchSender>,
    /// The user's prices, which come before the built-in ones.
    pub prices: Arc<PriceList>,
    /// What its requests spend from.
    pub budget: Arc<Budget>,
    /// The most tokens of a reply that was longer than its limit, because hidden reasoning is
    /// not bound by it.
    most_written: AtomicU64,
    pub limiter: Limiter,
}

impl HttpModel {
    /// A model by these settings; nothing is sent yet.
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

    /// Sends the requests in batches.
    #[must_use]
    pub fn with_batches(mut self, queue: Option<&BatchQueue>) -> Self {
        if let Some(queue) = queue {
            let client = self.client.clone();
            let client = BatchClient::new(&self.settings, client, &self.transport);
            self.batches = Some(queue.sender(client));
            // Waves decide when a request is repeated, and a wave may take a day.
            self.settings.retry.give_up_after = Duration::MAX;
        }
        self
    }

    pub fn settings(&self) -> &ModelConnection {
        &self.settings
    }
}
