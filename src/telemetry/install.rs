//! Installs the subscriber for the whole process, with only the layers that the
//! options ask for.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::EnvResourceDetector;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider, SimpleSpanProcessor,
};
use secrecy::SecretString;
use tracing::level_filters::LevelFilter;
use tracing::{Level, Metadata};
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, Registry};

use super::OnWarning;
use super::error::TelemetryError;
use super::file::{FileExporter, RunTraceFile, TraceFile};
use super::log::{self, LineSink, LogFormat, is_from_us};
use super::otlp::Otlp;
use super::redact::{RedactingExporter, Redactor};
use finqa_agents::telemetry::Content;

/// Maximum wait for a collector.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);
/// Between two deliveries: short, so that traces appear while the run is in progress.
const INTERVAL: Duration = Duration::from_secs(2);

/// The service, and the tracer.
const SERVICE: &str = "convfinqa";
/// The destinations and contents of telemetry.
pub struct TelemetryOptions {
    /// `service.name`, unless `OTEL_RESOURCE_ATTRIBUTES` names one.
    pub service_name: Option<String>,
    /// Write traces to a file, which [`Telemetry::write_to`] names.
    pub file: bool,
    /// The collector that spans are sent to.
    pub collector: Option<Otlp>,
    /// Record questions, prompts and replies.
    pub content: bool,
    pub log: LogFormat,
    /// Directives of `RUST_LOG`: by default, ours from `info` and others from `warn`.
    pub level: Option<String>,
    /// The destination of log lines.
    pub sink: LineSink,
    /// Secrets that must not leave the process.
    pub secrets: Vec<SecretString>,
    /// Called with each problem, once.
    pub notice: OnWarning,
}

/// The installed telemetry; call [`Telemetry::finish`] before the process ends.
#[derive(Clone, Default)]
pub struct Telemetry {
    provider: Option<SdkTracerProvider>,
    file: Option<RunTraceFile>,
}

/// Installs what the options ask for, for the whole process and until its end.
/// If they ask for nothing, nothing is installed and spans stay disabled.
pub fn install(options: TelemetryOptions) -> Result<Telemetry, TelemetryError> {
    let traced = options.file || options.collector.is_some();
    if !traced && options.log == LogFormat::Off {
        return Ok(Telemetry::default());
    }
    let redactor = Arc::new(Redactor::new(options.secrets));
    let log = log::layer(
        options.log,
        options.level,
        options.sink,
        Arc::clone(&redactor),
    )?;
    let file = options.file.then(RunTraceFile::default);
    let mut provider = SdkTracerProvider::builder().with_resource(resource(options.service_name));
    if let Some(file) = &file {
        let exporter = FileExporter::new(Arc::clone(file), Arc::clone(&options.notice));
        let exporter = RedactingExporter::new(exporter, &redactor);
        provider = provider.with_span_processor(SimpleSpanProcessor::new(exporter));
    }
    if let Some(collector) = options.collector {
        let exporter = RedactingExporter::new(collector.exporter(options.notice)?, &redactor);
        let config = BatchConfigBuilder::default()
            .with_scheduled_delay(INTERVAL)
            .build();
        let queue = BatchSpanProcessor::builder(exporter).with_batch_config(config);
        provider = provider.with_span_processor(queue.build());
    }
    let provider = traced.then(|| provider.build());
    let ours = FilterFn::new(is_recorded as fn(&Metadata<'_>) -> bool)
        .with_max_level_hint(LevelFilter::INFO);
    let spans = provider.as_ref().map(|provider| {
        tracing_opentelemetry::layer()
            .with_tracer(provider.tracer(SERVICE))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_context_activation(false)
            .with_filter(ours)
    });
    let content = (traced && options.content).then_some(Content);
    let subscriber = Registry::default().with(content).with(spans).with(log);
    tracing::subscriber::set_global_default(subscriber).map_err(|_| TelemetryError::Installed)?;
    Ok(Telemetry { provider, file })
}

/// Our own spans, and warnings and errors within them, such as retries.
fn is_recorded(metadata: &Metadata<'_>) -> bool {
    let least = if metadata.is_span() {
        Level::INFO
    } else {
        Level::WARN
    };
    is_from_us(metadata) && *metadata.level() <= least
}

/// Our defaults, overridden by `OTEL_RESOURCE_ATTRIBUTES` and then by
/// `OTEL_SERVICE_NAME`, in the order of the specification.
fn resource(service_name: Option<String>) -> Resource {
    let resource = Resource::builder_empty()
        .with_service_name(SERVICE)
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .with_attribute(KeyValue::new("telemetry.sdk.language", "rust"))
        .with_attribute(KeyValue::new("telemetry.sdk.name", "opentelemetry"))
        .with_detector(Box::new(EnvResourceDetector::new()));
    match service_name {
        Some(name) => resource.with_service_name(name).build(),
        None => resource.build(),
    }
}

impl Telemetry {
    /// Opens the file that whole traces are appended to, if there is to be one.
    pub fn write_to(&self, path: &Path) -> Result<(), TelemetryError> {
        if let Some(file) = &self.file {
            let _ = file.set(TraceFile::open(path)?);
        }
        Ok(())
    }

    /// Delivers what is still queued, for a few seconds at most.
    pub async fn finish(self) {
        let Some(provider) = self.provider else {
            return;
        };
        // Blocking, and the collector's requests need this runtime meanwhile.
        let shutdown = tokio::task::spawn_blocking(move || {
            let _ = provider.shutdown_with_timeout(FLUSH_TIMEOUT);
        });
        let _ = tokio::time::timeout(FLUSH_TIMEOUT * 2, shutdown).await;
    }
}
