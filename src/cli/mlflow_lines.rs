//! Lines about a tracking server for the user.

use std::path::Path;

use crate::output::mlflow::{DeliveredRun, DeliveryOutcome, MlflowError};
use crate::run::command;

/// The line that says where a run is seen.
pub(crate) fn arrived(delivered: &DeliveredRun) -> String {
    format!("MLflow: {}", delivered.page)
}

/// What was not delivered during the run, and how to send it.
pub(crate) fn missing(sent: &DeliveryOutcome, run: &str, output: &Path) -> Vec<String> {
    let sync = format!("`{}`", command(&format!("track sync {run}"), output));
    match sent {
        DeliveryOutcome::All(delivered) => shortfalls(delivered),
        DeliveryOutcome::Missing(Some(error)) => {
            vec![format!(
                "MLflow: {error}; not all of this run was delivered, {sync} sends the rest"
            )]
        }
        DeliveryOutcome::Missing(None) => {
            vec![format!(
                "MLflow: not all of this run was delivered; {sync} sends the rest when that is fixed"
            )]
        }
    }
}

/// What a server could not take, a line each.
pub(crate) fn shortfalls(delivered: &DeliveredRun) -> Vec<String> {
    let lines = delivered.shortfalls.iter();
    lines
        .map(|line| format!("MLflow: not delivered: {line}"))
        .collect()
}

/// Whether a failed delivery ends `track sync` for the runs that follow too.
pub(crate) fn is_everywhere(error: &MlflowError) -> bool {
    matches!(
        error,
        MlflowError::Unreachable { .. } | MlflowError::Refused { .. }
    )
}
