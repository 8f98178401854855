//! Sends spans to a collector, as OTLP over HTTP with protobuf. OpenTelemetry's own exporter does
//! this, and reads endpoint, headers and limits from the standard variables. Added here are the
//! HTTP client, the runtime that it runs on, and a notice to the user at the first problem, which
//! would otherwise go unreported.

use std::sync::Once;
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, SpanExporter, WithExportConfig, WithHttpConfig,
};

use super::log::LineSink;
use finqa_core::error::innermost;

/// Timeout of one request. It is below [`FLUSH_TIMEOUT`](super::FLUSH_TIMEOUT), because a request
/// that takes longer could not arrive at the end of a run either.
const TIMEOUT: Duration = Duration::from_millis(2_500);

/// A collector, and how requests to it are sent.
pub struct Collector {
    /// The address as shown to the user, without secrets. Requests do not use it, because the
    /// exporter reads the variables itself.
    pub endpoint: String,
    pub client: reqwest::Client,
    /// The runtime that requests are sent on, because the exporter's own thread has none.
    pub runtime: tokio::runtime::Handle,
    /// Called with one line about the first problem.
    pub notice: LineSink,
    pub has_notified: Once,
}

impl std::fmt::Debug for Collector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Collector({})", self.endpoint)
    }
}

impl Collector {
    /// Makes the exporter that sends to this collector.
    pub(super) fn exporter(self) -> Result<SpanExporter, ExporterBuildError> {
        SpanExporter::builder()
            .with_http()
            .with_http_client(self)
            .with_protocol(Protocol::HttpBinary)
            .build()
    }
}

#[async_trait]
impl HttpClient for Collector {
    /// Sends a batch on the runtime, whichever thread calls this.
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let sending =
            async move { tokio::time::timeout(TIMEOUT, client.send_bytes(request)).await };
        let sent = match self.runtime.spawn(sending).await? {
            Ok(sent) => sent,
            Err(_) => Err("no answer in time".into()),
        };
        let reason = match &sent {
            Ok(response) if response.status().is_success() => return sent,
            Ok(response) => format!("status {}", response.status().as_u16()),
            // Only the innermost error, because the outer ones repeat the address, which may
            // contain a password.
            Err(error) => innermost(&**error).to_string(),
        };
        self.has_notified.call_once(|| {
            (self.notice)(&format!(
                "traces: cannot deliver to {} ({reason}); the run continues without them",
                self.endpoint
            ));
        });
        sent
    }
}
