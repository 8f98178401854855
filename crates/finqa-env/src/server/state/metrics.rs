//! The metrics of `/metrics`, in OpenMetrics' text format, which Prometheus reads. The values of
//! labels come from fixed lists and never from a client, so that the number of series is bounded.

use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry, Unit};
use strum::{IntoStaticStr, VariantArray};

use crate::tools::specs;

/// The content type of [`Metrics::text`].
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper bounds of the histogram's buckets in seconds. They range from the time of a look-up to the
/// time limit of a step, and are set by hand.
const BUCKETS: [f64; 14] = [
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0,
];

type Labels<const N: usize> = [(&'static str, &'static str); N];

/// The label of a tool call that is a step of an episode.
pub(crate) const STEP: &str = "step";
/// The label of a tool call over JSON-RPC or MCP, outside of episodes.
pub(crate) const CALL: &str = "call";

/// The reason why a session, request or answer was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum RefusalReason {
    /// The bearer token is missing or wrong.
    Token,
    /// The host or the origin is not allowed.
    Host,
    /// All slots for sessions are taken.
    Sessions,
    /// The server has no session with this id.
    UnknownSession,
    /// The session already has a WebSocket.
    AttachedSession,
    /// A message or a body is over the size limit.
    TooLarge,
    /// No memory is left for a large answer.
    Memory,
    /// A body was not sent in time.
    SlowBody,
    /// A message or a body cannot be understood.
    Invalid,
}

impl RefusalReason {
    fn labels(self) -> Labels<1> {
        [("reason", self.into())]
    }
}

fn register<M: Metric + Clone + Default>(to: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    to.register(name, help, metric.clone());
    metric
}

/// The server's counters and histograms.
pub(crate) struct Metrics {
    registry: Registry,
    sessions: Gauge,
    pub(crate) sessions_opened: Counter,
    pub(crate) episodes_started: Counter,
    episodes_ended: Family<Labels<1>, Counter>,
    rewards: Counter<f64>,
    tools: Family<Labels<2>, Histogram, fn() -> Histogram>,
    errors: Family<Labels<2>, Counter>,
    rejections: Family<Labels<1>, Counter>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("finqa");
        let to = &mut registry;
        let metrics = Self {
            sessions: register(to, "sessions", "Open sessions"),
            sessions_opened: register(to, "sessions_opened", "Sessions opened"),
            episodes_started: register(
                to,
                "episodes_started",
                "Episodes started by a reset of a session",
            ),
            episodes_ended: register(
                to,
                "episodes_ended",
                "Episodes ended by a submission or at the step limit",
            ),
            rewards: register(to, "rewards", "Sum of the rewards of ended episodes"),
            tools: {
                let new: fn() -> Histogram = || Histogram::new(BUCKETS);
                let tools = Family::new_with_constructor(new);
                let help = "Time from a call to its result, waiting included; steps of episodes, \
                            and calls by JSON-RPC or MCP";
                to.register_with_unit("tool", help, Unit::Seconds, tools.clone());
                tools
            },
            errors: register(to, "tool_errors", "Steps and calls that failed"),
            rejections: register(
                to,
                "rejections",
                "Sessions, requests and answers that were refused",
            ),
            registry,
        };
        // Create the series at zero, because Prometheus notices the first increase only of a series
        // that it has seen before.
        for ending in ["submitted", "step_limit"] {
            drop(metrics.episodes_ended.get_or_create(&[("ending", ending)]));
        }
        for reason in RefusalReason::VARIANTS {
            drop(metrics.rejections.get_or_create(&reason.labels()));
        }
        metrics
    }

    /// Counts an episode that ended with a submission or at the step limit.
    pub(crate) fn episode_ended(&self, submitted: bool, reward: f64) {
        let ending = if submitted { "submitted" } else { "step_limit" };
        self.episodes_ended
            .get_or_create(&[("ending", ending)])
            .inc();
        self.rewards.inc_by(reward);
    }

    /// Counts a tool call with its duration, or with its `error_type`.
    pub(crate) fn tool_called(
        &self,
        kind: &'static str,
        tool: &str,
        took: Duration,
        error: Option<&'static str>,
    ) {
        let known = specs().iter().map(|spec| spec.name);
        // Clients can send any name, and each label would be a time series for ever.
        let tool = known.into_iter().find(|name| *name == tool);
        let labels = [("kind", kind), ("tool", tool.unwrap_or("unknown"))];
        self.tools
            .get_or_create(&labels)
            .observe(took.as_secs_f64());
        if let Some(error) = error {
            let labels = [("kind", kind), ("error", error)];
            self.errors.get_or_create(&labels).inc();
        }
    }

    pub(crate) fn count_refusal(&self, reason: RefusalReason) {
        self.rejections.get_or_create(&reason.labels()).inc();
    }

    /// All metrics as text. `sessions` is the number of open sessions.
    pub(crate) fn text(&self, sessions: usize) -> Result<String, fmt::Error> {
        self.sessions
            .set(i64::try_from(sessions).unwrap_or(i64::MAX));
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
