//! Everything that a run needs besides its settings.

use std::sync::Arc;

use finqa_agents::llm::{Stop, StoredReplies};
use finqa_journal::run::RunMeta;
use finqa_journal::settings::Variables;
use finqa_report::output::mlflow::TrackingServer;
use finqa_report::telemetry::Telemetry;

use super::locked_run::LockedRun;

/// A line for the user that is not an event of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunNotice {
    /// A line for information, not shown with `--quiet`.
    Note(String),
    /// A warning, shown even with `--quiet`.
    Warning(String),
}

/// A callback that shows a notice to the user.
pub type Notify = Arc<dyn Fn(RunNotice) + Send + Sync>;

/// Step 1 of a run: everything that it needs from the caller besides its settings.
pub struct RunContext {
    /// The earlier run to continue; `None` to start a new one.
    pub resumed: Option<LockedRun>,
    /// Environment variables, from which keys and addresses are read.
    pub variables: Variables,
    /// The MLflow server to which the run is delivered, if any.
    pub tracking: Option<TrackingServer>,
    /// The traces to record.
    pub traces: Telemetry,
    pub notify: Notify,
    /// The tokens that stop the run.
    pub stop: Stop,
    /// The stored replies that replace the server for every call (`--replay`).
    pub replay: Option<Arc<StoredReplies>>,
    /// The description of the run that is replayed.
    pub recorded: Option<RunMeta>,
    /// The id for a new run. With `None`, an id is generated.
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
