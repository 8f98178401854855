//! Spans to a collector: OTLP/HTTP with protobuf, by OpenTelemetry's own exporter, which
//! reads its endpoint, headers and limits from the standard variables. Ours are the HTTP
//! client, the runtime it runs on, and that a problem is reported once instead of never.

use std::sync::Once;
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, SpanExporter, WithExportConfig, WithHttpConfig,
};

use super::log::LineSink;
use finqa_core::error::innermost;

/// For one request: what takes longer would not arrive at the end of a run either.
const TIMEOUT: Duration = Duration::from_millis(2_500);

/// A collector and the way to it.
pub struct Collector {
    /// As shown to the user, without secrets; the exporter reads the variables itself.
    pub endpoint: String,
    /// Sends the requests.
    pub client: reqwest::Client,
    /// The runtime of the requests: the exporter's own thread has none.
    pub runtime: tokio::runtime::Handle,
    /// Called with the first problem, in one line.
    pub notice: LineSink,
    pub has_notified: Once,
}

impl std::fmt::Debug for Collector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Collector({})", self.endpoint)
    }
}

impl Collector {
    /// The exporter to it.
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
    /// Sends a batch on the runtime, whichever thread calls.
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
            // The outer reasons repeat the address, which may hold a password.
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
