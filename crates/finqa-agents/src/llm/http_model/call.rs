//! A call of a model on an HTTP server: requests in one dialect after the other, each with retries.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use async_openai::Client;
use async_openai::traits::RequestOptionsBuilder;
use parking_lot::Mutex;
use serde::de::IgnoredAny;
use tracing::Span;

use finqa_core::secrets::shown_address;

use crate::llm::address::ServerAddress;
use crate::llm::batch::BatchSender;
use crate::llm::capabilities::{Correction, corrected, ignored_format};
use crate::llm::classify::{self, ErrorDetails};
use crate::llm::error::{ErrorKind, ModelError};
use crate::llm::event::{CallEvent, Observer};
use crate::llm::limits::{LimitVerdict, LimitedCall, TokenBound, reported_quotas};
use crate::llm::protocol::{ApiDialect, EncodedRequest, FormatLevel, Protocol, ReplyBody};
use crate::llm::provider::Provider;
use crate::llm::request_budget::RequestBudget;
use crate::llm::retry::{FailedAttempt, retry};
use crate::llm::settings::ModelConnection;
use crate::llm::transport::{HttpReply, Transport};
use crate::llm::types::{ChatReply, ChatRequest, DEFAULT_MAX_TOKENS, Stop};
use crate::telemetry::set;

/// A model on its server, as its calls share it.
pub(super) struct ModelServer {
    pub client: Client<ServerAddress>,
    pub transport: Transport,
    pub protocol: Protocol,
    pub settings: ModelConnection,
    /// The present dialect; a refusal changes it for the rest of the process.
    pub dialect: Mutex<ApiDialect>,
    /// The server has answered a request.
    pub reached: AtomicBool,
    /// A call was answered.
    pub answered: AtomicBool,
    pub jitter: RandomState,
    pub observer: Option<Observer>,
    pub batches: Option<BatchSender>,
    pub budget: RequestBudget,
}

impl ModelServer {
    pub(super) fn dialect(&self) -> ApiDialect {
        *self.dialect.lock()
    }

    fn emit(&self, node: &str, event: &CallEvent) {
        if let Some(observer) = &self.observer {
            observer(node, event);
        }
    }
}

/// A call that is being made.
pub(super) struct HttpCall<'a> {
    pub model: &'a ModelServer,
    /// The client whose requests go to `transport`.
    pub client: Client<ServerAddress>,
    pub transport: Transport,
    /// Its place among the calls that the limits admit, if there are any.
    pub limited: Option<LimitedCall>,
    pub request: &'a ChatRequest,
    pub stop: &'a Stop,
}

impl HttpCall<'_> {
    /// The reply, in a dialect that the server accepts.
    pub(super) async fn converse(&self) -> Result<ChatReply, ModelError> {
        let Self {
            model, transport, ..
        } = self;
        let mut dialect = model.dialect();
        let mut tried = vec![dialect];
        loop {
            match self.send(dialect).await {
                Ok((answer, exchange)) => {
                    model.answered.store(true, Ordering::Relaxed);
                    if answer.ignored_format && dialect.format > FormatLevel::Text {
                        self.learn(dialect, ignored_format(model.protocol, dialect));
                    }
                    if let Some(id) = answer.id {
                        set(&Span::current(), "gen_ai.response.id", id);
                    }
                    return Ok(ChatReply {
                        content: answer.content,
                        tool_calls: answer.tool_calls,
                        finish: answer.finish,
                        refusal: answer.refusal,
                        usage: answer.usage,
                        partial_usage: answer.partial_usage,
                        model: answer.model.unwrap_or_else(|| model.settings.model.clone()),
                        request_id: classify::request_id(&exchange, model.settings.key()),
                        attempts: transport.sent(),
                        lost: transport.lost(),
                        cached: false,
                        batch: exchange.batch,
                        left_out: dialect.left_out(self.request),
                        latency: transport.latency(),
                        waited: self.waited(),
                    });
                }
                Err(error) => match self.correct(dialect, &error) {
                    Some(better) if !tried.contains(&better) => {
                        dialect = better;
                        tried.push(better);
                    }
                    _ => {
                        return Err(ModelError {
                            waited: self.waited(),
                            ..self.located(error)
                        });
                    }
                },
            }
        }
    }

    /// One request in one dialect, with retries.
    async fn send(&self, dialect: ApiDialect) -> Result<(ReplyBody, HttpReply), ModelError> {
        let Self {
            model,
            transport,
            request,
            ..
        } = self;
        let encoded = model
            .protocol
            .encode(&model.settings.model, request, dialect)
            .map_err(|source| unsendable(source.to_string()))?;
        let tries = AtomicU32::new(0);
        let outcome = retry(
            model.settings.retry,
            model.jitter.build_hasher().finish() ^ u64::from(transport.sent()),
            self.stop,
            &|notice| {
                tracing::warn!(
                    node = request.node,
                    attempt = notice.attempt,
                    delay_seconds = notice.delay.as_secs_f64(),
                    reason = notice.reason.as_str(),
                    "retry"
                );
                transport.waits(notice.delay);
                if let Some(limited) = &self.limited {
                    limited.delayed(notice.delay);
                }
                model.emit(&request.node, &CallEvent::Retry(notice));
            },
            || {
                tries.fetch_add(1, Ordering::Relaxed);
                self.attempt(&encoded)
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
        encoded: &EncodedRequest,
    ) -> Result<(ReplyBody, HttpReply), FailedAttempt> {
        let Self {
            model,
            transport,
            stop,
            ..
        } = self;
        let limited = self.limited.as_ref();
        if let Some(sender) = &model.batches {
            return self.in_batch(sender, encoded).await;
        }
        let slot = match limited {
            None => None,
            Some(limited) => match limited.slot(token_bound(encoded), stop).await {
                None => return Err(FailedAttempt::cancelled()),
                slot => slot,
            },
        };
        // Behind the slot, so that a request that waits for one reserves nothing.
        let asked = Instant::now();
        let reservation = model.budget.reserve(encoded, stop).await?;
        // Without a limit it did not wait; the time of the call above is not a wait.
        if let Some(limited) = limited.filter(|_| reservation.is_some()) {
            limited.has_waited(asked.elapsed());
        }
        let before = transport.sent();
        let posted = match self.client.chat().path(model.protocol.path()) {
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
        let judged = self.judge(&attempt);
        let lost = judged
            .as_ref()
            .err()
            .is_some_and(|failed| failed.error.lost_an_answer());
        if transport.sent() > before && !lost {
            transport.accounted_for();
        }
        if let Some(slot) = slot {
            let verdict = match &judged {
                Ok(answer) => LimitVerdict::Answered(answer.usage.map(|it| it.total())),
                Err(failed) if failed.error.kind == ErrorKind::RateLimited => {
                    LimitVerdict::RateLimited
                }
                Err(_) => LimitVerdict::Unrelated,
            };
            slot.end(verdict, &reported_quotas(&attempt.exchange.headers));
        }
        if let Some(reservation) = reservation {
            let answer = judged.as_ref().ok();
            model.budget.record_actual(reservation, answer, lost, false);
        }
        judged.map(|answer| (answer, attempt.exchange))
    }

    /// The dialect to try after `error`, if it names what can be changed.
    fn correct(&self, dialect: ApiDialect, error: &ModelError) -> Option<ApiDialect> {
        let refused = matches!(
            error.kind,
            ErrorKind::BadRequest { .. } | ErrorKind::ToolsUnsupported
        );
        if !refused || !matches!(error.status, Some(400 | 422)) {
            return None;
        }
        let words = ErrorDetails::read(error.body.as_deref().unwrap_or_default().as_bytes());
        let formatted = dialect.format.for_format(&self.request.format) > FormatLevel::Text;
        let learnt = corrected(self.model.protocol, dialect, &words, formatted)?;
        Some(self.learn(dialect, learnt))
    }

    /// Speaks a better dialect from now on, and says so.
    fn learn(
        &self,
        dialect: ApiDialect,
        (better, correction): (ApiDialect, Correction),
    ) -> ApiDialect {
        // Another call may have learnt something else in the meantime: adopt only what
        // this one changed.
        self.model.dialect.lock().adopt(dialect, better);
        tracing::info!(
            node = self.request.node,
            parameter = correction.parameter,
            change = correction.change,
            "correction"
        );
        let event = CallEvent::Correction(correction);
        self.model.emit(&self.request.node, &event);
        better
    }

    /// The error with the model, address and dialect in its words.
    fn located(&self, mut error: ModelError) -> ModelError {
        let Self {
            model, transport, ..
        } = self;
        error.attempts = transport.sent();
        error.latency = transport.latency();
        error.lost = transport.lost();
        error.after_success = model.answered.load(Ordering::Relaxed);
        let base = shown_address(&model.settings.base_url);
        let place = match error.kind {
            ErrorKind::NotFound => {
                let openai = model.settings.provider == Provider::OpenAi;
                let hint = match openai && !base.contains("/v1") {
                    true => " (the address of most servers ends in /v1)",
                    false => "",
                };
                format!("`{}` at {base}{hint}", model.settings.model)
            }
            ErrorKind::Timeout => format!(
                "{base} within {} s",
                model.settings.timeouts.attempt.as_secs_f64()
            ),
            ErrorKind::Connect | ErrorKind::Tls => match &model.settings.proxy {
                Some(proxy) => format!("{base} through the proxy {proxy}"),
                None => base,
            },
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

    /// The time waited for limits.
    fn waited(&self) -> Duration {
        let limited = self.limited.as_ref();
        limited.map(LimitedCall::waited).unwrap_or_default()
    }
}

/// An upper bound of tokens, until the reply corrects the count. An answer without a limit
/// is rarely longer than this.
fn token_bound(request: &EncodedRequest) -> TokenBound {
    TokenBound {
        input: request.most_input_tokens(),
        output: u64::from(request.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS)),
    }
}

pub(super) fn unsendable(message: String) -> ModelError {
    ModelError::new(ErrorKind::BadRequest { parameter: None }, message)
}
