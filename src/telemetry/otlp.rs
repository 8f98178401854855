//! Spans to a collector: OTLP/HTTP with protobuf, by OpenTelemetry's own
//! exporter, which reads its endpoint, headers and limits from the standard
//! variables. Ours are the HTTP client, the runtime it runs on, and that a problem
//! is reported once instead of never.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SpanData};
use parking_lot::Mutex;

use super::OnWarning;
use super::error::TelemetryError;
use finqa_core::error::innermost;
use finqa_core::secrets::shown_address;

/// Between two deliveries: short, so that traces appear while the run is in progress.
const INTERVAL: Duration = Duration::from_secs(2);

/// A collector and the way to it.
#[derive(Clone)]
pub struct Otlp {
    /// As shown to the user; the exporter reads the variables itself.
    pub endpoint: String,
    /// Sends the requests.
    pub client: reqwest::Client,
    /// The runtime of the requests: the exporter's own thread has none.
    pub runtime: tokio::runtime::Handle,
    /// For one request.
    pub timeout: Duration,
}

/// Sends batches on the runtime, whichever thread calls.
#[derive(Clone, Debug)]
struct RuntimeClient {
    client: reqwest::Client,
    runtime: tokio::runtime::Handle,
    timeout: Duration,
    /// The reason of the last failed request, which the exporter does not report.
    last_error: Arc<Mutex<String>>,
}

impl RuntimeClient {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let request = reqwest::Request::try_from(request)?;
        let sent = self.client.execute(request);
        let sent = tokio::time::timeout(self.timeout, async {
            let answer = sent.await?;
            let mut response = Response::builder().status(answer.status());
            if let Some(headers) = response.headers_mut() {
                *headers = answer.headers().clone();
            }
            Ok::<_, reqwest::Error>((response, answer.bytes().await?))
        });
        let (response, body) = sent.await??;
        Ok(response.body(body)?)
    }

    fn set_last_error(&self, reason: String) {
        *self.last_error.lock() = reason;
    }
}

impl HttpClient for RuntimeClient {
    fn send_bytes<'a, 'b>(
        &'a self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        let this = self.clone();
        let sending = self.runtime.spawn(async move { this.send(request).await });
        Box::pin(async move {
            match sending.await {
                Ok(Ok(response)) => {
                    if !response.status().is_success() {
                        self.set_last_error(format!("status {}", response.status().as_u16()));
                    }
                    Ok(response)
                }
                Ok(Err(error)) => {
                    self.set_last_error(root_cause(&*error));
                    Err(error)
                }
                Err(error) => Err(error.into()),
            }
        })
    }
}

/// The innermost reason: the outer ones repeat the address, which may hold a
/// password.
fn root_cause(error: &(dyn Error + 'static)) -> String {
    let cause = innermost(error);
    if cause.is::<tokio::time::error::Elapsed>() {
        return "no answer in time".to_owned();
    }
    cause.to_string()
}

/// Reports once why the exporter cannot deliver.
struct NotifyingExporter {
    inner: SpanExporter,
    endpoint: String,
    last_error: Arc<Mutex<String>>,
    has_notified: AtomicBool,
    notice: OnWarning,
}

impl std::fmt::Debug for NotifyingExporter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}

impl opentelemetry_sdk::trace::SpanExporter for NotifyingExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let result = self.inner.export(batch).await;
        if let Err(error) = &result
            && !self.has_notified.swap(true, Ordering::Relaxed)
        {
            let known = std::mem::take(&mut *self.last_error.lock());
            let reason = if known.is_empty() {
                error.to_string()
            } else {
                known
            };
            (self.notice)(&format!(
                "traces: cannot deliver to {} ({reason}); the run continues without them",
                self.endpoint
            ));
        }
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

/// The queue to the collector and the thread behind it.
pub(super) fn processor(
    otlp: Otlp,
    notice: OnWarning,
) -> Result<BatchSpanProcessor, TelemetryError> {
    let last_error = Arc::default();
    let client = RuntimeClient {
        client: otlp.client,
        runtime: otlp.runtime,
        timeout: otlp.timeout,
        last_error: Arc::clone(&last_error),
    };
    let inner = SpanExporter::builder()
        .with_http()
        .with_http_client(client)
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(otlp.timeout)
        .build()
        .map_err(|error| TelemetryError::Exporter(error.to_string()))?;
    let exporter = NotifyingExporter {
        inner,
        endpoint: shown_address(&otlp.endpoint),
        last_error,
        has_notified: AtomicBool::new(false),
        notice,
    };
    let config = BatchConfigBuilder::default()
        .with_scheduled_delay(INTERVAL)
        .build();
    Ok(BatchSpanProcessor::builder(exporter)
        .with_batch_config(config)
        .build())
}
