//! What the user is told of a tracking server.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::output::mlflow::{DeliveredRun, DeliveryOutcome, MlflowError};

use super::dotenv::variable;

/// The line that says where a run is seen.
pub fn arrived(delivered: &DeliveredRun) -> String {
    format!("MLflow: {}", delivered.page)
}

/// What the user is told of a run's side-car, if something is missing.
pub fn missing(sent: Option<&DeliveryOutcome>, run: &str) -> Vec<String> {
    let sync = format!("`convfinqa track sync {run}`");
    match sent {
        Some(DeliveryOutcome::All(delivered)) => shortfalls(delivered),
        Some(DeliveryOutcome::Missing { error, said: false }) => {
            vec![format!(
                "MLflow: {error}; not all of this run was delivered, {sync} sends the rest"
            )]
        }
        Some(DeliveryOutcome::Missing { .. }) | None => {
            vec![format!(
                "MLflow: not all of this run was delivered; {sync} sends the rest when that is fixed"
            )]
        }
    }
}

/// What a server could not take, a line each.
pub fn shortfalls(delivered: &DeliveredRun) -> Vec<String> {
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
