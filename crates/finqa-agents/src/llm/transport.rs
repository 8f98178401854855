//! One HTTP exchange: sent once, read whole, kept whole.
//!
//! async-openai addresses and serialises a request; this service sends it and keeps
//! status, headers and body, which async-openai would drop or misread (plain-text errors,
//! integer codes, `retry-after-ms`). It classifies nothing. A cassette is recorded here, and
//! replayed instead of using the network.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use bytes::{Bytes, BytesMut};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use reqwest::header::{HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cassette::{CassetteCall, body_of, failure_of};

/// A complete answer, whatever its status.
#[derive(Debug, Clone, Default)]
pub(super) struct HttpReply {
    /// 0 when none came.
    pub status: u16,
    pub headers: HeaderMap,
    /// As far as it came.
    pub body: Bytes,
    /// The batch that it came from.
    pub batch: Option<String>,
}

impl HttpReply {
    /// A reply that arrived inside another one, as if it had come by itself.
    pub(super) fn of_json(status: u16, body: &Value, request_id: Option<&str>) -> Self {
        let mut reply = Self {
            status,
            body: body.to_string().into(),
            ..Self::default()
        };
        if let Some(id) = request_id.and_then(|id| HeaderValue::from_str(id).ok()) {
            reply.headers.insert("x-request-id", id);
        }
        reply
    }
}

/// The reason why no complete answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TransportFailure {
    Timeout,
    /// No connection; nothing was sent.
    Connect,
    /// No encrypted connection; nothing was sent.
    Tls,
    CutOff,
    TooLarge,
    Request,
    /// The cassette that is replayed does not hold it; nothing was sent.
    NotRecorded,
}

/// The end of one attempt.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(crate) exchange: HttpReply,
    /// The reason why it is incomplete, if it is.
    pub broken: Option<(TransportFailure, Option<Arc<dyn Error + Send + Sync>>)>,
}

/// Sends the requests of one call and keeps the answers.
#[derive(Debug, Clone)]
pub(super) struct Transport {
    client: reqwest::Client,
    timeout: Duration,
    max_body: usize,
    sent: Arc<AtomicU32>,
    lost: Arc<AtomicU32>,
    last: Arc<Mutex<Option<Attempt>>>,
    /// The cassette of the call, if any.
    cassette: Option<Arc<Mutex<CassetteCall>>>,
    clock: Arc<Mutex<CallClock>>,
}

/// The time that a call has taken: its attempts and the waits between them.
#[derive(Debug, Clone, Copy, Default)]
struct CallClock {
    spent: Duration,
    /// The wait since the last attempt.
    waited: Duration,
}

impl Transport {
    pub(crate) fn new(client: reqwest::Client, timeout: Duration, max_body: usize) -> Self {
        Self {
            client,
            timeout,
            max_body,
            sent: Arc::default(),
            lost: Arc::default(),
            last: Arc::default(),
            cassette: None,
            clock: Arc::default(),
        }
    }

    /// The same connections for a new call.
    pub(crate) fn fresh(&self, cassette: Option<CassetteCall>) -> Self {
        Self {
            sent: Arc::default(),
            lost: Arc::default(),
            last: Arc::default(),
            cassette: cassette.map(|call| Arc::new(Mutex::new(call))),
            clock: Arc::default(),
            ..self.clone()
        }
    }

    /// The same connections with other limits.
    pub(super) fn within(&self, timeout: Duration, max_body: usize) -> Self {
        Self {
            timeout,
            max_body,
            ..self.clone()
        }
    }

    /// From the first request to the end of the last one, the waits between them included.
    pub(crate) fn latency(&self) -> Duration {
        self.clock.lock().spent
    }

    /// Counts a wait before the next attempt.
    pub(crate) fn waits(&self, wait: Duration) {
        self.clock.lock().waited += wait;
    }

    /// True if another attempt of the last request is recorded; `None` if nothing is
    /// replayed.
    pub(crate) fn has_another_attempt(&self) -> Option<bool> {
        self.cassette()?.has_another_attempt()
    }

    /// Writes the call to the cassette that is recorded, without these `secrets`.
    pub(crate) fn finish(&self, secrets: &[&str]) {
        if let Some(mut call) = self.cassette() {
            call.finish(secrets);
        }
    }

    fn cassette(&self) -> Option<parking_lot::MutexGuard<'_, CassetteCall>> {
        self.cassette.as_ref().map(|call| call.lock())
    }

    pub(crate) fn sent(&self) -> u32 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Of these, requests that were neither answered nor refused.
    pub(crate) fn lost(&self) -> u32 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Counts a request that was sent in a batch.
    pub(super) fn sent_in_batch(&self, is_lost: bool) {
        self.sent.fetch_add(1, Ordering::Relaxed);
        self.lost.fetch_add(u32::from(is_lost), Ordering::Relaxed);
    }

    /// Marks the last request as answered or refused.
    pub(crate) fn accounted_for(&self) {
        self.lost.fetch_sub(1, Ordering::Relaxed);
    }

    /// Takes the end of the last attempt.
    pub(crate) fn take(&self) -> Option<Attempt> {
        self.last.lock().take()
    }

    async fn attempt(&self, factory: HttpRequestFactory) -> Attempt {
        let request = match factory.build().await {
            Ok(request) => request,
            Err(source) => {
                return Attempt {
                    exchange: HttpReply::default(),
                    broken: Some((TransportFailure::Request, Some(Arc::new(source)))),
                };
            }
        };
        // Counted before it is sent, so that a cancelled request counts too.
        self.sent.fetch_add(1, Ordering::Relaxed);
        self.lost.fetch_add(1, Ordering::Relaxed);
        let replayed = self.cassette().and_then(|mut call| call.replay(&request));
        let (ended, wait, took) = match replayed {
            None => self.send(request).await,
            Some(Ok(recorded)) => {
                let [wait, took] = [recorded.wait, recorded.seconds]
                    .map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or_default());
                (recorded.into_attempt(), wait, took)
            }
            Some(Err(words)) => {
                let broken = Some((TransportFailure::NotRecorded, Some(failure_of(words))));
                let exchange = HttpReply::default();
                (Attempt { exchange, broken }, Duration::ZERO, Duration::ZERO)
            }
        };
        {
            let mut clock = self.clock.lock();
            clock.spent += wait + took;
            clock.waited = Duration::ZERO;
        }
        let unsent = [
            TransportFailure::Connect,
            TransportFailure::Tls,
            TransportFailure::NotRecorded,
        ];
        if ended
            .broken
            .as_ref()
            .is_some_and(|(why, _)| unsent.contains(why))
        {
            self.sent.fetch_sub(1, Ordering::Relaxed);
            self.lost.fetch_sub(1, Ordering::Relaxed);
        }
        ended
    }

    /// Sends a request; returns its result, the wait before it and its duration.
    async fn send(&self, request: reqwest::Request) -> (Attempt, Duration, Duration) {
        let method = request.method().to_string();
        let recorded = self.cassette.is_some().then(|| body_of(&request));
        let mut exchange = HttpReply::default();
        let started = Instant::now();
        let outcome = self.exchange(request, &mut exchange);
        let outcome = tokio::time::timeout(self.timeout, outcome).await;
        let took = started.elapsed();
        let broken = match outcome {
            Ok(Ok(())) => None,
            Ok(Err(BrokenExchange::TooLarge)) => Some((TransportFailure::TooLarge, None)),
            Ok(Err(BrokenExchange::Http(source))) => {
                let broken = judge(&source, exchange.status != 0);
                // The caller names the URL, without its query.
                Some((broken, Some(Arc::new(source.without_url()) as _)))
            }
            Err(_) => Some((TransportFailure::Timeout, None)),
        };
        let ended = Attempt { exchange, broken };
        let wait = self.clock.lock().waited;
        if let (Some(mut call), Some(body)) = (self.cassette(), recorded) {
            call.record(&method, body, &ended, [wait, took]);
        }
        (ended, wait, took)
    }

    async fn exchange(
        &self,
        request: reqwest::Request,
        into: &mut HttpReply,
    ) -> Result<(), BrokenExchange> {
        let mut response = self.client.execute(request).await?;
        into.status = response.status().as_u16();
        into.headers = response.headers().clone();
        let mut body = BytesMut::new();
        let whole = loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > self.max_body => {
                    break Err(BrokenExchange::TooLarge);
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error.into()),
            }
        };
        into.body = body.freeze();
        whole
    }
}

/// The reason why an exchange ended before its body was complete.
enum BrokenExchange {
    Http(reqwest::Error),
    TooLarge,
}

impl From<reqwest::Error> for BrokenExchange {
    fn from(source: reqwest::Error) -> Self {
        Self::Http(source)
    }
}

impl tower::Service<HttpRequestFactory> for Transport {
    type Response = reqwest::Response;
    type Error = OpenAIError;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            let attempt = this.attempt(factory).await;
            *this.last.lock() = Some(attempt);
            // We read the body, once; async-openai gets a placeholder.
            Ok(http::Response::new("null").into())
        })
    }
}

fn judge(error: &reqwest::Error, has_status: bool) -> TransportFailure {
    if error.is_connect() {
        if is_tls(error) {
            TransportFailure::Tls
        } else {
            TransportFailure::Connect
        }
    } else if error.is_timeout() {
        TransportFailure::Timeout
    } else if !has_status && error.is_builder() {
        TransportFailure::Request
    } else {
        TransportFailure::CutOff
    }
}

fn is_tls(error: &reqwest::Error) -> bool {
    let mut next = error.source();
    while let Some(error) = next {
        if error.is::<rustls::Error>() {
            return true;
        }
        // An I/O error skips the error that it wraps when asked for its source.
        next = match error.downcast_ref().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    false
}
