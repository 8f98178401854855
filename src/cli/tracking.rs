//! From settings and variables to a tracking server, and back to what the user
//! is told of it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::config::Settings;
use crate::output::mlflow::{Credentials, Delivered, MlflowError, Patience, Sent, Server, Target};
use finqa_agents::models;

use super::provider::variable;

/// The experiment of runs for which none is named.
pub const EXPERIMENT: &str = "financial_qa";

/// Where a run is tracked.
pub enum Tracking {
    /// Nowhere.
    Off,
    /// Nowhere, although a variable says where: what is wrong with it.
    Unusable(String),
    /// On a server.
    On(Server),
}

/// Where these settings track a run.
///
/// # Errors
/// An address given with `--mlflow` that is not a server's, or an unusable
/// `MLFLOW_LINKS`. `MLFLOW_TRACKING_URI` may be meant for other programs and ends no run.
pub fn tracking(settings: &Settings) -> anyhow::Result<Tracking> {
    let experiment = experiment(settings.experiment.as_deref());
    match settings.mlflow.trim() {
        "off" => Ok(Tracking::Off),
        "auto" | "" => match variable("MLFLOW_TRACKING_URI") {
            None => Ok(Tracking::Off),
            Some(uri) => match server(&uri, &experiment, settings.allow_http) {
                Ok(server) => Ok(Tracking::On(server)),
                // No other program reads this variable.
                Err(error) if matches!(error.downcast_ref(), Some(MlflowError::Links)) => {
                    Err(error)
                }
                Err(error) => Ok(Tracking::Unusable(format!(
                    "MLflow: MLFLOW_TRACKING_URI: {error}; this run is not tracked"
                ))),
            },
        },
        uri => Ok(Tracking::On(server(uri, &experiment, settings.allow_http)?)),
    }
}

/// The experiment, where it is not a run's own.
pub fn experiment(named: Option<&str>) -> String {
    named
        .map(str::to_owned)
        .or_else(|| variable("MLFLOW_EXPERIMENT_NAME"))
        .unwrap_or_else(|| EXPERIMENT.to_owned())
}

/// A server at an address, asked as the variables say.
///
/// # Errors
/// An address or credentials that cannot be used, or credentials that would go
/// unencrypted to another machine, unless `allow_http` is set.
pub fn server(uri: &str, experiment: &str, allow_http: bool) -> anyhow::Result<Server> {
    let basic = variable("MLFLOW_TRACKING_USERNAME").zip(variable("MLFLOW_TRACKING_PASSWORD"));
    let credentials = match (basic, variable("MLFLOW_TRACKING_TOKEN")) {
        (Some((user, password)), _) => Credentials::Basic {
            user: user.into(),
            password: password.into(),
        },
        (None, Some(token)) => Credentials::Token(token.into()),
        (None, None) => Credentials::None,
    };
    let mut target = Target::new(uri, experiment, credentials)?;
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
    let http = models::http::client(Duration::from_secs(5), target.is_loopback())?;
    Ok(Server::new(http, target, Patience::default()))
}

/// The line that says where a run is seen.
pub fn arrived(delivered: &Delivered) -> String {
    format!("MLflow: {}", delivered.page)
}

/// What the user is told of a run's side-car, if something is missing.
pub fn missing(sent: Option<&Sent>, run: &str) -> Vec<String> {
    let sync = format!("`convfinqa track sync {run}`");
    match sent {
        Some(Sent::All(delivered)) => shortfalls(delivered),
        Some(Sent::Missing { error, said: false }) => {
            vec![format!(
                "MLflow: {error}; not all of this run was delivered, {sync} sends the rest"
            )]
        }
        Some(Sent::Missing { .. }) | None => {
            vec![format!(
                "MLflow: not all of this run was delivered; {sync} sends the rest when that is fixed"
            )]
        }
    }
}

/// What a server could not take, a line each.
pub fn shortfalls(delivered: &Delivered) -> Vec<String> {
    let lines = delivered.shortfalls.iter();
    lines
        .map(|line| format!("MLflow: not delivered: {line}"))
        .collect()
}

/// Whether a failed delivery ends `track sync` for the runs that follow too.
pub fn is_everywhere(error: &MlflowError) -> bool {
    matches!(
        error,
        MlflowError::Unreachable { .. } | MlflowError::Refused { .. }
    )
}

/// The commit that this program was built from: what `CONVFINQA_COMMIT` says,
/// which a container's image sets, or that of the work tree that its file lies in.
pub fn commit() -> Option<String> {
    if let Some(commit) = variable("CONVFINQA_COMMIT") {
        return Some(commit);
    }
    let program = std::env::current_exe().ok()?;
    // target/release/convfinqa, or target/debug/deps/…
    let tree = program
        .ancestors()
        .skip_while(|folder| folder.file_name().is_none_or(|name| name != "target"))
        .nth(1)?;
    tree.join("Cargo.toml").is_file().then(|| head(tree))?
}

fn head(tree: &Path) -> Option<String> {
    let output = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(tree)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let commit = text.trim();
    let hex = commit.len() >= 40 && commit.chars().all(|c| c.is_ascii_hexdigit());
    (output.status.success() && hex).then(|| commit.to_owned())
}
