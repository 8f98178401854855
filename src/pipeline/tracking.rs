//! From settings and variables to a tracking server.

use std::path::Path;
use std::time::Duration;

use crate::output::mlflow::{
    Credentials, MlflowError, MlflowLogger, TrackingServer, TrackingTarget, TrackingTimeouts,
};
use crate::run::command;
use crate::settings::{Settings, Variables};
use finqa_agents::llm;

use super::resume::LockedRun;
use super::{Notify, PipelineError, RunNotice};

/// The experiment of runs for which none is named.
const EXPERIMENT: &str = "financial_qa";

/// Queue size for the MLflow logger when the number of questions is unknown. Rows that do
/// not fit are sent when the run ends.
const UNKNOWN_TOTAL: usize = 10_000;

/// The tracking of a run.
#[derive(Debug, Default)]
pub enum Tracking {
    /// Nowhere.
    #[default]
    Off,
    /// Nowhere, although a variable says where: what is wrong with it.
    Unusable(String),
    On(TrackingServer),
}

impl Tracking {
    /// The tracking that the settings ask for.
    ///
    /// # Errors
    /// An address given with `--mlflow` that is not a server's, or an unusable
    /// `MLFLOW_LINKS`. `MLFLOW_TRACKING_URI` may be meant for other programs and ends no run.
    pub(crate) fn from_settings(
        settings: &Settings,
        variables: &Variables,
    ) -> Result<Self, PipelineError> {
        let experiment = experiment(settings.run.experiment.as_deref(), variables);
        let server = |uri: &str| server(uri, &experiment, settings.model.allow_http, variables);
        match settings.run.mlflow.trim() {
            "off" => Ok(Self::Off),
            "auto" | "" => match variables.get("MLFLOW_TRACKING_URI") {
                None => Ok(Self::Off),
                Some(uri) => match server(&uri) {
                    Ok(server) => Ok(Self::On(server)),
                    // No other program reads this variable.
                    Err(error @ PipelineError::Tracking(MlflowError::Links)) => Err(error),
                    Err(error) => Ok(Self::Unusable(format!(
                        "MLflow: MLFLOW_TRACKING_URI: {error}; this run is not tracked"
                    ))),
                },
            },
            uri => Ok(Self::On(server(uri)?)),
        }
    }

    /// Starts the logger of a run. `merge` delivers the run of shards.
    pub(super) fn start(
        self,
        run: &LockedRun,
        output: &Path,
        notify: Notify,
    ) -> Option<MlflowLogger> {
        // Not an event: those end with the last question, and the reason may come after it.
        let note = move |line| notify(RunNotice::Note(line));
        match self {
            Self::Off => None,
            _ if let Some(shard) = &run.meta.shard => {
                let merge = command(&format!("merge {}", shard.run), output);
                note(format!("MLflow: `{merge}` delivers the run"));
                None
            }
            Self::Unusable(line) => {
                note(line);
                None
            }
            Self::On(server) => {
                let total = run.meta.total.unwrap_or(UNKNOWN_TOTAL);
                let logger = MlflowLogger::start(server, run.folder.path(), total, Box::new(note));
                Some(logger)
            }
        }
    }
}

/// The experiment, where it is not a run's own.
pub(crate) fn experiment(named: Option<&str>, variables: &Variables) -> String {
    named
        .map(str::to_owned)
        .or_else(|| variables.get("MLFLOW_EXPERIMENT_NAME"))
        .unwrap_or_else(|| EXPERIMENT.to_owned())
}

/// A server at an address, asked as the variables say.
///
/// # Errors
/// An address or credentials that cannot be used, or credentials that would go
/// unencrypted to another machine, unless `allow_http` is set.
pub(crate) fn server(
    uri: &str,
    experiment: &str,
    allow_http: bool,
    variables: &Variables,
) -> Result<TrackingServer, PipelineError> {
    let variable = |name: &str| variables.get(name);
    let basic = variable("MLFLOW_TRACKING_USERNAME").zip(variable("MLFLOW_TRACKING_PASSWORD"));
    let credentials = match (basic, variable("MLFLOW_TRACKING_TOKEN")) {
        (Some((user, password)), _) => Credentials::Basic {
            user: user.into(),
            password: password.into(),
        },
        (None, Some(token)) => Credentials::Token(token.into()),
        (None, None) => Credentials::None,
    };
    let mut target = TrackingTarget::new(uri, experiment, credentials)?;
    if let Some(rule) = variable("MLFLOW_LINKS") {
        target = target.with_links(&rule)?;
    }
    if target.is_exposed() && !allow_http {
        return Err(MlflowError::Address {
            uri: target.shown,
            reason: "the credentials would be sent unencrypted: use https://, or pass --allow-http",
        }
        .into());
    }
    let http = llm::http::client(Duration::from_secs(5), target.is_loopback())?;
    Ok(TrackingServer::new(
        http,
        target,
        TrackingTimeouts::default(),
    ))
}
