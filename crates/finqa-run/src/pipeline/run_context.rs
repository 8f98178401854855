//! The surroundings of a run.

use std::sync::Arc;

use finqa_agents::llm::{Stop, StoredReplies};
use finqa_journal::run::RunMeta;
use finqa_journal::settings::Variables;
use finqa_report::output::mlflow::TrackingServer;
use finqa_report::telemetry::Telemetry;

use super::locked_run::LockedRun;

/// A line for the user outside of a run's events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunNotice {
    /// Information.
    Note(String),
    /// A warning, shown even with `--quiet`.
    Warning(String),
}

/// Shows a notice.
pub type Notify = Arc<dyn Fn(RunNotice) + Send + Sync>;

/// The surroundings of a run, everything but its settings: the step before all others.
pub struct RunContext {
    /// The earlier run that is continued.
    pub resumed: Option<LockedRun>,
    /// The source of keys and addresses.
    pub variables: Variables,
    /// The tracking server, if any.
    pub tracking: Option<TrackingServer>,
    /// The traces to record.
    pub traces: Telemetry,
    pub notify: Notify,
    /// Stops the run.
    pub stop: Stop,
    /// The stored replies that answer every call instead of a server.
    pub replay: Option<Arc<StoredReplies>>,
    /// The run that is replayed.
    pub recorded: Option<RunMeta>,
    /// The id of a new run; one is made if it is absent.
    pub name: Option<String>,
}

impl Default for RunContext {
    fn default() -> Self {
        Self {
            resumed: None,
            variables: Variables::none(),
            tracking: None,
            traces: Telemetry::default(),
            notify: Arc::new(|_| {}),
            stop: Stop::default(),
            replay: None,
            recorded: None,
            name: None,
        }
    }
}
