//! From settings and OpenTelemetry's standard variables to traces and logs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::Url;
use secrecy::SecretString;

use crate::output::terminal::TerminalWriter;
use crate::settings::{LogSettings, Settings, Traces};
use crate::telemetry::{self, LogFormat, Otlp, Redactor, Telemetry, TelemetryOptions};
use finqa_agents::llm::{Endpoint, Provider, http_client};
use finqa_core::secrets::shown_address;

use super::dotenv::variable;
use super::{Exit, Failure};

/// Timeout of a request to a collector, unless a variable sets one.
const TIMEOUT: Duration = Duration::from_secs(10);

/// OpenTelemetry's variable for questions, prompts and replies in traces.
const CONTENT: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// Variables, besides the keys of providers, whose values must not appear in a trace
/// or a log line.
const SECRETS: &[&str] = &[
    "MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_PASSWORD", "FINQA_TOKEN",
];

/// Set if stderr holds only JSON, including the final error line.
static LOGS_JSON: AtomicBool = AtomicBool::new(false);

/// The line of an error that ends the program, in the form that stderr has and
/// without secrets.
pub(crate) fn error_line(message: &str, exit: Exit) -> String {
    let redactor = Redactor::new(secrets());
    let message = redactor.text(message);
    if !LOGS_JSON.load(Ordering::Relaxed) {
        let name = console::style("error:").for_stderr().red().bold();
        return format!("{name} {message}");
    }
    serde_json::json!({
        "timestamp": format!("{:.6}", jiff::Timestamp::now()),
        "level": "ERROR",
        "target": "convfinqa",
        "message": message,
        "exit_code": exit.code(),
    })
    .to_string()
}

/// True if stderr is to hold only log lines.
pub(crate) fn logs_json(format: LogFormat) -> bool {
    let logged = format == LogFormat::Json;
    LOGS_JSON.store(logged, Ordering::Relaxed);
    logged
}

/// Starts what the settings and variables ask for. Within a runtime, for a
/// collector's sake. A run has a folder for a file of traces; it is `tracked` if they are
/// delivered from there (MLflow).
pub(crate) fn start(
    settings: &Settings,
    tracked: Option<bool>,
    writer: &TerminalWriter,
) -> anyhow::Result<Telemetry> {
    let (collector, content) = (collector()?, is(CONTENT, "true"));
    let file = match (tracked, settings.run.traces) {
        (None, _) | (_, Traces::Off) => false,
        (_, Traces::On) => true,
        (Some(tracked), Traces::Auto) => tracked || collector.is_some() || content,
    };
    Ok(telemetry::install(TelemetryOptions {
        service_name: variable("OTEL_SERVICE_NAME"),
        file,
        collector,
        content,
        ..logs(&settings.log, writer)
    })?)
}

/// Starts logs alone, for a command without traces.
pub(crate) fn start_logs(log: &LogSettings, writer: &TerminalWriter) -> anyhow::Result<Telemetry> {
    Ok(telemetry::install(logs(log, writer))?)
}

/// Log lines, and no traces.
fn logs(log: &LogSettings, writer: &TerminalWriter) -> TelemetryOptions {
    let (lines, notes) = (writer.clone(), writer.clone());
    TelemetryOptions {
        service_name: None,
        file: false,
        collector: None,
        content: false,
        log: log.log,
        level: variable("RUST_LOG"),
        sink: Arc::new(move |line| lines.line(line)),
        secrets: secrets(),
        notice: Arc::new(move |line| notes.say(line)),
    }
}

/// True if the variable has this value.
fn is(name: &str, value: &str) -> bool {
    variable(name).is_some_and(|set| set.trim().eq_ignore_ascii_case(value))
}

/// The collector that the standard variables name, if they do.
fn collector() -> anyhow::Result<Option<Otlp>> {
    if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
        return Ok(None);
    }
    let mut names = [
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT",
    ]
    .into_iter();
    let Some((name, address)) = names.find_map(|name| Some((name, variable(name)?))) else {
        return Ok(None);
    };
    let url = Url::parse(address.trim()).map_err(|error| {
        Failure::usage(format!(
            "{name} is not an address: {error}; it looks like http://localhost:4318"
        ))
    })?;
    let loopback = Endpoint::of(url.as_str()) == Endpoint::Loopback;
    let milliseconds = [
        "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT",
    ]
    .into_iter()
    .find_map(|name| variable(name)?.trim().parse().ok());
    let timeout = milliseconds.map_or(TIMEOUT, Duration::from_millis);
    Ok(Some(Otlp {
        endpoint: shown_address(url.as_str()),
        client: http_client(loopback)?,
        runtime: tokio::runtime::Handle::try_current()?,
        timeout,
    }))
}

/// The values that must not be written anywhere.
pub(super) fn secrets() -> Vec<SecretString> {
    let headers = [
        "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    ]
    .into_iter()
    .filter_map(variable)
    .flat_map(|headers| {
        let values = headers.split(',').filter_map(|pair| pair.split_once('='));
        values
            .map(|(_, value)| value.trim().to_owned())
            .collect::<Vec<_>>()
    });
    let names = Provider::key_variables().chain(SECRETS.iter().copied());
    let keys = names.filter_map(variable);
    keys.map(|key| key.trim().to_owned())
        .chain(headers)
        .map(SecretString::from)
        .collect()
}
