//! Sets up traces and logs from settings and OpenTelemetry's standard variables.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use tokio::runtime::Handle;

use finqa_agents::llm::{Endpoint, Provider, http_client};
use finqa_core::secrets::shown_address;
use finqa_journal::settings::{LogFormat, LogSettings, Settings, Traces};
use finqa_report::output::terminal::{TerminalWriter, for_stderr, spaced};
use finqa_report::telemetry::{self, Collector, Redactor, Telemetry, TelemetryOptions};

use super::dotenv::variable;
use super::exit::{Exit, Failure};

/// OpenTelemetry's variable that enables questions, prompts and replies in traces.
const CONTENT: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// Variables whose values must not appear in traces or log lines, in addition to those with the
/// providers' keys.
const SECRETS: &[&str] = &[
    "MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_PASSWORD", "FINQA_TOKEN",
];

/// True if stderr must contain only JSON, including the line of the final error. A static, because
/// the error is printed where the settings are not known any more.
static LOGS_JSON: AtomicBool = AtomicBool::new(false);

/// Prints the error that ends the program, without secrets. It is a line of JSON if stderr must
/// contain only JSON. With a closed stderr nothing is printed, where `eprintln!` would panic.
pub(crate) fn print_error(message: &str, exit: Exit) {
    let message = redactor().text(message);
    // Not logged by `tracing`, which would drop the line if `RUST_LOG` excludes it or if nothing is
    // installed yet.
    if LOGS_JSON.load(Ordering::Relaxed) {
        let line = serde_json::json!({
            "timestamp": format!("{:.6}", jiff::Timestamp::now()),
            "level": "ERROR",
            "target": "convfinqa",
            "message": spaced(&message),
            "exit_code": exit.code(),
        });
        let _ = writeln!(std::io::stderr().lock(), "{line}");
        return;
    }
    let name = console::style("error:").for_stderr().red().bold();
    // Not escaped here. The message's control characters are already escaped, and escaping would
    // remove the colour of `error:`.
    let line = for_stderr(&format!("{name} {message}")).into_owned();
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// True if stderr must contain only log lines. Remembers this for [`print_error`].
pub(crate) fn logs_json(format: LogFormat) -> bool {
    let logged = format == LogFormat::Json;
    LOGS_JSON.store(logged, Ordering::Relaxed);
    logged
}

/// Starts the traces and logs that the settings and variables ask for. A `tracked` run writes its
/// traces to its folder, from which they are sent to MLflow. Call it within a runtime, because a
/// collector needs one.
pub(crate) fn start(
    settings: &Settings,
    tracked: bool,
    writer: &TerminalWriter,
) -> Result<Telemetry, Failure> {
    let mut options = log_options(&settings.log, writer);
    options.collector = collector(writer)?;
    options.content = is(CONTENT, "true");
    options.file = match settings.run.traces {
        Traces::Off => false,
        Traces::On => true,
        Traces::Auto => tracked || options.collector.is_some() || options.content,
    };
    Ok(telemetry::install(options)?)
}

/// Starts only the logs, for a command without traces.
pub(crate) fn start_logs(log: &LogSettings, writer: &TerminalWriter) -> Result<Telemetry, Failure> {
    Ok(telemetry::install(log_options(log, writer))?)
}

/// The options of logs alone. [`start`] adds those of traces.
fn log_options(log: &LogSettings, writer: &TerminalWriter) -> TelemetryOptions {
    let writer = writer.clone();
    TelemetryOptions {
        log: log.log,
        level: variable("RUST_LOG"),
        lines: Arc::new(move |line| writer.line(line)),
        redactor: Arc::new(redactor()),
        service_name: variable("OTEL_SERVICE_NAME"),
        file: false,
        collector: None,
        content: false,
    }
}

/// True if the variable has this value; upper and lower case are the same.
fn is(name: &str, value: &str) -> bool {
    variable(name).is_some_and(|set| set.trim().eq_ignore_ascii_case(value))
}

/// The collector that the standard variables name; `None` if they name none or turn it off.
fn collector(writer: &TerminalWriter) -> Result<Option<Collector>, Failure> {
    if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
        return Ok(None);
    }
    let address = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    let Some(address) = address.or_else(|| variable("OTEL_EXPORTER_OTLP_ENDPOINT")) else {
        return Ok(None);
    };
    let writer = writer.clone();
    let is_loopback = Endpoint::of(&address) == Endpoint::Loopback;
    Ok(Some(Collector {
        endpoint: shown_address(&address),
        client: http_client(is_loopback)?,
        runtime: Handle::try_current().map_err(Failure::bug("no runtime"))?,
        notice: Arc::new(move |line| writer.say(line)),
        has_notified: Once::new(),
    }))
}

/// A redactor that removes the values of secret variables and of OTLP headers.
pub(super) fn redactor() -> Redactor {
    let headers = [
        "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    ];
    let headers: Vec<_> = headers.into_iter().filter_map(variable).collect();
    let pairs = headers.iter().flat_map(|headers| headers.split(','));
    let values = pairs.filter_map(|pair| Some(pair.split_once('=')?.1));
    let names = Provider::key_variables().chain(SECRETS.iter().copied());
    let keys: Vec<_> = names.filter_map(variable).collect();
    let secrets = keys.iter().map(String::as_str).chain(values);
    Redactor::new(secrets.map(|secret| secret.trim().into()).collect())
}
