//! Removes secrets from an ended span once and passes it to the file and to the
//! collector's queue. Neither blocks the span's thread.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use opentelemetry::Context;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{BatchSpanProcessor, Span, SpanData, SpanProcessor};

use super::file::FileTraces;
use super::redact::Redactor;

/// The one span processor. The file is opened when there is a run, later than
/// the processor; spans before that go to the collector alone.
#[derive(Debug)]
pub(super) struct SpanPipeline {
    pub(super) redactor: Arc<Redactor>,
    pub(super) file: Arc<OnceLock<FileTraces>>,
    pub(super) collector: Option<BatchSpanProcessor>,
}

impl SpanProcessor for SpanPipeline {
    fn on_start(&self, _span: &mut Span, _context: &Context) {}

    fn on_end(&self, mut span: SpanData) {
        if !span.span_context.is_sampled() {
            return;
        }
        self.redactor.span(&mut span);
        match (self.file.get(), &self.collector) {
            (Some(file), Some(collector)) => {
                file.span(span.clone());
                collector.on_end(span);
            }
            (Some(file), None) => file.span(span),
            (None, Some(collector)) => collector.on_end(span),
            (None, None) => {}
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        if let Some(file) = self.file.get() {
            file.flush(Duration::from_secs(5));
        }
        self.collector
            .as_ref()
            .map_or(Ok(()), SpanProcessor::force_flush)
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        if let Some(file) = self.file.get() {
            file.close(timeout);
        }
        self.collector
            .as_ref()
            .map_or(Ok(()), |collector| collector.shutdown_with_timeout(timeout))
    }

    fn set_resource(&mut self, resource: &Resource) {
        if let Some(collector) = &mut self.collector {
            collector.set_resource(resource);
        }
    }
}
