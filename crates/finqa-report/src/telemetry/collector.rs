//! Sends spans to a collector, as OTLP over HTTP with protobuf. The exporter is OpenTelemetry's
//! own, which reads endpoint, headers and limits from the standard variables. This file adds the
//! HTTP client, the runtime for it, and a notice to the user about the first problem, which would
//! otherwise go unreported.

use std::sync::Once;
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, SpanExporter, WithExportConfig, WithHttpConfig,
};

use super::log::LineSink;
use finqa_core::error::innermost;

/// Timeout of one request. It is below [`FLUSH_TIMEOUT`](super::FLUSH_TIMEOUT), because at the end
/// of a run a longer request could not arrive anyway.
const TIMEOUT: Duration = Duration::from_millis(2_500);

/// A collector, and the means of sending requests to it.
pub struct Collector {
    /// The address without secrets, to show to the user. Requests do not use it, because the
    /// exporter reads the variables itself.
    pub endpoint: String,
    pub client: reqwest::Client,
    /// The runtime on which requests are sent, because the exporter's own thread has none.
    pub runtime: tokio::runtime::Handle,
    /// Called with one line about the first problem only.
    pub notice: LineSink,
    pub has_notified: Once,
}

impl std::fmt::Debug for Collector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Collector({})", self.endpoint)
    }
}

impl Collector {
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
    /// Sends a batch on the runtime, because the calling thread has none.
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
            // Show only the innermost error. The outer ones repeat the address, which may contain a
            // password.
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
