//! Spans to a collector: OTLP/HTTP with protobuf, by OpenTelemetry's own exporter, which
//! reads its endpoint, headers and limits from the standard variables. Ours are the HTTP
//! client, the runtime it runs on, and that a problem is reported once instead of never.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};

use super::OnWarning;
use super::error::TelemetryError;
use finqa_core::error::innermost;

/// A collector and the way to it.
#[derive(Clone)]
pub struct Otlp {
    /// As shown to the user, without secrets; the exporter reads the variables itself.
    pub endpoint: String,
    /// Sends the requests.
    pub client: reqwest::Client,
    /// The runtime of the requests: the exporter's own thread has none.
    pub runtime: tokio::runtime::Handle,
    /// For one request.
    pub timeout: Duration,
}

impl Otlp {
    /// The exporter to it.
    pub(super) fn exporter(self, notice: OnWarning) -> Result<SpanExporter, TelemetryError> {
        let timeout = self.timeout;
        let client = CollectorClient {
            otlp: self,
            notice,
            has_notified: Arc::default(),
        };
        SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(timeout)
            .build()
            .map_err(|error| TelemetryError::Exporter(error.to_string()))
    }
}

/// Sends batches on the runtime, whichever thread calls.
#[derive(Clone)]
struct CollectorClient {
    otlp: Otlp,
    notice: OnWarning,
    has_notified: Arc<AtomicBool>,
}

impl std::fmt::Debug for CollectorClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CollectorClient({})", self.otlp.endpoint)
    }
}

impl CollectorClient {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let sent = self.otlp.client.send_bytes(request);
        let sent = match tokio::time::timeout(self.otlp.timeout, sent).await {
            Ok(sent) => sent,
            Err(_) => Err("no answer in time".into()),
        };
        match &sent {
            Ok(response) if response.status().is_success() => {}
            Ok(response) => self.notify(&format!("status {}", response.status().as_u16())),
            // The outer reasons repeat the address, which may hold a password.
            Err(error) => self.notify(&innermost(&**error).to_string()),
        }
        sent
    }

    fn notify(&self, reason: &str) {
        if !self.has_notified.swap(true, Ordering::Relaxed) {
            (self.notice)(&format!(
                "traces: cannot deliver to {} ({reason}); the run continues without them",
                self.otlp.endpoint
            ));
        }
    }
}

impl HttpClient for CollectorClient {
    fn send_bytes<'a, 'b>(
        &'a self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        let this = self.clone();
        let runtime = &self.otlp.runtime;
        let sending = runtime.spawn(async move { this.send(request).await });
        Box::pin(async move { sending.await? })
    }
}
