//! Installs the subscriber for the whole process, with only the layers that the
//! options ask for.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::EnvResourceDetector;
use opentelemetry_sdk::trace::SdkTracerProvider;
use secrecy::SecretString;
use tracing::level_filters::LevelFilter;
use tracing::{Level, Metadata};
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, Registry};

use super::error::TelemetryError;
use super::file::FileTraces;
use super::log::{self, InstalledSubscriber, LogOptions};
use super::otlp::{self, Otlp};
use super::processor::SpanPipeline;
use super::redact::Redactor;
use super::{LogFormat, OnWarning};
use finqa_agents::telemetry::Content;

/// Maximum wait for a collector or the file of traces.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);

/// The service, and the tracer.
const SERVICE: &str = "convfinqa";
/// The packages whose spans and events are ours.
pub(super) const OURS: [&str; 4] = ["convfinqa", "finqa_agents", "finqa_core", "finqa_env"];

/// True for spans and events of this workspace's packages.
pub(super) fn is_from_us(metadata: &Metadata<'_>) -> bool {
    OURS.iter()
        .any(|package| metadata.target().starts_with(package))
}

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
    /// Log lines.
    pub log: LogOptions,
    /// Secrets that must not leave the process.
    pub secrets: Vec<SecretString>,
    /// Called with each problem, once.
    pub notice: OnWarning,
}

/// The installed telemetry; call [`Telemetry::finish`] before the process ends.
#[derive(Clone, Default)]
pub struct Telemetry {
    provider: Option<SdkTracerProvider>,
    file: Option<(Arc<OnceLock<FileTraces>>, Resource)>,
    notice: Option<OnWarning>,
}

/// Installs what the options ask for, for the whole process and until its end.
/// If they ask for nothing, nothing is installed and spans stay disabled.
pub fn install(options: TelemetryOptions) -> Result<Telemetry, TelemetryError> {
    let traced = options.file || options.collector.is_some();
    if !traced && options.log.format == LogFormat::Off {
        return Ok(Telemetry::default());
    }
    let redactor = Arc::new(Redactor::new(options.secrets));
    let installed = InstalledSubscriber::default();
    let log = log::layer(options.log, Arc::clone(&redactor), Arc::clone(&installed))?;
    let notice = options.notice;
    let mut telemetry = Telemetry::default();
    if traced {
        let file = Arc::new(OnceLock::new());
        let resource = resource(options.service_name);
        let collector = options
            .collector
            .map(|collector| otlp::processor(collector, Arc::clone(&notice)))
            .transpose()?;
        let pipeline = SpanPipeline {
            redactor,
            file: Arc::clone(&file),
            collector,
        };
        let provider = SdkTracerProvider::builder()
            .with_resource(resource.clone())
            .with_span_processor(pipeline)
            .build();
        telemetry = Telemetry {
            provider: Some(provider),
            file: options.file.then_some((file, resource)),
            notice: Some(notice),
        };
    }
    let tracer = telemetry
        .provider
        .as_ref()
        .map(|provider| provider.tracer(SERVICE));
    let ours =
        FilterFn::new(is_ours as fn(&Metadata<'_>) -> bool).with_max_level_hint(LevelFilter::INFO);
    let spans = tracer.map(|tracer| {
        tracing_opentelemetry::layer()
            .with_tracer(tracer)
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
    tracing::dispatcher::get_default(|subscriber| {
        let _ = installed.set(subscriber.downgrade());
    });
    Ok(telemetry)
}

/// Our own spans, and warnings and errors within them, such as retries.
fn is_ours(metadata: &Metadata<'_>) -> bool {
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
        if let Some((file, resource)) = &self.file {
            let _ = file.set(FileTraces::open(path, resource)?);
        }
        Ok(())
    }

    /// Waits until every trace that has ended is in the file, or a few seconds.
    pub(crate) fn flush(&self) {
        if let Some(file) = self.file.as_ref().and_then(|(file, _)| file.get()) {
            file.flush(FLUSH_TIMEOUT);
        }
    }

    /// Delivers what is still queued, for a few seconds at most. All recorded
    /// traces are in the file when this returns.
    pub async fn finish(self) {
        let Some(provider) = self.provider else {
            return;
        };
        // Blocking, and the collector's requests need this runtime meanwhile.
        let shutdown = tokio::task::spawn_blocking(move || {
            let _ = provider.shutdown_with_timeout(FLUSH_TIMEOUT);
        });
        let _ = tokio::time::timeout(FLUSH_TIMEOUT * 2, shutdown).await;
        let file = self.file.as_ref().and_then(|(file, _)| file.get());
        let problem = file.and_then(FileTraces::problem);
        if let (Some(notice), Some(problem)) = (&self.notice, problem) {
            notice(&problem);
        }
    }
}
