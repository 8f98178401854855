//! A call of a model on an HTTP server. It sends the request in one dialect after another, each
//! time with retries.

use async_openai::Client;
use async_openai::traits::RequestOptionsBuilder;
use async_trait::async_trait;
use reqwest::header::CONTENT_ENCODING;
use rust_decimal::Decimal;
use serde_json::Value;
use tokio::time::Instant;
use tracing::{Instrument, Span};

use finqa_core::secrets::{redact_json, shown_address};

use super::HttpModel;
use crate::llm::address::ServerAddress;
use crate::llm::batch::{BatchReply, BatchSender};
use crate::llm::body::{self, beginning};
use crate::llm::capabilities::{MAX_TOKENS, corrected};
use crate::llm::classify;
use crate::llm::error::{ErrorKind, ModelError};
use crate::llm::error_details::{ERRORS, ErrorDetails};
use crate::llm::event::CallEvent;
use crate::llm::failures::kind_of;
use crate::llm::limits::{LimitVerdict, reported_quotas};
use crate::llm::model_name::is_same_model;
use crate::llm::output_limit;
use crate::llm::protocol::{AcceptedParameters, EncodedRequest, FormatLevel};
use crate::llm::provider::Provider;
use crate::llm::reply_check::is_complete;
use crate::llm::retry::{QUOTE, RetryNotice, cancelled, retry};
use crate::llm::trace;
use crate::llm::transport::{HttpReply, Transport};
use crate::llm::types::{ChatModel, ChatReply, ChatRequest, Stop};
use crate::telemetry::set;

/// A call in progress.
pub(super) struct HttpCall<'a> {
    pub model: &'a HttpModel,
    /// The client whose requests go to `transport`.
    pub client: Client<ServerAddress>,
    pub transport: Transport,
    pub request: &'a ChatRequest,
    pub stop: &'a Stop,
}

impl HttpModel {
    /// Asks the server on a transport of its own, whose counts are those of this call only.
    async fn call(&self, request: &ChatRequest, stop: &Stop) -> Result<ChatReply, ModelError> {
        let transport = self.transport.fresh();
        let batches = self.batches.as_ref();
        let _begun = batches.map(|sender| sender.begin(&request.origin));
        // A call in a batch normally waits for hours, so it must not be reported as waiting long.
        let _open = batches.is_none().then(|| {
            let name = format!("{} of {}", request.node, request.origin.question);
            self.limiter.open.begin(name)
        });
        let call = HttpCall {
            model: self,
            client: self.client.clone().with_http_service(transport.clone()),
            transport,
            request,
            stop,
        };
        call.converse().await
    }
}

#[async_trait]
impl ChatModel for HttpModel {
    fn name(&self) -> &str {
        &self.settings.model
    }

    fn cost(&self, reply: &ChatReply) -> Option<Decimal> {
        let usage = reply.usage.as_ref();
        self.price_of(&reply.model, usage, reply.batch.is_some())
    }

    fn sends_batches(&self) -> bool {
        self.batches.is_some()
    }

    async fn chat(&self, request: &ChatRequest, stop: &Stop) -> Result<ChatReply, ModelError> {
        let span = trace::chat(&self.settings.model, request);
        trace::server(&span, &self.settings);
        let outcome = self.call(request, stop).instrument(span.clone()).await;
        trace::record_end(&span, &outcome, |reply| self.cost(reply));
        outcome
    }
}

impl HttpCall<'_> {
    /// Sends the request in one dialect after another until the server accepts one. Returns the
    /// error of the last one if the error does not show which dialect to try next.
    pub(super) async fn converse(&self) -> Result<ChatReply, ModelError> {
        let mut dialect = *self.model.dialect.lock();
        // Try each dialect only once, because a server that refuses both names of a parameter would
        // otherwise be asked forever.
        let mut tried = vec![dialect];
        loop {
            let mut error = match self.send(dialect).await {
                Ok(answer) => return Ok(self.answered(dialect, answer)),
                Err(error) => error,
            };
            let better = match error.kind {
                ErrorKind::OutputLimitTooHigh => self.lowered(dialect, &mut error),
                _ => self.corrected_dialect(dialect, &error),
            };
            match better {
                Some(better) if !tried.contains(&better) => dialect = better,
                _ => return Err(self.with_place_and_counts(error)),
            }
            tried.push(dialect);
        }
    }

    /// Notes that the server has answered, and adds to the reply what only the call knows: its
    /// requests, the lost ones, its time, and the parameters that `dialect` left out.
    fn answered(&self, dialect: AcceptedParameters, answer: ChatReply) -> ChatReply {
        let Self {
            model, transport, ..
        } = self;
        model.limiter.outage().has_answered = true;
        ChatReply {
            attempts: transport.sent(),
            lost: transport.lost(),
            left_out: dialect.left_out(self.request),
            latency: transport.latency(),
            ..answer
        }
    }

    /// Sends the request in one dialect, with retries.
    async fn send(&self, dialect: AcceptedParameters) -> Result<ChatReply, ModelError> {
        let Self { model, request, .. } = self;
        let encoded = model
            .protocol
            .encode(&model.settings.model, request, dialect)
            .map_err(|source| ModelError::new(ErrorKind::Settings, source.to_string()))?;
        let notify = |notice: RetryNotice| {
            tracing::warn!(
                node = request.node,
                attempt = notice.attempt,
                delay_seconds = notice.delay.as_secs_f64(),
                reason = notice.reason.as_str(),
                "retry"
            );
            self.transport.waits(notice.delay);
            if let Some(observer) = &model.observer {
                observer(&CallEvent::Retry(notice));
            }
        };
        let mut options = model.settings.retry;
        // If the server has answered before, its address is right, so connecting may be tried as
        // often as anything else.
        if model.limiter.outage().has_answered {
            options.connect_attempts = options.max_attempts;
        }
        let attempt = || self.attempt(&encoded);
        retry(options, self.stop, &notify, attempt).await
    }

    /// Sends one HTTP request as soon as the limits allow it, and reads its outcome. In a run with
    /// batches, the request joins a batch instead. No other function sends a live request of a
    /// model call. If the call is aborted, the future is dropped at any point.
    async fn attempt(&self, encoded: &EncodedRequest) -> Result<ChatReply, Box<ModelError>> {
        let Self {
            model,
            transport,
            stop,
            ..
        } = self;
        if let Some(sender) = &model.batches {
            return self.in_batch(sender, encoded).await;
        }
        let question = &self.request.origin.question;
        let asked = Instant::now();
        let slot = model.limiter.slot(question, most_tokens(encoded), stop);
        let slot = slot.await.ok_or_else(cancelled)?;
        let queued = asked.elapsed();
        // Reserve after getting the slot, so that a request that still waits for a slot reserves
        // nothing.
        let reservation = model.reserve(encoded, stop).await?;
        let before = transport.sent();
        let posted = match self.client.chat().path(model.protocol.path()) {
            Ok(route) => route.create_byot(&encoded.json).await,
            Err(error) => Err(error),
        };
        let reply = transport.take(posted)?;
        let mut outcome = self.read_reply(&reply);
        let lost = outcome.as_ref().is_err_and(|error| error.lost_an_answer());
        // A request that was sent counts as lost until its answer is accounted for.
        if transport.sent() > before && !lost {
            transport.accounted_for();
        }
        let verdict = match &outcome {
            Ok(answer) => LimitVerdict::Answered(answer.usage.map(|it| it.total())),
            Err(error) if error.kind == ErrorKind::RateLimited => LimitVerdict::RateLimited,
            Err(error) if error.is_unanswered() => LimitVerdict::Unanswered,
            Err(error) if !error.kind.is_transient() => LimitVerdict::Refused,
            Err(_) => LimitVerdict::Unrelated,
        };
        slot.end(verdict, reported_quotas(&reply.headers));
        if let Err(error) = &mut outcome {
            error.outage = model.limiter.outage().duration();
            error.queued = queued;
        }
        model.settle(encoded, reservation, outcome.as_ref().ok(), lost, false);
        outcome
    }

    /// Sends a request in a batch, and reads the result like a live reply.
    async fn in_batch(
        &self,
        sender: &BatchSender,
        encoded: &EncodedRequest,
    ) -> Result<ChatReply, Box<ModelError>> {
        let Self { model, request, .. } = self;
        let upper = model.upper_bound(encoded, true)?;
        let answer = sender.send(request, encoded, upper, self.stop).await;
        let BatchReply {
            reply,
            reservation,
            is_lost,
        } = answer.ok_or_else(cancelled)?;
        let outcome = self.read_reply(&reply);
        let lost = is_lost || outcome.as_ref().is_err_and(|error| error.lost_an_answer());
        self.transport.count(lost);
        model.settle(encoded, reservation, outcome.as_ref().ok(), lost, true);
        outcome
    }

    /// Reads the answer in a reply, or the meaning of its failure.
    fn read_reply(&self, exchange: &HttpReply) -> Result<ChatReply, Box<ModelError>> {
        let model = self.model;
        let secret = model.settings.key();
        let exchange = &self.success(exchange)?;
        let mut body = json_body(exchange, secret)?;
        // Everything that is read below is stored and shown, so remove the key from it too.
        redact_json(&mut body, &[secret]);
        if let Some(id) = body.get("id").and_then(Value::as_str) {
            set(&Span::current(), "gen_ai.response.id", id.to_owned());
        }
        let decoded = model.protocol.decode(&body, self.request);
        let mut decoded =
            decoded.map_err(|missing| failure_in_body(&body, missing, exchange, secret))?;
        if decoded.finish.is_bad_generation() && !is_complete(self.request, &decoded) {
            let why = format!("its finish_reason is `{}`", decoded.finish);
            return Err(classify::refusal(
                ErrorKind::BadGeneration,
                &why,
                exchange,
                secret,
            ));
        }
        let asked = &model.settings.model;
        if decoded.model.is_empty() {
            decoded.model.clone_from(asked);
        }
        // The name of a deployment does not tell its model.
        let is_deployment = model.settings.provider == Provider::Azure;
        if !is_deployment && !is_same_model(asked, &decoded.model) {
            decoded.asked_model = Some(asked.clone());
        }
        Ok(ChatReply {
            request_id: classify::request_id(exchange, secret),
            batch: exchange.batch.clone(),
            ..decoded
        })
    }

    /// Returns a successful reply without the key. If the server refused a request without a key,
    /// the error says how to give one.
    fn success(&self, exchange: &HttpReply) -> Result<HttpReply, Box<ModelError>> {
        let settings = &self.model.settings;
        let secret = settings.key();
        classify::success(exchange, secret).map_err(|mut error| {
            if error.status == Some(401) && secret.is_empty() {
                let variable = settings.provider.profile().key_variable;
                let hint = format!("; no key was sent: set {variable} to the server's key");
                error.message.push_str(&hint);
            }
            error
        })
    }

    /// The dialect to try next, if `error` names something that can be changed. From now on,
    /// requests use it.
    fn corrected_dialect(
        &self,
        dialect: AcceptedParameters,
        error: &ModelError,
    ) -> Option<AcceptedParameters> {
        let refused = matches!(
            error.kind,
            ErrorKind::BadRequest { .. } | ErrorKind::ToolsUnsupported | ErrorKind::Unknown
        );
        // Other statuses do not refuse a parameter.
        if !refused || !matches!(error.status, Some(400 | 422)) {
            return None;
        }
        let words = words_of(error);
        let formatted = dialect.format.for_format(&self.request.format) > FormatLevel::Text;
        let protocol = self.model.protocol;
        let (better, parameter) = corrected(protocol, dialect, &words, formatted)?;
        let mut present = self.model.dialect.lock();
        // If another call has changed the shared dialect in the meantime, its change stays, and the
        // next call learns this one. The reply limit is not compared, because it may apply to one
        // prompt only.
        let kept = |dialect| AcceptedParameters {
            reply_limit: present.reply_limit,
            ..dialect
        };
        if *present == kept(dialect) {
            *present = kept(better);
        }
        // Released first, so that no other call waits while the line is logged.
        drop(present);
        tracing::info!(node = self.request.node, parameter, "correction");
        Some(better)
    }

    /// The dialect with a lower output limit for this request, after the server refused the limit
    /// as too high. `None` for a limit that the user has set, and for a prompt that leaves no room.
    /// In the second case, the error says so.
    fn lowered(
        &self,
        dialect: AcceptedParameters,
        error: &mut ModelError,
    ) -> Option<AcceptedParameters> {
        let asked = dialect.max_tokens(self.request)?;
        let is_own = self.request.max_output_tokens.is_some();
        // The user may have asked for a short reply, so any limit of at least 1 is acceptable.
        let least = if is_own { 1 } else { output_limit::LEAST };
        let Some(limit) = output_limit::lower(&words_of(error).text, asked, least) else {
            error.kind = ErrorKind::ContextTooLong;
            return None;
        };
        if is_own {
            error.add("lower --max-tokens");
            return None;
        }
        let reply_limit = Some(limit.tokens);
        if limit.is_maximum {
            // Use the limit for later requests only if it is the model's maximum. Otherwise it is
            // the room that one prompt leaves in the context.
            self.model.dialect.lock().reply_limit = reply_limit;
        }
        tracing::info!(node = self.request.node, limit.tokens, "correction");
        Some(AcceptedParameters {
            reply_limit,
            ..dialect
        })
    }

    /// Adds the model and the address to the message of an error, and records the call's attempts,
    /// latency and lost requests in it.
    fn with_place_and_counts(&self, mut error: ModelError) -> ModelError {
        let Self {
            model, transport, ..
        } = self;
        error.attempts = transport.sent();
        error.latency = transport.latency();
        error.lost = transport.lost();
        error.after_success = model.limiter.outage().has_answered;
        let base = shown_address(&model.settings.base_url);
        let proxy = model.settings.proxy.iter();
        let proxy: String = proxy.map(|it| format!(" through the proxy {it}")).collect();
        let place = match error.kind {
            ErrorKind::NotFound => {
                let hint = match model.settings.provider {
                    Provider::OpenAi if !base.contains("/v1") => {
                        " (the address of most servers ends in /v1)"
                    }
                    _ => "",
                };
                format!("`{}` at {base}{hint}", model.settings.model)
            }
            ErrorKind::Timeout => {
                format!("{base} within {} s", model.settings.timeout.as_secs_f64())
            }
            ErrorKind::Connect => base + &proxy,
            ErrorKind::Unauthorized | ErrorKind::Settings => base,
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

/// The tokens that a request counts as until its reply corrects the count. If the request has no
/// output limit, this is not strictly an upper bound, but longer answers are rare.
fn most_tokens(request: &EncodedRequest) -> u64 {
    let output = request.max_output_tokens.unwrap_or(MAX_TOKENS);
    request.most_input_tokens().saturating_add(output.into())
}

/// The server's description of an error.
fn words_of(error: &ModelError) -> ErrorDetails {
    ErrorDetails::read(error.body.as_deref().unwrap_or_default().as_bytes())
}

/// Reads the body of a successful reply as JSON.
fn json_body(exchange: &HttpReply, secret: &str) -> Result<Value, Box<ModelError>> {
    body::json(&exchange.body).map_err(|nature| {
        let encoding = exchange.headers.get(CONTENT_ENCODING);
        let encoding = encoding.and_then(|it| it.to_str().ok());
        // The HTTP client removes this header from a body that it decodes.
        let reason = match encoding.filter(|it| !it.eq_ignore_ascii_case("identity")) {
            Some(encoding) => {
                format!("the body is compressed ({encoding}), although that was refused")
            }
            None => format!("the body is not a reply: {nature}"),
        };
        malformed(&reason, exchange, secret)
    })
}

/// The error for the body of a successful reply that has no answer, because `missing` is not there.
/// Some gateways return the failure of the server behind them with a success status.
fn failure_in_body(
    body: &Value,
    missing: &str,
    exchange: &HttpReply,
    secret: &str,
) -> Box<ModelError> {
    let words = ErrorDetails::of(body);
    let status = words.status();
    let is_error = |name: &str| body.get(name).is_some_and(|error| !error.is_null());
    let is_error = ERRORS.into_iter().any(is_error);
    let kind = match kind_of(status.unwrap_or_default(), &words) {
        ErrorKind::Unknown if !is_error => return malformed(missing, exchange, secret),
        ErrorKind::Unknown if status.is_none() => ErrorKind::ServerError,
        kind => kind,
    };
    classify::refusal(kind, &words.message, exchange, secret)
}

/// The error for a reply that cannot be read. It says why, and quotes the beginning of the reply.
fn malformed(reason: &str, exchange: &HttpReply, secret: &str) -> Box<ModelError> {
    let body = String::from_utf8_lossy(&exchange.body);
    let words = format!("{reason}{QUOTE}`{}`", beginning(&body));
    classify::refusal(ErrorKind::Malformed, &words, exchange, secret)
}
