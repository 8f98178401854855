//! Traces and logs: exports the spans and events that other modules record with `tracing`. Spans go
//! to a file in the run's folder and to an OpenTelemetry collector; log lines go to a function of
//! the caller.
//!
//! Nothing is recorded or formatted unless the command line has called [`install`]. Prompts and
//! replies are recorded only on request (`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`).
//! Once a run is in progress, an error here must neither end nor delay it.

mod collector;
mod error;
mod log;
mod redact;
mod trace_file;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::{EnvResourceDetector, TelemetryResourceDetector};
use opentelemetry_sdk::trace::SdkTracerProvider;
use parking_lot::Mutex;
use tracing::Level;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, Registry};

use finqa_agents::telemetry::Content;
use finqa_journal::settings::LogFormat;

pub use collector::Collector;
pub use error::TelemetryError;
use log::{LineSink, RedactingWriter};
use redact::RedactingExporter;
pub use redact::Redactor;
pub use trace_file::read_traces;
use trace_file::{FileExporter, RunTraceFile};

/// Maximum wait for a collector at the end of the process. Set by hand.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);
/// Name of the service and of the tracer.
const SERVICE: &str = "convfinqa";

/// The logs and traces that a process writes, and where it writes them.
pub struct TelemetryOptions {
    pub log: LogFormat,
    /// The value of `RUST_LOG`. The default is `info` for events of this workspace's packages and
    /// `warn` for others.
    pub level: Option<String>,
    /// Called with each log line.
    pub lines: LineSink,
    /// Removes secrets from everything that leaves the process.
    pub redactor: Arc<Redactor>,
    /// `OTEL_SERVICE_NAME`, which overrides a `service.name` in `OTEL_RESOURCE_ATTRIBUTES`.
    pub service_name: Option<String>,
    /// True if traces are written to a file. [`Telemetry::write_to`] names the file.
    pub file: bool,
    /// The collector to which spans are sent; `None` for none.
    pub collector: Option<Collector>,
    /// True if questions, prompts and replies are recorded.
    pub content: bool,
}

/// The installed telemetry. Call [`Telemetry::finish`] before the process ends.
#[derive(Clone, Default)]
pub struct Telemetry {
    provider: Option<SdkTracerProvider>,
    file: Option<RunTraceFile>,
}

/// Installs the requested logs and traces for the whole process. If none are requested, nothing is
/// installed and spans remain disabled.
pub fn install(options: TelemetryOptions) -> Result<Telemetry, TelemetryError> {
    let traced = options.file || options.collector.is_some();
    if !traced && options.log == LogFormat::Off {
        return Ok(Telemetry::default());
    }
    let writer = RedactingWriter {
        lines: options.lines,
        redactor: Arc::clone(&options.redactor),
    };
    let log = log::layer(options.log, options.level, writer)?;
    let file = options.file.then(RunTraceFile::default);
    let resource = resource(options.service_name, &options.redactor);
    let redactor = options.redactor;
    let mut provider = SdkTracerProvider::builder().with_resource(resource.clone());
    if let Some(file) = &file {
        let exporter = FileExporter {
            file: Arc::clone(file),
            open: Mutex::default(),
            resource: (&resource).into(),
        };
        let redactor = Arc::clone(&redactor);
        // Exports each span when it ends, so that a killed process loses no trace that has ended.
        provider = provider.with_simple_exporter(RedactingExporter { exporter, redactor });
    }
    if let Some(collector) = options.collector {
        let exporter = collector.exporter()?;
        provider = provider.with_batch_exporter(RedactingExporter { exporter, redactor });
    }
    let provider = traced.then(|| provider.build());
    // Record spans of our packages, and their warnings and errors, such as retries.
    let recorded = filter_fn(|metadata| {
        log::is_from_us(metadata) && (metadata.is_span() || *metadata.level() <= Level::WARN)
    });
    // With this hint, `tracing` skips debug and trace without asking the filter.
    let recorded = recorded.with_max_level_hint(LevelFilter::INFO);
    let spans = provider.as_ref().map(|provider| {
        // Leaves out source lines, threads and idle times, so that only our own fields are sent.
        tracing_opentelemetry::layer()
            .with_tracer(provider.tracer(SERVICE))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_context_activation(false)
            .with_filter(recorded)
    });
    let content = (traced && options.content).then_some(Content);
    // If this fails, the user of the library has set a subscriber, which is kept.
    let _ = tracing::subscriber::set_global_default(
        Registry::default().with(content).with(spans).with(log),
    );
    Ok(Telemetry { provider, file })
}

/// The attributes of the process, without secrets. Our defaults are overridden by
/// `OTEL_RESOURCE_ATTRIBUTES`, and these by `OTEL_SERVICE_NAME`, in the order that OpenTelemetry
/// specifies.
fn resource(service_name: Option<String>, redactor: &Redactor) -> Resource {
    let named = Resource::builder_empty()
        .with_service_name(SERVICE)
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .with_detector(Box::new(TelemetryResourceDetector))
        .with_detector(Box::new(EnvResourceDetector::new()))
        .with_attributes(service_name.map(|name| KeyValue::new("service.name", name)))
        .build();
    let attributes = named
        .iter()
        .map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
    let mut attributes: Vec<KeyValue> = attributes.collect();
    redactor.attributes(&mut attributes);
    let clean = Resource::builder_empty().with_attributes(attributes);
    clean.build()
}

impl Telemetry {
    /// Opens the file to which traces are appended, if [`TelemetryOptions::file`] was set.
    pub fn write_to(&self, path: &Path) -> Result<(), TelemetryError> {
        if let Some(file) = &self.file {
            let error = |source| TelemetryError::File {
                path: path.to_owned(),
                source,
            };
            *file.lock() = Some(trace_file::append_lines(path).map_err(error)?);
        }
        Ok(())
    }

    /// Delivers the spans that are still queued. Takes a few seconds at most.
    pub async fn finish(self) {
        if let Some(provider) = self.provider {
            // The call blocks its thread, but the collector's requests need this runtime at the
            // same time.
            let shutdown = move || provider.shutdown_with_timeout(FLUSH_TIMEOUT);
            let shutdown = tokio::task::spawn_blocking(shutdown);
            // Twice the time, set by hand, for a shutdown that does not keep its own limit.
            let _ = tokio::time::timeout(FLUSH_TIMEOUT * 2, shutdown).await;
        }
    }
}
