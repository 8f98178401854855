//! Finds the MLflow server that settings and variables name.

use finqa_agents::llm;
use finqa_journal::settings::{Settings, Variables};
use finqa_report::output::mlflow::{Credentials, MlflowError, TrackingServer, TrackingTarget};

use super::PipelineError;
use super::run_context::{Notify, RunNotice};
use super::unused_settings::unused_variables;

/// The experiment if `MLFLOW_EXPERIMENT_NAME` is not set.
const EXPERIMENT: &str = "financial_qa";

/// The server that the settings name. `MLFLOW_TRACKING_URI` may be meant for other programs, so an
/// unusable address there is only noted, and the run is not tracked.
///
/// # Errors
/// An address in `--mlflow` that is not that of a server.
pub fn tracking_server(
    settings: &Settings,
    variables: &Variables,
    notify: &Notify,
) -> Result<Option<TrackingServer>, PipelineError> {
    let server = |uri: &str| {
        for line in unused_variables(variables, "MLFLOW") {
            notify(RunNotice::Note(line));
        }
        server(uri, None, variables)
    };
    match settings.run.mlflow.trim() {
        "off" => Ok(None),
        "auto" | "" => match variables.get("MLFLOW_TRACKING_URI").map(|uri| server(&uri)) {
            None => Ok(None),
            Some(Ok(server)) => Ok(Some(server)),
            Some(Err(error)) => {
                notify(RunNotice::Note(format!(
                    "MLflow: MLFLOW_TRACKING_URI: {error}; this run is not tracked"
                )));
                Ok(None)
            }
        },
        uri => Ok(Some(server(uri)?)),
    }
}

/// The server at `uri`, with the credentials from the variables. The experiment is
/// `MLFLOW_EXPERIMENT_NAME`, otherwise `experiment`, otherwise the default.
///
/// # Errors
/// The address or the credentials cannot be used. The credentials would be sent unencrypted to
/// another machine, unless `CONVFINQA_ALLOW_HTTP` allows that.
pub fn server(
    uri: &str,
    experiment: Option<String>,
    variables: &Variables,
) -> Result<TrackingServer, PipelineError> {
    let variable = |name: &str| variables.get(name);
    let basic = variable("MLFLOW_TRACKING_USERNAME").zip(variable("MLFLOW_TRACKING_PASSWORD"));
    let credentials = match (basic, variable("MLFLOW_TRACKING_TOKEN")) {
        // Basic authentication takes precedence over the token (docs/tracking.md).
        (Some((user, password)), _) => Some(Credentials::basic(&user, &password)?),
        (None, Some(token)) => Some(Credentials::token(&token)?),
        (None, None) => None,
    };
    let experiment = variable("MLFLOW_EXPERIMENT_NAME")
        .or(experiment)
        .unwrap_or_else(|| EXPERIMENT.to_owned());
    let target = TrackingTarget::new(uri, &experiment, credentials)?;
    if target.is_exposed() && !variables.allows_http() {
        return Err(MlflowError::Address {
            uri: target.shown,
            reason: "the credentials would be sent unencrypted: use https://, or set CONVFINQA_ALLOW_HTTP=true",
        }
        .into());
    }
    let http = llm::http::client(target.is_loopback())?;
    Ok(TrackingServer::new(http, target))
}
