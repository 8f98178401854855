//! A model behind an HTTP server, whatever its protocol.
//!
//! A call is: write the request in the model's dialect, send it with retries,
//! read the answer; if the server refuses a parameter by name, change the dialect
//! permanently and send again. `protocol` writes bodies and reads answers, async-openai builds
//! the HTTP request, and `HttpModel::attempt` is where each one is sent.

mod answer;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use async_openai::Client;
use async_openai::traits::RequestOptionsBuilder;
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use rust_decimal::Decimal;
use serde::de::IgnoredAny;
use tracing::{Instrument, Span};

use crate::telemetry::{attributes as names, set};
use finqa_core::secrets::shown_address;

use super::address::ServerAddress;
use super::batch::{BatchClient, BatchQueue, BatchSender};
use super::budget::Budget;
use super::capabilities::{Capabilities, Correction, corrected, ignored_format};
use super::cassette::{Cassette, CassetteCall};
use super::classify::{self, ErrorDetails};
use super::error::{ErrorKind, ModelError};
use super::event::{CallEvent, Observer};
use super::http::HttpClients;
use super::limits::{LimitedCall, Limiter, end_slot, token_bound};
use super::price::PriceTier;
use super::price_list::PriceList;
use super::protocol::{ApiDialect, EncodedRequest, FormatLevel, Protocol, ReplyBody};
use super::provider::{Endpoint, Provider};
use super::request_budget::RequestBudget;
use super::retry::{FailedAttempt, RetryLimit, RetryOptions, retry};
use super::settings::{ModelConnection, SettingsError};
use super::trace;
use super::transport::{HttpReply, Transport};
use super::types::{ChatModel, ChatReply, ChatRequest, Feature, Stop, Support};

pub struct HttpModel {
    client: Client<ServerAddress>,
    transport: Transport,
    protocol: Protocol,
    settings: ModelConnection,
    capabilities: Capabilities,
    /// The present dialect; a refusal changes it for the rest of the process.
    dialect: Arc<Mutex<ApiDialect>>,
    /// The server has answered a request.
    reached: AtomicBool,
    /// A call was answered.
    answered: AtomicBool,
    jitter: RandomState,
    observer: Option<Observer>,
    cassette: Option<Cassette>,
    limiter: Option<Limiter>,
    batches: Option<BatchSender>,
    budget: RequestBudget,
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
            limiter: None,
            batches: None,
            client: Client::build(http.clone(), ServerAddress::new(&settings)?),
            transport: Transport::new(http, settings.timeouts.attempt, settings.max_body),
            protocol,
            dialect: Arc::new(Mutex::new(capabilities.dialect(endpoint, protocol))),
            budget: RequestBudget::new(&settings, Arc::default(), Arc::default()),
            capabilities,
            settings,
            reached: AtomicBool::new(false),
            answered: AtomicBool::new(false),
            jitter: RandomState::new(),
            observer: None,
            cassette: None,
        })
    }

    /// Reports retries and corrections to `observer`.
    #[must_use]
    pub fn with_observer(mut self, observer: Observer) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Records the calls to `cassette`, or answers them from it without a request.
    #[must_use]
    pub fn with_cassette(mut self, cassette: Option<Cassette>) -> Self {
        self.cassette = cassette;
        if self.is_replayed() {
            // The waits are recorded, and so is how often a request was repeated.
            self.settings.retry = RetryOptions::without_limit();
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
            let client = self.client.clone();
            let dialect = Arc::clone(&self.dialect);
            let client = BatchClient::new(&self.settings, client, &self.transport, dialect);
            let sender = queue.sender(client);
            self.dialect = sender.dialect();
            self.batches = Some(sender);
            // Waves decide when a request is repeated, and a wave may take a day.
            self.settings.retry.total = Duration::MAX;
        }
        self
    }

    /// Prices tokens by the user's list before the built-in one, and spends from a budget.
    #[must_use]
    pub fn with_budget(mut self, own: Arc<PriceList>, budget: Arc<Budget>) -> Self {
        self.budget = RequestBudget::new(&self.settings, own, budget);
        self
    }

    /// True if the price of its tokens is known.
    #[must_use]
    pub fn has_price(&self) -> bool {
        self.budget.has_price()
    }

    #[must_use]
    pub fn settings(&self) -> &ModelConnection {
        &self.settings
    }

    fn is_replayed(&self) -> bool {
        let cassette = self.cassette.as_ref();
        cassette.is_some_and(|it| it.replay().is_some())
    }

    fn dialect(&self) -> ApiDialect {
        *self.dialect.lock()
    }

    fn emit(&self, node: &str, event: &CallEvent) {
        if let Some(observer) = &self.observer {
            observer(node, event);
        }
    }

    async fn call(&self, request: &ChatRequest, stop: &Stop) -> Result<ChatReply, ModelError> {
        let mut dialect = self.dialect();
        let cassette = self.cassette.clone().map(|cassette| {
            let call = CassetteCall::new(cassette, request, self.protocol.path(), dialect);
            dialect = call.dialect();
            call
        });
        let transport = self.transport.fresh(cassette);
        // A replayed request is not sent.
        let limiter = self.limiter.as_ref().filter(|_| !self.is_replayed());
        let limited = limiter.map(Limiter::call);
        let batches = self.batches.as_ref();
        let _begun = batches.map(|sender| sender.begin(&request.origin));
        let conversed = self.converse(&transport, limited.as_ref(), request, dialect, stop);
        let outcome = conversed.await;
        // A cancelled call is made again by the run that is resumed.
        if !matches!(&outcome, Err(error) if error.kind == ErrorKind::Cancelled) {
            transport.finish(&self.settings.secrets());
        }
        outcome
    }

    async fn converse(
        &self,
        transport: &Transport,
        limited: Option<&LimitedCall>,
        request: &ChatRequest,
        mut dialect: ApiDialect,
        stop: &Stop,
    ) -> Result<ChatReply, ModelError> {
        let client = self.client.clone().with_http_service(transport.clone());
        let mut spoken = vec![dialect];
        loop {
            let sent = self.send(&client, transport, limited, request, dialect, stop);
            match sent.await {
                Ok((answer, exchange)) => {
                    self.answered.store(true, Ordering::Relaxed);
                    if answer.ignored_format && dialect.format > FormatLevel::Text {
                        self.learn(request, dialect, ignored_format(self.protocol, dialect));
                    }
                    if let Some(id) = answer.id {
                        set(&Span::current(), names::RESPONSE_ID, id);
                    }
                    return Ok(ChatReply {
                        content: answer.content,
                        tool_calls: answer.tool_calls,
                        finish: answer.finish,
                        refusal: answer.refusal,
                        usage: answer.usage,
                        partial_usage: answer.partial_usage,
                        model: answer.model.unwrap_or_else(|| self.settings.model.clone()),
                        request_id: classify::request_id(&exchange, self.settings.key()),
                        attempts: transport.sent(),
                        lost: transport.lost(),
                        cached: false,
                        batch: exchange.batch,
                        batch_repeated: exchange.batch_repeated,
                        left_out: dialect.left_out(request),
                        latency: transport.latency(),
                        waited: limited.map(LimitedCall::waited).unwrap_or_default(),
                    });
                }
                Err(error) => match self.correct(request, dialect, &error) {
                    Some(better) if !spoken.contains(&better) => {
                        dialect = better;
                        spoken.push(better);
                    }
                    _ => {
                        return Err(ModelError {
                            waited: limited.map(LimitedCall::waited).unwrap_or_default(),
                            ..self.located(error, transport)
                        });
                    }
                },
            }
        }
    }

    /// One request in one dialect, with retries.
    async fn send(
        &self,
        client: &Client<ServerAddress>,
        transport: &Transport,
        limited: Option<&LimitedCall>,
        request: &ChatRequest,
        dialect: ApiDialect,
        stop: &Stop,
    ) -> Result<(ReplyBody, HttpReply), ModelError> {
        let encoded = self
            .protocol
            .encode(&self.settings.model, request, dialect)
            .map_err(|source| unsendable(source.to_string()))?;
        let tries = AtomicU32::new(0);
        let outcome = retry(
            self.settings.retry,
            self.jitter.build_hasher().finish() ^ u64::from(transport.sent()),
            stop,
            &|notice| {
                tracing::warn!(
                    node = request.node,
                    attempt = notice.attempt,
                    delay_seconds = notice.delay.as_secs_f64(),
                    reason = notice.reason.as_str(),
                    "retry"
                );
                transport.waits(notice.delay);
                if let Some(limited) = limited {
                    limited.delayed(notice.delay);
                }
                self.emit(&request.node, &CallEvent::Retry(notice));
            },
            || {
                tries.fetch_add(1, Ordering::Relaxed);
                self.attempt(client, transport, limited, &encoded, request, stop)
            },
        )
        .await;
        outcome.map_err(|mut error| {
            let tries = tries.into_inner();
            if error.kind == ErrorKind::Connect && tries > 1 {
                error.message = format!("{}, tried {tries} times", error.message);
            }
            error
        })
    }

    /// Sends one HTTP request once its limits allow it, and reads how it ended: the only
    /// place where a request of a model call leaves. Dropped in the middle when the call is aborted.
    async fn attempt(
        &self,
        client: &Client<ServerAddress>,
        transport: &Transport,
        limited: Option<&LimitedCall>,
        encoded: &EncodedRequest,
        request: &ChatRequest,
        stop: &Stop,
    ) -> Result<(ReplyBody, HttpReply), FailedAttempt> {
        if let Some(sender) = &self.batches
            && let Some(ended) = self
                .in_batch(sender, transport, limited, encoded, request, stop)
                .await
        {
            return ended;
        }
        let slot = match limited {
            None => None,
            Some(limited) => match limited.slot(token_bound(encoded), stop).await {
                None => {
                    let stopped = ModelError::new(ErrorKind::Cancelled, "");
                    return Err(FailedAttempt::permanent(stopped));
                }
                slot => slot,
            },
        };
        // Behind the slot, so that a request that waits for one reserves nothing.
        let asked = Instant::now();
        let reservation = self.budget.reserve(encoded, stop).await?;
        // Without a limit it did not wait; the time of the call above is not a wait.
        if let Some(limited) = limited.filter(|_| reservation.is_some()) {
            limited.has_waited(asked.elapsed());
        }
        let before = transport.sent();
        let posted = match client.chat().path(self.protocol.path()) {
            Ok(route) => route.create_byot::<_, IgnoredAny>(&encoded.json).await,
            Err(error) => Err(error),
        };
        let Some(attempt) = transport.take() else {
            // It never reached the transport.
            let message = posted.err().map(|error| error.to_string());
            return Err(FailedAttempt::permanent(unsendable(
                message.unwrap_or_default(),
            )));
        };
        let judged = self.judge(&attempt, request);
        let lost = judged
            .as_ref()
            .err()
            .is_some_and(|failed| failed.error.lost_an_answer());
        if transport.sent() > before && !lost {
            transport.accounted_for();
        }
        let judged = judged.map_err(|mut failed| {
            match transport.has_another_attempt() {
                None => {}
                Some(true) => failed.retry_limit = RetryLimit::Full,
                Some(false) => failed.retry_limit = RetryLimit::None,
            }
            failed
        });
        if let Some(slot) = slot {
            end_slot(slot, &attempt, &judged);
        }
        if let Some(reservation) = reservation {
            let answer = judged.as_ref().ok();
            self.budget
                .record_actual(reservation, answer, lost, PriceTier::Live);
        }
        judged.map(|answer| (answer, attempt.exchange))
    }

    /// The dialect to try after `error`, if it names what can be changed.
    fn correct(
        &self,
        request: &ChatRequest,
        spoken: ApiDialect,
        error: &ModelError,
    ) -> Option<ApiDialect> {
        let refused = matches!(
            error.kind,
            ErrorKind::BadRequest { .. } | ErrorKind::ToolsUnsupported
        );
        if !refused || !matches!(error.status, Some(400 | 422)) {
            return None;
        }
        let words = ErrorDetails::read(error.body.as_deref().unwrap_or_default().as_bytes());
        let formatted = spoken.format.for_format(&request.format) > FormatLevel::Text;
        let learnt = corrected(self.protocol, spoken, &words, formatted)?;
        Some(self.learn(request, spoken, learnt))
    }

    /// Speaks a better dialect from now on, and says so.
    fn learn(
        &self,
        request: &ChatRequest,
        spoken: ApiDialect,
        (better, correction): (ApiDialect, Correction),
    ) -> ApiDialect {
        {
            // Another call may have learnt something else in the meantime: adopt only what
            // this one changed.
            let mut shared = self.dialect.lock();
            shared.adopt(spoken, better);
        }
        tracing::info!(
            node = request.node,
            parameter = correction.parameter,
            change = correction.change,
            "correction"
        );
        self.emit(&request.node, &CallEvent::Correction(correction));
        better
    }

    /// The error with the model, address and dialect in its words.
    fn located(&self, mut error: ModelError, transport: &Transport) -> ModelError {
        error.attempts = transport.sent();
        error.latency = transport.latency();
        error.lost = transport.lost();
        error.after_success = self.answered.load(Ordering::Relaxed);
        let base = shown_address(&self.settings.base_url);
        let place = match error.kind {
            ErrorKind::NotFound => {
                let openai = self.settings.provider == Provider::OpenAi;
                let hint = match openai && !base.contains("/v1") {
                    true => " (the address of most servers ends in /v1)",
                    false => "",
                };
                format!("`{}` at {base}{hint}", self.settings.model)
            }
            ErrorKind::Timeout => format!(
                "{base} within {} s",
                self.settings.timeouts.attempt.as_secs_f64()
            ),
            ErrorKind::Connect | ErrorKind::Tls | ErrorKind::Unauthorized | ErrorKind::Settings => {
                base
            }
            _ => return error,
        };
        error.message = if error.message.is_empty() {
            place
        } else {
            format!("{place}: {}", error.message)
        };
        error
    }
}

fn unsendable(message: String) -> ModelError {
    ModelError::new(ErrorKind::BadRequest { parameter: None }, message)
}

impl std::fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpModel")
            .field("settings", &self.settings)
            .field("dialect", &self.dialect())
            .finish_non_exhaustive()
    }
}

impl ChatModel for HttpModel {
    fn name(&self) -> &str {
        &self.settings.model
    }

    fn supports(&self, feature: Feature) -> Support {
        self.capabilities.support(feature, &self.dialect())
    }

    fn cost(&self, reply: &ChatReply) -> Option<Decimal> {
        let tier = PriceTier::of_reply(reply.batch.as_deref());
        self.budget.cost(&reply.model, reply.usage.as_ref(), tier)
    }

    fn sends_batches(&self) -> bool {
        self.batches.is_some()
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        stop: &'a Stop,
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        async move {
            let span = trace::chat(&self.settings.model, request);
            trace::server(&span, &self.settings);
            let outcome = self.call(request, stop).instrument(span.clone()).await;
            trace::record_end(&span, &outcome, |reply| self.cost(reply));
            outcome
        }
        .boxed()
    }
}
