//! One HTTP exchange: sends a request once, and stores the whole answer.
//!
//! async-openai determines the address and serialises the request. This service sends it and stores
//! status, headers and body, which async-openai would drop or misread (plain-text errors, integer
//! codes, `retry-after-ms`). It does not interpret the answer.

use std::error::Error;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use reqwest::header::{HeaderMap, HeaderValue};
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio_util::bytes::{Bytes, BytesMut};

use super::error::{ErrorKind, ModelError};

/// An answer with any status. It may be incomplete.
#[derive(Debug, Clone, Default)]
pub(super) struct HttpReply {
    /// The HTTP status; 0 if no answer arrived.
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// The reason why the answer is incomplete; `None` if it is complete.
    pub broken: Option<ModelError>,
    /// The batch from which the answer comes.
    pub batch: Option<String>,
}

impl HttpReply {
    /// Creates an HTTP reply from a reply inside another one, such as in a file of results. If the
    /// body is a JSON string, its text is used.
    pub(super) fn of_json(status: u16, body: &Value, request_id: Option<&str>) -> Self {
        let mut reply = Self {
            status,
            body: match body {
                Value::String(text) => text.clone().into(),
                body => body.to_string().into(),
            },
            ..Self::default()
        };
        if let Some(id) = request_id.and_then(|id| HeaderValue::from_str(id).ok()) {
            reply.headers.insert("x-request-id", id);
        }
        reply
    }
}

/// Sends the requests of one call and stores the answers.
#[derive(Debug, Clone)]
pub(super) struct Transport {
    client: reqwest::Client,
    timeout: Duration,
    max_body: usize,
    /// The account of the call, which all clones of this service share.
    call: Arc<Mutex<CallAccount>>,
}

/// The requests and the time of a call so far.
#[derive(Debug, Default)]
struct CallAccount {
    sent: u32,
    /// The number of these requests that were neither answered nor refused.
    lost: u32,
    /// The time of the attempts and of the waits between them.
    spent: Duration,
    /// The wait since the last attempt. It counts when another attempt is made.
    waited: Duration,
    /// The last answer, until it is taken.
    last: Option<HttpReply>,
}

impl Transport {
    pub(crate) fn new(client: reqwest::Client, timeout: Duration) -> Self {
        /// Set by hand, far above the size of any answer: even a long one has only a few hundred
        /// kilobytes.
        const MAX_BODY: usize = 16 * 1024 * 1024;
        Self {
            client,
            timeout,
            max_body: MAX_BODY,
            call: Arc::default(),
        }
    }

    /// Creates a transport for a new call with the same connections.
    pub(crate) fn fresh(&self) -> Self {
        Self {
            call: Arc::default(),
            ..self.clone()
        }
    }

    /// Creates a transport with the same connections but other limits.
    pub(super) fn within(&self, timeout: Duration, max_body: usize) -> Self {
        Self {
            timeout,
            max_body,
            ..self.clone()
        }
    }

    /// Time from the first request to the end of the last one, including the waits between them.
    pub(crate) fn latency(&self) -> Duration {
        self.call.lock().spent
    }

    /// Adds a wait before the next attempt.
    pub(crate) fn waits(&self, wait: Duration) {
        self.call.lock().waited += wait;
    }

    pub(crate) fn sent(&self) -> u32 {
        self.call.lock().sent
    }

    /// Number of sent requests that were neither answered nor refused.
    pub(crate) fn lost(&self) -> u32 {
        self.call.lock().lost
    }

    /// Counts a request, which may be in a batch.
    pub(super) fn count(&self, is_lost: bool) {
        let mut call = self.call.lock();
        call.sent += 1;
        call.lost += u32::from(is_lost);
    }

    /// Marks the last request as answered or refused.
    pub(crate) fn accounted_for(&self) {
        self.call.lock().lost -= 1;
    }

    /// Takes the reply to a request that async-openai `sent`. If async-openai failed before it
    /// called this service, there is no reply, and its error is returned.
    pub(super) fn take(
        &self,
        sent: Result<IgnoredAny, OpenAIError>,
    ) -> Result<HttpReply, Box<ModelError>> {
        let reply = self.call.lock().last.take();
        reply.ok_or_else(|| {
            // This service never succeeds, so there is an error, and the default is never used.
            let why = sent.err().map(|error| error.to_string());
            ModelError::new(ErrorKind::Settings, why.unwrap_or_default()).into()
        })
    }

    /// Builds and sends one request, and adds it and its time to the counts of the call. A failure
    /// is in the reply's `broken`.
    async fn attempt(&self, factory: HttpRequestFactory) -> HttpReply {
        let request = match factory.build().await {
            Ok(request) => request,
            Err(source) => {
                return HttpReply {
                    broken: Some(broken(ErrorKind::Settings, source)),
                    ..HttpReply::default()
                };
            }
        };
        // Count before sending, so that a cancelled request counts too.
        self.count(true);
        let started = Instant::now();
        let ended = self.send(request).await;
        // If there was no connection, nothing was sent.
        let is_unsent = matches!(
            &ended.broken,
            Some(error) if error.kind == ErrorKind::Connect
        );
        let mut call = self.call.lock();
        let waited = std::mem::take(&mut call.waited);
        call.spent += waited + started.elapsed();
        call.sent -= u32::from(is_unsent);
        call.lost -= u32::from(is_unsent);
        ended
    }

    /// Sends a request. After the time limit, the reply has what has arrived so far, and a timeout
    /// error in `broken`.
    async fn send(&self, request: reqwest::Request) -> HttpReply {
        let mut reply = HttpReply::default();
        let outcome = self.exchange(request, &mut reply);
        let broken = match tokio::time::timeout(self.timeout, outcome).await {
            Ok(outcome) => outcome.err(),
            Err(_) => Some(ModelError::new(ErrorKind::Timeout, "")),
        };
        HttpReply { broken, ..reply }
    }

    /// Fills `into` while the answer arrives, so that its status and headers are kept if the body
    /// does not arrive in time.
    async fn exchange(
        &self,
        request: reqwest::Request,
        into: &mut HttpReply,
    ) -> Result<(), ModelError> {
        // The caller adds the address without its query.
        let failed = |answered| {
            move |source: reqwest::Error| broken(kind_of(&source, answered), source.without_url())
        };
        let response = self.client.execute(request).await;
        let mut response = response.map_err(failed(false))?;
        into.status = response.status().as_u16();
        into.headers = response.headers().clone();
        let mut body = BytesMut::new();
        let whole = loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > self.max_body => {
                    let message = "the body is larger than allowed";
                    break Err(ModelError::new(ErrorKind::Malformed, message));
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => break Ok(()),
                Err(error) => break Err(failed(true)(error)),
            }
        };
        into.body = body.freeze();
        whole
    }
}

fn broken(kind: ErrorKind, source: impl Error + Send + Sync + 'static) -> ModelError {
    ModelError {
        source: Some(Arc::new(source)),
        ..ModelError::new(kind, "")
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
            this.call.lock().last = Some(attempt);
            // The answer is in `last`. async-openai gets an error, so that it reads nothing itself.
            Err(OpenAIError::InvalidArgument("read already".to_owned()))
        })
    }
}

/// The kind of an error of the HTTP client. `answered` is true if a status has arrived.
fn kind_of(error: &reqwest::Error, answered: bool) -> ErrorKind {
    match error {
        error if error.is_connect() => ErrorKind::Connect,
        error if error.is_timeout() => ErrorKind::Timeout,
        error if !answered && error.is_builder() => ErrorKind::Settings,
        // The body is not compressed in the way that its header states.
        error if error.is_decode() => ErrorKind::Malformed,
        // The connection broke while the request was sent or the body was read.
        _ => ErrorKind::CutOff,
    }
}
