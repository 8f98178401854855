//! One HTTP exchange: sent once, read whole, kept whole.
//!
//! async-openai addresses and serialises a request; this service sends it and keeps
//! status, headers and body, which async-openai would drop or misread (plain-text errors,
//! integer codes, `retry-after-ms`). It classifies nothing.

use std::error::Error;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use bytes::{Bytes, BytesMut};
use futures::future::BoxFuture;
use reqwest::header::HeaderMap;

/// A complete answer, whatever its status.
#[derive(Debug, Clone, Default)]
pub(super) struct HttpReply {
    /// 0 when none came.
    pub status: u16,
    pub headers: HeaderMap,
    /// As far as it came.
    pub body: Bytes,
}

/// Why no complete answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransportFailure {
    Timeout,
    /// No connection; nothing was sent.
    Connect,
    /// No encrypted connection; nothing was sent.
    Tls,
    CutOff,
    TooLarge,
    Request,
}

/// The end of one attempt.
#[derive(Debug)]
pub(super) struct Attempt {
    pub exchange: HttpReply,
    /// Why it is incomplete, if it is.
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
}

impl Transport {
    pub fn new(client: reqwest::Client, timeout: Duration, max_body: usize) -> Self {
        Self {
            client,
            timeout,
            max_body,
            sent: Arc::default(),
            lost: Arc::default(),
            last: Arc::default(),
        }
    }

    /// The same connections for a new call, with nothing sent yet.
    pub fn fresh(&self) -> Self {
        Self {
            sent: Arc::default(),
            lost: Arc::default(),
            last: Arc::default(),
            ..self.clone()
        }
    }

    pub fn sent(&self) -> u32 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Of these, requests that were neither answered nor refused.
    pub fn lost(&self) -> u32 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Marks the last request as answered or refused.
    pub(crate) fn accounted_for(&self) {
        self.lost.fetch_sub(1, Ordering::Relaxed);
    }

    /// Takes the end of the last attempt.
    pub fn take(&self) -> Option<Attempt> {
        self.last
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    async fn attempt(&self, factory: HttpRequestFactory) -> Attempt {
        let mut exchange = HttpReply::default();
        let request = match factory.build().await {
            Ok(request) => request,
            Err(source) => {
                return Attempt {
                    exchange,
                    broken: Some((TransportFailure::Request, Some(Arc::new(source)))),
                };
            }
        };
        // Counted before it is sent, so that a cancelled request counts too.
        self.sent.fetch_add(1, Ordering::Relaxed);
        self.lost.fetch_add(1, Ordering::Relaxed);
        let outcome =
            tokio::time::timeout(self.timeout, self.exchange(request, &mut exchange)).await;
        let broken = match outcome {
            Ok(Ok(true)) => None,
            Ok(Ok(false)) => Some((TransportFailure::TooLarge, None)),
            Ok(Err(source)) => {
                let broken = judge(&source, exchange.status != 0);
                if matches!(broken, TransportFailure::Connect | TransportFailure::Tls) {
                    self.sent.fetch_sub(1, Ordering::Relaxed);
                    self.lost.fetch_sub(1, Ordering::Relaxed);
                }
                // The caller names the URL, without its query.
                Some((broken, Some(Arc::new(source.without_url()) as _)))
            }
            Err(_) => Some((TransportFailure::Timeout, None)),
        };
        Attempt { exchange, broken }
    }

    /// Whether the whole body fits into the limit.
    async fn exchange(
        &self,
        request: reqwest::Request,
        into: &mut HttpReply,
    ) -> Result<bool, reqwest::Error> {
        let mut response = self.client.execute(request).await?;
        into.status = response.status().as_u16();
        into.headers = response.headers().clone();
        let mut body = BytesMut::new();
        let whole = loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > self.max_body => break Ok(false),
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => break Ok(true),
                Err(error) => break Err(error),
            }
        };
        into.body = body.freeze();
        whole
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
            *this.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(attempt);
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
